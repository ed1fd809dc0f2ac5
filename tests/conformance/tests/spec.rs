//! The specification of the language, executed: every `hcl` block in `tests/spec` is a configuration, and its comments
//! say what analysis must say of each line and what each local is. `tests/spec/README.md` tells the notation.

mod spec {
    pub(crate) mod block;
    pub(crate) mod expectation;
    pub(crate) mod judge;
}

use spec::{block::blocks, judge::judge};

const SPECIFICATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec");

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
