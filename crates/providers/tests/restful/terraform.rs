//! The example under `terraform`, if it is installed, with the provider as a separate executable.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::restful_server::RestfulServer;

const PASSWORD: &str = "correct-horse-battery";

/// Runs a command of terraform, which must succeed, and returns its output.
#[track_caller]
fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("terraform")
        .args(arguments)
        .current_dir(folder)
        .env("TF_CLI_CONFIG_FILE", folder.join("terraformrc"))
        .env("TF_CLI_ARGS", "-no-color")
        .env("TF_LOG_PROVIDER", "TRACE")
        .env("TF_LOG_PATH", folder.join("log.txt"))
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .expect("terraform starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{arguments:?}:\n{out}\n{err}");
    out
}

#[tokio::test(flavor = "multi_thread")]
async fn example_runs_under_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        // The test harness captures the output of print macros, and the user must see this line.
        let _ = writeln!(std::io::stderr(), "skipped: terraform is not on PATH");
        return;
    }
    let server = RestfulServer::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let folder = directory.path();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/restful/main.tf");
    fs::copy(example, folder.join("main.tf")).expect("can be copied");
    let executable = Path::new(env!("CARGO_BIN_EXE_terraform-provider-restful"));
    let plugins = executable.parent().expect("is in a folder");
    // Terraform completes the short source address with its own registry.
    let source = "registry.terraform.io/mayfly/restful";
    let overrides = format!(
        "provider_installation {{\n  dev_overrides {{\n    {source:?} = {plugins:?}\n  }}\n  direct {{}}\n}}\n"
    );
    fs::write(folder.join("terraformrc"), overrides).expect("can be written");
    let api = format!("-var=api={}", server.url);
    tokio::task::block_in_place(|| {
        run(folder, &["apply", "-auto-approve", &api]);
        assert!(run(folder, &["plan", &api]).contains("No changes."));
        for name in ["terraform.tfstate", "log.txt"] {
            let text = fs::read_to_string(folder.join(name)).expect("can be read");
            assert!(!text.contains(PASSWORD), "{name} has the password");
        }
        run(folder, &["destroy", "-auto-approve", &api]);
    });
    assert_eq!(server.count("DELETE /posts/1"), 1);
}
