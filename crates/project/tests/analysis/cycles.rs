//! Tests of cycles. Each member has a diagnostic that names the next member, so that a reader can follow the
//! cycle.

use expect_test::expect;

use crate::fixture::{check, load};

#[test]
fn diagnostic_of_each_cycle_member_names_the_next() {
    check(
        r#"
locals {
  a = local.c
  b = local.a
  c = local.b
}
"#,
        expect![[r#"
            main.tf:3 `local.c` error: Cycle: local.a, local.c, local.b
                local.a refers to local.c, which depends on local.a in turn. Remove one of the references.
                local.c refers to local.b here <- main.tf:5 `local.b`
            main.tf:4 `local.a` error: Cycle: local.a, local.c, local.b
                local.b refers to local.a, which depends on local.b in turn. Remove one of the references.
                local.a refers to local.c here <- main.tf:3 `local.c`
            main.tf:5 `local.b` error: Cycle: local.a, local.c, local.b
                local.c refers to local.b, which depends on local.c in turn. Remove one of the references.
                local.b refers to local.a here <- main.tf:4 `local.a`
        "#]],
    );
}

#[test]
fn resource_and_its_provider_configuration_form_a_cycle() {
    check(
        r#"
resource "test_thing" "token" {}
provider "test" {
  token = test_thing.token.id
}
resource "test_thing" "only_depends" {}
"#,
        expect![[r#"
            main.tf:2 `resource "test_thing" "token"` error: Cycle: provider.test, test_thing.token
                test_thing.token refers to provider.test, which depends on test_thing.token in turn. Remove one of the references. The configuration provider.test is made from a resource of the same provider. Give one of them an alias: a second provider block with "alias", and "provider" in the resources that are to use it.
                provider.test refers to test_thing.token here <- main.tf:4 `test_thing.token`
            main.tf:4 `test_thing.token` error: Cycle: provider.test, test_thing.token
                provider.test refers to test_thing.token, which depends on provider.test in turn. Remove one of the references. The configuration provider.test is made from a resource of the same provider. Give one of them an alias: a second provider block with "alias", and "provider" in the resources that are to use it.
                test_thing.token refers to provider.test here <- main.tf:2 `resource "test_thing" "token"`
        "#]],
    );
}

#[test]
fn aliased_provider_configuration_makes_no_cycle_with_the_default() {
    let found = load(
        r#"
resource "test_thing" "token" {
  provider = test.other
}
provider "test" {
  alias = "other"
  token = test_thing.token.id
}
"#,
    )
    .diagnostics();
    let details: Vec<&str> = found.iter().map(|it| it.detail.as_str()).collect();
    assert_eq!(
        details,
        [
            "test_thing.token refers to provider.test.other, which depends on test_thing.token in \
             turn. Remove one of the references.",
            "provider.test.other refers to test_thing.token, which depends on provider.test.other \
             in turn. Remove one of the references.",
        ]
    );
}

#[test]
fn summary_of_a_long_cycle_is_shortened() {
    let cycle: String =
        (0..30).map(|i| format!("  n{i:02} = local.n{:02}\n", (i + 1) % 30)).collect();
    let found = load(&format!("locals {{\n{cycle}}}\n")).diagnostics();
    assert_eq!(found.len(), 30);
    for problem in &found {
        assert!(problem.summary.ends_with("local.n19 and 10 more"), "{}", problem.summary);
        assert_eq!(problem.related.len(), 1);
    }
}
