//! `archive_file`: an archive at a path. The data source creates it at each read, the resource only if something
//! has changed.

use std::{
    fs::File,
    future::ready,
    io::{self, Seek as _, Write as _},
    path::PathBuf,
};

use provider::BoxFuture;
use values::{Type, Value};

use super::{
    collect::{entries, unreadable},
    order::{self, ArchiveRequest, Format, OUTPUT_PATH},
    pack::{PackError, pack},
};
use crate::files::{Digests, Draft, IsMode, Mode, beside, file_error};
use mayfly_sdk::erased::{Change, DataRead, DataSource, Existing, Resource, StepResult};
use mayfly_sdk::{
    Diagnostic, Diagnostics, Object, PlanChange,
    schema::{Attribute, Block, Nesting, Schema, boolean, number, string, typed},
    validate::OneOf,
};

/// The attributes for the digests, in the order of [`Digests`].
const OUTPUTS: [&str; 6] = [
    "output_md5",
    "output_sha",
    "output_sha256",
    "output_sha512",
    "output_base64sha256",
    "output_base64sha512",
];

/// The modes of an archive and of directories that are created for it, before the umask of the process applies.
const MODE: Mode = Mode(0o666);
const FOLDERS: Mode = Mode(0o777);

pub(super) struct ArchiveFile;

/// The schema of the resource and the data source, which follows the public schema of the provider
/// `hashicorp/archive`. Another path requires replacement; any other change overwrites the archive.
pub(super) fn schema() -> Schema {
    let source = Block::new()
        .description("A text that is packed as a file.")
        .attribute("content", string().required())
        .attribute("filename", string().required());
    let computed = |name: &str| if name == "output_size" { number() } else { string() }.computed();
    let mut block = Block::new()
        .description("An archive of texts, a file, or the files of a directory.")
        .attribute("type", string().required().validator(OneOf(Format::NAMES)))
        .attribute(OUTPUT_PATH, string().required().requires_replace())
        .attribute(order::SOURCE_CONTENT, string().optional())
        .attribute(order::SOURCE_CONTENT_FILENAME, string().optional())
        .attribute(order::SOURCE_FILE, string().optional())
        .attribute(order::SOURCE_DIR, string().optional())
        .attribute(order::EXCLUDES, globs())
        .attribute("exclude_symlink_directories", boolean().optional())
        .attribute("output_file_mode", string().optional().validator(IsMode))
        .block(order::SOURCE, Nesting::Set, source);
    for name in OUTPUTS.into_iter().chain(["id", "output_size"]) {
        block = block.attribute(name, computed(name));
    }
    Schema::new(block)
}

fn globs() -> Attribute {
    let text = "Globs of what stays outside, relative to source_dir; ** is any directories.";
    typed(Type::Set(Type::String.into())).optional().description(text)
}

impl DataSource<()> for ArchiveFile {
    fn type_name(&self) -> &'static str {
        "archive_file"
    }

    fn schema(&self) -> Schema {
        schema()
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        order::validate(config, diagnostics);
    }

    fn read<'a>(&'a self, _: &'a (), read: &'a mut DataRead) -> BoxFuture<'a, StepResult> {
        Box::pin(write(&mut read.state))
    }
}

impl Resource<()> for ArchiveFile {
    fn type_name(&self) -> &'static str {
        "archive_file"
    }

    fn schema(&self) -> Schema {
        schema()
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        order::validate(config, diagnostics);
    }

    /// Looks for changes that no attribute shows: changed contents of the packed files, and a changed archive.
    fn plan<'a>(&'a self, _: &'a (), change: &'a mut PlanChange) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            if change.planned.value() != change.prior.value() {
                return Ok(());
            }
            let order = ArchiveRequest::of(&change.prior)?;
            let packed = beside(move || digests(&order)).await;
            // A source that cannot be packed yet may be created before the apply. If it is not, the apply reports
            // the error.
            let is_same =
                packed.is_ok_and(|it| Some(it.id()) == change.prior.string("id").as_deref());
            if !is_same {
                for name in OUTPUTS.iter().chain(&["id"]) {
                    change.planned.set(name, Value::unknown(Type::String));
                }
                change.planned.set("output_size", Value::unknown(Type::Number));
            }
            Ok(())
        })
    }

    fn create<'a>(&'a self, _: &'a (), change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let mut state = change.planned.clone();
            write(&mut state).await?;
            change.state = state;
            Ok(())
        })
    }

    fn read<'a>(&'a self, _: &'a (), existing: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let path = PathBuf::from(&*existing.state.string(OUTPUT_PATH).unwrap_or_default());
            let found = path.clone();
            match beside(move || File::open(found).and_then(Digests::of)).await {
                Ok(digests) => show(&mut existing.state, &digests),
                Err(error) if error.kind() == io::ErrorKind::NotFound => existing.gone(),
                Err(error) => {
                    let attribute = existing.state.path_of(OUTPUT_PATH);
                    return Err(file_error(&attribute, "Archive Cannot Be Read", &path, error));
                }
            }
            Ok(())
        })
    }

    fn update<'a>(&'a self, client: &'a (), change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        self.create(client, change)
    }

    /// Keeps the archive, as the data source does: a program that received its path may still need it.
    fn delete<'a>(&'a self, _: &'a (), _: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(ready(Ok(())))
    }
}

/// Writes the archive that `object` describes and sets the computed attributes.
async fn write(object: &mut Object) -> StepResult {
    let order = ArchiveRequest::of(object)?;
    let digests = beside(move || written(&order)).await?;
    show(object, &digests);
    Ok(())
}

fn show(object: &mut Object, digests: &Digests) {
    digests.show(object, &OUTPUTS);
    object.set("output_size", i64::try_from(digests.size()).unwrap_or(i64::MAX));
}

/// Writes the archive to its place.
fn written(order: &ArchiveRequest) -> Result<Digests, Diagnostic> {
    let unwritable = |error| unwritable(order, &error);
    let entries = entries(order)?;
    let mut draft = Draft::begin(&order.output, MODE, FOLDERS).map_err(unwritable)?;
    pack(order.format, &entries, draft.file()).map_err(|it| not_packed(order, it))?;
    let digests = digests_of(draft.file()).map_err(unwritable)?;
    draft.keep().map_err(unwritable)?;
    Ok(digests)
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
    let attribute = values::Path::root().attr(OUTPUT_PATH);
    file_error(&attribute, "Archive Cannot Be Written", &order.output, error)
}
