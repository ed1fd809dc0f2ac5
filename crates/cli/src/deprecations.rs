//! The selection of warnings about deprecated variables, outputs and attributes (`-deprecation`).

use std::path::{Path, PathBuf};

use db::{Diagnostic, System, system::normalize};

use crate::args::DeprecationScope;

/// The data directory if `TF_DATA_DIR` names no other.
const DATA_DIRECTORY: &str = ".terraform";

/// Selects warnings about deprecated things by the module that declares them.
#[derive(Default)]
pub(crate) struct DeprecationFilter {
    scope: DeprecationScope,
    /// The directory of installed module packages, in the form of the paths in diagnostics.
    packages: PathBuf,
}

impl DeprecationFilter {
    /// Creates the filter of a command.
    pub(crate) fn new(scope: DeprecationScope, system: &dyn System) -> DeprecationFilter {
        let data = system.variable("TF_DATA_DIR").filter(|it| !it.is_empty());
        let data = PathBuf::from(data.unwrap_or_else(|| DATA_DIRECTORY.into()));
        let here = std::env::current_dir().unwrap_or_default();
        let data = data.strip_prefix(here).map(Path::to_owned).unwrap_or(data);
        DeprecationFilter { scope, packages: normalize(&data.join("modules")) }
    }

    /// Leaves out the warnings that are not wanted, and repetitions.
    pub(crate) fn select(&self, warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut warnings = render::without_repeated_deprecations(warnings);
        warnings.retain(|it| !it.is_deprecation() || self.is_wanted(it));
        warnings
    }

    fn is_wanted(&self, warning: &Diagnostic) -> bool {
        match self.scope {
            DeprecationScope::All => true,
            DeprecationScope::None => false,
            DeprecationScope::Local => {
                // The first related place is the declaration. An attribute of a provider has none.
                let declared = warning.related.first().map(|it| &it.location);
                let place = declared.or(warning.location.as_ref());
                place.is_none_or(|it| !Path::new(&*it.path).starts_with(&self.packages))
            }
        }
    }
}
