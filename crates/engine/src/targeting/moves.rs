//! Moves and targets: a plan with targets must cover all objects that it moves.

use std::fmt::Write;

use addr::AbsResource;
use db::{Diagnostic, Summary};
use sorted::TreeSet;

use crate::{moves::Moved, targeting::Targeting};

/// Returns the error of a plan whose targets leave out an object that moves; `None` if they leave out none.
pub(crate) fn uncovered_moves(targeting: &Targeting, moved: &Moved) -> Option<Diagnostic> {
    let addresses = moved.previous.iter().flat_map(|(to, from)| [&from.address, to]);
    let left_out = addresses.filter(|it| !targeting.selects(it));
    let left_out: TreeSet<AbsResource> = left_out.map(|it| it.containing_resource()).collect();
    if left_out.is_empty() {
        return None;
    }
    let option = if targeting.is_exclusion() { "exclude" } else { "target" };
    let list = left_out.iter().fold(String::new(), |mut list, it| {
        let _ = write!(list, "\n  -{option}={:?}", it.to_string());
        list
    });
    let intro = "Resource instances in your current state have moved to new addresses in the latest configuration. \
                 Mayfly must include those resource instances while planning in order to ensure a correct result, but";
    let detail = match targeting.is_exclusion() {
        true => format!(
            "{intro} your -exclude=... options exclude some of those resource instances.\n\nTo create a valid plan, \
             either remove your -exclude=... options altogether or just specifically remove the following \
             options:{list}\n\nNote that removing these options may include further additional resource instances \
             in your plan, in order to respect object dependencies."
        ),
        false => format!(
            "{intro} your -target=... options do not fully cover all of those resource instances.\n\nTo create a \
             valid plan, either remove your -target=... options altogether or add the following additional target \
             options:{list}\n\nNote that adding these options may include further additional resource instances in \
             your plan, in order to respect object dependencies."
        ),
    };
    Some(Diagnostic::new(Summary::MOVES_NOT_TARGETED, detail))
}
