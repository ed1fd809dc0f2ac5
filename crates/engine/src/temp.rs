//! `path.temp`: a directory for each module instance of a plan (path-temp RFC, "Temporary Path Layout").
//!
//! ```text
//!   DATA_DIR/tmp/PLAN-ID/HASH-OF-THE-MODULE-INSTANCE
//! ```
//!
//! **Invariant:** the text of a directory follows from the data directory, the plan's ID and the module instance alone, so
//! plan and apply see the same, on whatever machine.
//! **Invariant:** whoever sees the text can write there: the directory is made when an expression first gives it.

use std::{fmt::Write as _, io};

use addr::ModuleInstance;
use hir::Interrupt;
use sha2::{Digest as _, Sha256};
use state::without_temporary_plans;
use values::{Kind, Path, Str, Value};

use crate::walk::{ModuleRun, Walk};

/// How many bytes of a hash tell module instances apart. Two of a million share them in one of 10^12 configurations.
const HASH_BYTES: usize = 10;

/// What stands for the plan's ID where nothing is planned.
const NO_PLAN: &str = "00000000-0000-0000-0000-000000000000";

/// The temporary directory of a plan, in which each module instance has its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TempRoot {
    data_dir: Str,
    plan_id: Str,
}

impl TempRoot {
    /// That of a plan, in the data directory (`.terraform`, or what `TF_DATA_DIR` says).
    pub fn new(data_dir: impl Into<Str>, plan_id: impl Into<Str>) -> TempRoot {
        TempRoot { data_dir: data_dir.into(), plan_id: plan_id.into() }
    }

    /// A place for what is evaluated without a plan. Nothing is ever made there.
    pub fn without_plan() -> TempRoot {
        TempRoot::new(".terraform", NO_PLAN)
    }

    /// The data directory, as it was given.
    pub fn data_dir(&self) -> &str {
        &self.data_dir
    }

    /// The plan's ID.
    pub fn plan_id(&self) -> &str {
        &self.plan_id
    }

    /// The directory of the plan: relative if the data directory is, with slashes, without one at the end.
    pub fn path(&self) -> String {
        format!("{}{}", self.all_plans(), self.plan_id)
    }

    /// What the directories of all plans begin with.
    pub fn all_plans(&self) -> String {
        format!("{}/tmp/", self.data_dir.trim_end_matches('/'))
    }

    /// A value with the paths of an earlier plan where it differs from `before` in the plan alone, and where that is.
    pub(crate) fn with_earlier_paths(&self, before: &Value, after: &Value) -> (Value, Vec<Path>) {
        let prefix = self.all_plans();
        let mut found = Vec::new();
        let with_earlier = after.transform(&mut |path, part| {
            let Kind::String(new) = part.kind() else { return part.clone() };
            if !new.contains(&*prefix) {
                return part.clone();
            }
            let earlier = path.apply(before);
            let old = earlier.as_ref().and_then(Value::as_str);
            let erased = |text: &str| without_temporary_plans(&prefix, text);
            match old.filter(|old| **old != **new && erased(old) == erased(new)) {
                Some(old) => {
                    found.push(path.clone());
                    Value::string(old).with_marks(part.marks())
                }
                None => part.clone(),
            }
        });
        (with_earlier, found)
    }

    /// Whether a path in the directory of the plan stands anywhere in a value.
    pub(crate) fn is_named_in(&self, value: &Value) -> bool {
        value.has_text(&self.path())
    }

    /// What `path.temp` is in a module instance.
    pub fn of(&self, module: &ModuleInstance) -> String {
        let hash = Sha256::digest(module.to_string());
        let mut path = self.path();
        path.push('/');
        for byte in &hash[..HASH_BYTES] {
            let _ = write!(path, "{byte:02x}");
        }
        path
    }
}

/// Makes the directories that `path.temp` gives.
pub trait TempDirectories: Send + Sync {
    /// Makes one, with all above it. That it is there already is no error.
    ///
    /// # Errors
    /// What the system says.
    fn make(&self, path: &str) -> io::Result<()>;
}

/// Makes nothing: for runs in which nobody writes a file.
pub struct NoTempDirectories;

impl TempDirectories for NoTempDirectories {
    fn make(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

impl Walk<'_> {
    /// What `path.temp` is in a module instance: a directory that is there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn temp_directory(&self, module: &ModuleRun) -> Result<Value, Interrupt> {
        if let Some(made) = module.temp.get() {
            return Ok(Value::string(made.clone()));
        }
        let path = Str::from(self.settings.temp.of(&module.address));
        match self.environment.temp.make(&path) {
            Ok(()) => Ok(Value::string(module.temp.get_or_init(|| path).clone())),
            Err(error) => Err(Interrupt::Refused {
                summary: "Failed to create a temporary directory",
                detail: format!(
                    "path.temp is the directory {path} here, which cannot be made: {error}. Check the permissions of the directory that it is in, or name \
                     another place for working files in the environment variable TF_DATA_DIR."
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(text: &str) -> ModuleInstance {
        let resource = addr::parse_resource_instance(&format!("{text}a.b")).expect("is one");
        resource.module
    }

    #[test]
    fn each_module_instance_has_a_directory_of_its_own() {
        let root = TempRoot::new(".terraform", "1111");
        assert_eq!(root.of(&module("")), ".terraform/tmp/1111/e3b0c44298fc1c149afb");
        let mut seen = std::collections::BTreeSet::new();
        let instances = [
            "",
            "module.a.",
            "module.a[0].",
            "module.a[\"0\"].",
            "module.a[1].",
            "module.a.module.b.",
        ];
        for instance in instances {
            let path = root.of(&module(instance));
            let (_, hash) = path.rsplit_once('/').expect("has a parent");
            assert!(hash.len() == 20 && hash.bytes().all(|it| it.is_ascii_hexdigit()), "{path}");
            assert!(seen.insert(path), "{instance}");
        }
    }

    #[test]
    fn the_data_directory_may_be_anywhere() {
        assert_eq!(TempRoot::new("/var/tf/", "1").path(), "/var/tf/tmp/1");
        assert_eq!(TempRoot::new("../data", "1").path(), "../data/tmp/1");
    }
}
