//! Tests of the pages in `docs/diagnostics`: each rule has a page and each page a rule; each rule is used; examples
//! behave as their comments say; a page without examples gives a reason.

#[path = "spec"]
mod spec {
    pub(crate) mod block;
    pub(crate) mod expectation;
    pub(crate) mod judge;
}

mod explained {
    pub(crate) mod page;
    pub(crate) mod uses;
}

use std::collections::{BTreeMap, BTreeSet};

use db::Rule;
use explained::{
    page::{NO_EXAMPLE, Page, pages},
    uses::{Use, literals, passed_words, uses},
};
use spec::{
    block::Run,
    expectation::{Expectation, expectations},
    judge::judge,
};

/// Ids in the sources of the analysis that no text of a configuration can produce, with the reasons.
const BEYOND_TEXT: &[(&str, &str)] = &[
    ("expect-failures", "test files, which a page does not have"),
    ("expression-too-deep", "the text would be too long for a page; a test of hir writes it"),
    ("insufficient-blocks", "a provider's schema has to have a bound, and none here has"),
    ("invalid-encoding", "a page is UTF-8"),
    ("invalid-use-of-type", "the console has this function"),
    ("invalid-variable-value", "files of variables, the environment, and the command line"),
    ("invalid-variables-file", "files of variables"),
    ("operation-failed", "a word for what nobody has thought of"),
    ("test-double", "test files"),
    ("test-module", "test files"),
    ("test-run-block", "test files"),
    ("too-many-blocks", "a provider's schema has to have a bound, and none here has"),
    ("too-many-modules", "it takes a hundred thousand paths of calls"),
    ("undeclared-variable", "files of variables, and the command line"),
    ("withheld-value", "a provider has to return a write-only value"),
    ("write-only-in-set", "a provider's schema has to have one"),
];

/// Every use of a rule in the sources of the crates, by code.
fn used() -> BTreeMap<String, Vec<Use>> {
    let mut used: BTreeMap<String, Vec<Use>> = BTreeMap::new();
    for it in uses() {
        used.entry(it.rule.code().to_owned()).or_default().push(it);
    }
    used
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let pages: BTreeSet<String> = pages().into_iter().map(|page| page.id).collect();
    let codes: BTreeSet<String> = Rule::ALL.iter().map(|it| it.code().to_owned()).collect();
    let without_page: Vec<_> = codes.difference(&pages).collect();
    let without_rule: Vec<_> = pages.difference(&codes).collect();
    assert!(without_page.is_empty(), "write docs/diagnostics/CODE.md for {without_page:?}");
    assert!(without_rule.is_empty(), "no rule has these pages: {without_rule:?}");
}

#[test]
fn every_entry_of_the_table_is_used() {
    let used: BTreeSet<&str> = uses().iter().map(|it| it.entry).collect();
    let entries = Rule::ALL.iter().flat_map(|it| it.lines());
    let unused: Vec<_> = entries.map(|it| it.name).filter(|it| !used.contains(it)).collect();
    assert!(unused.is_empty(), "nothing reports these: {unused:?}");
}

/// A literal bypasses the table: a renamed rule or a changed summary would leave it behind.
#[test]
fn sources_take_codes_and_summaries_from_the_table() {
    let literals = literals();
    assert!(literals.is_empty(), "write Rule::… or Summary::… instead:\n{}", literals.join("\n"));
}

#[test]
fn only_others_words_are_passed_as_a_summary() {
    let passed = passed_words();
    assert!(passed.is_empty(), "make an entry of the table of:\n{}", passed.join("\n"));
}

#[test]
fn pages_begin_with_the_summaries_of_their_rules() {
    let mut wrong = String::new();
    for page in pages() {
        let Some(rule) = Rule::with_code(&page.id) else { continue };
        let lines = rule.page_lines();
        if page.summaries() != lines {
            wrong.push_str(&format!(
                "{}: {:?}, in the table {lines:?}\n",
                page.path,
                page.summaries()
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn pages_have_the_required_sections() {
    let wrong: String = pages().iter().flat_map(Page::faults).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn examples_of_pages_match_their_expectations() {
    let mut wrong = String::new();
    let mut count = 0;
    for page in pages() {
        for block in page.blocks() {
            count += 1;
            wrong.extend(judge(&block).iter().map(|it| format!("{}:{it}\n", page.path)));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count > 100, "pages have examples");
}

/// A page shows an example of the problem and a corrected one, or gives a reason for their absence.
#[test]
fn pages_show_the_problem_and_a_correction() {
    let mut wrong = String::new();
    for page in pages() {
        let shows = |files: &[spec::block::File]| {
            files.iter().flat_map(|it| expectations(&it.text)).any(|(_, it)| match it {
                Expectation::Said(said) => said.id == page.id,
                Expectation::Is { .. } => false,
            })
        };
        let is_silent =
            |files: &[spec::block::File]| files.iter().all(|it| expectations(&it.text).is_empty());
        let blocks = page.blocks();
        let problem = blocks.iter().any(|it| shows(&it.files));
        let mended = blocks.iter().any(|it| is_silent(&it.files));
        if page.says_no_example() == (problem && mended) {
            let what = if problem { "has examples" } else { "lacks its examples" };
            wrong.push_str(&format!(
                "{} {what}; \"{NO_EXAMPLE}\" stands on those without\n",
                page.path
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn pages_of_analysis_rules_have_an_example() {
    let without: BTreeSet<String> =
        pages().into_iter().filter(Page::says_no_example).map(|it| it.id).collect();
    let of_analysis: BTreeSet<String> = used()
        .into_iter()
        .filter(|(id, at)| {
            without.contains(id) && at.iter().any(|it| it.place.starts_with("crates/hir/"))
        })
        .map(|(id, _)| id)
        .collect();
    let beyond: BTreeSet<String> = BEYOND_TEXT.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(of_analysis, beyond);
}

/// An example may be run only if the diagnostic does not come from analysis alone.
#[test]
fn examples_run_only_if_analysis_alone_is_not_enough() {
    for page in pages() {
        for block in page.blocks().iter().filter(|it| it.run > Run::Analysis) {
            let is_of_analysis =
                used()[&page.id].iter().all(|it| it.place.starts_with("crates/hir/src/analysis"));
            assert!(!is_of_analysis, "{}:{}", page.path, block.files[0].first_line);
        }
    }
}
