//! Tests of long sessions: inputs of removed parts are reused, and the answers stay those of a new project.

use hir::{Entry, Program};

use crate::churn::{Churn, Sources};

/// More edits than it takes to call every module, to unload the first ones and to call them again.
const EDITS: usize = 700;

#[track_caller]
fn check(sources: Sources) {
    let mut churn = Churn::new(sources, 50);
    while churn.number() < EDITS {
        let (found, program) = churn.step();
        if !churn.number().is_multiple_of(7) && churn.number() < EDITS - 16 {
            continue;
        }
        let (expected, fresh) = churn.fresh();
        assert_eq!(found, expected, "after {} edits", churn.number());
        assert_eq!(shown(&program), shown(&fresh), "after {} edits", churn.number());
    }
}

/// Everything that the engine runs: the items of each module, with their places, and the texts.
fn shown(program: &Program) -> Vec<String> {
    let mut lines = Vec::new();
    for module in &program.modules {
        let calls = module.calls.iter().map(|(name, (_, id))| format!("{name} {id:?}"));
        lines.push(format!("{} {:?}", module.dir, calls.collect::<Vec<_>>()));
        let entries = module.entries().map(|Entry { item, origin }| format!("{item:?} {origin:?}"));
        let mut entries: Vec<String> = entries.collect();
        entries.sort();
        lines.extend(entries);
    }
    lines.extend(program.sources.files.iter().map(|it| format!("{} {:?}", it.path, it.blocks)));
    lines
}

#[test]
fn a_long_session_with_literal_sources_ends_as_a_new_one() {
    check(Sources::Literal);
}

#[test]
fn a_long_session_with_computed_sources_ends_as_a_new_one() {
    check(Sources::Computed);
}
