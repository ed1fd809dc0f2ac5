//! Tests of the table.

use std::collections::BTreeSet;

use super::{Group, Rule, Summary, table};
use crate::Severity;

#[test]
fn rows_of_the_registry_have_the_order_of_the_rules() {
    for (index, row) in table::ROWS.iter().enumerate() {
        assert_eq!(row.rule as usize, index, "{}", row.code);
    }
}

#[test]
fn codes_are_unique_words_joined_with_dashes() {
    let codes: BTreeSet<_> = Rule::ALL.iter().map(|it| it.code()).collect();
    assert_eq!(codes.len(), Rule::ALL.len());
    for code in codes {
        assert!(code.contains('-'), "{code}");
        assert!(code.bytes().all(|it| it.is_ascii_lowercase() || it == b'-'), "{code}");
    }
}

#[test]
fn rule_name_equals_its_code() {
    for rule in Rule::ALL {
        let mut name = String::new();
        for letter in format!("{rule:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.extend(letter.to_lowercase());
        }
        assert_eq!(name, rule.code());
    }
}

#[test]
fn rule_groups_are_contiguous_and_ordered() {
    let mut groups: Vec<Group> = Rule::ALL.iter().map(|it| it.group()).collect();
    groups.dedup();
    assert_eq!(groups, Group::ALL);
}

#[test]
fn a_rule_is_found_by_its_code() {
    assert_eq!(Rule::with_code("unsupported-argument"), Some(Rule::UnsupportedArgument));
    assert_eq!(Rule::with_code("unsupported"), None);
}

#[test]
fn parameters_are_filled_in_and_shown_in_capitals() {
    let summary = Summary::missing_label("type", "resource");
    assert_eq!(summary, "Missing type for resource");
    assert_eq!((summary.rule(), summary.severity()), (Rule::MissingName, Severity::Error));
    let lines = Rule::MissingName.page_lines();
    assert_eq!(lines, ["Error: Missing LABEL for KIND", "Error: Missing block label"]);
}

#[test]
fn pages_show_examples_for_summaries_that_others_write() {
    let lines = Rule::ProviderDiagnostic.page_lines();
    assert_eq!(lines, ["Error: The provider's own words", "Warning: The provider's own words"]);
}

#[test]
fn severities_are_lowered_and_never_raised() {
    let lowered = Summary::INVALID_INDEX.at_most(Severity::Warning);
    assert_eq!(lowered.severity(), Severity::Warning);
    assert_eq!(lowered.clone().at_most(Severity::Error), lowered);
}

#[test]
fn entries_of_a_row_differ() {
    for rule in Rule::ALL {
        let of = |it: &super::Line| (it.severity, it.text, it.examples);
        let lines = rule.lines();
        let repeated = lines
            .iter()
            .enumerate()
            .find(|(at, it)| lines[..*at].iter().any(|other| of(other) == of(it)));
        assert_eq!(repeated, None, "{rule}");
    }
}
