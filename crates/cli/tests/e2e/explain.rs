//! The `explain` command, the ids in messages, and the consolidation of diagnostics with the same summary.

use crate::bench::Bench;

#[test]
fn explain_prints_the_page_of_an_id() {
    let bench = Bench::new();
    let page = bench.mayfly(".", ["explain", "ephemeral-value-misuse"]).succeeds();
    assert!(page.out.starts_with("\nephemeral-value-misuse\n\nError: Invalid use"), "{}", page.out);
    page.shows(&["    resource \"playground_secret\" \"s\" {\n", "value_wo_version = 1"]);
    page.lacks(&["```", "# ephemeral-value-misuse"]);
    let bracketed = bench.mayfly(".", ["explain", "[ephemeral-value-misuse]"]).succeeds();
    assert_eq!(page.out, bracketed.out);
}

#[test]
fn explain_lists_all_ids_and_suggests_a_similar_one() {
    let bench = Bench::new();
    let list = bench.mayfly(".", ["explain"]).succeeds();
    list.shows(&["\nsyntax-error ", "  Error: Argument or block definition required\n"]);
    assert!(list.out.lines().count() > 200, "{}", list.out);
    for (given, meant) in [("syntx-error", "syntax-error"), ("dependency-cycl", "dependency-cycle")]
    {
        let unknown = bench.mayfly(".", ["explain", given]).fails();
        unknown.shows(&["Error: Nothing to explain", &format!("Did you mean \"{meant}\"?")]);
    }
    bench.mayfly(".", ["explain", "s3cret-Word"]).fails().lacks(&["s3cret"]);
}

#[test]
fn validate_json_ids_are_accepted_by_explain() {
    let bench = Bench::with_main("locals {\n  a = var.nope\n}\n");
    let said = bench.mayfly(".", ["validate", "-json"]).end().json();
    let id = said["diagnostics"][0]["id"].as_str().expect("a text");
    bench
        .mayfly(".", ["explain", id])
        .succeeds()
        .shows(&["Reference to undeclared input variable"]);
}

/// Consolidates diagnostics with the same summary, worded as in OpenTofu. A flag disables it.
#[test]
fn diagnostics_with_one_summary_are_consolidated() {
    let resource = |name: &str| {
        format!(
            "resource \"terraform_data\" \"{name}\" {{\n  depends_on = [\"terraform_data.a\"]\n}}\n"
        )
    };
    let all = ["b", "c", "d"].map(resource).concat();
    let bench = Bench::with_main(&format!("resource \"terraform_data\" \"a\" {{}}\n{all}"));
    let quoted = "Warning: Quoted references are deprecated";
    let count = |flags: &[&str]| {
        let said = bench.mayfly(".", [&["validate"], flags].concat()).succeeds();
        (said.out.matches(quoted).count(), said.out)
    };
    let (warnings, shown) = count(&[]);
    assert_eq!(warnings, 1);
    assert!(shown.contains("\n(and 2 more similar warnings elsewhere)\n"), "{shown}");
    assert_eq!(count(&["-consolidate-warnings=false"]).0, 3);
    let (_, compact) = count(&["-compact-warnings"]);
    assert!(compact.contains("deprecated\n  on main.tf line 3 (and 2 more)\n"), "{compact}");
    bench.write("more.tf", "locals {\n  a = var.x\n  b = var.y\n}\n");
    let undeclared = "Error: Reference to undeclared input variable";
    for (flag, errors) in [("-consolidate-errors=false", 2), ("-consolidate-errors", 1)] {
        let said = bench.mayfly(".", ["validate", flag]).fails();
        assert_eq!(said.err.matches(undeclared).count(), errors, "{}", said.err);
    }
}
