//! The results of the `dynamic` blocks of vaults in a plan. The content of a `dynamic` block without elements is
//! not evaluated.

use db::Diagnostic;
use state::{Plan, ResourceChange};
use values::{Kind, Value};

/// The blocks around a place, in the form in which [`generate`](crate::generate) writes them.
struct Around<'t> {
    /// The directory of the module; empty for the root module.
    module: &'t str,
    /// The name of the vault.
    vault: &'t str,
    /// The number of its literal `replica` blocks.
    written: usize,
    /// True if the place is in a `dynamic` block. `is_inner` is true if it is in a `dynamic` block inside of that
    /// one.
    is_made: bool,
    is_inner: bool,
}

/// Returns true if a plan without errors evaluated the expression at the place of a diagnostic.
pub(crate) fn is_made(it: &Diagnostic, files: &[(String, String)], plan: &Plan) -> bool {
    let place = it.location.as_ref().and_then(|at| {
        let (path, text) = files.iter().find(|(path, _)| **path == *at.path)?;
        around(path, text, at.range.start as usize)
    });
    // Outside of `dynamic` blocks everything is evaluated.
    let Some(place) = place.filter(|it| it.is_made) else { return true };
    plan.resource_changes.iter().any(|it| place.names(it) && place.is_filled(&it.change.after))
}

/// The blocks around a place. `None` outside of vaults.
fn around<'t>(path: &'t str, text: &'t str, at: usize) -> Option<Around<'t>> {
    const VAULT: &str = "resource \"playground_vault\" \"";
    let start = text[..at].rfind("\n}\n").map_or(0, |end| end + 3);
    let rest = text[start..].trim_start_matches('\n').strip_prefix(VAULT)?;
    let (vault, _) = rest.split_once('"')?;
    let block = &text[start..];
    let block = &block[..block.find("\n}\n").unwrap_or(block.len())];
    // A block ends at a line that has no more indentation than its first line.
    let before = &text[start..at];
    let is_in = |header: &str, end: &str| {
        before.rfind(header).is_some_and(|begin| !before[begin..].contains(end))
    };
    Some(Around {
        module: path.trim_start_matches("./").rsplit_once('/').map_or("", |(module, _)| module),
        vault,
        written: block.matches("\n  replica {").count(),
        is_made: is_in("\n  dynamic \"replica\"", "\n  }\n"),
        is_inner: is_in("dynamic \"mirror\"", "\n      }\n"),
    })
}

impl Around<'_> {
    /// Returns true if a change is about an instance of the vault.
    fn names(&self, it: &ResourceChange) -> bool {
        let steps = it.addr.module.steps();
        let module = steps.last().map_or("", |step| &*step.name);
        module == self.module
            && &*it.addr.resource.type_name == "playground_vault"
            && &*it.addr.resource.name == self.vault
    }

    /// Returns true if the generated blocks exist, as far as that is known.
    fn is_filled(&self, vault: &Value) -> bool {
        let Some(replicas) = vault.get_attr("replica") else { return false };
        if matches!(replicas.kind(), Kind::Unknown(_)) {
            // The inner blocks are then unknown too.
            return !self.is_inner;
        }
        let has_mirror = |it: &Value| {
            let mirrors = it.get_attr("mirror");
            mirrors.is_some_and(|it| it.as_slice().is_some_and(|it| !it.is_empty()))
        };
        let made = replicas.as_slice().unwrap_or(&[]).iter().skip(self.written);
        made.filter(|it| !self.is_inner || has_mirror(it)).count() > 0
    }
}
