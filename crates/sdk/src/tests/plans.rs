//! Tests of plans. Each case has a prior state, a configuration, and the expected plan.

use expect_test::{Expect, expect};
use provider::{PlanResourceChangeRequest, Private, Provider, objchange::proposed_new};
use values::Value;

use super::{configured, said_of, schema, shown, text_of, value};

async fn check(prior: &str, config: &str, expected: Expect) {
    let server = configured().await;
    let schema = schema().await;
    let (prior, config) = (value(&schema, prior), value(&schema, config));
    let proposed = if config.is_null() {
        Value::null(schema.implied_type().clone())
    } else {
        proposed_new(schema.block(), &prior, &config)
    };
    let request = PlanResourceChangeRequest {
        type_name: "test_thing".into(),
        prior_state: prior.clone(),
        proposed_new_state: proposed,
        config: config.clone(),
        prior_private: Private::default(),
        provider_meta: None,
        prior_identity: None,
    };
    let response = server.plan_resource_change(request).await;
    let planned = response.planned_state.as_ref();
    let mut text = planned.map(shown).unwrap_or_default();
    if planned.is_some_and(|planned| *planned == prior) {
        text = "as before".to_owned();
    }
    for path in &response.requires_replace {
        text.push_str(&format!("\nreplace {path}"));
    }
    let said = said_of(&response.diagnostics);
    if !said.is_empty() {
        text.push_str(&format!("\n{said}"));
    }
    expected.assert_eq(text.trim_start());
    if let Some(planned) = planned {
        let violations = provider::objchange::plan_valid(schema.block(), &prior, &config, planned);
        assert!(violations.is_empty(), "a core refuses the plan");
    }
    if planned.is_some_and(|it| !it.is_null()) {
        assert_eq!(text_of(&response.planned_private), r#"{"planned_by":"InQi"}"#);
    }
}

/// An object after a create.
const EXISTING: &str = r#"{"id": "i", "name": "n", "size": 1, "label": "l", "revision": "r",
    "settings": null, "rule": [], "note": null, "any": null, "old": null, "pass_wo": null, "key_wo": null}"#;

#[tokio::test]
async fn planned_creation_has_unknown_computed_values_and_defaults() {
    let expected = expect!["{id=?, label=?, name=\"n\", revision=?, rule=[], size=1}"];
    check("null", r#"{"name": "n", "rule": []}"#, expected).await;
    let expected =
        expect!["{id=?, label=\"l\", name=\"n\", note=\"a\", revision=?, rule=[], size=3}"];
    check("null", r#"{"name": "n", "size": 3, "label": "l", "note": "a", "rule": []}"#, expected)
        .await;
}

#[tokio::test]
async fn an_unchanged_configuration_plans_the_prior_state() {
    check(EXISTING, r#"{"name": "n", "rule": []}"#, expect!["as before"]).await;
    check(EXISTING, r#"{"name": "n", "size": 1.0, "rule": []}"#, expect!["as before"]).await;
}

#[tokio::test]
async fn a_changed_write_only_value_alone_plans_nothing() {
    check(EXISTING, r#"{"name": "n", "pass_wo": "new", "rule": []}"#, expect!["as before"]).await;
}

#[tokio::test]
async fn planned_update_keeps_only_stable_computed_values() {
    let expected =
        expect!["{id=\"i\", label=?, name=\"n\", note=\"a\", revision=?, rule=[], size=1}"];
    check(EXISTING, r#"{"name": "n", "note": "a", "pass_wo": "x", "rule": []}"#, expected).await;
}

#[tokio::test]
async fn expected_change_makes_computed_values_unknown() {
    let prior = EXISTING.replace(r#""note": null"#, r#""note": "drifted""#);
    let expected =
        expect!["{id=\"i\", label=?, name=\"n\", note=\"drifted\", revision=?, rule=[], size=1}"];
    check(&prior, r#"{"name": "n", "note": "drifted", "rule": []}"#, expected).await;
}

#[tokio::test]
async fn changed_name_requires_replacement_and_unset_label_does_not() {
    let expected = expect![[r#"
        {id="i", label=?, name="m", revision=?, rule=[], size=1}
        replace .name"#]];
    check(EXISTING, r#"{"name": "m", "rule": []}"#, expected).await;
    let expected = expect![[r#"
        {id="i", label="k", name="n", revision=?, rule=[], size=1}
        replace .label"#]];
    check(EXISTING, r#"{"name": "n", "label": "k", "rule": []}"#, expected).await;
}

#[tokio::test]
async fn unknown_configuration_stays_unknown() {
    let expected = expect![[r#"
        {id="i", label=?, name=?, revision=?, rule=[], size=1}
        replace .name"#]];
    check(EXISTING, r#"{"name": "?", "rule": []}"#, expected).await;
}

#[tokio::test]
async fn planned_nested_attributes_have_defaults_unknowns_and_nulls() {
    let expected = expect![[
        r#"{id=?, label=?, name="n", revision=?, rule=[], settings={code=?, mode="fast"}, size=1}"#
    ]];
    check("null", r#"{"name": "n", "settings": {"pass_wo": "s"}, "rule": []}"#, expected).await;
}

#[tokio::test]
async fn planned_blocks_have_unknowns_and_nulls() {
    let expected = expect![[
        r#"{id=?, label=?, name="n", revision=?, rule=[{name="a", rule_id=?}, {name="b", rule_id=?}], size=1}"#
    ]];
    let config = r#"{"name": "n", "rule": [{"name": "a", "pass_wo": "s"}, {"name": "b"}]}"#;
    check("null", config, expected).await;
    let prior = EXISTING.replace(r#""rule": []"#, r#""rule": [{"name": "a", "rule_id": "r1"}]"#);
    let expected = expect![[
        r#"{id="i", label=?, name="n", revision=?, rule=[{name="a", rule_id="r1"}, {name="b", rule_id=?}], size=1}"#
    ]];
    check(&prior, config, expected).await;
}

#[tokio::test]
async fn planned_deletion_is_null() {
    check(EXISTING, "null", expect!["null"]).await;
}

#[tokio::test]
async fn refused_plan_has_no_planned_state() {
    check("null", r#"{"name": "n", "note": "b", "rule": []}"#, expect!["No b at first"]).await;
}

#[tokio::test]
async fn plan_compares_numbers_exactly() {
    let large = "123456789012345678901234567890.5";
    let prior = EXISTING
        .replace(r#""any": null"#, &format!(r#""any": {{"value": {large}, "type": "number"}}"#));
    let same =
        format!(r#"{{"name": "n", "rule": [], "any": {{"value": {large}, "type": "number"}}}}"#);
    check(&prior, &same, expect!["as before"]).await;
    let other = same.replace(".5", ".6");
    let expected = expect![
        "{any=123456789012345678901234567890.6, id=\"i\", label=?, name=\"n\", revision=?, rule=[], size=1}"
    ];
    check(&prior, &other, expected).await;
}
