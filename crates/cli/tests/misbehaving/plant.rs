//! Installs the plugin as an executable in a folder, and finds the processes that it left.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    rows::Row,
    serve::{BENCH, WAY},
};

/// Writes the executable of a row's plugin below `root`: a script that runs this program, or the row's own script.
pub(crate) fn plant(root: &Path, row: &Row) -> PathBuf {
    let folder = root.join("plugin");
    fs::create_dir_all(&folder).expect("can be made");
    let this = std::env::current_exe().expect("a test has an executable");
    let script = if row.script.is_empty() { "exec \"$PLUGIN\"" } else { row.script };
    let text = format!(
        "#!/bin/sh\nexport {WAY}='{}' {BENCH}='{}' PLUGIN='{}' TMPDIR='{}'\n{script}\n",
        row.way,
        root.display(),
        this.display(),
        root.display(),
    );
    let path = folder.join("terraform-provider-bad");
    fs::write(&path, text).expect("can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("can be set");
    path
}

/// Installs this program below `root` as the executable of a plugin.
pub(crate) fn plant_itself(root: &Path) -> PathBuf {
    let folder = root.join("plugin");
    fs::create_dir_all(&folder).expect("can be made");
    let path = folder.join("terraform-provider-bad");
    let this = std::env::current_exe().expect("a test has an executable");
    if fs::hard_link(&this, &path).is_err() {
        fs::copy(&this, &path).expect("can be copied");
    }
    path
}

/// The processes that a plugin below `root` left, after some time to end.
pub(crate) fn orphans(root: &Path) -> Vec<String> {
    let mark = format!("{BENCH}={}", root.display());
    let end = Instant::now() + Duration::from_secs(3);
    loop {
        let found = with_variable(mark.as_bytes());
        if found.is_empty() || Instant::now() > end {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The command lines of processes with this environment variable. A zombie has no environment.
fn with_variable(mark: &[u8]) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let marked = processes.flatten().filter(|it| {
        let environment = fs::read(it.path().join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| it == mark)
    });
    let called = |it: fs::DirEntry| {
        let words = fs::read_to_string(it.path().join("cmdline")).unwrap_or_default();
        words.replace('\0', " ").trim().to_owned()
    };
    marked.map(called).collect()
}

/// Kills the processes that were left, so that they do not cause further failures.
pub(crate) fn bury(root: &Path) {
    let mark = format!("{BENCH}={}", root.display());
    let Ok(processes) = fs::read_dir("/proc") else { return };
    for process in processes.flatten() {
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        let id = process.file_name().to_str().and_then(|it| it.parse().ok());
        if environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes())
            && let Some(id) = id.and_then(rustix::process::Pid::from_raw)
        {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }
}
