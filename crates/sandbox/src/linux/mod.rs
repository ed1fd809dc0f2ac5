//! The mechanisms of Linux: Landlock (`files.rs`), seccomp (`calls.rs`), and the interpreter of a program, which it
//! cannot be executed without (`interpreter.rs`).

pub(crate) mod calls;
pub(crate) mod files;
mod interpreter;

use landlock::{ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr};

use crate::{Policy, Ports};

/// Returns what this kernel lacks for a policy.
pub(crate) fn missing(policy: &Policy) -> Option<String> {
    if !calls::has_filters() {
        return Some(format!(
            "there are no filters of system calls for {}",
            std::env::consts::ARCH
        ));
    }
    let limits_ports = |ports: &Ports| matches!(ports, Ports::Only(_));
    let needs_ports = !policy.is_offline()
        && (limits_ports(&policy.grants.connect) || limits_ports(&policy.grants.bind));
    missing_for(needs_ports, has_files, has_ports)
}

fn missing_for(
    needs_ports: bool,
    has_files: fn() -> bool,
    has_ports: fn() -> bool,
) -> Option<String> {
    if !has_files() {
        // Version 2 cannot prevent that a file is truncated.
        return Some(
            "it needs Landlock in version 3, which Linux has from 6.2 on, if \"landlock\" is among \
             the active security modules (/sys/kernel/security/lsm)"
                .to_owned(),
        );
    }
    (needs_ports && !has_ports()).then(|| {
        "limiting TCP ports needs Landlock in version 4, which Linux has from 6.7 on; without \
         \"connect\" and \"bind\", or with \"all\" for both, this kernel suffices"
            .to_owned()
    })
}

fn has_files() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessFs::from_all(ABI::V3)).and_then(Ruleset::create).is_ok()
}

fn has_ports() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.handle_access(AccessNet::from_all(ABI::V4)).and_then(Ruleset::create).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_kernels_lack_versions_of_landlock() {
        fn yes() -> bool {
            true
        }
        fn no() -> bool {
            false
        }
        let begin = |it: Option<String>| it.map(|it| it[..12].to_owned());
        assert_eq!(begin(missing_for(false, no, no)).as_deref(), Some("it needs Lan"));
        assert_eq!(begin(missing_for(true, yes, no)).as_deref(), Some("limiting TCP"));
        assert_eq!(begin(missing_for(false, yes, no)), None);
        assert_eq!(begin(missing_for(true, yes, yes)), None);
    }
}
