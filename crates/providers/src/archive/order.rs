//! The request for an archive in a configuration: the source of its content and its format.

use std::{
    collections::BTreeSet,
    path::{Component, Path as FilePath, PathBuf},
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use values::{Path, Str};

use crate::files::Mode;
use mayfly_sdk::{Diagnostic, Diagnostics, Object, validate::requires};

/// The attributes for the content. A configuration sets exactly one of them.
const WAYS: [&str; 4] = [SOURCE, SOURCE_CONTENT, SOURCE_FILE, SOURCE_DIR];

pub(super) const SOURCE: &str = "source";
pub(super) const SOURCE_CONTENT: &str = "source_content";
pub(super) const SOURCE_CONTENT_FILENAME: &str = "source_content_filename";
pub(super) const SOURCE_FILE: &str = "source_file";
pub(super) const SOURCE_DIR: &str = "source_dir";
pub(super) const OUTPUT_PATH: &str = "output_path";
pub(super) const EXCLUDES: &str = "excludes";

/// The summary of errors about attributes that exclude or require each other.
const COMBINATION: &str = "Invalid Attribute Combination";

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Zip,
    TarGz,
}

impl Format {
    /// The names of all formats.
    pub(super) const NAMES: &'static [&'static str] = &["zip", "tar.gz"];

    fn parse(name: &str) -> Option<Format> {
        match name {
            "zip" => Some(Format::Zip),
            "tar.gz" => Some(Format::TarGz),
            _ => None,
        }
    }
}

/// The content of an archive.
pub(super) enum Contents {
    /// A file under its own name.
    File(PathBuf),
    /// All files of a directory under their relative names.
    Directory(Directory),
    /// Texts under the given names.
    Texts(Vec<(String, Str)>),
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
    /// Creates the request from a configuration or plan that is wholly known.
    ///
    /// # Errors
    /// Returns an error that only values that were unknown during validation reveal.
    pub(super) fn of(object: &Object) -> Result<ArchiveRequest, Diagnostic> {
        let mut diagnostics = Diagnostics::default();
        let way = validate(object, &mut diagnostics);
        if let Some(error) = diagnostics.into_vec().into_iter().find(Diagnostic::is_error) {
            return Err(error);
        }
        let text = |name| object.string(name).unwrap_or_default();
        let invalid = |name| {
            let path = object.path_of(name);
            let detail = format!("{} has no value that can be used.", mayfly_sdk::shown(&path));
            Diagnostic::error("Invalid Attribute Value", detail).at(path)
        };
        let mode = match object.string("output_file_mode") {
            Some(mode) => Some(Mode::parse(&mode).ok_or_else(|| invalid("output_file_mode"))?),
            None => None,
        };
        let contents = match way {
            Some(SOURCE_FILE) => Contents::File(PathBuf::from(&*text(SOURCE_FILE))),
            Some(SOURCE_DIR) => Contents::Directory(Directory {
                path: PathBuf::from(&*text(SOURCE_DIR)),
                excludes: excludes(object)?,
                follow: object.bool("exclude_symlink_directories") != Some(true),
            }),
            Some(_) => Contents::Texts(texts(object)?),
            None => return Err(invalid(WAYS[0])),
        };
        Ok(ArchiveRequest {
            format: Format::parse(&text("type")).ok_or_else(|| invalid("type"))?,
            contents,
            attribute: object.path_of(way.unwrap_or_default()),
            mode,
            output: PathBuf::from(&*text(OUTPUT_PATH)),
        })
    }
}

/// Checks the rules that the schema cannot express. The configuration may be unknown in parts; an unknown
/// attribute counts as set. Returns the attribute for the content if exactly one is set.
pub(super) fn validate(config: &Object, diagnostics: &mut Diagnostics) -> Option<&'static str> {
    requires(config, SOURCE_CONTENT, SOURCE_CONTENT_FILENAME, diagnostics);
    requires(config, SOURCE_CONTENT_FILENAME, SOURCE_CONTENT, diagnostics);
    let given: Vec<&str> = WAYS.into_iter().filter(|way| is_given(config, way)).collect();
    if given.len() != 1 {
        let detail = format!(
            "Exactly one of {} must be given; {}.",
            WAYS.join(", "),
            if given.is_empty() { "none is".to_owned() } else { given.join(" and ") + " are" },
        );
        // Report the last attribute, which is one too many. If none is set, report the first, which could be set.
        let at = given.last().unwrap_or(&WAYS[0]);
        diagnostics.error_at(config.path_of(at), COMBINATION, detail);
        return None;
    }
    if given[0] != SOURCE_DIR && !config.is_absent(EXCLUDES) {
        let detail = format!("{EXCLUDES} leaves out files of {SOURCE_DIR}, which is not set.");
        diagnostics.warn_at(config.path_of(EXCLUDES), "Attribute Without Effect", detail);
    }
    for invalid in [excludes(config).err(), texts(config).err()].into_iter().flatten() {
        diagnostics.push(invalid);
    }
    Some(given[0])
}

/// Returns true if the attribute is set. A set of blocks is never null, so an empty one counts as not set.
fn is_given(config: &Object, way: &str) -> bool {
    let value = config.attr(way);
    !value.is_null() && (way != SOURCE || value.stored_length() != Some(0))
}

/// Parses the globs of `excludes`. They match whole names; `*` and `?` do not match a `/`, `**` does.
fn excludes(config: &Object) -> Result<GlobSet, Diagnostic> {
    let mut set = GlobSetBuilder::new();
    let invalid = |detail: String| {
        Diagnostic::error("Invalid Glob Pattern", detail).at(config.path_of(EXCLUDES))
    };
    for pattern in config.strings(EXCLUDES) {
        let mut glob = GlobBuilder::new(&pattern);
        let glob = glob.literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|it| invalid(format!("{pattern:?}: {}.", it.kind())))?;
        set.add(glob);
    }
    set.build().map_err(|it| invalid(format!("{it}.")))
}

/// Returns the entries that are given as texts. Errors name no element of the set, because its index would be its
/// content.
fn texts(config: &Object) -> Result<Vec<(String, Str)>, Diagnostic> {
    let mut texts = Vec::new();
    let mut names = BTreeSet::new();
    let blocks = config.objects(SOURCE);
    let blocks = blocks.iter().map(|(_, block)| (block, "filename", "content", SOURCE));
    let single = (config, SOURCE_CONTENT_FILENAME, SOURCE_CONTENT, SOURCE_CONTENT_FILENAME);
    for (object, filename, content, attribute) in blocks.chain([single]) {
        let Some(filename) = object.string(filename) else { continue };
        let invalid = |why| {
            let detail = format!("The file name {:?} {why}.", &*filename);
            Diagnostic::error("Invalid File Name", detail).at(config.path_of(attribute))
        };
        let name = entry_name(&filename).ok_or_else(|| invalid("leads out of the archive"))?;
        if !names.insert(name.clone()) {
            return Err(invalid("is listed twice"));
        }
        texts.push((name, object.string(content).unwrap_or_default()));
    }
    Ok(texts)
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

    use super::*;
    use crate::archive::archive_file::schema;
    use mayfly_sdk::Diagnostic;

    /// Creates a configuration from JSON. `"?"` stands for an unknown string or an unknown attribute.
    fn config(members: &str) -> Object {
        let empty = schema().to_provider().block().empty_value();
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
        let set = excludes(&config(
            r#"{"excludes": ["*.log", "a/*", "**/node_modules", "c/**/d", "{x,y}?"]}"#,
        ));
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
        let refused = |members: &str| {
            let order = ArchiveRequest::of(&config(members));
            line(&order.err().expect("is refused"))
        };
        expect![
            ".source: Invalid Attribute Combination: Exactly one of source, source_content, \
                 source_file, source_dir must be given; none is."
        ]
        .assert_eq(&refused(r#"{"type": "zip"}"#));
        expect![".type: Invalid Attribute Value: type has no value that can be used."]
            .assert_eq(&refused(r#"{"source_file": "f", "type": "rar"}"#));
        expect![".output_file_mode: Invalid Attribute Value: output_file_mode has no value that can be used."]
            .assert_eq(&refused(r#"{"source_file": "f", "type": "zip", "output_file_mode": "9"}"#));
        let order = ArchiveRequest::of(&config(
            r#"{"source_dir": "d", "type": "tar.gz", "output_path": "o", "output_file_mode": "0666"}"#,
        ));
        let order = order.unwrap_or_else(|_| unreachable!("nothing is wrong with it"));
        assert_eq!((order.format, order.mode), (Format::TarGz, Some(Mode(0o666))));
        assert!(matches!(&order.contents, Contents::Directory(it) if it.follow));
        assert_eq!(order.attribute, Path::root().attr(SOURCE_DIR));
        assert!(Format::NAMES.iter().all(|it| Format::parse(it).is_some()));
        assert_ne!(config("{}").attr(SOURCE).ty(), Type::Dynamic);
    }
}
