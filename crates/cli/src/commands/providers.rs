//! The `providers schema` command.

use std::collections::BTreeMap;

use db::{Diagnostic, Summary};

use operations::{session::Failure, store};

use crate::{args::ProvidersSchemaArgs, exit::Exit, session::CommandSession};

/// Runs `providers schema`: prints the schemas of all providers as JSON.
pub(crate) fn schema(
    session: &CommandSession,
    args: &ProvidersSchemaArgs,
) -> Result<Exit, Failure> {
    if !args.json {
        let detail = "The `mayfly providers schema` command requires the `-json` flag.";
        return Err(Diagnostic::new(Summary::JSON_REQUIRED, detail).into());
    }
    let mut open = store::open_unlocked(session, None)?;
    let loaded = session.load(Some(&mut open.file.state))?;
    let requirements = session.requirements(&loaded.project, Some(&open.file.state));
    let mut schemas = BTreeMap::new();
    for source in requirements.keys() {
        schemas.insert(source.clone(), loaded.executables.schemas(session, source)?);
    }
    session.ui.line(&render::providers_schema_json(&schemas));
    Ok(Exit::Success)
}
