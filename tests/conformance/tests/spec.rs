//! The specification of the language as tests: every `hcl` block in `tests/spec` is a configuration, and its
//! comments give the diagnostics of each line and the value of each local. The README in that folder describes the
//! notation.

mod spec {
    pub(crate) mod block;
    pub(crate) mod expectation;
    pub(crate) mod judge;
}

use spec::{block::blocks, judge::judge};

const SPECIFICATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec");
/// The user documentation on stricter rules, whose examples have the same form.
const STRICTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stricter.md");

#[test]
fn blocks_of_the_specification_hold() {
    // As in the executable. A recursive template uses most of such a stack.
    parallel::on_deep_stack(judge_specification);
}

fn judge_specification() {
    let mut count = 0;
    let mut wrong = String::new();
    for (path, text) in conformance::markdown_files(SPECIFICATION) {
        let shown = path.trim_start_matches(SPECIFICATION).trim_start_matches('/');
        for block in blocks(&text) {
            count += 1;
            wrong.extend(judge(&block).iter().map(|it| format!("tests/spec/{shown}:{it}\n")));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count > 0, "the specification has blocks");
}

#[test]
fn examples_of_stricter_rules_hold() {
    let text = conformance::read_file(STRICTER);
    let wrong: String =
        blocks(&text).iter().flat_map(judge).map(|it| format!("docs/stricter.md:{it}\n")).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Each form that is ephemeral in Mayfly only has a section with at least two examples: a refused one with a note
/// on OpenTofu's behaviour, and an accepted alternative.
#[test]
fn forms_that_only_mayfly_marks_have_an_example_and_an_alternative() {
    let text = conformance::read_file(STRICTER);
    let sections: Vec<&str> = text.split("\n### ").collect();
    for heading in [
        "An object indexed by an ephemeral key",
        "The fallback of `try`",
        "`can`",
        "An object with an ephemeral key",
        "A value that mixes",
    ] {
        let section = sections.iter().find(|it| it.starts_with(heading));
        let section = section.unwrap_or_else(|| panic!("a section {heading}"));
        let blocks = blocks(section);
        let is_refused = |index: usize| {
            blocks
                .get(index)
                .is_some_and(|it| it.files.iter().any(|it| it.text.contains("# error:")))
        };
        assert!(is_refused(0) && blocks.len() > 1 && !is_refused(1), "{heading}");
    }
}

/// The section that does not describe a rule of its own.
const EARLIER: &str = "Found earlier, refused in both";

/// The rules of a section: its subsections, or the section itself.
fn sections(section: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = section.split("\n### ").collect();
    if parts.len() > 1 {
        parts.remove(0);
    }
    parts
}

/// Each rule has a refused example or a row in the table of tests, and an alternative. Each row of the table
/// belongs to a rule.
#[test]
fn every_stricter_rule_has_an_example_or_a_test() {
    let text = conformance::read_file(STRICTER);
    let (rules, table) = text.split_once("\n## Tests\n").expect("the page ends with a table");
    let rows: Vec<&str> = table
        .lines()
        .filter_map(|it| it.strip_prefix("| ")?.split_once(" |"))
        .map(|(rule, _)| rule)
        .filter(|it| *it != "rule")
        .collect();
    let (mut headings, mut wrong) = (Vec::new(), String::new());
    for section in rules.split("\n## ").skip(1).flat_map(sections) {
        let (heading, body) = section.split_once('\n').unwrap_or((section, ""));
        headings.push(heading);
        let is_refused = blocks(section)
            .iter()
            .any(|block| block.files.iter().any(|it| it.text.contains("# error:")));
        if !is_refused && !rows.contains(&heading) {
            wrong += &format!("{heading} has neither an example nor a test\n");
        }
        if !body.contains("\nInstead: ") && heading != EARLIER {
            wrong += &format!("{heading} has no way out\n");
        }
    }
    let lost = rows.iter().filter(|it| !headings.contains(it));
    wrong.extend(lost.map(|it| format!("{it} is tested and no rule\n")));
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(headings.len() > 30 && rows.len() > 15, "{} and {}", headings.len(), rows.len());
}

#[test]
fn failed_block_is_reported_with_its_line() {
    let text = "Prose.\n\n```hcl\nlocals {\n  a = 1 + 1 # is: 3\n  b = local.c\n  d = 1 # warning: [x] \"y\"\n}\n```\n";
    let wrong: Vec<String> = blocks(text).iter().flat_map(judge).collect();
    assert_eq!(
        wrong,
        [
            "5: local.a is 2, not 3",
            "6: unexpected error: [undeclared-reference] \"Reference to undeclared local value\": \
             A local value with the name \"c\" has not been declared. Did you mean \"a\"? `local.c`",
            "7: missing warning: [x] \"y\"",
        ]
    );
}

/// The README of the specification is complete: every link leads to an existing section, and every page is listed.
#[test]
fn specification_readme_links_every_page() {
    let map = conformance::read_file(&format!("{SPECIFICATION}/README.md"));
    let pages = conformance::markdown_files(SPECIFICATION);
    let links = links(&map);
    let mut wrong = String::new();
    for link in &links {
        let (path, section) = link.split_once('#').unwrap_or((link, ""));
        let found = pages.iter().find(|(it, _)| *it == format!("{SPECIFICATION}/{path}"));
        let is_there = match found {
            Some((_, text)) => section.is_empty() || anchors(text).iter().any(|it| it == section),
            None => {
                path.starts_with("../../")
                    && conformance::is_file(&format!("{SPECIFICATION}/{path}"))
            }
        };
        if !is_there {
            wrong += &format!("{link} leads nowhere\n");
        }
    }
    for (path, _) in &pages {
        let path = path.trim_start_matches(SPECIFICATION).trim_start_matches('/');
        let is_named = |it: &&str| it.split('#').next() == Some(path);
        if path != "README.md" && !links.iter().any(is_named) {
            wrong += &format!("{path} is not named\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn every_function_is_in_the_specification() {
    let pages = conformance::markdown_files(SPECIFICATION);
    let is_called = |name: &str| {
        let calls =
            |text: &str| text.match_indices(&format!("{name}(")).any(|(at, _)| is_word(text, at));
        pages.iter().any(|(_, text)| calls(text))
    };
    let missing: Vec<&str> =
        values::functions::all().map(|it| it.name).filter(|it| !is_called(it)).collect();
    assert!(missing.is_empty(), "{missing:?} are not shown");
}

/// Returns true if the name that begins at `at` is not the end of a longer name.
fn is_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_')
}

/// The targets of the links of a page.
fn links(markdown: &str) -> Vec<&str> {
    let targets = markdown.split("](").skip(1);
    targets.filter_map(|it| Some(it.split_once(')')?.0)).collect()
}

/// The anchors of the headings of a page.
fn anchors(markdown: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        is_code ^= line.starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept =
            heading.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
        found.push(kept.collect::<String>().replace(' ', "-"));
    }
    found
}
