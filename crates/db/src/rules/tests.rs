//! Tests of the table.

use std::collections::BTreeSet;

use super::{Group, Rule, table};

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
