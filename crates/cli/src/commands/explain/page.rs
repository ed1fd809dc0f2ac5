//! The documentation pages of errors and warnings.

use std::cmp::Reverse;

use db::{Diagnostic, Rule, Summary};
use hir::suggest;

use operations::session::Failure;

use crate::{exit::Exit, pages, session::CommandSession};

/// Prints the page of an id, or the list of all ids.
pub(super) fn run(session: &CommandSession, id: Option<&str>) -> Result<Exit, Failure> {
    let Some(given) = id else {
        session.ui.print(&render::rule_list(&by_code(), &session.ui.out));
        return Ok(Exit::Success);
    };
    let id = given.trim_start_matches('[').trim_end_matches(']');
    let rule = Rule::with_code(id).ok_or_else(|| unknown(id))?;
    let page = pages::page(rule);
    session.ui.print(&render::page(page, &session.ui.out));
    Ok(Exit::Success)
}

/// All rules, sorted by code.
fn by_code() -> Vec<Rule> {
    let mut rules = Rule::ALL.to_vec();
    rules.sort();
    rules
}

fn unknown(id: &str) -> Diagnostic {
    let hint = match nearest(id) {
        Some(near) => format!(" Did you mean \"{near}\"?"),
        None => String::new(),
    };
    // Do not quote the input: it may be anything, even a secret.
    let detail =
        format!("No error or warning has this id.{hint} \"mayfly explain -ids\" lists all ids.");
    Diagnostic::new(Summary::UNKNOWN_DIAGNOSTIC, detail)
}

/// The id that the user probably meant: the closest spelling, or else the id that shares the most words. `None` if
/// no id shares a word.
fn nearest(id: &str) -> Option<&'static str> {
    let rules = by_code();
    let ids = || rules.iter().map(|it| it.code());
    suggest::closest(id, ids()).or_else(|| {
        let words: Vec<&str> = id.split(|it: char| !it.is_alphanumeric()).collect();
        let is_meant = |word: &&str| suggest::closest(word, words.iter().copied()).is_some();
        let shared =
            |it: &str| it.split('-').filter(|word| word.len() > 2).filter(is_meant).count();
        let best = ids().min_by_key(|it| (Reverse(shared(it)), it.len()))?;
        (shared(best) > 0).then_some(best)
    })
}
