//! A script as a provider, and tests of what such a provider is given.

use crate::bench::Bench;

/// Creates a bench in which a script serves as the provider `example.com/tests/script`.
pub(crate) fn with_script(script: &str) -> Bench {
    use std::os::unix::fs::PermissionsExt;
    let main = "terraform {\n  required_providers {\n    script = { source = \
                \"example.com/tests/script\" }\n  }\n}\n\nvariable \"e\" {\n  type      = string\n  \
                ephemeral = true\n}\n\nprovider \"script\" {}\n\nresource \"script_thing\" \"a\" {}\n";
    let bench = Bench::with_main(main);
    let program = "plugins/terraform-provider-script";
    bench.write(program, script);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path(program), mode).expect("the mode can be set");
    let folder = bench.path("plugins");
    let overrides = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"example.com/tests/script\" = {folder:?}\n  }}\n}}\n"
    );
    bench.write("home/rc", &overrides);
    bench
}

#[test]
fn redactor_learns_typed_secrets_before_a_provider_starts() {
    let bench = with_script("#!/bin/sh\ntr '\\0' '\\n' < /proc/$PPID/cmdline >&2\nexit 1\n");
    let plan = |value: &str| {
        bench
            .mayfly(".", ["plan", &format!("-var=e={value}")])
            .env("TF_CLI_CONFIG_FILE", bench.path("home/rc"))
            .fails()
    };
    let ended = plan("kanarek-1");
    ended.shows(&["-var=e=(redacted)"]);
    ended.lacks(&["kanarek"]);
    // The text is in decomposed form. Converted to a value, the é becomes a single character.
    plan("e\u{301}t\u{e9}-kanarek").lacks(&["kanarek"]);
}
