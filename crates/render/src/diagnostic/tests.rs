use std::sync::Arc;

use db::{
    ByteRange, Diagnostic, Difference, Location, Related, Severity, SourceText, Sources, Summary,
};
use expect_test::{Expect, expect};

use super::*;
use crate::Style;

const TEXT: &str = r#"variable "password" {
  ephemeral = true
}

locals {
  full = "x-${var.password}"
}

resource "playground_secret" "s" {
  secret_name = local.full
  list = [
    1,
    local.full,
  ]
}
"#;

const BOX: Style = Style { color: false, width: Some(60), box_drawing: true, names_rules: true };

fn sources() -> Sources {
    let (head, tail) = TEXT.split_at(TEXT.find("locals").expect("there"));
    let configuration = SourceText {
        path: "main.tf".into(),
        blocks: Arc::new([Arc::from(head), Arc::from(tail)]),
        may_hold_secrets: false,
    };
    let variables = SourceText {
        path: "a.tfvars".into(),
        blocks: Arc::new([Arc::from("a = 1\nsecret = \"kanarek\"\n")]),
        may_hold_secrets: true,
    };
    Sources { files: Arc::from([configuration, variables]) }
}

/// The location of occurrence `n` of a text.
fn at(text: &str, n: usize) -> Location {
    let (start, _) = TEXT.match_indices(text).nth(n).expect("there");
    let range = ByteRange { start: start as u32, end: (start + text.len()) as u32 };
    Location { path: "main.tf".into(), range }
}

fn misuse() -> Diagnostic {
    let detail = "\"secret_name\" cannot accept an ephemeral value because it is not a write-only \
                  attribute, meaning it will be written to the state.";
    Diagnostic {
        context: Some("resource \"playground_secret\" \"s\"".to_owned()),
        values: vec!["local.full has an ephemeral value".to_owned()],
        related: vec![
            Related {
                location: at("var.password", 0),
                message: "var.password is ephemeral".to_owned(),
            },
            Related {
                location: at("ephemeral = true", 0),
                message: "variable \"password\" is declared ephemeral".to_owned(),
            },
        ],
        ..Diagnostic::new(Summary::EPHEMERAL_VALUE_MISUSE, detail)
            .at(Some(at("local.full", 0)))
            .with_address("playground_secret.s")
    }
}

#[track_caller]
fn check(diagnostic: &Diagnostic, style: &Style, expected: Expect) {
    expected.assert_eq(&diagnostics(std::slice::from_ref(diagnostic), &sources(), style));
}

#[test]
fn diagnostic_prints_the_chain_of_an_ephemeral_value() {
    check(
        &misuse(),
        &BOX,
        expect![[r#"
        ╷
        │ Error: Invalid use of an ephemeral value [ephemeral-value-misuse]
        │
        │   with playground_secret.s,
        │   on main.tf line 10, in resource "playground_secret" "s":
        │   10:   secret_name = local.full
        │     ├────────────────
        │     │ local.full has an ephemeral value
        │
        │ "secret_name" cannot accept an ephemeral value because it
        │ is not a write-only attribute, meaning it will be written
        │ to the state.
        │
        │ The value is ephemeral because:
        │   - var.password is ephemeral                  main.tf:6
        │   - variable "password" is declared ephemeral  main.tf:2
        ╵
    "#]],
    );
}

#[test]
fn plain_diagnostics_have_no_frame_and_no_wrapping() {
    check(
        &misuse(),
        &Style::PLAIN,
        expect![[r#"

        Error: Invalid use of an ephemeral value

          with playground_secret.s,
          on main.tf line 10, in resource "playground_secret" "s":
          10:   secret_name = local.full
            ├────────────────
            │ local.full has an ephemeral value

        "secret_name" cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.

        The value is ephemeral because:
          - var.password is ephemeral                  main.tf:6
          - variable "password" is declared ephemeral  main.tf:2
    "#]],
    );
}

#[test]
fn related_places_of_a_cycle_are_not_an_ephemeral_chain() {
    let mut diagnostic =
        Diagnostic::new(Summary::provider_error("Cycle: ephemeral.a.b, provider.a"), "Around.");
    diagnostic.related.push(Related {
        location: at("1,\n    local", 0),
        message: "ephemeral.a.b refers to provider.a here".to_owned(),
    });
    let shown = diagnostics(&[diagnostic], &sources(), &Style::PLAIN);
    assert!(shown.contains("Related places:\n"), "{shown}");
}

#[test]
fn coloured_diagnostics_underline_the_range() {
    let style = Style { color: true, ..Style::PLAIN };
    let diagnostic = Diagnostic::new(Summary::provider_warning("Two lines"), "")
        .at(Some(at("1,\n    local", 0)));
    check(
        &diagnostic,
        &style,
        expect![[r#"

        [1;33mWarning: [0m[1mTwo lines[0m

          on main.tf line 12:
          12:     [4m1,[0m
          13:     [4mlocal[0m.full,
    "#]],
    );
}

#[test]
fn diagnostic_in_a_missing_file_names_the_file() {
    let location = Location { path: "gone.tf".into(), range: ByteRange { start: 5, end: 9 } };
    let diagnostic =
        Diagnostic::new(Summary::provider_error("Gone"), "It is gone.").at(Some(location));
    check(
        &diagnostic,
        &Style::PLAIN,
        expect![[r#"

        Error: Gone

          on gone.tf:
          (source code not available)

        It is gone.
    "#]],
    );
}

#[test]
fn invalid_diagnostic_ranges_are_clamped() {
    for (start, end) in [(0, 0), (TEXT.len() as u32, TEXT.len() as u32), (1 << 30, 1 << 31), (9, 3)]
    {
        let location = Location { path: "main.tf".into(), range: ByteRange { start, end } };
        let diagnostic = Diagnostic::new(Summary::provider_error("S"), "").at(Some(location));
        let text = diagnostics(std::slice::from_ref(&diagnostic), &sources(), &Style::PLAIN);
        assert!(text.contains("on main.tf line "), "{text}");
        diagnostic_json(&diagnostic, &sources());
    }
}

#[test]
fn long_source_line_is_cut_around_the_range() {
    let text: Arc<str> =
        format!("a = \"{}\" + wrong + \"{}\"\n", "é".repeat(3000), "z".repeat(3000)).into();
    let start = text.find("wrong").expect("is there") as u32;
    let location = Location { path: "long.tf".into(), range: ByteRange { start, end: start + 5 } };
    let file = SourceText { blocks: [text].into(), ..sources().files[0].clone() };
    let sources = Sources { files: [SourceText { path: "long.tf".into(), ..file }].into() };
    let diagnostic =
        Diagnostic::new(Summary::provider_error("Wrong"), "It is wrong.").at(Some(location));
    let shown = diagnostics(&[diagnostic], &sources, &Style { color: true, ..Style::PLAIN });
    let line = shown.lines().find(|it| it.contains("wrong")).expect("is shown");
    assert!(line.len() < 600 && line.contains("1: …é") && line.ends_with("z…"), "{line}");
    assert!(line.contains("\u{1b}[4mwrong\u{1b}[0m"), "{line}");
}

#[test]
fn control_characters_in_diagnostics_are_escaped() {
    let diagnostic = Diagnostic::new(
        Summary::provider_error("a\u{1b}[2Jb\nc"),
        "x\u{1b}]0;title\u{7}y\u{202e}z\r\tkept\nkept",
    )
    .with_address("a.b[\"\u{9b}\"]");
    check(
        &diagnostic,
        &Style::PLAIN,
        expect![[r#"

            Error: a\u001b[2Jb\nc

              with a.b["\u009b"],

            x\u001b]0;title\u0007y\u202ez\r	kept
            kept
        "#]],
    );
}

#[test]
fn warnings_with_one_summary_are_grouped() {
    let warning = |n| {
        Diagnostic::new(Summary::provider_warning("Deprecated"), format!("Detail {n}."))
            .at(Some(at("local", n)))
    };
    let error =
        || Diagnostic::new(Summary::provider_error("Deprecated"), "").at(Some(at("local", 0)));
    let check_block = Diagnostic::new(Summary::CHECK_ASSERTION, "m").at(Some(at("list", 0)));
    let check_unknown = Diagnostic::new(Summary::CHECK_UNKNOWN, "").at(Some(at("list", 0)));
    let given = vec![
        warning(0),
        error(),
        warning(1),
        check_block.clone(),
        check_block,
        check_unknown.clone(),
        check_unknown,
        warning(2),
        error(),
        Diagnostic::new(Summary::provider_warning("Nowhere"), ""),
        Diagnostic::new(Summary::provider_warning("Nowhere"), ""),
    ];
    let shown = |severity| -> Vec<String> {
        let kept = consolidated(given.clone(), severity).into_iter();
        kept.map(|it| format!("{}: {}", it.summary, it.detail)).collect()
    };
    let errors = shown(Severity::Error);
    assert_eq!(errors.len(), given.len() - 1);
    assert_eq!(errors[1], "Deprecated: (and one more similar error elsewhere)");
    expect![[r#"
        [
            "Deprecated: Detail 0.\n\n(and 2 more similar warnings elsewhere)",
            "Deprecated: ",
            "Check block assertion failed: m",
            "Check block assertion failed: m",
            "Check block assertion known after apply: ",
            "Check block assertion known after apply: ",
            "Deprecated: ",
            "Nowhere: ",
            "Nowhere: ",
        ]
    "#]]
    .assert_debug_eq(&shown(Severity::Warning));
}

#[test]
fn compact_warnings_are_a_list() {
    let warning = |n| {
        Diagnostic::new(Summary::provider_warning("Deprecated"), "Long.").at(Some(at("local", n)))
    };
    let given = [warning(0), warning(1), Diagnostic::new(Summary::provider_warning("Nowhere"), "")];
    expect![[r#"

        Warnings:

        - Deprecated
          on main.tf line 5 (and 1 more)
        - Nowhere

        To see the full warning notes, run Mayfly without -compact-warnings.
    "#]]
    .assert_eq(&compact_warnings(&given, &sources()));
    assert_eq!(compact_warnings(&[misuse()], &sources()), "");
}

#[test]
fn json_diagnostics_have_the_opentofu_shape_with_related_places() {
    let mut diagnostic = misuse();
    diagnostic.related.truncate(1);
    expect![[r#"
        {
          "format_version": "1.0",
          "valid": false,
          "error_count": 1,
          "warning_count": 0,
          "diagnostics": [
            {
              "severity": "error",
              "summary": "Invalid use of an ephemeral value",
              "detail": "\"secret_name\" cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state.",
              "address": "playground_secret.s",
              "range": {
                "filename": "main.tf",
                "start": {
                  "line": 10,
                  "column": 17,
                  "byte": 136
                },
                "end": {
                  "line": 10,
                  "column": 27,
                  "byte": 146
                }
              },
              "snippet": {
                "context": "resource \"playground_secret\" \"s\"",
                "code": "  secret_name = local.full",
                "start_line": 10,
                "highlight_start_offset": 16,
                "highlight_end_offset": 26,
                "values": [
                  {
                    "traversal": "local.full",
                    "statement": "has an ephemeral value"
                  }
                ]
              },
              "id": "ephemeral-value-misuse",
              "related": [
                {
                  "message": "var.password is ephemeral",
                  "range": {
                    "filename": "main.tf",
                    "start": {
                      "line": 6,
                      "column": 15,
                      "byte": 67
                    },
                    "end": {
                      "line": 6,
                      "column": 27,
                      "byte": 79
                    }
                  }
                }
              ]
            }
          ]
        }"#]]
    .assert_eq(&validate_json(&[diagnostic], &sources()));
}

#[test]
fn diagnostics_in_variables_files_show_no_source() {
    let range = ByteRange { start: 15, end: 24 };
    let location = Location { path: "a.tfvars".into(), range };
    let diagnostic =
        Diagnostic::new(Summary::provider_error("Broken"), "Mend it.").at(Some(location));
    let text = diagnostics(std::slice::from_ref(&diagnostic), &sources(), &BOX)
        + &diagnostic_json(&diagnostic, &sources()).to_string();
    assert!(!text.contains("kanarek"), "{text}");
    expect![[r#"
        ╷
        │ Error: Broken [provider-diagnostic]
        │
        │   on a.tfvars line 2:
        │    2: (not shown: this file may hold secrets)
        │
        │ Mend it.
        ╵
        {"severity":"error","summary":"Broken","detail":"Mend it.","range":{"filename":"a.tfvars","start":{"line":2,"column":10,"byte":15},"end":{"line":2,"column":19,"byte":24}},"snippet":{"context":null,"code":"(not shown: this file may hold secrets)","start_line":2,"highlight_start_offset":0,"highlight_end_offset":0,"values":[]},"id":"provider-diagnostic"}"#]].assert_eq(&text);
}

#[test]
fn warning_about_a_literal_secret_hides_the_source() {
    let secret = "\"kan\n  arek\"";
    let text = format!("variable \"v\" {{\n  default = {secret} # é\n}}\n");
    let file = SourceText {
        path: "main.tf".into(),
        blocks: Arc::new([Arc::from(text.as_str())]),
        may_hold_secrets: false,
    };
    let sources = Sources { files: Arc::from([file]) };
    let start = text.find(secret).expect("is there") as u32;
    let range = ByteRange { start, end: start + secret.len() as u32 };
    let location = Location { path: "main.tf".into(), range };
    let found = Diagnostic::new(Summary::LITERAL_SECRET, "Take it out.");
    let found = found.at(Some(location));
    let text = diagnostics(std::slice::from_ref(&found), &sources, &BOX)
        + &diagnostic_json(&found, &sources).to_string();
    assert!(!text.contains("kan") && !text.contains("arek"), "{text}");
    expect![[r#"
        ╷
        │ Warning: Secret written in the configuration [literal-secret]
        │
        │   on main.tf line 2:
        │    2:   default = (not shown) # é
        │
        │ Take it out.
        ╵
        {"severity":"warning","summary":"Secret written in the configuration","detail":"Take it out.","range":{"filename":"main.tf","start":{"line":2,"column":13,"byte":27},"end":{"line":3,"column":8,"byte":39}},"snippet":{"context":null,"code":"  default = (not shown) # é","start_line":2,"highlight_start_offset":12,"highlight_end_offset":23,"values":[]},"id":"literal-secret"}"#]].assert_eq(&text);
}

#[test]
fn deprecation_warnings_are_shown_once_without_a_count() {
    let warning = |summary: Summary, detail: &str, start: u32| {
        let range = ByteRange { start, end: start + 1 };
        let location = Location { path: "main.tf".into(), range };
        Diagnostic::new(summary, detail).at(Some(location))
    };
    let given = vec![
        warning(Summary::DEPRECATED_OUTPUT, "a", 1),
        warning(Summary::DEPRECATED_OUTPUT, "a", 2),
        warning(Summary::DEPRECATED_OUTPUT, "b", 3),
        warning(Summary::DEPRECATED_VARIABLE, "a", 4),
        warning(Summary::provider_warning("Deprecated"), "a", 5),
        warning(Summary::provider_warning("Deprecated"), "a", 6),
    ];
    let kept = consolidated(without_repeated_deprecations(given), Severity::Warning);
    let shown: Vec<String> = kept.iter().map(|it| format!("{}: {}", it.id(), it.detail)).collect();
    let grouped = "provider-diagnostic: a\n\n(and one more similar warning elsewhere)";
    assert_eq!(
        shown,
        ["deprecated-output: a", "deprecated-output: b", "deprecated-variable: a", grouped]
    );
}

#[test]
fn failed_comparison_shows_the_difference_of_its_sides() {
    let difference = Difference {
        left: "{\"a\":1,\"b\":[1,2]}".to_owned(),
        right: "{\"a\":1,\"b\":[1]}".to_owned(),
    };
    let diagnostic = Diagnostic {
        values: vec!["local.full is object with 2 attributes".to_owned()],
        difference: Some(Box::new(difference)),
        ..Diagnostic::new(Summary::CHECK_ASSERTION, "Too many.").at(Some(at("local.full", 0)))
    };
    check(
        &diagnostic,
        &Style::PLAIN,
        expect![[r#"

        Warning: Check block assertion failed

          on main.tf line 10:
          10:   secret_name = local.full
            ├────────────────
            │ local.full is object with 2 attributes
            ├────────────────
            │ Diff:
            │     {
            │       ~ b = [
            │             1,
            │           - 2,
            │         ]
            │         # (1 unchanged attribute hidden)
            │     }

        Too many.
    "#]],
    );
    let json = diagnostic_json(&diagnostic, &sources());
    let expected = serde_json::json!({
        "before": {"a": 1, "b": [1, 2]},
        "after": {"a": 1, "b": [1]},
        "after_unknown": false,
        "before_sensitive": false,
        "after_sensitive": false,
    });
    assert_eq!(json["difference"], expected);
}
