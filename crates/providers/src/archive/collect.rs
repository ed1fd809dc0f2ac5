//! Collects the entries of an archive: names, modes and sources of their bytes.

use std::{
    fs::{self, DirEntry, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use values::Text;

use super::order::{ArchiveRequest, Contents, Directory};
use crate::files::{FileId, Mode, file_error};
use mayfly_sdk::Diagnostic;

/// The summary of errors about the source of an archive.
const UNREADABLE: &str = "Source Cannot Be Archived";

/// The mode bit that lets the owner execute the file.
const EXECUTABLE: u32 = 0o100;

/// An entry of an archive. It has no `Debug`, because its content may be secret.
pub(super) struct Entry {
    /// The name in the archive, with `/` as separator.
    pub(super) name: String,
    pub(super) mode: Mode,
    pub(super) body: Body,
}

/// The source of an entry's bytes.
pub(super) enum Body {
    Text(Text),
    /// A file, with the length that it had when it was found.
    File(PathBuf, u64),
}

/// Returns all entries of an archive, sorted by name. There is at least one.
///
/// # Errors
/// If there is nothing to pack, or something cannot be packed.
pub(super) fn entries(order: &ArchiveRequest) -> Result<Vec<Entry>, Diagnostic> {
    let mut found = Collection { order, own: FileId::at(&order.output), entries: Vec::new() };
    match &order.contents {
        Contents::File(path) => found.file(path)?,
        Contents::Directory(directory) => found.directory(directory)?,
        Contents::Texts(texts) => {
            for (name, text) in texts {
                found.push(name.clone(), None, Body::Text(text.clone()));
            }
        }
    }
    let mut entries = found.entries;
    sorted::sort_by(&mut entries, |a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The entries that were found so far.
struct Collection<'a> {
    order: &'a ArchiveRequest,
    /// The existing archive at the output path, which is left out.
    own: Option<FileId>,
    entries: Vec<Entry>,
}

impl Collection<'_> {
    fn file(&mut self, path: &Path) -> Result<(), Diagnostic> {
        let metadata = fs::metadata(path).map_err(|it| self.error(path, it))?;
        if !metadata.is_file() {
            return Err(self.error(path, "it is not a regular file"));
        }
        if Some(FileId::of(&metadata)) == self.own {
            return Err(self.error(path, "it is the archive itself"));
        }
        let name = path.file_name().and_then(|it| it.to_str());
        let name = name.ok_or_else(|| self.error(path, "its name is not UTF-8"))?;
        let body = Body::File(path.to_owned(), metadata.len());
        self.push(name.to_owned(), Some(&metadata), body);
        Ok(())
    }

    fn directory(&mut self, directory: &Directory) -> Result<(), Diagnostic> {
        let metadata =
            fs::metadata(&directory.path).map_err(|it| self.error(&directory.path, it))?;
        if !metadata.is_dir() {
            return Err(self.error(&directory.path, "it is not a directory"));
        }
        let mut inside = vec![FileId::of(&metadata)];
        self.walk(directory, &directory.path, "", &mut inside)?;
        if self.entries.is_empty() {
            let why = "the archive has not been created as it would be empty";
            return Err(self.error(&directory.path, why));
        }
        Ok(())
    }

    /// Adds all files below `folder` and prepends `prefix` to their names. `inside` are the enclosing directories.
    fn walk(
        &mut self,
        directory: &Directory,
        folder: &Path,
        prefix: &str,
        inside: &mut Vec<FileId>,
    ) -> Result<(), Diagnostic> {
        let found: io::Result<Vec<DirEntry>> = fs::read_dir(folder).and_then(Iterator::collect);
        let mut found = found.map_err(|it| self.error(folder, it))?;
        // Sort the entries, so that an error always names the same file.
        sorted::sort_by_key(&mut found, DirEntry::file_name);
        for entry in found {
            let path = entry.path();
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| self.error(&path, "its name is not UTF-8"))?;
            let name = format!("{prefix}{name}");
            if directory.excludes.is_match(&name) {
                continue;
            }
            let metadata = fs::metadata(&path).map_err(|it| self.error(&path, it))?;
            let id = FileId::of(&metadata);
            if metadata.is_dir() {
                if !directory.follow && entry.file_type().is_ok_and(|it| it.is_symlink()) {
                    continue;
                }
                if inside.contains(&id) {
                    return Err(self.error(&path, "the link leads to a directory that it is in"));
                }
                inside.push(id);
                self.walk(directory, &path, &format!("{name}/"), inside)?;
                inside.pop();
            } else if !metadata.is_file() {
                return Err(self.error(&path, "it is neither a regular file nor a directory"));
            } else if Some(id) != self.own {
                self.push(name, Some(&metadata), Body::File(path, metadata.len()));
            }
        }
        Ok(())
    }

    /// Adds an entry. Of a file's mode, only the executable bit is kept, because the other bits differ between
    /// machines.
    fn push(&mut self, name: String, metadata: Option<&Metadata>, body: Body) {
        let is_executable = metadata.is_some_and(|it| it.mode() & EXECUTABLE != 0);
        let as_seen = if is_executable { Mode(0o755) } else { Mode(0o644) };
        self.entries.push(Entry { name, mode: self.order.mode.unwrap_or(as_seen), body });
    }

    fn error(&self, path: &Path, why: impl std::fmt::Display) -> Diagnostic {
        unreadable(self.order, path, why)
    }
}

/// An error about a source of an archive.
pub(super) fn unreadable(
    order: &ArchiveRequest,
    path: &Path,
    why: impl std::fmt::Display,
) -> Diagnostic {
    file_error(order.attribute.clone(), UNREADABLE, path, why)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use expect_test::{Expect, expect};
    use globset::{Glob, GlobSet};
    use tempfile::TempDir;
    use values::Path as ValuePath;

    use super::*;
    use crate::archive::order::Format;

    /// Creates a directory with these files. A name that ends in `*` is an executable file, and `a -> b` is a
    /// link.
    fn folder(files: &[&str]) -> TempDir {
        let folder = tempfile::tempdir().expect("can be made");
        for file in files {
            let (name, target) = file.split_once(" -> ").unwrap_or((file, ""));
            let path = folder.path().join(name.trim_end_matches('*'));
            fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
            if !target.is_empty() {
                symlink(target, &path).expect("can be made");
            } else if let Some(name) = name.strip_suffix('/') {
                fs::create_dir_all(folder.path().join(name)).expect("can be made");
            } else {
                fs::write(&path, name).expect("can be written");
                let mode = if name.ends_with('*') { 0o700 } else { 0o660 };
                fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("can be set");
            }
        }
        folder
    }

    fn order(contents: Contents, output: PathBuf) -> ArchiveRequest {
        let attribute = ValuePath::root().attr("source_dir");
        ArchiveRequest { format: Format::Zip, contents, attribute, mode: None, output }
    }

    fn directory(path: &Path, excludes: &[&str], follow: bool) -> Contents {
        let mut set = GlobSet::builder();
        for pattern in excludes {
            set.add(Glob::new(pattern).expect("is a glob"));
        }
        let excludes = set.build().expect("are globs");
        Contents::Directory(Directory { path: path.to_owned(), excludes, follow })
    }

    /// Compares the names and modes of the entries, or the error without the path of the directory.
    #[track_caller]
    fn check_order(folder: &TempDir, order: &ArchiveRequest, expected: &Expect) {
        let shown = match entries(order) {
            Ok(entries) => {
                let lines = entries.iter().map(|it| format!("{:o} {}", it.mode.0, it.name));
                lines.collect::<Vec<_>>().join("\n")
            }
            Err(said) => {
                assert_eq!(said.path, Some(order.attribute.clone()));
                let folder = folder.path().to_string_lossy();
                let detail = said.detail.replace(&*folder, ".");
                // The error number differs between systems.
                let why = detail.split(" (os error").next().unwrap_or_default();
                format!("{}: {}", said.summary, why.trim_end_matches('.'))
            }
        };
        expected.assert_eq(&shown);
    }

    #[track_caller]
    fn check(files: &[&str], excludes: &[&str], follow: bool, expected: &Expect) {
        let folder = folder(files);
        let order = order(
            directory(folder.path(), excludes, follow),
            folder.path().join("out/archive.zip"),
        );
        check_order(&folder, &order, expected);
    }

    #[test]
    fn archive_entries_are_sorted_and_keep_the_executable_bit() {
        check(
            &["b", "a/z*", "a/y", "a.txt", "a/b/c", "empty/"],
            &[],
            true,
            &expect![[r#"
                644 a.txt
                644 a/b/c
                644 a/y
                755 a/z
                644 b"#]],
        );
    }

    #[test]
    fn excluded_paths_are_not_read() {
        let files = ["keep", "node_modules/x/y", "broken -> nowhere", "a/b.log", "a/c"];
        let excludes = ["node_modules", "broken", "**/*.log"];
        check(
            &files,
            &excludes,
            true,
            &expect![[r#"
                644 a/c
                644 keep"#]],
        );
    }

    #[test]
    fn links_to_folders_are_followed_only_on_request() {
        let files = ["real/f*", "dir -> real", "file -> real/f"];
        check(
            &files,
            &[],
            true,
            &expect![[r#"
                755 dir/f
                755 file
                755 real/f"#]],
        );
        check(
            &files,
            &[],
            false,
            &expect![[r#"
                755 file
                755 real/f"#]],
        );
        check(
            &["broken -> nowhere"],
            &[],
            true,
            &expect!["Source Cannot Be Archived: ./broken: No such file or directory"],
        );
    }

    #[test]
    fn link_loop_is_an_error_and_a_diamond_is_not() {
        check(
            &["a/b/f", "a/b/up -> ../../a"],
            &[],
            true,
            &expect![
                "Source Cannot Be Archived: ./a/b/up: the link leads to a directory that it is in"
            ],
        );
        check(
            &["f", "self -> ."],
            &[],
            true,
            &expect![
                "Source Cannot Be Archived: ./self: the link leads to a directory that it is in"
            ],
        );
        check(
            &["a -> a"],
            &[],
            true,
            &expect!["Source Cannot Be Archived: ./a: Too many levels of symbolic links"],
        );
        check(&["f", "self -> ."], &[], false, &expect!["644 f"]);
        check(
            &["a/f", "b -> a", "c -> a"],
            &[],
            true,
            &expect![[r#"
                644 a/f
                644 b/f
                644 c/f"#]],
        );
    }

    #[test]
    fn an_archive_of_nothing_is_an_error() {
        let expected = expect![
            "Source Cannot Be Archived: .: the archive has not been created as it would be empty"
        ];
        check(&[], &[], true, &expected);
        check(&["a", "b/c"], &["**"], true, &expected);
        check(&["empty/"], &[], true, &expected);
    }

    #[test]
    fn archive_does_not_contain_itself() {
        check(&["f", "out/archive.zip"], &[], true, &expect!["644 f"]);
        check(&["f", "out/archive.zip", "link -> out/archive.zip"], &[], true, &expect!["644 f"]);
        let folder = folder(&["out.zip"]);
        let itself = folder.path().join("out.zip");
        check_order(
            &folder,
            &order(Contents::File(itself.clone()), itself),
            &expect!["Source Cannot Be Archived: ./out.zip: it is the archive itself"],
        );
    }

    #[test]
    fn missing_or_invalid_archive_source_is_an_error() {
        let folder = folder(&["f", "d/"]);
        let with = |contents| order(contents, PathBuf::from("no-such-folder/out.zip"));
        let path = |name: &str| folder.path().join(name);
        let check_with = |contents, expected| check_order(&folder, &with(contents), &expected);
        check_with(Contents::File(path("f")), expect!["644 f"]);
        check_with(
            Contents::File(path("none")),
            expect!["Source Cannot Be Archived: ./none: No such file or directory"],
        );
        check_with(
            Contents::File(path("d")),
            expect!["Source Cannot Be Archived: ./d: it is not a regular file"],
        );
        check_with(
            directory(&path("none"), &[], true),
            expect!["Source Cannot Be Archived: ./none: No such file or directory"],
        );
        check_with(
            directory(&path("f"), &[], true),
            expect!["Source Cannot Be Archived: ./f: it is not a directory"],
        );
        check_with(
            Contents::Texts(vec![("b".to_owned(), "x".into()), ("a".to_owned(), "y".into())]),
            expect![[r#"
                644 a
                644 b"#]],
        );
    }

    #[test]
    fn sockets_and_invalid_utf8_names_are_errors() {
        use std::os::unix::ffi::OsStrExt as _;
        let strange = folder(&["f"]);
        let socket = std::os::unix::net::UnixListener::bind(strange.path().join("socket"));
        let _socket = socket.expect("can be made");
        let everything = order(directory(strange.path(), &[], true), PathBuf::from("none/out"));
        check_order(
            &strange,
            &everything,
            &expect![
                "Source Cannot Be Archived: ./socket: it is neither a regular file nor a directory"
            ],
        );
        let folder = folder(&["f"]);
        let name = std::ffi::OsStr::from_bytes(b"\xff");
        // Some systems do not allow such names.
        if fs::write(folder.path().join(name), "").is_ok() {
            let everything = order(directory(folder.path(), &[], true), PathBuf::from("none/out"));
            check_order(
                &folder,
                &everything,
                &expect!["Source Cannot Be Archived: ./\u{fffd}: its name is not UTF-8"],
            );
        }
    }

    #[test]
    fn requested_mode_applies_to_every_entry() {
        let folder = folder(&["a", "b*"]);
        let mut order = order(directory(folder.path(), &[], true), PathBuf::from("none/out"));
        order.mode = Some(Mode(0o600));
        check_order(
            &folder,
            &order,
            &expect![[r#"
                600 a
                600 b"#]],
        );
    }
}
