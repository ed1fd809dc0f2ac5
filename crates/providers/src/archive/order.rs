//! The request for an archive in a configuration: the source of its content and its format.

use std::{
    collections::BTreeSet,
    path::{Component, Path as FilePath, PathBuf},
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use mayfly_sdk::{Choice, Diagnostic, Diagnostics, Object, Path, Text, validate::requires};

use super::archive_file::{ArchiveFile, SourceText};
use crate::files::Mode;

/// The attributes for the content. A configuration sets exactly one of them.
const WAYS: [&str; 4] = ["source", "source_content", "source_file", "source_dir"];

/// An archive to create. It has no `Debug`, because its contents may be secret.
pub(super) struct ArchiveRequest {
    pub(super) format: Format,
    pub(super) contents: Contents,
    /// The attribute for the content, for errors.
    pub(super) attribute: Path,
    /// The mode of all entries, instead of the modes of their files.
    pub(super) mode: Option<Mode>,
    pub(super) output: PathBuf,
}

/// The format of an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Choice)]
pub(super) enum Format {
    Zip,
    #[choice("tar.gz")]
    TarGz,
}

/// The content of an archive.
pub(super) enum Contents {
    /// A file under its own name.
    File(PathBuf),
    /// All files of a directory under their relative names.
    Directory(Directory),
    /// Texts under the given names.
    Texts(Vec<(String, Text)>),
}

/// A directory to pack.
pub(super) struct Directory {
    pub(super) path: PathBuf,
    /// The names to leave out.
    pub(super) excludes: GlobSet,
    /// True if links to directories are followed. Links to files are always followed.
    pub(super) follow: bool,
}

impl ArchiveRequest {
    /// Creates the request.
    ///
    /// # Errors
    /// Returns an error that only values that were unknown during validation reveal.
    pub(super) fn of(archive: &ArchiveFile) -> Result<ArchiveRequest, Diagnostic> {
        let mode = archive.output_file_mode.as_ref();
        let mode = mode.map(|it| Mode::of(ArchiveFile::OUTPUT_FILE_MODE, it)).transpose()?;
        let (contents, attribute) = match (&archive.source_file, &archive.source_dir) {
            (Some(path), _) => (Contents::File(path.into()), ArchiveFile::SOURCE_FILE.path()),
            (None, Some(path)) => {
                let excludes = globs(archive.excludes.as_deref().unwrap_or(&Vec::new()))?;
                let follow = archive.exclude_symlink_directories != Some(true);
                let directory = Directory { path: path.into(), excludes, follow };
                (Contents::Directory(directory), ArchiveFile::SOURCE_DIR.path())
            }
            (None, None) => (Contents::Texts(texts(archive)?), ArchiveFile::SOURCE.path()),
        };
        let output = PathBuf::from(&archive.output_path);
        Ok(ArchiveRequest { format: archive.r#type, contents, attribute, mode, output })
    }
}

/// Returns the entries that are given as texts. There is at least one.
fn texts(archive: &ArchiveFile) -> Result<Vec<(String, Text)>, Diagnostic> {
    if let Some(content) = &archive.source_content {
        let filename = archive.source_content_filename.as_slice();
        let names = entry_names(ArchiveFile::SOURCE_CONTENT_FILENAME, filename)?;
        return Ok(names.into_iter().map(|it| (it, content.clone())).collect());
    }
    let filenames: Vec<_> = archive.source.iter().map(|it| it.filename.clone()).collect();
    let names = entry_names(ArchiveFile::SOURCE, &filenames)?;
    let contents = archive.source.iter().map(|it| it.content.clone());
    match names.is_empty() {
        true => Err(combination(&[])),
        false => Ok(names.into_iter().zip(contents).collect()),
    }
}

/// Checks the rules that the schema cannot express. The configuration may be unknown in parts; an unknown
/// attribute counts as set.
pub(super) fn validate(config: &Object, diagnostics: &mut Diagnostics) {
    let [content, filename] =
        [ArchiveFile::SOURCE_CONTENT.name(), ArchiveFile::SOURCE_CONTENT_FILENAME.name()];
    requires(config, content, filename, diagnostics);
    requires(config, filename, content, diagnostics);
    let given: Vec<&str> = WAYS.into_iter().filter(|way| is_given(config, way)).collect();
    let [way] = given[..] else {
        diagnostics.push(combination(&given));
        return;
    };
    let excludes = ArchiveFile::EXCLUDES;
    if way != ArchiveFile::SOURCE_DIR.name() && !config.is_absent(excludes) {
        let detail = "excludes leaves out files of source_dir, which is not set.";
        diagnostics.warn_at(excludes.path(), "Attribute Without Effect", detail);
    }
    let blocks = config.objects(ArchiveFile::SOURCE);
    let blocks = blocks.iter().filter_map(|(_, it)| it.string(SourceText::FILENAME));
    let single = config.string(filename);
    let invalid = [
        globs(&config.strings(excludes)).err(),
        entry_names(ArchiveFile::SOURCE, &blocks.collect::<Vec<_>>()).err(),
        entry_names(ArchiveFile::SOURCE_CONTENT_FILENAME, single.as_slice()).err(),
    ];
    invalid.into_iter().flatten().for_each(|it| diagnostics.push(it));
}

/// Returns true if the attribute is set. A set of blocks is never null, so an empty one counts as not set.
fn is_given(config: &Object, way: &str) -> bool {
    let value = config.attr(way);
    !value.is_null() && (way != ArchiveFile::SOURCE.name() || value.stored_length() != Some(0))
}

/// The error for a configuration with these attributes for the content, of which there must be one.
fn combination(given: &[&str]) -> Diagnostic {
    let detail = format!(
        "Exactly one of {} must be given; {}.",
        WAYS.join(", "),
        if given.is_empty() { "none is".to_owned() } else { given.join(" and ") + " are" },
    );
    // Report the last attribute, which is one too many. If none is set, report the first, which could be set.
    let at = Path::root().attr(*given.last().unwrap_or(&WAYS[0]));
    Diagnostic::error("Invalid Attribute Combination", detail).at(at)
}

/// Parses the globs of `excludes`. They match whole names; `*` and `?` do not match a `/`, `**` does.
fn globs(patterns: &[Text]) -> Result<GlobSet, Diagnostic> {
    let mut set = GlobSetBuilder::new();
    let invalid = |detail: String| {
        Diagnostic::error("Invalid Glob Pattern", detail).at(ArchiveFile::EXCLUDES.path())
    };
    for pattern in patterns {
        let mut glob = GlobBuilder::new(pattern);
        let glob = glob.literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|it| invalid(format!("{pattern:?}: {}.", it.kind())))?;
        set.add(glob);
    }
    set.build().map_err(|it| invalid(format!("{it}.")))
}

/// Returns the names in the archive for these file names of an attribute. Errors name no element of a set, because its
/// index would be its content.
fn entry_names(attribute: impl Into<Path>, filenames: &[Text]) -> Result<Vec<String>, Diagnostic> {
    let attribute = attribute.into();
    let mut known = BTreeSet::new();
    let name = |filename: &Text| {
        let invalid = |why| {
            let detail = format!("The file name {:?} {why}.", &**filename);
            Diagnostic::error("Invalid File Name", detail).at(attribute.clone())
        };
        let name = entry_name(filename).ok_or_else(|| invalid("leads out of the archive"))?;
        if known.insert(name.clone()) { Ok(name) } else { Err(invalid("is listed twice")) }
    };
    filenames.iter().map(name).collect()
}

/// Returns the name in the archive, relative and without `.` and `..`, so that unpacking stays inside of the
/// target directory. `None` if there is no such name.
fn entry_name(filename: &str) -> Option<String> {
    let mut parts = Vec::new();
    for component in FilePath::new(filename).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            _ => return None,
        }
    }
    let is_file = !parts.is_empty() && !filename.ends_with(['/', '\0']) && !filename.contains('\0');
    is_file.then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use values::{Type, Value, json};

    use mayfly_sdk::{Model as _, Unknowns};

    use super::*;

    /// Creates a configuration from JSON. `"?"` stands for an unknown string or an unknown attribute.
    fn config(members: &str) -> Object {
        let empty = ArchiveFile::schema().to_provider().block().empty_value();
        let mut object = Object::new(empty);
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(members).expect("is JSON");
        for (name, member) in members {
            let ty = object.attr(&name).ty();
            let value = match member == "?" {
                true => Value::unknown(ty),
                false => json::decode(member.to_string().as_bytes(), &ty).expect("fits"),
            };
            object.set(&name, value);
        }
        object
    }

    fn line(said: &Diagnostic) -> String {
        let severity = if said.is_error() { "" } else { "warning: " };
        let path = said.path.as_ref().map(Path::to_string).unwrap_or_default();
        format!("{severity}{path}: {}: {}", said.summary, said.detail)
    }

    #[track_caller]
    fn check(members: &str, expected: &Expect) {
        let mut diagnostics = Diagnostics::default();
        validate(&config(members), &mut diagnostics);
        let lines: Vec<_> = diagnostics.into_vec().iter().map(line).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn exactly_one_archive_source_is_required() {
        check(
            "{}",
            &expect![
                ".source: Invalid Attribute Combination: Exactly one of source, source_content, \
                 source_file, source_dir must be given; none is."
            ],
        );
        check(
            r#"{"source_file": "f", "source_dir": "d"}"#,
            &expect![
                ".source_dir: Invalid Attribute Combination: Exactly one of source, \
                 source_content, source_file, source_dir must be given; source_file and source_dir are."
            ],
        );
        check(
            r#"{"source_file": "?", "source": "?"}"#,
            &expect![
                ".source_file: Invalid Attribute Combination: Exactly one of source, \
                 source_content, source_file, source_dir must be given; source and source_file are."
            ],
        );
        check(r#"{"source_dir": "?"}"#, &expect![""]);
        check(r#"{"source": "?"}"#, &expect![""]);
        check(r#"{"source": [{"filename": "f", "content": "c"}]}"#, &expect![""]);
        check(r#"{"source_content": "c", "source_content_filename": "f"}"#, &expect![""]);
    }

    #[test]
    fn source_content_requires_a_filename_and_vice_versa() {
        check(
            r#"{"source_content": "hidden"}"#,
            &expect![
                ".source_content: Invalid Attribute Combination: source_content is set, so \
                 source_content_filename must be set too."
            ],
        );
        check(
            r#"{"source_file": "f", "source_content_filename": "n"}"#,
            &expect![
                ".source_content_filename: Invalid Attribute Combination: source_content_filename \
                 is set, so source_content must be set too."
            ],
        );
    }

    #[test]
    fn entry_names_must_be_relative_and_unique() {
        for name in ["", "/etc/passwd", "../a", "a/../b", ".", "a/", "a\0"] {
            assert_eq!(entry_name(name), None, "{name:?}");
        }
        for (name, expected) in [("a", "a"), ("./a//b/./c", "a/b/c"), ("..a/b..", "..a/b..")] {
            assert_eq!(entry_name(name).as_deref(), Some(expected));
        }
        check(
            r#"{"source": [{"filename": "../x", "content": "hidden"}]}"#,
            &expect![[
                r#".source: Invalid File Name: The file name "../x" leads out of the archive."#
            ]],
        );
        check(
            r#"{"source_content": "hidden", "source_content_filename": "/x"}"#,
            &expect![[
                r#".source_content_filename: Invalid File Name: The file name "/x" leads out of the archive."#
            ]],
        );
        check(
            r#"{"source": [{"filename": "a", "content": "hidden"}, {"filename": "./a", "content": "b"}]}"#,
            &expect![[r#".source: Invalid File Name: The file name "a" is listed twice."#]],
        );
    }

    #[test]
    fn excludes_are_globs_over_whole_paths() {
        check(
            r#"{"source_dir": "d", "excludes": ["a[", "b"]}"#,
            &expect![[
                r#".excludes: Invalid Glob Pattern: "a[": unclosed character class; missing ']'."#
            ]],
        );
        check(
            r#"{"source_file": "f", "excludes": ["a"]}"#,
            &expect![
                "warning: .excludes: Attribute Without Effect: excludes leaves out files of \
                 source_dir, which is not set."
            ],
        );
        let set = globs(&["*.log", "a/*", "**/node_modules", "c/**/d", "{x,y}?"].map(Text::from));
        let set = set.unwrap_or_else(|_| unreachable!("the globs are valid"));
        for name in ["b.log", "a/b", "node_modules", "p/q/node_modules", "c/d", "c/1/2/d", "x1"] {
            assert!(set.is_match(name), "{name}");
        }
        for name in ["b/b.log", "a/b/c", "node_modules_2", "c/d/e", "x", "x/", "B.LOG", "xyz"] {
            assert!(!set.is_match(name), "{name}");
        }
    }

    #[test]
    fn archive_arguments_are_checked_once_known() {
        let request = |members: &str| {
            let object = config(members);
            ArchiveRequest::of(&ArchiveFile::decode(&object, Unknowns::Refused)?)
        };
        let refused = |members: &str| line(&request(members).err().expect("is refused"));
        expect![
            ".source: Invalid Attribute Combination: Exactly one of source, source_content, \
                 source_file, source_dir must be given; none is."
        ]
        .assert_eq(&refused(r#"{"type": "zip", "output_path": "o"}"#));
        expect![".type: Invalid Attribute Value Match: type must be one of: zip, tar.gz."]
            .assert_eq(&refused(r#"{"source_file": "f", "type": "rar", "output_path": "o"}"#));
        expect![[r#".output_file_mode: Invalid File Mode: output_file_mode must be permissions in octal digits, such as "0644"."#]]
            .assert_eq(&refused(
                r#"{"source_file": "f", "type": "zip", "output_path": "o", "output_file_mode": "9"}"#,
            ));
        let order = request(
            r#"{"source_dir": "d", "type": "tar.gz", "output_path": "o", "output_file_mode": "0666"}"#,
        );
        let order = order.unwrap_or_else(|_| unreachable!("nothing is wrong with it"));
        assert_eq!((order.format, order.mode), (Format::TarGz, Some(Mode(0o666))));
        assert!(matches!(&order.contents, Contents::Directory(it) if it.follow));
        assert_eq!(order.attribute, ArchiveFile::SOURCE_DIR.path());
        assert_ne!(config("{}").attr(ArchiveFile::SOURCE).ty(), Type::Dynamic);
    }
}
