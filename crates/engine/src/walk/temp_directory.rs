//! The value of `path.temp`, and the directory behind it.

use db::Summary;
use hir::Interrupt;
use values::{Str, Value};

use crate::walk::{context::Walk, modules::ModuleRun};

impl Walk<'_> {
    /// Returns the value of `path.temp` in a module instance, and creates the directory.
    ///
    /// # Errors
    /// Fails if the directory cannot be created.
    pub(crate) fn temp_directory(&self, module: &ModuleRun) -> Result<Value, Interrupt> {
        if let Some(made) = module.temp.get() {
            return Ok(Value::string(made.clone()));
        }
        let path = Str::from(self.settings.temp.of(&module.address));
        match self.environment.temp.make(&path) {
            Ok(()) => Ok(Value::string(module.temp.get_or_init(|| path).clone())),
            Err(error) => Err(Interrupt::Refused {
                summary: Summary::TEMP_DIRECTORY,
                detail: format!(
                    "path.temp is the directory {path} here, which cannot be made: {error}. Check \
                     the permissions of the directory that it is in, or name another place for \
                     working files in the environment variable TF_DATA_DIR."
                ),
            }),
        }
    }
}
