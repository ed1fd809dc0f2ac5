//! What a plan comes to, in numbers.

use addr::ResourceMode;
use engine::ChangeCounts;
use state::{Action, Plan, ResourceChange};

/// How many objects a plan adds, changes, destroys, imports and forgets.
pub fn change_counts(plan: &Plan) -> ChangeCounts {
    let mut counts = ChangeCounts::default();
    for change in
        plan.resource_changes.iter().filter(|it| it.addr.resource.mode == ResourceMode::Managed)
    {
        count(change, &mut counts);
    }
    counts
}

fn count(change: &ResourceChange, counts: &mut ChangeCounts) {
    counts.import += usize::from(change.change.importing.is_some());
    match change.change.action {
        Action::Create => counts.add += 1,
        Action::Update => counts.change += 1,
        Action::Delete => counts.destroy += 1,
        Action::DeleteThenCreate | Action::CreateThenDelete => {
            counts.add += 1;
            counts.destroy += 1;
        }
        Action::Forget => counts.forget += 1,
        Action::ForgetThenCreate => {
            counts.add += 1;
            counts.forget += 1;
        }
        Action::NoOp | Action::Read => {}
    }
}
