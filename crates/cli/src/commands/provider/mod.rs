//! The command `provider new`: creates the crate of a provider.

mod skeleton;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use db::{Diagnostic, Summary};
use operations::session::Failure;
use skeleton::{Names, Skeleton};

use crate::{
    args::{ProviderCommand, ProviderNewArgs},
    exit::Exit,
    session::CommandSession,
};

/// Runs a command of `provider`.
pub(crate) fn run(session: &CommandSession, command: &ProviderCommand) -> Result<Exit, Failure> {
    match command {
        ProviderCommand::New(args) => create(session, args),
    }
}

fn create(session: &CommandSession, args: &ProviderNewArgs) -> Result<Exit, Failure> {
    let names = Names::of(&args.name, &args.namespace).map_err(failure)?;
    let sdk = match &args.sdk {
        Some(given) => checkout(given).map_err(failure)?,
        None => own_checkout().map_err(failure)?,
    };
    let folder = PathBuf::from(names.package());
    let skeleton = Skeleton { names, sdk };
    write(&folder, &skeleton).map_err(failure)?;
    session.ui.print(&format!(
        "Created {folder}, a provider with a resource, a data source, an ephemeral resource and a function.\n\n\
         Next steps:\n\n  \
         cd {folder}\n  \
         cargo test     # runs the configurations in tests/ through the engine\n  \
         cargo build    # builds the plugin; README.md says how to use it\n\n\
         docs/writing-providers.md in the checkout of Mayfly is a tutorial about this provider.\n",
        folder = folder.display()
    ));
    Ok(Exit::Success)
}

fn failure(detail: String) -> Failure {
    Diagnostic::new(Summary::UNUSABLE_SKELETON, detail).into()
}

/// Writes the files to a new directory. After an error nothing is left.
fn write(folder: &Path, skeleton: &Skeleton) -> Result<(), String> {
    let shown = folder.display();
    fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!(
            "{shown} exists already, and is left as it is. Choose another name, or remove it first."
        ),
        _ => format!("The directory {shown} cannot be created: {error}."),
    })?;
    let written = skeleton.files().into_iter().try_for_each(|file| {
        let path = folder.join(&file.path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, file.text)
    });
    written.map_err(|error| {
        let left = match fs::remove_dir_all(folder) {
            Ok(()) => "",
            Err(_) => " It is left in part.",
        };
        format!("The files of {shown} cannot be written: {error}.{left}")
    })
}

/// Checks that a directory is the root of a checkout, and returns its absolute path.
fn checkout(directory: &Path) -> Result<PathBuf, String> {
    let path = directory.canonicalize().ok().filter(|it| has_sdk(it));
    path.ok_or_else(|| {
        format!(
            "{} is not the root of a checkout of Mayfly: it has no crates/sdk/Cargo.toml. The SDK is a crate of \
             the checkout.",
            directory.display()
        )
    })
}

/// The checkout that this program was built in.
fn own_checkout() -> Result<PathBuf, String> {
    let program = std::env::current_exe().and_then(fs::canonicalize).ok();
    let found = program.as_deref().and_then(|it| it.ancestors().find(|it| has_sdk(it)));
    found.map(Path::to_owned).ok_or_else(|| {
        "This program is not in a checkout of Mayfly, which has the SDK for providers. Name one: -sdk=DIR.".to_owned()
    })
}

fn has_sdk(directory: &Path) -> bool {
    directory.join("crates/sdk/Cargo.toml").is_file()
}
