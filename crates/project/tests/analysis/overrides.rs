//! Tests of override files: the queries that run again after an edit of one, and the file in which a problem is
//! reported.

use expect_test::expect;

use crate::incremental::Session;

const MODULE: &str = r#"
//- /main.tf
locals {
  a = "a"
  b = "b"
}

resource "test_thing" "r" {
  value = local.a
}

resource "test_thing" "other" {
  value = local.b
}

resource "test_thing" "third" {
  value = "third"
}
//- /override.tf
locals {
  a = "overriding"
}

resource "test_thing" "other" {
  value = "nothing else"
}
"#;

#[test]
fn override_file_edit_reruns_the_overridden_item() {
    let mut session = Session::new(MODULE);
    session.check(
        "override.tf",
        "nothing else",
        "something else",
        expect![[r#"
            block_content 2
            block_declarations 1
            dependencies 1
            item_inference 1
            kept_outline 2
        "#]],
    );
    session.check(
        "override.tf",
        "overriding",
        "over",
        expect![[r#"
            block_content 2
            block_declarations 1
            dependencies 1
            item_inference 2
            item_problems 1
            kept_outline 2
            kept_value 1
            one_of_many 2
        "#]],
    );
}

#[test]
fn error_of_an_override_is_located_in_the_override_file() {
    let mut session = Session::new(MODULE);
    session.edit("override.tf", "\"nothing else\"", "local.c");
    let found = session.analyse();
    let shown: Vec<String> = found
        .iter()
        .map(|it| {
            let place = it.location.as_ref().expect("it has a place");
            format!("{} {:?} {}", place.path, place.range, it.summary)
        })
        .collect();
    expect![[r#"
        [
            "override.tf ByteRange { start: 73, end: 80 } Reference to undeclared local value",
        ]
    "#]]
    .assert_debug_eq(&shown);
}

#[test]
fn missing_override_target_is_reported_after_edits() {
    let mut session = Session::new(MODULE);
    let wrong = |session: &Session| {
        let summaries = session.analyse().into_iter().map(|it| it.summary.to_string());
        summaries.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(wrong(&session), "");
    session.edit("main.tf", "\"test_thing\" \"other\"", "\"test_thing\" \"another\"");
    assert_eq!(wrong(&session), "Missing resource to override");
    session.edit("override.tf", "\"test_thing\" \"other\"", "\"test_thing\" \"another\"");
    assert_eq!(wrong(&session), "");
    session.edit("override.tf", "value = \"nothing else\"", "vaule = local.b");
    assert_eq!(wrong(&session), "Unsupported argument");
    session.edit("override.tf", "resource \"test_thing\" \"another\" {\n  vaule = local.b\n}", "");
    assert_eq!(wrong(&session), "");
}
