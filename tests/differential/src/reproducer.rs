//! Reproducers: a case as a directory with the files of each step and a script that runs them.

use std::{fmt::Write as _, fs, io, path::Path};

use crate::{compare::Difference, model::Case, program::arguments, server::ADDRESS};

/// Writes the reproducer, and replaces an existing directory.
pub(crate) fn write(folder: &Path, case: &Case, difference: &Difference) -> io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let mut script = "\
#!/bin/sh
# Runs the steps in a fresh directory: run.sh EXECUTABLE [DIRECTORY]
# SERVER is the address of an HTTP server, for configurations that read one.
program=$1
here=$(cd \"$(dirname \"$0\")\" && pwd)
there=${2:-$(mktemp -d)}
mkdir -p \"$there\" && cd \"$there\" || exit
echo \"in $there\"
"
    .to_owned();
    for (index, step) in case.steps.iter().enumerate() {
        for (path, text) in step.files() {
            let path = folder.join(format!("step{index}")).join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        let command =
            arguments(&step.command).iter().map(|it| quoted(it)).collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            script,
            "rm -f *.tf */*.tf; cp -r \"$here/step{index}/.\" .\n\
             [ -z \"$SERVER\" ] || sed -i \"s#{ADDRESS}#$SERVER#\" *.tf\n\
             \"$program\" init -input=false -no-color >/dev/null\n\
             echo '--- step {index}'\n\"$program\" {command}; echo \"exit code $?\""
        );
    }
    let path = folder.join("run.sh");
    fs::write(&path, script)?;
    fs::write(
        folder.join("difference.txt"),
        format!("step {}\n{}\n{}", difference.step, difference.class, difference.detail),
    )?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn quoted(argument: &str) -> String {
    format!("'{}'", argument.replace('\'', "'\\''"))
}
