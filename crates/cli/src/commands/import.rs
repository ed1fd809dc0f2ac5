//! The commands `import`, which takes an existing object into the state, and `state adopt`, which records the
//! outcome of a creation that a provider never confirmed.

use operations::{
    import::{self, Adopted, ImportOptions},
    session::Failure,
    variables::flag::VarFlag,
};

use crate::{
    args::{ImportArgs, StateAdoptArgs},
    exit::Exit,
    session::CommandSession,
    signals,
};

/// Runs `import`.
pub(crate) fn run(
    session: &CommandSession,
    args: &ImportArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    import::address(&args.address)?;
    if let Some(directory) = &args.config {
        session.take_config_directory(directory)?;
    }
    signals::listen(session);
    let options = ImportOptions {
        address: &args.address,
        state: args.state.options(),
        parallelism: args.parallelism.get(),
        input: args.input,
    };
    let is_imported = import::import(session, &options, &args.id, flags)?;
    Ok(ended(session, is_imported))
}

/// Runs `state adopt`.
pub(crate) fn adopt(
    session: &CommandSession,
    args: &StateAdoptArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let address = import::address(&args.address)?;
    signals::listen(session);
    let options = ImportOptions {
        address: &args.address,
        state: args.state.options(),
        parallelism: 1,
        input: args.input,
    };
    match import::adopt(session, &options, args.id.as_deref(), flags)? {
        Adopted::Gone => {
            session.ui.line(&format!(
                "{address} is recorded as not created. The next plan creates it if the configuration \
                 declares it."
            ));
            Ok(Exit::Success)
        }
        adopted => Ok(ended(session, adopted == Adopted::Imported)),
    }
}

fn ended(session: &CommandSession, is_imported: bool) -> Exit {
    if !is_imported {
        return Exit::Failure;
    }
    session.ui.print(
        "\nImport successful!\n\nThe resources that were imported are shown above. These resources \
         are now in\nyour OpenTofu state and will henceforth be managed by OpenTofu.\n\n",
    );
    Exit::Success
}
