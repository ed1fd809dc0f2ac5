//! `local_file` and `local_sensitive_file` as resources. Every change replaces the file: the old one is removed if
//! it is unchanged, and a new one is written.

use std::{
    fs::{self, File},
    io::{self, Cursor, ErrorKind, Read, Seek as _},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mayfly_sdk::{
    Call, Diagnostic, Diagnostics, Model, Object, Resource, Secret,
    schema::{Attribute, Schema},
    shown,
    validate::{Validator, exactly_one_of},
};
use values::{Path, Value};

use super::Hashes;
use crate::files::{Digests, Draft, IsMode, Mode, beside, file_error};

/// A file of this machine.
#[derive(Model)]
pub(super) struct WrittenFile {
    /// The path of the file. Missing directories are created.
    #[attribute(requires_replace)]
    filename: String,
    /// The content as a text.
    #[attribute(requires_replace)]
    content: Option<String>,
    /// The content as a text that is hidden in all output.
    #[attribute(requires_replace, deprecated = "Use the resource local_sensitive_file instead.")]
    sensitive_content: Option<Secret>,
    /// The content in base64, for bytes that are not a text.
    #[attribute(requires_replace, validate = IsBase64)]
    content_base64: Option<String>,
    /// The path of a file to copy.
    #[attribute(requires_replace)]
    source: Option<String>,
    /// The permissions of the file in octal digits, before the umask applies.
    #[attribute(default = "0777", requires_replace, validate = IsMode)]
    file_permission: String,
    /// The permissions of created directories in octal digits, before the umask applies.
    #[attribute(default = "0777", requires_replace, validate = IsMode)]
    directory_permission: String,
    #[flatten]
    hashes: Hashes,
}

/// The resource types of a file that a configuration writes.
pub(super) enum ManagedFile {
    Plain,
    Sensitive,
}

impl Resource<()> for ManagedFile {
    type Model = WrittenFile;

    fn type_name(&self) -> &'static str {
        match self {
            ManagedFile::Plain => "local_file",
            ManagedFile::Sensitive => "local_sensitive_file",
        }
    }

    fn schema(&self) -> Schema {
        let narrow = |it: Attribute| it.default_value("0700");
        match self {
            ManagedFile::Plain => WrittenFile::schema(),
            ManagedFile::Sensitive => WrittenFile::schema().map_block(|block| {
                block
                    .without(WrittenFile::SENSITIVE_CONTENT)
                    .with(WrittenFile::CONTENT, Attribute::sensitive)
                    .with(WrittenFile::CONTENT_BASE64, Attribute::sensitive)
                    .with(WrittenFile::FILE_PERMISSION, narrow)
                    .with(WrittenFile::DIRECTORY_PERMISSION, narrow)
            }),
        }
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        let ways: &[&str] = match self {
            ManagedFile::Plain => &["content", "sensitive_content", "content_base64", "source"],
            ManagedFile::Sensitive => &["content", "content_base64", "source"],
        };
        exactly_one_of(config, ways, diagnostics);
    }

    async fn create(
        &self,
        (): &(),
        planned: WrittenFile,
        _: &mut Call,
    ) -> Result<WrittenFile, Diagnostic> {
        beside(move || planned.write()).await
    }

    async fn read(
        &self,
        (): &(),
        state: WrittenFile,
        _: &mut Call,
    ) -> Result<Option<WrittenFile>, Diagnostic> {
        beside(move || Ok(state.is_unchanged()?.then_some(state))).await
    }

    async fn delete(&self, (): &(), state: WrittenFile, _: &mut Call) -> Result<(), Diagnostic> {
        beside(move || state.remove()).await
    }
}

/// A validator for base64 texts. Its error does not quote the text.
struct IsBase64;

impl Validator for IsBase64 {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if value.as_str().is_some_and(|text| STANDARD.decode(text).is_err()) {
            diagnostics.push(not_base64(path.clone()));
        }
    }
}

fn not_base64(path: Path) -> Diagnostic {
    Diagnostic::error("Invalid Base64", format!("{} must be base64.", shown(&path))).at(path)
}

impl WrittenFile {
    /// Writes the file to its place.
    fn write(self) -> Result<WrittenFile, Diagnostic> {
        let mode = Mode::of(WrittenFile::FILE_PERMISSION, &self.file_permission)?;
        let folders = Mode::of(WrittenFile::DIRECTORY_PERMISSION, &self.directory_permission)?;
        let mut content = self.open_content()?;
        let written = Draft::begin(self.filename.as_ref(), mode, folders).and_then(|mut draft| {
            io::copy(&mut content, draft.file())?;
            draft.file().rewind()?;
            let digests = Digests::of(draft.file())?;
            draft.keep().map(|()| digests)
        });
        let hashes = written.map_err(|it| self.error("File Cannot Be Written", it))?.into();
        Ok(WrittenFile { hashes, ..self })
    }

    fn open_content(&self) -> Result<Box<dyn Read>, Diagnostic> {
        let secret = self.sensitive_content.as_ref().map(Secret::reveal);
        let text = self.content.as_deref().or(secret).unwrap_or_default();
        Ok(match (&self.source, &self.content_base64) {
            (Some(path), _) => Box::new(open_source(path)?),
            (None, Some(base64)) => {
                let bytes = STANDARD.decode(base64);
                let invalid = |_| not_base64(WrittenFile::CONTENT_BASE64.path());
                Box::new(Cursor::new(bytes.map_err(invalid)?))
            }
            (None, None) => Box::new(Cursor::new(text.to_owned())),
        })
    }

    /// Returns true if the file exists and is unchanged. A file with other content counts as a file of another
    /// program.
    fn is_unchanged(&self) -> Result<bool, Diagnostic> {
        let found = fs::metadata(&self.filename).and_then(|it| match it.is_file() {
            true => File::open(&self.filename).and_then(Digests::of).map(Some),
            false => Ok(None),
        });
        match found {
            Ok(found) => Ok(found.is_some_and(|it| Some(it.sha1) == self.hashes.id)),
            Err(error) if is_nothing(&error) => Ok(false),
            Err(error) => Err(self.error("File Cannot Be Read", error)),
        }
    }

    /// Removes the file if it exists unchanged. In a create-before-destroy replacement, the new file at its place
    /// stays.
    fn remove(&self) -> Result<(), Diagnostic> {
        if !self.is_unchanged()? {
            return Ok(());
        }
        match fs::remove_file(&self.filename) {
            Err(error) if !is_nothing(&error) => Err(self.error("File Cannot Be Removed", error)),
            _ => Ok(()),
        }
    }

    fn error(&self, summary: &str, error: io::Error) -> Diagnostic {
        file_error(WrittenFile::FILENAME, summary, &self.filename, error)
    }
}

/// Opens the source file of a copy.
fn open_source(path: &str) -> Result<File, Diagnostic> {
    let opened = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    opened.map_err(|it| file_error(WrittenFile::SOURCE, "Source Cannot Be Read", path, it))
}

/// Returns true if the error means that nothing exists at a path.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
