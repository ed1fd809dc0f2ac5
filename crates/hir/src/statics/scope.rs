//! The scope of static evaluation.

use std::cell::{Cell, RefCell};

use values::{
    Budget, Str, Value,
    functions::{FunctionEnv, RenderError},
};

use crate::{
    Db,
    expr::Ref,
    scope::{Interrupt, Scope},
    statics::evaluate::{CallPath, local_value, variable_value},
    workspace::StaticInputs,
};

/// The scope of a module on one path of calls.
pub(super) struct StaticScope<'db> {
    db: &'db dyn Db,
    path: CallPath<'db>,
    functions: Functions<'db>,
}

/// The environment of functions: files that were read before, and no value that changes between runs.
struct Functions<'db> {
    static_inputs: &'db StaticInputs,
    wanted: RefCell<Option<Str>>,
    /// Set if a function asked for a value that is not available before planning.
    needs_runtime: Cell<bool>,
    budget: Budget,
}

/// The budget of one static expression. Such an expression gives a source, a version or a path, so it needs
/// little.
const MAX_BYTES: u64 = 64 << 20;

const MAX_STEPS: u64 = 1_000_000;

impl<'db> StaticScope<'db> {
    pub(super) fn new(db: &'db dyn Db, path: CallPath<'db>) -> StaticScope<'db> {
        let static_inputs = path.workspace(db).static_inputs(db);
        let budget = Budget::new(MAX_BYTES).with_steps(MAX_STEPS);
        let functions = Functions {
            static_inputs,
            wanted: RefCell::default(),
            needs_runtime: Cell::new(false),
            budget,
        };
        StaticScope { db, path, functions }
    }

    /// Returns true if a function asked for a value that is not available before planning.
    pub(super) fn needs_runtime(&self) -> bool {
        self.functions.needs_runtime.get()
    }

    /// A file that a function asked for and that is not read yet. `None` if there is none.
    pub(super) fn wanted_file(&self) -> Option<Str> {
        self.functions.wanted.borrow().clone()
    }

    fn path_of_module(&self) -> String {
        let root = self.path.workspace(self.db).root(self.db).path(self.db);
        relative_to(root, self.path.directory(self.db).path(self.db))
    }
}

/// The directory of a module relative to the root module. Editors use absolute directories.
fn relative_to(root: &str, directory: &str) -> String {
    if root == directory {
        return ".".to_owned();
    }
    if !root.starts_with('/') || !directory.starts_with('/') {
        return directory.to_owned();
    }
    let (root, directory): (Vec<&str>, Vec<&str>) =
        (root.split('/').collect(), directory.split('/').collect());
    let common = root.iter().zip(&directory).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", root.len() - common);
    up.chain(directory[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

impl Scope for StaticScope<'_> {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        let known = |outcome: &super::evaluate::Outcome| match outcome {
            Ok(value) => Ok(value.0.clone()),
            Err(_) => Err(Interrupt::Poisoned),
        };
        let static_inputs = self.functions.static_inputs;
        match reference {
            Ref::Variable(name) => known(variable_value(self.db, self.path, name)),
            Ref::Local(name) => known(local_value(self.db, self.path, name)),
            Ref::PathModule => Ok(Value::string(self.path_of_module())),
            Ref::PathRoot => Ok(Value::string(".")),
            Ref::PathCwd => Ok(Value::string(static_inputs.current_directory.clone())),
            Ref::Workspace => Ok(Value::string(static_inputs.workspace.clone())),
            // `check_references` refuses these references before the evaluation.
            _ => Err(Interrupt::Poisoned),
        }
    }

    // `check_references` refuses provider functions before the evaluation.
    fn provider_function(&self, _: &str, _: &[Value]) -> Result<Value, Interrupt> {
        Err(Interrupt::Poisoned)
    }

    fn functions(&self) -> &dyn FunctionEnv {
        &self.functions
    }
}

impl FunctionEnv for Functions<'_> {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        match self.static_inputs.files.get(path) {
            Some(Some(bytes)) => Ok(bytes.to_vec()),
            Some(None) => Err(format!("no file can be read at {path:?}")),
            None => {
                self.wanted.borrow_mut().get_or_insert_with(|| path.into());
                Err(format!("{path:?} was not read yet"))
            }
        }
    }

    fn file_exists(&self, path: &str) -> Result<bool, String> {
        match self.static_inputs.files.get(path) {
            Some(file) => Ok(file.is_some()),
            None => self.read_file(path).map(|_| true),
        }
    }

    fn list_directory(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        self.needs_runtime.set(true);
        Err(format!(
            "{path:?} cannot be listed for something that is needed before anything is planned"
        ))
    }

    fn base_directory(&self) -> Option<String> {
        Some(self.static_inputs.base_directory.to_string())
    }

    fn home_directory(&self) -> Option<String> {
        self.static_inputs.home_directory.as_ref().map(ToString::to_string)
    }

    fn render_template(&self, name: &str, _: &str, _: &Value) -> Result<Value, RenderError> {
        self.needs_runtime.set(true);
        Err(format!(
            "the template {name:?} cannot be rendered for something that is needed before anything is planned"
        )
        .into())
    }

    fn now(&self) -> Option<String> {
        None
    }

    fn budget(&self) -> Option<&Budget> {
        Some(&self.budget)
    }

    fn uuid(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_module_is_relative_to_the_root_directory() {
        let cases = [
            (".", ".", "."),
            (".", "m/n", "m/n"),
            ("/w", "/w", "."),
            ("/w", "/w/m", "m"),
            ("/w/a", "/w/b/c", "../b/c"),
        ];
        for (root, directory, expected) in cases {
            assert_eq!(relative_to(root, directory), expected, "{root} {directory}");
        }
    }
}
