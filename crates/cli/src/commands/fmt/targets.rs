//! Finds the files to format.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use db::Summary;

/// The file name endings that `fmt` accepts. JSON files are not formatted, because general JSON formatters exist.
const ENDINGS: [&str; 5] = [".tf", ".tofu", ".tfvars", ".tftest.hcl", ".tofutest.hcl"];

/// A file to format, or the problem with a target.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    File {
        path: PathBuf,
        /// The path as it is shown: relative to the working directory and normalized.
        shown: String,
    },
    Problem(Summary),
}

/// The files that the arguments name, in the order of the arguments. Without arguments, the files of the working
/// directory.
pub(super) fn all(arguments: &[PathBuf], recursive: bool) -> Vec<Target> {
    let here = std::env::current_dir().unwrap_or_default();
    let mut walk = Walk { here, recursive, targets: Vec::new() };
    match arguments {
        [] => walk.directory(Path::new(".")),
        arguments => arguments.iter().for_each(|argument| walk.argument(argument)),
    }
    walk.targets
}

struct Walk {
    here: PathBuf,
    recursive: bool,
    targets: Vec<Target>,
}

impl Walk {
    fn argument(&mut self, path: &Path) {
        match fs::metadata(path) {
            Err(_) => self.problem(Summary::fmt_target(path.display())),
            Ok(it) if it.is_dir() => self.directory(path),
            // A hidden file that an argument names is formatted.
            Ok(_) if is_formatted(&name_of(path)) => self.file(path),
            Ok(_) => {
                let (last, rest) = ENDINGS.split_last().expect("there are some");
                let rest = rest.join(", ");
                let extensions = format!("{rest} and {last}");
                self.problem(Summary::other_fmt_target(extensions, self.shown(path)));
            }
        }
    }

    /// Adds the files of a directory in the order of their names. Links to files are followed, links to
    /// directories are not.
    fn directory(&mut self, path: &Path) {
        let Ok(entries) = fs::read_dir(path) else {
            return self.problem(Summary::unreadable_fmt_directory(self.shown(path)));
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_directory = entry.file_type().is_ok_and(|it| it.is_dir());
            match is_directory {
                _ if is_ignored(&name) => {}
                true if self.recursive => self.directory(&entry.path()),
                false if is_formatted(&name) => self.file(&entry.path()),
                _ => {}
            }
        }
    }

    fn file(&mut self, path: &Path) {
        self.targets.push(Target::File { path: path.to_owned(), shown: self.shown(path) });
    }

    fn problem(&mut self, summary: Summary) {
        self.targets.push(Target::Problem(summary));
    }

    fn shown(&self, path: &Path) -> String {
        relative(&self.here, &self.here.join(path)).to_string_lossy().into_owned()
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_formatted(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns true if a file name is hidden or is a backup file of an editor.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

/// The relative path from one absolute path to another. Purely lexical: links are not resolved.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to) = (cleaned(from), cleaned(to));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to[common..].iter().copied()).collect();
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
}

/// The components of a path without `.` and with each `..` resolved lexically.
fn cleaned(path: &Path) -> Vec<Component<'_>> {
    let mut names = Vec::new();
    for component in path.components() {
        match (component, names.last()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                names.pop();
            }
            _ => names.push(component),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_from_the_working_directory() {
        let shown = |to: &str| {
            let here = Path::new("/srv/here");
            relative(here, &here.join(to)).display().to_string()
        };
        assert_eq!(shown("a.tf"), "a.tf");
        assert_eq!(shown("./b//a.tf"), "b/a.tf");
        assert_eq!(shown("../here/a.tf"), "a.tf");
        assert_eq!(shown("../there/a.tf"), "../there/a.tf");
        assert_eq!(shown("/a.tf"), "../../a.tf");
        assert_eq!(shown("/srv/here/b/../a.tf"), "a.tf");
        assert_eq!(shown("."), ".");
    }

    #[test]
    fn formatted_files_are_selected_by_name() {
        for name in ["a.tf", "a.tofu", "x.auto.tfvars", "a.tftest.hcl", "a.tofutest.hcl"] {
            assert!(is_formatted(name) && !is_ignored(name), "{name}");
        }
        for name in ["a.tf.json", "a.tfvars.json", "a.hcl", "tf", "a.tf.bak"] {
            assert!(!is_formatted(name), "{name}");
        }
        for name in [".a.tf", "a.tf~", "#a.tf#", ".terraform"] {
            assert!(is_ignored(name), "{name}");
        }
    }
}
