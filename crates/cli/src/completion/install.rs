//! Adds the completion to the start files of shells, and removes it (`-install-autocomplete`,
//! `-uninstall-autocomplete`).
//!
//! **Invariant:** only lines that this program wrote are removed, and a file is replaced as a whole or not at all.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use engine::quoted_for_shell;

use super::scripts::{self, Shell};

/// The start files of bash. The first one that exists is changed.
const BASH: &[&str] = &[".bashrc", ".bash_profile", ".bash_login", ".profile"];

/// The directories of a user's settings.
pub(crate) struct Homes {
    pub(crate) home: Option<OsString>,
    /// `ZDOTDIR`
    pub(crate) zsh: Option<OsString>,
    /// `XDG_CONFIG_HOME`
    pub(crate) config: Option<OsString>,
}

/// The files in which completion can be set up.
struct Files {
    /// The start files of bash and zsh, each with the line to add.
    lines: Vec<(PathBuf, String)>,
    /// The file of fish with its script.
    fish: Option<(PathBuf, String)>,
}

impl Homes {
    /// The directories of the current user.
    pub(crate) fn of_user() -> Homes {
        let directory = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty());
        Homes {
            home: directory("HOME"),
            zsh: directory("ZDOTDIR"),
            config: directory("XDG_CONFIG_HOME"),
        }
    }

    fn files(&self, program: &str) -> Result<Files, String> {
        let home = self.home.as_ref().map(PathBuf::from);
        let home = home.ok_or("Completion cannot be set up: the variable HOME is not set.")?;
        let bash = BASH.iter().map(|it| home.join(it)).find(|it| it.is_file());
        let zsh = self.zsh.as_ref().map_or_else(|| home.clone(), PathBuf::from).join(".zshrc");
        let config = self.config.as_ref().map_or_else(|| home.join(".config"), PathBuf::from);
        let mut lines = Vec::new();
        lines.extend(bash.map(|it| (it, scripts::bash_line(program))));
        if zsh.is_file() {
            lines.push((zsh, zsh_line(program)));
        }
        let fish = config.join("fish");
        let fish = fish.is_dir().then(|| {
            let script = scripts::script(Shell::Fish, program);
            (fish.join("completions").join("mayfly.fish"), script)
        });
        match lines.is_empty() && fish.is_none() {
            false => Ok(Files { lines, fish }),
            true => Err("No start file of bash or zsh and no settings of fish were found. Create one, such as \
                         ~/.bashrc, or print a script with \"mayfly completion bash\"."
                .to_owned()),
        }
    }
}

/// The line for zsh. It does nothing if the program is not there any more.
fn zsh_line(program: &str) -> String {
    let program = quoted_for_shell(program);
    format!("[ -x {program} ] && source <({program} completion zsh)\n")
}

/// Sets up completion in every shell that has settings. Returns what was done, one line for each file.
///
/// # Errors
/// A sentence for the user: no file was found, or one cannot be written.
pub(crate) fn install(homes: &Homes, program: &str) -> Result<Vec<String>, String> {
    let Files { lines, fish } = homes.files(program)?;
    let mut done = Vec::new();
    for (path, line) in lines {
        let text = read(&path)?;
        let others = without_ours(&text);
        let end = if others.is_empty() || others.ends_with('\n') { "" } else { "\n" };
        let wanted = format!("{others}{end}{line}");
        done.push(changed(&path, &text, &wanted)?);
    }
    if let Some((path, script)) = fish {
        let text = if path.is_file() { read(&path)? } else { String::new() };
        let directory = path.parent().unwrap_or(&path);
        fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
        done.push(changed(&path, &text, &script)?);
    }
    Ok(done)
}

/// Removes what [`install`] added.
///
/// # Errors
/// A sentence for the user: no file was found, or one cannot be written.
pub(crate) fn uninstall(homes: &Homes, program: &str) -> Result<Vec<String>, String> {
    let Files { lines, fish } = homes.files(program)?;
    let mut done = Vec::new();
    for (path, _) in lines {
        let text = read(&path)?;
        let wanted = without_ours(&text);
        if text != wanted {
            write(&path, &wanted)?;
            done.push(format!("Removed the completion from {}.", path.display()));
        }
    }
    if let Some((path, _)) = fish.filter(|(path, _)| path.is_file()) {
        fs::remove_file(&path).map_err(|error| failed(&path, &error))?;
        done.push(format!("Removed {}.", path.display()));
    }
    if done.is_empty() {
        done.push("No shell has the completion.".to_owned());
    }
    Ok(done)
}

fn changed(path: &Path, before: &str, wanted: &str) -> Result<String, String> {
    if before == wanted {
        return Ok(format!("{} has the completion already.", path.display()));
    }
    write(path, wanted)?;
    Ok(format!("Added the completion to {}.", path.display()))
}

/// The text without the lines that this program adds.
fn without_ours(text: &str) -> String {
    let is_ours = |line: &str| {
        let line = line.trim_end();
        let is_bash = line.starts_with("complete -o default -C ") && line.ends_with(" mayfly");
        is_bash || (line.starts_with("[ -x ") && line.ends_with(" completion zsh)"))
    };
    text.split_inclusive('\n').filter(|it| !is_ours(it)).collect()
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| failed(path, &error))
}

/// Replaces a file. A link stays a link to the file with the new content.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let replace = || -> io::Result<()> {
        let target = if path.exists() { fs::canonicalize(path)? } else { path.to_owned() };
        let directory = target.parent().unwrap_or(Path::new("."));
        let file = tempfile::NamedTempFile::new_in(directory)?;
        fs::write(file.path(), text)?;
        let permissions = match fs::metadata(&target) {
            Ok(before) => before.permissions(),
            Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
        };
        fs::set_permissions(file.path(), permissions)?;
        file.as_file().sync_all()?;
        file.persist(&target)?;
        Ok(())
    };
    replace().map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("The completion cannot be set up in {}: {error}.", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn homes(directory: &Path) -> Homes {
        Homes { home: Some(directory.into()), zsh: None, config: None }
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).expect("can be read")
    }

    #[test]
    fn completion_is_added_once_and_removed_without_a_trace() {
        let home = tempfile::tempdir().expect("can be made");
        let path = |name: &str| home.path().join(name);
        fs::write(path("dotfile"), "alias a=b\ncomplete -C other other").expect("is written");
        std::os::unix::fs::symlink(path("dotfile"), path(".bashrc")).expect("is linked");
        fs::write(path(".zshrc"), "").expect("is written");
        fs::create_dir_all(path(".config/fish")).expect("is made");
        let done = install(&homes(home.path()), "/opt/a b/mayfly").expect("succeeds");
        assert_eq!(done.len(), 3, "{done:?}");
        let bash = read(&path(".bashrc"));
        assert_eq!(
            bash,
            "alias a=b\ncomplete -C other other\ncomplete -o default -C ''\\''/opt/a b/mayfly'\\''' mayfly\n"
        );
        assert!(path(".bashrc").is_symlink());
        let again = install(&homes(home.path()), "/opt/a b/mayfly").expect("succeeds");
        assert!(again.iter().all(|it| it.ends_with("has the completion already.")), "{again:?}");
        assert_eq!(read(&path(".bashrc")), bash);
        let moved = install(&homes(home.path()), "/usr/bin/mayfly").expect("succeeds");
        assert_eq!(moved.len(), 3);
        assert_eq!(read(&path(".bashrc")).matches(" mayfly\n").count(), 1);
        let removed = uninstall(&homes(home.path()), "/usr/bin/mayfly").expect("succeeds");
        assert_eq!(removed.len(), 3, "{removed:?}");
        assert_eq!(read(&path(".bashrc")), "alias a=b\ncomplete -C other other\n");
        assert_eq!(read(&path(".zshrc")), "");
        assert!(!path(".config/fish/completions/mayfly.fish").exists());
        let nothing = uninstall(&homes(home.path()), "/usr/bin/mayfly").expect("succeeds");
        assert_eq!(nothing, ["No shell has the completion."]);
    }

    #[test]
    fn home_without_settings_of_a_shell_is_an_error() {
        let home = tempfile::tempdir().expect("can be made");
        assert!(install(&homes(home.path()), "mayfly").is_err());
    }
}
