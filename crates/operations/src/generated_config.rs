//! The file of `plan -generate-config-out`: the configuration of imported objects that have none.

use std::{
    fs::File,
    io::{ErrorKind, Write as _},
    path::Path,
};

use db::{Diagnostic, Summary};
use state::{Importing, Plan, PlanMode};

use crate::session::{Failure, Session};

/// The first lines of the file, with OpenTofu's name as in a plan: scripts search for them.
const HEADER: &str = "# __generated__ by OpenTofu\n# Please review these resources and move them into your main \
                      configuration files.\n";

/// Checks before a plan that it may write its generated configuration to a file.
///
/// # Errors
/// If the plan is no normal one, or if the file exists already.
pub(crate) fn check(session: &Session, out: &Path, mode: PlanMode) -> Result<(), Failure> {
    if mode != PlanMode::Normal {
        let detail = "Config can only be generated during a normal plan operation, and not during a \
                      refresh-only or destroy plan.";
        return Err(Diagnostic::new(Summary::GENERATION_MODE, detail).into());
    }
    match session.at(out).symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        _ => Err(exists().into()),
    }
}

/// Writes the generated configuration of a plan. Returns the warning about it. `None` if there is no such
/// configuration, and so no file.
///
/// # Errors
/// If the file cannot be created, or exists already.
pub(crate) fn write(
    session: &Session,
    out: &Path,
    plan: &Plan,
) -> Result<Option<Diagnostic>, Box<Diagnostic>> {
    let Some(text) = text(plan) else { return Ok(None) };
    let created = File::create_new(session.at(out));
    created.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        if error.kind() == ErrorKind::AlreadyExists {
            return Box::new(exists());
        }
        let detail = format!(
            "Mayfly could not create the generated file ({}) in the target directory: {error}. Check \
             the path and the permissions of the directory, and try again.",
            out.display()
        );
        Box::new(Diagnostic::new(Summary::GENERATION_FILE_WRITE, detail))
    })?;
    let detail = "Generating configuration during import is currently experimental, and the generated \
                  configuration format may change in future versions.";
    Ok(Some(Diagnostic::new(Summary::GENERATION_EXPERIMENTAL, detail)))
}

/// The generated configuration of a plan as the text of a file. `None` if it has none.
pub(crate) fn text(plan: &Plan) -> Option<String> {
    let generated = plan.changes().filter(|it| !it.change.generated_config.is_empty());
    let blocks: String = generated
        .map(|it| {
            let from = match it.change.importing.as_deref() {
                Some(Importing::Id(id)) => format!(" from {}", values::go_quoted(id)),
                _ => String::new(),
            };
            format!("\n# __generated__ by OpenTofu{from}\n{}\n", it.change.generated_config)
        })
        .collect();
    (!blocks.is_empty()).then(|| format!("{HEADER}{blocks}"))
}

fn exists() -> Diagnostic {
    let detail = "Mayfly can only write generated config into a new file. Either choose a different \
                  target location or move all existing configuration out of the target file, delete \
                  it and try again.";
    Diagnostic::new(Summary::GENERATION_FILE_EXISTS, detail)
}
