//! `archive_file`: an archive at a path. The data source creates it at each read, the resource only if something
//! has changed.

use std::{
    fs::File,
    io::{self, ErrorKind, Seek as _, Write as _},
};

use mayfly_sdk::{
    Call, DataCall, DataSource, Diagnostic, Model, PlanChange, Resource, Set, Text, Unknowns,
};

use super::{
    collect::{entries, unreadable},
    order::{self, ArchiveRequest, Format},
    pack::{PackError, pack},
};
use crate::files::{Digests, Draft, IsMode, Mode, beside, file_error};

// The schema follows the public one of the provider `hashicorp/archive`. Another path requires replacement; any other
// change overwrites the archive.
/// An archive of texts, a file, or the files of a directory.
#[derive(Model)]
#[model(validate = order::validate)]
pub(super) struct ArchiveFile {
    /// The format of the archive.
    pub(super) r#type: Format,
    /// The path of the archive. Missing directories are created.
    #[attribute(requires_replace)]
    pub(super) output_path: String,
    /// A text to pack as the file `source_content_filename`.
    pub(super) source_content: Option<Text>,
    /// The name of the file with the text `source_content`.
    pub(super) source_content_filename: Option<Text>,
    /// The path of a file to pack.
    pub(super) source_file: Option<String>,
    /// The path of a directory whose files are packed.
    pub(super) source_dir: Option<String>,
    /// Texts to pack as files.
    #[block]
    pub(super) source: Set<SourceText>,
    /// Globs of what stays outside, relative to source_dir; ** is any directories.
    pub(super) excludes: Option<Set<Text>>,
    /// True to omit links to directories instead of following them.
    pub(super) exclude_symlink_directories: Option<bool>,
    /// The permissions of all entries in octal digits, instead of those of their files.
    #[attribute(validate = IsMode)]
    pub(super) output_file_mode: Option<String>,
    /// The SHA-1 of the archive in hexadecimal digits.
    #[attribute(computed)]
    id: Option<String>,
    /// The size of the archive in bytes.
    #[attribute(computed)]
    output_size: Option<u64>,
    /// The MD5 of the archive in hexadecimal digits.
    #[attribute(computed)]
    output_md5: Option<String>,
    /// The SHA-1 of the archive in hexadecimal digits.
    #[attribute(computed)]
    output_sha: Option<String>,
    /// The SHA-256 of the archive in hexadecimal digits.
    #[attribute(computed)]
    output_sha256: Option<String>,
    /// The SHA-512 of the archive in hexadecimal digits.
    #[attribute(computed)]
    output_sha512: Option<String>,
    /// The SHA-256 of the archive in base64.
    #[attribute(computed)]
    output_base64sha256: Option<String>,
    /// The SHA-512 of the archive in base64.
    #[attribute(computed)]
    output_base64sha512: Option<String>,
}

/// A text that is packed as a file.
#[derive(Model)]
pub(super) struct SourceText {
    /// The text.
    pub(super) content: Text,
    /// The name of the file.
    pub(super) filename: Text,
}

/// The modes of an archive and of directories that are created for it, before the umask of the process applies.
const MODE: Mode = Mode(0o666);
const FOLDERS: Mode = Mode(0o777);

/// The data source and the resource.
pub(super) struct ArchiveType;

impl DataSource<()> for ArchiveType {
    type Model = ArchiveFile;

    fn type_name(&self) -> &'static str {
        "archive_file"
    }

    async fn read(
        &self,
        (): &(),
        config: ArchiveFile,
        _: &mut DataCall,
    ) -> Result<ArchiveFile, Diagnostic> {
        beside(move || config.write()).await
    }
}

impl Resource<()> for ArchiveType {
    type Model = ArchiveFile;

    fn type_name(&self) -> &'static str {
        "archive_file"
    }

    /// Looks for changes that no attribute shows: changed contents of the packed files, and a changed archive.
    async fn plan(&self, (): &(), change: &mut PlanChange) -> Result<(), Diagnostic> {
        if change.planned.value() != change.prior.value() {
            return Ok(());
        }
        let prior = ArchiveFile::decode(&change.prior, Unknowns::Refused)?;
        let order = ArchiveRequest::of(&prior)?;
        let packed = beside(move || digests(&order)).await;
        // A source that cannot be packed yet may be created before the apply. If it is not, the apply reports
        // the error.
        if !packed.is_ok_and(|it| Some(it.sha1) == prior.id) {
            change.expect_changes();
        }
        Ok(())
    }

    async fn create(
        &self,
        (): &(),
        planned: ArchiveFile,
        _: &mut Call,
    ) -> Result<ArchiveFile, Diagnostic> {
        beside(move || planned.write()).await
    }

    async fn read(
        &self,
        (): &(),
        state: ArchiveFile,
        _: &mut Call,
    ) -> Result<Option<ArchiveFile>, Diagnostic> {
        beside(move || match File::open(&state.output_path).and_then(Digests::of) {
            Ok(digests) => Ok(Some(state.with(digests))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let (attribute, path) = (ArchiveFile::OUTPUT_PATH, &state.output_path);
                Err(file_error(attribute, "Archive Cannot Be Read", path, error))
            }
        })
        .await
    }

    async fn update(
        &self,
        client: &(),
        _: ArchiveFile,
        planned: ArchiveFile,
        call: &mut Call,
    ) -> Result<ArchiveFile, Diagnostic> {
        self.create(client, planned, call).await
    }

    /// Keeps the archive, as the data source does: a program that received its path may still need it.
    async fn delete(&self, (): &(), _: ArchiveFile, _: &mut Call) -> Result<(), Diagnostic> {
        Ok(())
    }
}

impl ArchiveFile {
    /// Writes the archive to its place.
    fn write(self) -> Result<ArchiveFile, Diagnostic> {
        let order = ArchiveRequest::of(&self)?;
        let unwritable = |error| unwritable(&order, &error);
        let entries = entries(&order)?;
        let mut draft = Draft::begin(&order.output, MODE, FOLDERS).map_err(unwritable)?;
        pack(order.format, &entries, draft.file()).map_err(|it| not_packed(&order, it))?;
        let digests = digests_of(draft.file()).map_err(unwritable)?;
        draft.keep().map_err(unwritable)?;
        Ok(self.with(digests))
    }

    fn with(self, digests: Digests) -> ArchiveFile {
        ArchiveFile {
            id: Some(digests.sha1.clone()),
            output_size: Some(digests.size),
            output_md5: Some(digests.md5),
            output_sha: Some(digests.sha1),
            output_sha256: Some(digests.sha256),
            output_sha512: Some(digests.sha512),
            output_base64sha256: Some(digests.base64sha256),
            output_base64sha512: Some(digests.base64sha512),
            ..self
        }
    }
}

/// Computes the digests of the archive without writing it to its place.
fn digests(order: &ArchiveRequest) -> Result<Digests, Diagnostic> {
    let entries = entries(order)?;
    let mut file = tempfile::tempfile().map_err(|it| unwritable(order, &it))?;
    pack(order.format, &entries, &mut file).map_err(|it| not_packed(order, it))?;
    digests_of(&mut file).map_err(|it| unwritable(order, &it))
}

fn digests_of(file: &mut File) -> io::Result<Digests> {
    file.flush()?;
    file.rewind()?;
    Digests::of(file)
}

fn not_packed(order: &ArchiveRequest, error: PackError) -> Diagnostic {
    match error {
        PackError::Unreadable(path, error) => unreadable(order, &path, error),
        PackError::Unwritable(error) => unwritable(order, &error),
    }
}

fn unwritable(order: &ArchiveRequest, error: &io::Error) -> Diagnostic {
    file_error(ArchiveFile::OUTPUT_PATH, "Archive Cannot Be Written", &order.output, error)
}
