//! Providers in a sandbox: bundled ones by default, others on request, and the lines that an error names.

use std::{fs, net::TcpListener, os::unix::fs::PermissionsExt, path::Path};

use crate::bench::{Bench, Ended};

const LOCAL: &str = "registry.opentofu.org/mayfly/local";

/// Returns true, and says so, on a system that reports that it has no Landlock. Any other Linux must pass.
fn skips() -> bool {
    let policy = sandbox::Policy { grants: sandbox::Grants::default(), is_required: true };
    let active = fs::read_to_string("/sys/kernel/security/lsm");
    let lacks_landlock =
        !cfg!(target_os = "linux") || active.is_ok_and(|it| !it.contains("landlock"));
    match sandbox::missing(&policy) {
        Some(missing) if lacks_landlock => {
            println!("skipped: {missing}");
            true
        }
        _ => false,
    }
}

fn requires(source: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    local = {{ source = \"{source}\" }}\n  }}\n}}\n"
    )
}

/// A bench whose configuration uses the provider `local` at `source`, with these blocks.
fn bench(source: &str, blocks: &str) -> Bench {
    let bench = Bench::new();
    bench.write("c/main.tf", &format!("{}{blocks}\n", requires(source)));
    bench
}

fn file(path: &Path) -> String {
    format!("resource \"local_file\" \"a\" {{\n  filename = {path:?}\n  content = \"x\"\n}}")
}

fn apply(bench: &Bench, rc: &str) -> Ended {
    bench.write("rc", rc);
    let run = |arguments: &[&str]| {
        bench.mayfly("c", arguments).env("TF_CLI_CONFIG_FILE", bench.path("rc"))
    };
    match run(&["init"]).end() {
        ended if ended.code == 0 => run(&["apply", "-auto-approve"]).end(),
        ended => ended,
    }
}

#[test]
fn bundled_provider_writes_only_in_directories_of_the_configuration() {
    if skips() {
        return;
    }
    let bench = bench(LOCAL, "");
    fs::create_dir(bench.path("outside")).expect("can be made");
    let outside = bench.path("outside").canonicalize().expect("is there");
    let main = requires(LOCAL);
    bench.write("c/main.tf", &format!("{main}{}\n", file(&outside.join("a.txt"))));
    let rule = format!(
        "  provider_sandbox {{\n    include = [\"mayfly/local\"]\n    write = [{outside:?}]\n  }}"
    );
    let refused = apply(&bench, "").exits(1);
    refused.shows(&[
        "Error: ",
        &format!("mayfly/local runs in a sandbox, in which it may not write in {outside:?}"),
        &rule,
    ]);
    assert!(!outside.join("a.txt").exists());
    // The printed lines are the ones to add.
    apply(&bench, &rule).exits(0);
    assert!(outside.join("a.txt").exists());
    // Without them, the file is not read and removed either.
    bench.write("c/main.tf", &main);
    apply(&bench, "").exits(1).shows(&["in which it may not read"]);
    assert!(outside.join("a.txt").exists());
}

#[test]
fn bundled_provider_writes_in_modules_beside_the_working_directory() {
    let bench = bench(
        LOCAL,
        &format!("{}\nmodule \"m\" {{\n  source = \"../m\"\n}}", file(Path::new("b.txt"))),
    );
    let module = requires(LOCAL) + &file(Path::new("PLACE"));
    bench.write("m/m.tf", &module.replace("\"PLACE\"", "\"${path.module}/m.txt\""));
    apply(&bench, "").exits(0);
    let planned = bench.mayfly("c", ["plan"]).env("TF_LOG", "debug").succeeds();
    planned.shows(&["sandbox: mayfly/local: "]);
    assert!(bench.path("m/m.txt").exists() && bench.path("c/b.txt").exists());
}

#[test]
fn bundled_provider_reads_no_secrets_of_the_user() {
    if skips() {
        return;
    }
    let bench = bench(LOCAL, "");
    bench.write("../home/.aws/credentials", "kanarek");
    let secret = bench.path("../home/.aws/credentials").canonicalize().expect("is there");
    let data = format!(
        "data \"local_file\" \"a\" {{\n  filename = {secret:?}\n}}\noutput \"o\" {{\n  value = \
         data.local_file.a.content\n}}\n"
    );
    bench.write("c/main.tf", &(requires(LOCAL) + &data));
    let refused = apply(&bench, "").exits(1);
    refused.shows(&[&format!("it may not read {secret:?}"), &format!("read = [{secret:?}]")]);
    refused.lacks(&["kanarek"]);
    let rule = "provider_sandbox {\n  read = [\"$HOME/.aws\"]\n}\n";
    apply(&bench, rule).exits(0).shows(&["o = \"kanarek\""]);
    let off = "provider_sandbox {\n  include = [\"mayfly/*\"]\n  enabled = false\n}\n";
    apply(&bench, off).exits(0).shows(&["o = \"kanarek\""]);
}

#[test]
fn refused_port_is_named() {
    if skips() {
        return;
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("listens");
    let port = listener.local_addr().expect("is bound").port();
    let bench = Bench::new();
    bench.write(
        "c/main.tf",
        &format!(
            "terraform {{\n  required_providers {{\n    restful = {{ source = \
             \"registry.opentofu.org/mayfly/restful\" }}\n  }}\n}}\nprovider \"restful\" {{\n  \
             base_url = \"http://127.0.0.1:{port}\"\n}}\ndata \"restful_resource\" \"a\" {{\n  id = \
             \"/x\"\n}}\n"
        ),
    );
    let narrowed = "provider_sandbox {\n  include = [\"mayfly/restful\"]\n  connect = [443]\n}\n";
    let refused = apply(&bench, narrowed).exits(1);
    refused.shows(&[
        &format!(
            "mayfly/restful runs in a sandbox, in which it may not connect to the TCP port {port}"
        ),
        &format!("connect = [{port}]"),
    ]);
    listener.set_nonblocking(true).expect("is set");
    assert!(listener.accept().is_err(), "nothing arrived");
}

/// Installs the bundled provider `local` as `example.com/tests/local` from a mirror. Its executable is a script.
fn mirrored() -> (Bench, String) {
    let bench = bench("example.com/tests/local", &file(Path::new("a.txt")));
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let program = format!(
        "mirror/example.com/tests/local/1.0.0/linux_{arch}/terraform-provider-local_v1.0.0"
    );
    let mayfly = env!("CARGO_BIN_EXE_mayfly");
    bench.write(&program, &format!("#!/bin/sh\nexec {mayfly} serve-bundled-provider {LOCAL}\n"));
    fs::set_permissions(bench.path(&program), fs::Permissions::from_mode(0o755))
        .expect("can be set");
    let mirror = bench.path("mirror");
    let rc = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = {mirror:?}\n  }}\n}}\n"
    );
    (bench, rc)
}

#[test]
fn provider_of_a_mirror_has_a_sandbox_if_a_block_asks_for_it() {
    if skips() {
        return;
    }
    let (bench, rc) = mirrored();
    apply(&bench, &rc).exits(0);
    let written = bench.path("c/a.txt");
    fs::remove_file(&written).expect("was written");
    let mayfly = Path::new(env!("CARGO_BIN_EXE_mayfly"));
    let block = |lines: &str| {
        format!("{rc}provider_sandbox {{\n  include = [\"example.com/tests/*\"]\n{lines}}}\n")
    };
    // Each error names the lines for the next run.
    let refused = apply(&bench, &block("")).exits(1);
    refused.shows(&["in which it may not start other programs", "processes = true"]);
    let refused = apply(&bench, &block("  processes = true\n")).exits(1);
    refused.shows(&[&format!("it may not read {mayfly:?}"), &format!("read = [{mayfly:?}]")]);
    let served = format!("  processes = true\n  read = [{mayfly:?}]\n");
    let refused = apply(&bench, &block(&served)).exits(1);
    let directory = bench.path("c").canonicalize().expect("is there");
    refused.shows(&[
        &format!(
            "example.com/tests/local runs in a sandbox, in which it may not write in {directory:?}"
        ),
        &format!("write = [{directory:?}]"),
    ]);
    assert!(!written.exists());
    apply(&bench, &block(&format!("{served}  write = [\".\"]\n"))).exits(0);
    assert!(written.exists());
}

#[test]
fn provider_of_a_mirror_writes_temporary_files_and_its_cache() {
    if skips() {
        return;
    }
    let (bench, rc) = mirrored();
    let main = String::from_utf8(bench.read("c/main.tf")).expect("is text");
    bench.write("c/main.tf", &main.replace("\"a.txt\"", "\"${path.temp}/a.txt\""));
    let mayfly = Path::new(env!("CARGO_BIN_EXE_mayfly"));
    let block = format!("{rc}provider_sandbox {{\n  processes = true\n  read = [{mayfly:?}]\n}}\n");
    apply(&bench, &block).exits(0);
    assert!(!bench.path("c/.terraform/tmp").exists(), "it is removed after the run");
    assert!(bench.path("c/.terraform/provider-caches/example.com/tests/local").is_dir());
    let left: Vec<_> = fs::read_dir(bench.path("../tmp")).expect("is there").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn home_directory_is_not_granted_as_a_whole() {
    if skips() {
        return;
    }
    let bench = bench(LOCAL, &file(Path::new("a.txt")));
    let home = bench.path("c").canonicalize().expect("is there");
    let run = |arguments: &[&str]| {
        let run = bench.mayfly("c", arguments).env("HOME", &home).env("TF_LOG", "warn");
        run.env("TF_CLI_CONFIG_FILE", bench.path("rc"))
    };
    bench.write("rc", "");
    run(&["init"]).succeeds();
    let refused = run(&["apply", "-auto-approve"]).fails();
    refused.shows(&[
        &format!("may read only the files directly in {}", home.display()),
        &format!("it may not write in {home:?}"),
        &format!("write = [{home:?}]"),
    ]);
    let data = |name: &str| {
        let data = format!("data \"local_file\" \"a\" {{\n  filename = {name:?}\n}}\n");
        bench.write("c/main.tf", &(requires(LOCAL) + &data));
    };
    bench.write("c/visible.txt", "x");
    bench.write("c/.netrc", "x");
    data("visible.txt");
    run(&["plan"]).succeeds();
    bench.write(
        "c/main.tf",
        &format!(
            "{}resource \"local_file\" \"a\" {{\n  filename = \"${{path.temp}}/a\"\n  content = \"x\"\n}}\n",
            requires(LOCAL)
        ),
    );
    run(&["apply", "-auto-approve"]).succeeds();
    data(".netrc");
    run(&["plan"]).fails().shows(&["it may not read", ".netrc"]);
}

#[test]
fn providers_lists_those_in_a_sandbox() {
    let bench = bench(LOCAL, "");
    let run = |rc: &str| {
        bench.write("rc", rc);
        bench.mayfly("c", ["providers"]).env("TF_CLI_CONFIG_FILE", bench.path("rc")).succeeds()
    };
    let heading = "Providers that run in a sandbox:";
    run("").shows(&[heading, &format!("provider[{LOCAL}]")]);
    run("provider_sandbox {\n  enabled = false\n}\n").lacks(&[heading]);
    bench.write("c/main.tf", &requires("example.com/tests/local"));
    run("").lacks(&[heading]);
    let block = "provider_sandbox {\n  include = [\"example.com/*/*\"]\n}\n";
    run(block).shows(&[heading, "provider[example.com/tests/local]"]);
}

#[test]
fn invalid_block_stops_the_command() {
    let bench = bench(LOCAL, &file(Path::new("a.txt")));
    let refused = apply(&bench, "provider_sandbox {\n  paths = [\"/\"]\n}\n").exits(1);
    let rc = bench.path("rc");
    refused.shows(&[
        "Error: Invalid provider_sandbox block",
        &format!("In {} at 2:3: \"paths\" is not an argument of this block", rc.display()),
        "\"include\"",
    ]);
}
