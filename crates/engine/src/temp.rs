//! `path.temp`: a directory for each module instance of a plan, with the layout of the `path.temp` RFC.
//!
//! ```text
//!   DATA_DIR/tmp/PLAN-ID/HASH-OF-THE-MODULE-INSTANCE
//! ```
//!
//! **Invariant:** the path of a directory depends only on the data directory, the plan ID and the module instance,
//! so that plan and apply use the same path on any machine.
//! **Invariant:** a directory exists before an expression can use its path: the first evaluation of `path.temp`
//! creates it.

use std::io;

use addr::ModuleInstance;
use sha2::{Digest as _, Sha256};
use state::without_temporary_plans;
use values::{Kind, Path, Str, Value};

/// The number of hash bytes that distinguish module instances. With a million instances, the probability of a
/// collision is about 10^-12.
const HASH_BYTES: usize = 10;

/// The plan ID for evaluations outside of a plan.
const NO_PLAN: &str = "00000000-0000-0000-0000-000000000000";

/// The temporary directory of a plan, which contains a directory for each module instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TempRoot {
    data_dir: Str,
    plan_id: Str,
}

impl TempRoot {
    /// Creates the directory of a plan in the data directory (`.terraform` or the value of `TF_DATA_DIR`).
    pub fn new(data_dir: impl Into<Str>, plan_id: impl Into<Str>) -> TempRoot {
        TempRoot { data_dir: data_dir.into(), plan_id: plan_id.into() }
    }

    /// Returns a path for evaluations outside of a plan. Nothing is ever created there.
    pub fn without_plan() -> TempRoot {
        TempRoot::new(".terraform", NO_PLAN)
    }

    /// The data directory, as the caller passed it.
    pub fn data_dir(&self) -> &str {
        &self.data_dir
    }

    /// The plan ID.
    pub fn plan_id(&self) -> &str {
        &self.plan_id
    }

    /// Returns the directory of the plan, with forward slashes and without a trailing one. It is relative if the
    /// data directory is.
    pub fn path(&self) -> String {
        format!("{}{}", self.all_plans(), self.plan_id)
    }

    /// Returns the common prefix of the directories of all plans.
    pub fn all_plans(&self) -> String {
        format!("{}/tmp/", self.data_dir.trim_end_matches('/'))
    }

    /// Replaces strings of `after` that differ from `before` only in the plan ID of a temporary path by their
    /// earlier text. Returns the new value and the paths of the replaced strings.
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

    /// Returns true if a string in the value contains a path in the directory of this plan.
    pub(crate) fn is_named_in(&self, value: &Value) -> bool {
        value.has_text(&self.path())
    }

    /// Returns the value of `path.temp` for a module instance.
    pub fn of(&self, module: &ModuleInstance) -> String {
        let hash = Sha256::digest(module.to_string());
        format!("{}/{}", self.path(), base16ct::lower::encode_string(&hash[..HASH_BYTES]))
    }
}

/// Creates the directories of `path.temp`.
pub trait TempDirectories: Send + Sync {
    /// Creates a directory and its parents. Succeeds if it exists already.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    fn make(&self, path: &str) -> io::Result<()>;
}

/// Creates no directories, for runs in which no file is written.
pub struct NoTempDirectories;

impl TempDirectories for NoTempDirectories {
    fn make(&self, _: &str) -> io::Result<()> {
        Ok(())
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
    fn each_module_instance_has_its_own_temporary_directory() {
        let root = TempRoot::new(".terraform", "1111");
        assert_eq!(root.of(&module("")), ".terraform/tmp/1111/e3b0c44298fc1c149afb");
        let mut seen = sorted::TreeSet::new();
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
    fn temporary_directories_lie_in_the_data_directory() {
        assert_eq!(TempRoot::new("/var/tf/", "1").path(), "/var/tf/tmp/1");
        assert_eq!(TempRoot::new("../data", "1").path(), "../data/tmp/1");
    }
}
