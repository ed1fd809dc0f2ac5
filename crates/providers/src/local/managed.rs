//! `local_file` and `local_sensitive_file` as resources. Every change replaces the file: the old one is removed if
//! it is unchanged, and a new one is written.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use provider::BoxFuture;
use values::{Path as AttributePath, Str, Value};

use super::{CONTENT_HASHES, with_hashes};
use crate::files::{Digests, Draft, IsMode, Mode, beside, file_error};
use mayfly_sdk::erased::{Change, Existing, Resource, StepResult};
use mayfly_sdk::{
    Diagnostic, Diagnostics, Object,
    schema::{Attribute, Block, Schema, string},
    validate::{Validator, exactly_one_of},
};

const FILENAME: &str = "filename";
const CONTENT: &str = "content";
const CONTENT_BASE64: &str = "content_base64";
const SENSITIVE_CONTENT: &str = "sensitive_content";
const SOURCE: &str = "source";
const FILE_PERMISSION: &str = "file_permission";
const DIRECTORY_PERMISSION: &str = "directory_permission";

/// The summary of errors about the managed file.
const UNWRITABLE: &str = "File Cannot Be Written";

/// The resource type of a file that a configuration writes.
pub(super) struct ManagedFile {
    type_name: &'static str,
    /// The attributes for the content. A configuration sets exactly one of them.
    ways: &'static [&'static str],
    sensitive: bool,
    permissions: &'static str,
}

impl ManagedFile {
    pub(super) const PLAIN: ManagedFile = ManagedFile {
        type_name: "local_file",
        ways: &[CONTENT, SENSITIVE_CONTENT, CONTENT_BASE64, SOURCE],
        sensitive: false,
        permissions: "0777",
    };

    pub(super) const SENSITIVE: ManagedFile = ManagedFile {
        type_name: "local_sensitive_file",
        ways: &[CONTENT, CONTENT_BASE64, SOURCE],
        sensitive: true,
        permissions: "0700",
    };

    fn way(&self, name: &str) -> Attribute {
        let way = string().optional().requires_replace();
        match name {
            SENSITIVE_CONTENT => {
                way.sensitive().deprecated("Use the resource local_sensitive_file instead.")
            }
            CONTENT_BASE64 if self.sensitive => way.validator(IsBase64).sensitive(),
            CONTENT_BASE64 => way.validator(IsBase64),
            CONTENT if self.sensitive => way.sensitive(),
            _ => way,
        }
    }

    fn permission(&self) -> Attribute {
        let default = string().optional().default_value(self.permissions);
        default.requires_replace().validator(IsMode)
    }
}

/// A validator for base64 texts. Its error does not quote the text.
struct IsBase64;

impl Validator for IsBase64 {
    fn validate(&self, path: &AttributePath, value: &Value, diagnostics: &mut Diagnostics) {
        if value.as_str().is_some_and(|text| STANDARD.decode(text).is_err()) {
            diagnostics.push(not_base64(path));
        }
    }
}

fn not_base64(path: &AttributePath) -> Diagnostic {
    Diagnostic::error("Invalid Base64", format!("{} must be base64.", mayfly_sdk::shown(path)))
        .at(path.clone())
}

impl Resource<()> for ManagedFile {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn schema(&self) -> Schema {
        let block = Block::new()
            .description("A file of this machine.")
            .attribute(FILENAME, string().required().requires_replace())
            .attribute(FILE_PERMISSION, self.permission())
            .attribute(DIRECTORY_PERMISSION, self.permission());
        let block = self.ways.iter().fold(block, |it, way| it.attribute(way, self.way(way)));
        Schema::new(with_hashes(block))
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        exactly_one_of(config, self.ways, diagnostics);
    }

    fn create<'a>(&'a self, _: &'a (), change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let order = FileRequest::of(&change.planned, self.ways)?;
            let digests = beside(move || order.written()).await?;
            let mut state = change.planned.clone();
            digests.show(&mut state, &CONTENT_HASHES);
            change.state = state;
            Ok(())
        })
    }

    fn read<'a>(&'a self, _: &'a (), existing: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let file = Known::of(&existing.state);
            if !beside(move || file.is_there()).await? {
                existing.gone();
            }
            Ok(())
        })
    }

    /// Every change is a replacement, so there is no separate update.
    fn update<'a>(&'a self, client: &'a (), change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        self.create(client, change)
    }

    fn delete<'a>(&'a self, _: &'a (), existing: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let file = Known::of(&existing.state);
            beside(move || file.remove()).await
        })
    }
}

/// A file to write. It has no `Debug`, because its content may be secret.
struct FileRequest {
    path: PathBuf,
    content: Content,
    mode: Mode,
    folders: Mode,
}

/// The source of the bytes.
enum Content {
    Text(Str),
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl FileRequest {
    /// Creates the request from a wholly known plan.
    fn of(planned: &Object, ways: &[&str]) -> Result<FileRequest, Diagnostic> {
        let mut diagnostics = Diagnostics::default();
        exactly_one_of(planned, ways, &mut diagnostics);
        if let Some(error) = diagnostics.into_vec().pop() {
            return Err(error);
        }
        let way = ways.iter().find_map(|way| Some((*way, planned.string(way)?)));
        let content = match way.unwrap_or_default() {
            (SOURCE, path) => Content::File(PathBuf::from(&*path)),
            (CONTENT_BASE64, text) => {
                let bytes = STANDARD.decode(&*text);
                Content::Bytes(bytes.map_err(|_| not_base64(&planned.path_of(CONTENT_BASE64)))?)
            }
            (_, text) => Content::Text(text),
        };
        let mode = |name| {
            let mode = planned.string(name).as_deref().and_then(Mode::parse);
            mode.ok_or_else(|| {
                let detail = format!("{name} must be permissions in octal digits.");
                Diagnostic::error("Invalid File Mode", detail).at(planned.path_of(name))
            })
        };
        Ok(FileRequest {
            path: PathBuf::from(&*planned.string(FILENAME).unwrap_or_default()),
            content,
            mode: mode(FILE_PERMISSION)?,
            folders: mode(DIRECTORY_PERMISSION)?,
        })
    }

    /// Writes the file to its place and returns its digests.
    fn written(&self) -> Result<Digests, Diagnostic> {
        let mut source = match &self.content {
            Content::File(path) => Some(source(path)?),
            _ => None,
        };
        let unwritable = |error: io::Error| self.unwritable(&error);
        let mut draft = Draft::begin(&self.path, self.mode, self.folders).map_err(unwritable)?;
        let file = draft.file();
        match (&self.content, &mut source) {
            (Content::Bytes(bytes), _) => file.write_all(bytes),
            (Content::Text(text), _) => file.write_all(text.as_bytes()),
            (Content::File(_), Some(source)) => io::copy(source, file).map(drop),
            (Content::File(_), None) => Ok(()),
        }
        .map_err(unwritable)?;
        file.rewind().map_err(unwritable)?;
        let digests = Digests::of(file).map_err(unwritable)?;
        draft.keep().map_err(unwritable)?;
        Ok(digests)
    }

    fn unwritable(&self, error: &io::Error) -> Diagnostic {
        file_error(&AttributePath::root().attr(FILENAME), UNWRITABLE, &self.path, error)
    }
}

/// Opens the source file of a copy.
fn source(path: &Path) -> Result<File, Diagnostic> {
    let attribute = AttributePath::root().attr(SOURCE);
    let error = |error: io::Error| file_error(&attribute, "Source Cannot Be Read", path, error);
    let file = File::open(path).map_err(error)?;
    if file.metadata().map_err(error)?.is_dir() {
        return Err(error(ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// A file that an earlier run wrote.
struct Known {
    path: PathBuf,
    id: Option<Str>,
}

impl Known {
    fn of(state: &Object) -> Known {
        let path = PathBuf::from(&*state.string(FILENAME).unwrap_or_default());
        Known { path, id: state.string("id") }
    }

    /// Returns true if the file exists and is unchanged. A file with other content counts as a file of another
    /// program.
    fn is_there(&self) -> Result<bool, Diagnostic> {
        let found = fs::metadata(&self.path).and_then(|it| match it.is_file() {
            true => File::open(&self.path).and_then(Digests::of).map(Some),
            false => Ok(None),
        });
        match found {
            Ok(found) => Ok(found.is_some_and(|it| Some(it.id()) == self.id.as_deref())),
            Err(error) if is_nothing(&error) => Ok(false),
            Err(error) => Err(self.error("File Cannot Be Read", &error)),
        }
    }

    /// Removes the file if it exists unchanged. In a create-before-destroy replacement, the new file at its place
    /// stays.
    fn remove(&self) -> StepResult {
        if !self.is_there()? {
            return Ok(());
        }
        match fs::remove_file(&self.path) {
            Err(error) if !is_nothing(&error) => Err(self.error("File Cannot Be Removed", &error)),
            _ => Ok(()),
        }
    }

    fn error(&self, summary: &str, error: &io::Error) -> Diagnostic {
        file_error(&AttributePath::root().attr(FILENAME), summary, &self.path, error)
    }
}

/// Returns true if the error means that nothing exists at a path.
fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
