//! `init -backend-config`: backend arguments from the command line, which add to those of the configuration or
//! replace them.
//!
//! **Invariant:** no message of this module quotes a value. Text that cannot be parsed may be a secret given
//! without a name. The path of a state that was parsed is shown, like a path in the configuration
//! ([`crate::place`]).

use std::path::Path;

use db::{Diagnostic, Location, Sources, Summary};
use hir::{
    statics::{LOCAL_ARGUMENTS, LocalBackend},
    suggest, variables_file,
};
use sorted::TreeMap;
use values::{Kind, Str, Type, convert};

use crate::{
    session::{Failure, Session},
    variables,
};

/// The arguments of the local backend that the flags give. A later flag replaces an earlier one. `None` unsets an
/// argument.
#[derive(Default)]
pub(crate) struct BackendConfig {
    arguments: TreeMap<Str, Option<Str>>,
}

impl BackendConfig {
    /// Reads the flags in order, each either `NAME=VALUE` or the name of a file. Returns `None` if there are no
    /// flags.
    ///
    /// # Errors
    /// Diagnostics for arguments that the local backend does not have, and for files that cannot be read or
    /// parsed.
    pub(crate) fn read(
        session: &Session,
        flags: &[String],
    ) -> Result<Option<BackendConfig>, Failure> {
        let mut config = BackendConfig::default();
        for flag in flags {
            match flag.split_once('=') {
                // An empty flag asks for the configuration alone. It drops the arguments of earlier `init` runs.
                None if flag.is_empty() => {}
                Some((name, value)) => config.argument(name, value)?,
                None => config.file(session, Path::new(flag))?,
            }
        }
        Ok((!flags.is_empty()).then_some(config))
    }

    fn argument(&mut self, name: &str, value: &str) -> Result<(), Failure> {
        let name = name.trim();
        if !LOCAL_ARGUMENTS.contains(&name) {
            let detail = format!(
                "An argument that is given on the command line is not expected for {}",
                backend_and_hint(name)
            );
            return Err(Diagnostic::new(Summary::INVALID_BACKEND_CONFIG, detail).into());
        }
        let text = Some(Str::from(value));
        match empty(name, text.as_ref(), None) {
            Some(problem) => Err(problem.into()),
            None => {
                self.arguments.insert(name.into(), text);
                Ok(())
            }
        }
    }

    fn file(&mut self, session: &Session, path: &Path) -> Result<(), Failure> {
        let bytes = session.system.read_file_or_pipe(path).map_err(|error| {
            let detail = format!(
                "A file that -backend-config names could not be read: {error}. A single argument is written NAME=VALUE."
            );
            Diagnostic::new(Summary::UNREADABLE_BACKEND_CONFIG, detail)
        })?;
        let read = variables_file::read(&path.display().to_string(), &bytes);
        let mut problems: Vec<Diagnostic> = read.problems.into_iter().map(in_own_words).collect();
        for assignment in read.assignments {
            match value(&assignment) {
                Ok(text) => {
                    problems.extend(empty(
                        &assignment.name,
                        text.as_ref(),
                        Some(assignment.location),
                    ));
                    self.arguments.insert(assignment.name, text);
                }
                Err(problem) => problems.push(*problem),
            }
        }
        if problems.is_empty() {
            return Ok(());
        }
        let sources =
            Sources { files: variables::masked_file(&*session.system, path).into_iter().collect() };
        Err(Failure::Diagnostics(problems, sources))
    }

    /// Merges the flags into the configured backend. An argument of the flags wins.
    pub(crate) fn over(&self, configured: &LocalBackend) -> LocalBackend {
        let argument = |name: &str, configured: &Option<Str>| match self.arguments.get(name) {
            Some(given) => given.clone(),
            None => configured.clone(),
        };
        LocalBackend {
            path: argument("path", &configured.path),
            workspace_dir: argument("workspace_dir", &configured.workspace_dir),
        }
    }
}

/// The text that a file assigns to an argument. `None` for null, which unsets the argument.
fn value(assignment: &variables_file::Assignment) -> Result<Option<Str>, Box<Diagnostic>> {
    let name = &assignment.name;
    if !LOCAL_ARGUMENTS.contains(&&**name) {
        let detail = format!("This argument is not expected for {}", backend_and_hint(name));
        let at = Location { range: assignment.name_range, ..assignment.location.clone() };
        let problem = Diagnostic::new(Summary::UNSUPPORTED_BACKEND_ARGUMENT, detail);
        return Err(Box::new(problem.at(Some(at))));
    }
    let text = convert::convert(&assignment.value, &Type::String).map_err(|_| {
        let detail = format!("Inappropriate value for attribute \"{name}\": string required.");
        let problem = Diagnostic::new(Summary::BACKEND_ARGUMENT_TYPE, detail);
        Box::new(problem.at(Some(assignment.location.clone())))
    })?;
    Ok(match text.kind() {
        Kind::String(text) => Some(Str::from(text.clone())),
        _ => None,
    })
}

/// The end of a sentence that names the backend, its arguments, and the argument closest to `name` if it looks
/// mistyped.
fn backend_and_hint(name: &str) -> String {
    let close = suggest::closest(name, LOCAL_ARGUMENTS);
    let hint = close.map(|it| format!(" Did you mean \"{it}\"?")).unwrap_or_default();
    format!("the selected backend type, which has {}.{hint}", LOCAL_ARGUMENTS.join(" and "))
}

/// Returns an error if a path argument is an empty text.
fn empty(name: &str, text: Option<&Str>, at: Option<Location>) -> Option<Diagnostic> {
    let is_empty = text.is_some_and(|it| it.is_empty());
    let summary = match name {
        "workspace_dir" => Summary::EMPTY_WORKSPACE_DIR_FLAG,
        _ => Summary::EMPTY_STATE_PATH_FLAG,
    };
    let detail = format!("The \"{name}\" attribute value must not be empty.");
    is_empty.then(|| Diagnostic::new(summary, detail).at(at))
}

/// Replaces the detail of a parse error in a `-backend-config` file, because the original one describes variables
/// files.
fn in_own_words(problem: Diagnostic) -> Diagnostic {
    let detail = "A file that -backend-config names has lines NAME = VALUE, each with a constant \
                  value: no blocks, no variables, no calls. Text is written in quotes. The content \
                  is not shown here, because it may be a secret.";
    let summary = Summary::backend_config_fault(problem.summary);
    Diagnostic { summary, detail: detail.to_owned(), ..problem }
}
