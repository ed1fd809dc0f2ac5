//! Applies a policy to this process, and names the features that the system lacks for it.

use std::path::Path;

use crate::Policy;

/// The next step of a process after it has restricted itself.
#[derive(Clone, Copy, Debug)]
pub enum Start<'a> {
    /// It executes this program.
    Program(&'a Path),
    /// It goes on, and executes nothing.
    InProcess,
}

/// The reason why a process could not restrict itself.
#[derive(Debug, thiserror::Error)]
pub enum RestrictError {
    /// The system lacks something that the policy needs.
    #[error("{0}")]
    Missing(String),
    /// The system refused the restriction.
    #[error("the system refused it: {0}")]
    Refused(String),
}

/// Returns the features that this system lacks for a policy, as a sentence fragment. `None` if nothing is missing.
#[must_use]
pub fn missing(policy: &Policy) -> Option<String> {
    #[cfg(target_os = "linux")]
    return crate::linux::missing(policy);
    #[cfg(not(target_os = "linux"))]
    {
        let _any = policy;
        Some("sandboxes exist only on Linux".to_owned())
    }
}

/// Restricts this process and all that it starts. Call it while the process has a single thread. Returns the errors of
/// the mechanisms that could not be applied, if the policy is not required and [`missing`] returns nothing for it.
///
/// # Errors
/// If the policy is required and cannot be applied as a whole.
pub fn restrict(policy: &Policy, start: Start<'_>) -> Result<Vec<RestrictError>, RestrictError> {
    let missing = missing(policy);
    if !policy.is_required {
        // A container may refuse one mechanism and permit the other.
        let refused = apply(policy, start).into_iter().filter_map(Result::err).collect();
        return Ok(if missing.is_none() { refused } else { Vec::new() });
    }
    match missing {
        Some(missing) => Err(RestrictError::Missing(missing)),
        None => apply(policy, start).into_iter().collect::<Result<(), _>>().map(|()| Vec::new()),
    }
}

/// Applies each mechanism of the system, also after another one failed.
#[cfg(target_os = "linux")]
fn apply(policy: &Policy, start: Start<'_>) -> [Result<(), RestrictError>; 2] {
    [crate::linux::files::restrict(policy, start), crate::linux::calls::restrict(policy, start)]
}

#[cfg(not(target_os = "linux"))]
fn apply(_: &Policy, _: Start<'_>) -> [Result<(), RestrictError>; 0] {
    []
}
