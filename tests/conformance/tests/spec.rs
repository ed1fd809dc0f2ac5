//! The specification of the language, executed: every `hcl` block in `tests/spec` is a configuration, and its comments
//! say what analysis must say of each line and what each local is. `tests/spec/README.md` tells the notation.

mod spec {
    pub(crate) mod block;
    pub(crate) mod expectation;
    pub(crate) mod judge;
}

use spec::{block::blocks, judge::judge};

const SPECIFICATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec");
/// The page for users whose examples are of the same form.
const STRICTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/stricter.md");

#[test]
fn every_block_of_the_specification_is_as_it_says() {
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
fn every_example_of_the_page_on_stricter_rules_is_as_it_says() {
    let text = conformance::read_file(STRICTER);
    let wrong: String =
        blocks(&text).iter().flat_map(judge).map(|it| format!("docs/stricter.md:{it}\n")).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A form that is ephemeral here only has a section with two examples at least: one that is refused with a word on what
/// OpenTofu does, and one that says the same otherwise.
#[test]
fn every_form_that_the_reference_forgets_has_an_example_and_a_way_out() {
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

#[test]
fn a_wrong_block_is_told_with_its_line() {
    let text = "Prose.\n\n```hcl\nlocals {\n  a = 1 + 1 # is: 3\n  b = local.c\n  d = 1 # warning: [x] \"y\"\n}\n```\n";
    let wrong: Vec<String> = blocks(text).iter().flat_map(judge).collect();
    assert_eq!(
        wrong,
        [
            "5: local.a is 2, not 3",
            "6: unexpected error: [undeclared-reference] \"Reference to undeclared local value\": A local value with the name \"c\" has not \
             been declared. Did you mean \"a\"?",
            "7: missing warning: [x] \"y\"",
        ]
    );
}
