use std::sync::Arc;

use addr::{ProviderConfigRef, ProviderSource, parse_resource_instance};
use expect_test::{Expect, expect};
use provider::{
    Attribute, Block, Capabilities, NestedBlock, Nesting, ProviderSchemas, Schema, SchemaTypes,
};
use sorted::{SortedMap, TreeMap};
use state::{
    Action, BackendRecord, Change, EphemeralPlan, Importing, OutputChange, Plan, PlanMode, Reason,
    ResourceChange, StateIdentity,
};
use values::{Mark, Str, Type, Value};

use super::*;
use crate::Style;

fn block(attributes: &[(&str, Attribute)]) -> Block {
    let attributes = attributes.iter().map(|(name, it)| (Str::from(*name), it.clone()));
    Block::new(attributes.collect(), SortedMap::new())
}

/// Schemas of two resource types: one with write-only attributes, and one with blocks.
pub(crate) fn schemas() -> Arc<ProviderSchemas> {
    let text = || Attribute::optional(Type::String);
    let write_only = || Attribute { write_only: true, ..text() };
    let inner = block(&[("a", text()), ("wo", write_only())]);
    let secret = block(&[
        ("id", Attribute::computed(Type::String)),
        ("value_wo", write_only()),
        ("value_wo_version", Attribute::optional(Type::Number)),
        ("path", text()),
        ("list", Attribute::optional(Type::list(Type::String))),
        ("sensitive", Attribute { sensitive: true, ..text() }),
        ("any", Attribute::optional(Type::Dynamic)),
    ]);
    let blocks = [("part".into(), NestedBlock::new(Nesting::List, inner))].into();
    let secret = Block::new(secret.attributes().clone(), blocks);
    let types = SchemaTypes {
        managed: [("t_secret".into(), Arc::new(Schema::new(0, secret)))].into(),
        ..SchemaTypes::default()
    };
    let provider = Schema::new(0, Block::default());
    Arc::new(ProviderSchemas::new(provider, types, SortedMap::new(), Capabilities::default()))
}

/// An object of type `t_secret`; missing attributes are null.
pub(crate) fn secret(attributes: &[(&str, Value)]) -> Value {
    let schemas = schemas();
    let schema = schemas.managed("t_secret").expect("there");
    let mut all = schema.block().empty_value().as_map().cloned().expect("an object");
    all.extend(attributes.iter().map(|(name, it)| (Str::from(*name), it.clone())));
    Value::object(all)
}

fn part(a: &str) -> Value {
    let ty = Type::object([("a", Type::String), ("wo", Type::String)]);
    let part = Value::object_from([("a", Value::string(a)), ("wo", Value::null(Type::String))]);
    Value::list(ty, vec![part])
}

pub(crate) fn null() -> Value {
    Value::null(Type::Dynamic)
}

pub(crate) fn change(address: &str, action: Action, before: Value, after: Value) -> ResourceChange {
    let source = ProviderSource::default_for("t");
    ResourceChange {
        addr: parse_resource_instance(address).expect("an address"),
        previous_addr: None,
        deposed: None,
        provider: ProviderConfigRef::default_in(addr::ModulePath::root(), source).into(),
        change: Change {
            action,
            before,
            after,
            importing: None,
            generated_config: String::new(),
            before_identity: None,
            after_identity: None,
        },
        private: [].into(),
        required_replace: Vec::new(),
        reason: None,
    }
}

pub(crate) fn plan_of(resource_changes: Vec<ResourceChange>) -> Plan {
    Plan {
        id: "5a0d".to_owned(),
        timestamp: "2026-01-02T03:04:05Z".to_owned(),
        made_by: "a test".to_owned(),
        mode: PlanMode::Normal,
        is_applyable: true,
        has_errors: false,
        variables: TreeMap::new(),
        ephemeral_variables: ["password".into()].into(),
        resource_changes: resource_changes.into_iter().map(Arc::new).collect(),
        resource_drift: Vec::new(),
        ephemerals: vec![EphemeralPlan {
            addr: parse_resource_instance("ephemeral.t_token.x").expect("an address"),
        }],
        output_changes: TreeMap::new(),
        checks: Vec::new(),
        relevant_attributes: Vec::new(),
        targets: Vec::new(),
        excludes: Vec::new(),
        force_replace: Vec::new(),
        backend: BackendRecord {
            type_name: "local".to_owned(),
            config: Value::empty_object(),
            workspace: "default".to_owned(),
        },
        prior_state: StateIdentity::default(),
        root_dir: ".".to_owned(),
        data_dir: ".terraform".to_owned(),
        files: state::PlannedFiles::default(),
    }
}

/// A plan without changes.
pub(crate) fn empty_plan() -> Plan {
    plan_of(Vec::new())
}

fn rendered(plan: &Plan, show_sensitive: bool, style: &Style) -> String {
    let known = schemas();
    let find = |_: &ProviderSource| Some(Arc::clone(&known));
    super::plan(&PlanView { plan, schemas: &find, show_sensitive }, style)
}

/// Compares the part of a plan below its heading with `expected`.
#[track_caller]
fn check(changes: Vec<ResourceChange>, expected: Expect) {
    let text = rendered(&plan_of(changes), false, &Style::PLAIN);
    let (_, body) = text.split_once("actions:\n\n").expect("a heading");
    expected.assert_eq(body);
}

#[test]
fn changed_objects_show_their_write_only_attributes() {
    let unknown = Value::unknown(Type::String);
    let version = |n| ("value_wo_version", Value::int(n));
    let id = || ("id", Value::string("i"));
    let mut replaced = change(
        "t_secret.replaced",
        Action::DeleteThenCreate,
        secret(&[id(), version(1)]),
        secret(&[("id", unknown.clone()), version(1)]),
    );
    replaced.required_replace = vec![values::Path::root().attr("value_wo")];
    check(
        vec![
            change(
                "t_secret.created",
                Action::Create,
                null(),
                secret(&[("id", unknown), version(1), ("part", part("x"))]),
            ),
            change("t_secret.gone", Action::Delete, secret(&[id(), version(1)]), null()),
            change(
                "t_secret.updated",
                Action::Update,
                secret(&[id(), version(1)]),
                secret(&[id(), version(2)]),
            ),
            change(
                "t_secret.updated_inside",
                Action::Update,
                secret(&[id(), ("part", part("x"))]),
                secret(&[id(), ("part", part("y"))]),
            ),
            replaced,
        ],
        expect![[r#"
              # t_secret.created will be created
              + resource "t_secret" "created" {
                  + id               = (known after apply)
                  + value_wo         = (write-only attribute)
                  + value_wo_version = 1

                  + part {
                      + a  = "x"
                      + wo = (write-only attribute)
                    }
                }

              # t_secret.gone will be destroyed
              - resource "t_secret" "gone" {
                  - id               = "i" -> null
                  - value_wo         = (write-only attribute) -> null
                  - value_wo_version = 1 -> null
                }

              # t_secret.replaced must be replaced
            -/+ resource "t_secret" "replaced" {
                  ~ id               = "i" -> (known after apply)
                  ~ value_wo         = (write-only attribute) # forces replacement
                    # (1 unchanged attribute hidden)
                }

              # t_secret.updated will be updated in-place
              ~ resource "t_secret" "updated" {
                    id               = "i"
                  ~ value_wo         = (write-only attribute)
                  ~ value_wo_version = 1 -> 2
                }

              # t_secret.updated_inside will be updated in-place
              ~ resource "t_secret" "updated_inside" {
                    id       = "i"
                    # (1 unchanged attribute hidden)

                  ~ part {
                      ~ a  = "x" -> "y"
                      ~ wo = (write-only attribute)
                    }
                }

            Plan: 2 to add, 2 to change, 2 to destroy.
        "#]],
    );
}

#[test]
fn unexpected_ephemeral_value_is_hidden_in_a_plan() {
    let hidden = |text: &str| Value::string(text).with_mark(Mark::Ephemeral);
    let list = Value::list(Type::String, vec![hidden("hunter2")]);
    let any = Value::tuple(vec![hidden("hunter2").with_mark(Mark::Sensitive), Value::int(1)]);
    let before = secret(&[("path", hidden("hunter1"))]);
    let after = secret(&[("path", hidden("hunter2")), ("list", list), ("any", any)]);
    let mut plan = plan_of(vec![change("t_secret.a", Action::Update, before, after)]);
    let output =
        |after| OutputChange { action: Action::Create, before: null(), after, sensitive: false };
    plan.output_changes.insert("o".into(), output(Value::object_from([("k", hidden("hunter2"))])));
    for show_sensitive in [false, true] {
        let text = rendered(&plan, show_sensitive, &Style::PLAIN);
        assert!(!text.contains("hunter"), "{text}");
    }
    let find = |_: &ProviderSource| None;
    let view = PlanView { plan: &plan, schemas: &find, show_sensitive: true };
    assert!(!super::plan(&view, &Style::PLAIN).contains("hunter"), "without schema");
    assert!(!plan_json(&PlanJson { view, prior_state: None, program: None }).contains("hunter"));
    expect![[r#"

        OpenTofu used the selected providers to generate the following execution plan. Resource actions are indicated with the following symbols:
          ~ update in-place (current -> planned)

        OpenTofu will perform the following actions:

          # t_secret.a will be updated in-place
          ~ resource "t_secret" "a" {
              + any      = [
                  + (ephemeral value),
                  + 1,
                ]
              + list     = [
                  + (ephemeral value),
                ]
              ~ path     = (ephemeral value)
              ~ value_wo = (write-only attribute)
            }

        Plan: 0 to add, 1 to change, 0 to destroy.

        Changes to Outputs:
          + o = {
              + k = (ephemeral value)
            }
    "#]].assert_eq(&rendered(&plan, false, &Style::PLAIN));
}

#[test]
fn plan_leaves_out_an_output_that_was_and_will_be_null() {
    let mut plan = plan_of(Vec::new());
    let output =
        OutputChange { action: Action::Delete, before: null(), after: null(), sensitive: true };
    plan.output_changes.insert("o".into(), output);
    let text = rendered(&plan, false, &Style::PLAIN);
    assert!(text.contains("No changes.") && !text.contains("Outputs"), "{text}");
}

#[test]
fn plan_shows_sensitive_values_only_on_request() {
    let before = secret(&[("sensitive", Value::string("hunter1"))]);
    let after = secret(&[
        ("sensitive", Value::string("hunter2")),
        ("any", Value::int(1).with_mark(Mark::Sensitive)),
    ]);
    let plan = plan_of(vec![change("t_secret.a", Action::Update, before, after)]);
    assert!(!rendered(&plan, false, &Style::PLAIN).contains("hunter"));
    let text = rendered(&plan, true, &Style::PLAIN);
    assert!(
        text.contains("~ sensitive = \"hunter1\" -> \"hunter2\"")
            && text.contains("+ any       = 1"),
        "{text}"
    );
}

#[test]
fn plan_marks_values_that_differ_only_by_temporary_directory() {
    let at = |id: &str, rest: &str| {
        secret(&[("path", Value::string(format!(".terraform/tmp/{id}/{rest}")))])
    };
    check(
        vec![
            change("t_secret.moved", Action::Update, at("1111", "m/a.zip"), at("2222", "m/a.zip")),
            change("t_secret.other", Action::Update, at("1111", "m/a.zip"), at("2222", "m/b.zip")),
        ],
        expect![[r#"
              # t_secret.moved will be updated in-place
              ~ resource "t_secret" "moved" {
                  ~ path     = "${path.temp}/a.zip" # only the plan's temporary directory differs
                  ~ value_wo = (write-only attribute)
                }

              # t_secret.other will be updated in-place
              ~ resource "t_secret" "other" {
                  ~ path     = ".terraform/tmp/1111/m/a.zip" -> ".terraform/tmp/2222/m/b.zip"
                  ~ value_wo = (write-only attribute)
                }

            Plan: 0 to add, 2 to change, 0 to destroy.
        "#]],
    );
}

#[test]
fn control_characters_of_values_are_escaped_in_plans() {
    let text = "a\n\u{1b}]0;x\u{7}b\u{9b}2J\u{202e}\n";
    let after = secret(&[
        ("path", Value::string(text)),
        ("any", Value::string("\u{1b}[31m{")),
        ("id", Value::string("\u{8}")),
    ]);
    let mut imported = change("t_secret.a[\"\u{1b}\"]", Action::Update, secret(&[]), after);
    imported.change.importing = Some(Box::new(Importing::Id("\u{1b}[2J".to_owned())));
    check(
        vec![imported],
        expect![[r#"
          # t_secret.a["\u001b"] will be updated in-place
          # (imported from "\u001b[2J")
          ~ resource "t_secret" "a" {
              + any      = "\x1b[31m{"
              + id       = "\b"
              + path     = <<-EOT
                    a
                    \u001b]0;x\u0007b\u009b2J\u202e
                EOT
              ~ value_wo = (write-only attribute)
            }

        Plan: 1 to import, 0 to add, 1 to change, 0 to destroy.
    "#]],
    );
}

#[test]
fn forgotten_objects_have_no_symbols() {
    let before = || secret(&[("id", Value::string("i")), ("path", Value::string("p"))]);
    let mut forgotten = change("t_secret.a", Action::Forget, before(), null());
    forgotten.reason = Some(Reason::ForgotBecauseLifecycleDestroyInConfig);
    let mut replaced = change(
        "t_secret.b",
        Action::ForgetThenCreate,
        before(),
        secret(&[("path", Value::string("q"))]),
    );
    replaced.reason = Some(Reason::ReplaceBecauseTainted);
    check(
        vec![forgotten, replaced],
        expect![[r#"
              # t_secret.a will be removed from the OpenTofu state but will not be destroyed 
             (because lifecycle.destroy = false is set in the configuration)
              . resource "t_secret" "a" {
                id       = "i"
                path     = "p"
                value_wo = (write-only attribute)
            }

              # t_secret.b is tainted, so it must be replaced - older instance will not be destroyed (lifecycle.destroy = false)
              ./+ resource "t_secret" "b" {
                  - id       = "i" -> null
                  ~ path     = "p" -> "q"
                  ~ value_wo = (write-only attribute)
                }

            Plan: 1 to add, 0 to change, 0 to destroy, 2 to forget.
        "#]],
    );
}

#[test]
fn plan_shows_an_object_without_schema_by_its_values() {
    let plan = plan_of(vec![change(
        "t_secret.a",
        Action::Update,
        Value::object_from([
            ("a", Value::int(1)),
            ("gone", Value::string("x")),
            ("same", Value::bool(true)),
        ]),
        Value::object_from([
            ("a", Value::int(2)),
            ("new", Value::tuple(vec![])),
            ("same", Value::bool(true)),
        ]),
    )]);
    let view = PlanView { plan: &plan, schemas: &|_| None, show_sensitive: false };
    let text = super::plan(&view, &Style::PLAIN);
    let (_, body) = text.split_once("actions:\n\n").expect("a heading");
    expect![[r#"
          # t_secret.a will be updated in-place
          ~ resource "t_secret" "a" {
              ~ a    = 1 -> 2
              - gone = "x" -> null
              + new  = []
                # (1 unchanged attribute hidden)
            }

        Plan: 0 to add, 1 to change, 0 to destroy.
    "#]]
    .assert_eq(body);
}

#[test]
fn plan_without_changes_prints_no_changes() {
    let say = |mode, has_errors| {
        let plan = Plan { mode, has_errors, ..plan_of(Vec::new()) };
        rendered(&plan, false, &Style { width: Some(60), ..Style::PLAIN })
    };
    let all = [
        say(PlanMode::Normal, false),
        say(PlanMode::Destroy, false),
        say(PlanMode::RefreshOnly, false),
        say(PlanMode::Normal, true),
    ];
    expect![[r#"

        No changes. Your infrastructure matches the configuration.

        OpenTofu has compared your real infrastructure against your
        configuration and found no differences, so no changes are
        needed.

        No changes. No objects need to be destroyed.

        Either you have not created any objects yet or the existing
        objects were already deleted outside of OpenTofu.

        No changes. Your infrastructure still matches the configuration.

        OpenTofu has checked that the real remote objects still
        match the result of your most recent changes, and found no
        differences.

        Planning failed. OpenTofu encountered an error while generating this plan.

    "#]]
    .assert_eq(&all.concat());
}

#[test]
fn coloured_plan_highlights_symbols_and_addresses() {
    let after = secret(&[("path", Value::string("p"))]);
    let plan = plan_of(vec![change("t_secret.a", Action::DeleteThenCreate, secret(&[]), after)]);
    let style = Style { color: true, ..Style::PLAIN };
    let text = rendered(&plan, false, &style).replace('\u{1b}', "^");
    expect![[r#"

        OpenTofu used the selected providers to generate the following execution plan. Resource actions are indicated with the following symbols:
        ^[31m-^[0m/^[32m+^[0m destroy and then create replacement

        OpenTofu will perform the following actions:

        ^[1m  # t_secret.a^[0m must be ^[1;31mreplaced^[0m
        ^[31m-^[0m/^[32m+^[0m resource "t_secret" "a" {
              ^[32m+^[0m path     = "p"
              ^[33m~^[0m value_wo = (write-only attribute)
            }

        ^[1mPlan:^[0m 1 to add, 0 to change, 1 to destroy.
    "#]].assert_eq(&text);
}

#[test]
fn plan_footer_explains_how_to_apply() {
    let style = Style { width: Some(40), ..Style::PLAIN };
    let footer = |saved_as, generated| plan_footer(&PlanNotes { saved_as, generated }, &style);
    expect![[r#"

        ───────────────────────────────────────

        Note: You didn't use the -out option to
        save this plan, so Mayfly can't
        guarantee to take exactly these actions
        if you run "mayfly apply" now.

        ───────────────────────────────────────

        Saved the plan to: p

        To perform exactly these actions, run
        the following command to apply:
            mayfly apply "p"

        ───────────────────────────────────────

        Mayfly has generated configuration and
        written it to g.tf. Please review the
        configuration and edit it as necessary
        before adding it to version control.

        Note: You didn't use the -out option to
        save this plan, so Mayfly can't
        guarantee to take exactly these actions
        if you run "mayfly apply" now.
    "#]]
    .assert_eq(&(footer(None, None) + &footer(Some("p"), None) + &footer(None, Some("g.tf"))));
}

#[test]
fn plan_prints_json_lines() {
    let mut moved = change("t_secret.new", Action::NoOp, secret(&[]), secret(&[]));
    moved.previous_addr =
        Some(Box::new(parse_resource_instance("t_secret.old").expect("an address")));
    let mut replaced =
        change("t_secret.a[\"k\"]", Action::CreateThenDelete, secret(&[]), secret(&[]));
    replaced.reason = Some(Reason::ReplaceBecauseCannotUpdate);
    let mut imported = change("t_secret.i", Action::NoOp, secret(&[]), secret(&[]));
    imported.change.importing = Some(Box::new(Importing::Id("i-1".to_owned())));
    let unchanged = change("t_secret.same", Action::NoOp, secret(&[]), secret(&[]));
    let mut plan = plan_of(vec![moved, replaced, imported, unchanged]);
    let sensitive = Value::string("hunter2").with_mark(Mark::Sensitive);
    let output = OutputChange {
        action: Action::Create,
        before: null(),
        after: sensitive.clone(),
        sensitive: true,
    };
    plan.output_changes.insert("o".into(), output);
    let mut state = ::state::State::default();
    let output = ::state::OutputValue { value: sensitive, sensitive: true, deprecated: None };
    state.outputs.insert("o".into(), output);
    let mut lines = vec![version_json("T"), log_json("Said.", "T")];
    lines.extend(planned_changes_json(&plan, "T"));
    lines.push(change_summary_json(&plan, "T"));
    lines.extend(output_changes_json(&plan, None, "T"));
    lines.extend(output_changes_json(&plan, Some(&state), "T"));
    expect![[r#"
        {"@level":"info","@message":"OpenTofu 1.12.6","@module":"tofu.ui","@timestamp":"T","tofu":"1.12.6","type":"version","ui":"1.2"}
        {"@level":"info","@message":"Said.","@module":"tofu.ui","@timestamp":"T","type":"log"}
        {"@level":"info","@message":"t_secret.new: Plan to move","@module":"tofu.ui","@timestamp":"T","change":{"resource":{"addr":"t_secret.new","module":"","resource":"t_secret.new","implied_provider":"t","resource_type":"t_secret","resource_name":"new","resource_key":null},"previous_resource":{"addr":"t_secret.old","module":"","resource":"t_secret.old","implied_provider":"t","resource_type":"t_secret","resource_name":"old","resource_key":null},"action":"move"},"type":"planned_change"}
        {"@level":"info","@message":"t_secret.a[\"k\"]: Plan to replace","@module":"tofu.ui","@timestamp":"T","change":{"resource":{"addr":"t_secret.a[\"k\"]","module":"","resource":"t_secret.a[\"k\"]","implied_provider":"t","resource_type":"t_secret","resource_name":"a","resource_key":"k"},"action":"replace","reason":"cannot_update"},"type":"planned_change"}
        {"@level":"info","@message":"t_secret.i: Plan to import","@module":"tofu.ui","@timestamp":"T","change":{"resource":{"addr":"t_secret.i","module":"","resource":"t_secret.i","implied_provider":"t","resource_type":"t_secret","resource_name":"i","resource_key":null},"action":"import","importing":{"id":"i-1"}},"type":"planned_change"}
        {"@level":"info","@message":"Plan: 1 to import, 1 to add, 0 to change, 1 to destroy.","@module":"tofu.ui","@timestamp":"T","changes":{"add":1,"change":0,"import":1,"remove":1,"forget":0,"operation":"plan"},"type":"change_summary"}
        {"@level":"info","@message":"Outputs: 1","@module":"tofu.ui","@timestamp":"T","outputs":{"o":{"sensitive":true,"action":"create"}},"type":"outputs"}
        {"@level":"info","@message":"Outputs: 1","@module":"tofu.ui","@timestamp":"T","outputs":{"o":{"sensitive":true,"type":"string"}},"type":"outputs"}"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn plan_json_omits_ephemeral_resources() {
    let plan = plan_of(vec![change("ephemeral.t_token.x", Action::Create, null(), null())]);
    let view = PlanView { plan: &plan, schemas: &|_| None, show_sensitive: false };
    assert!(!plan_json(&PlanJson { view, prior_state: None, program: None }).contains("ephemeral"));
    assert_eq!(engine::ChangeCounts::of_plan(&plan), Default::default());
}

#[test]
fn long_lists_and_texts_are_compared_in_bounded_time() {
    let numbers =
        |skip: usize| (0..20_000).filter(move |i| i % skip != 0).map(|i: usize| i.to_string());
    let list = |skip| Value::list(Type::String, numbers(skip).map(Value::string).collect());
    let text = |skip| Value::string(numbers(skip).collect::<Vec<_>>().join("\n"));
    let object = |skip| secret(&[("list", list(skip)), ("path", text(skip))]);
    let plan = plan_of(vec![change("t_secret.a", Action::Update, object(1_001), object(1_003))]);
    let shown = rendered(&plan, false, &Style::PLAIN);
    // The removed and the added lines appear once in the list and once in the string.
    let count = |symbol: &str| {
        shown.lines().filter(|it| it.starts_with(&format!("          {symbol} "))).count()
    };
    assert_eq!((count("-"), count("+")), (2 * 19, 2 * 19));
}

#[test]
fn state_json_omits_write_only_values() {
    // The state comes from a version of the provider in which the attribute was not write-only.
    let text = r#"{"version": 4, "resources": [{"mode": "managed", "type": "t_secret", "name": "a",
        "provider": "provider[\"registry.opentofu.org/hashicorp/t\"]",
        "instances": [{"attributes": {"id": "i", "value_wo": "kanarek", "value_wo_version": 1, "path": null,
            "list": null, "sensitive": null, "any": null, "part": [{"a": "p", "wo": "kanarek"}]}}]}]}"#;
    let file = state::StateFile::read(text.as_bytes()).expect("a state");
    let known = schemas();
    let find = |_: &ProviderSource| Some(known.clone());
    let inputs = crate::StateJson { state: Some(&file.state), written_by: "1.0.0", schemas: &find };
    let shown = crate::state_json(&inputs);
    assert!(shown.contains(r#""value_wo":null"#) && !shown.contains("kanarek"), "{shown}");
}

#[test]
fn legend_names_every_action_that_changes_something() {
    for action in Action::ALL {
        let is_named = human::LEGEND.iter().any(|(it, _)| *it == action);
        assert_eq!(is_named, action != Action::NoOp, "{action:?}");
    }
}

#[test]
fn large_plan_keeps_its_order_and_its_secrets_in_every_part() {
    let secret = || Value::string("hunter2").with_mark(Mark::Sensitive);
    let object = |index| {
        let after = Value::object_from([("id", Value::int(index)), ("value", secret())]);
        change(&format!("t_other.many[{index}]"), Action::Create, null(), after)
    };
    let text = rendered(&plan_of((0..200).rev().map(object).collect()), false, &Style::PLAIN);
    let headers = text.lines().filter_map(|it| it.trim().strip_prefix("# t_other.many["));
    let shown: Vec<usize> =
        headers.map(|it| it.split(']').next().expect("a key").parse().expect("a number")).collect();
    assert_eq!(shown, (0..200).collect::<Vec<_>>());
    assert_eq!(text.matches("(sensitive value)").count(), 200);
    assert!(!text.contains("hunter2"));
}

#[test]
fn plan_with_many_changes_ends_with_an_overview() {
    let change_in = |module: &str, index: usize| {
        change(&format!("{module}t_secret.a[{index}]"), Action::Create, null(), secret(&[]))
    };
    let mut changes: Vec<_> = (0..49).map(|index| change_in("", index)).collect();
    changes.push(change_in("module.m[0].", 0));
    let text = |changes: &[_]| rendered(&plan_of(changes.to_vec()), false, &Style::PLAIN);
    assert!(!text(&changes).contains("Changes by module"));
    changes.push(change_in("module.m[1].", 0));
    let text = text(&changes);
    let (_, overview) = text.split_once("\nPlan: ").expect("has changes");
    expect![[r#"
        51 to add, 0 to change, 0 to destroy.

        Changes by module:
          add
           49  (root module)
            2  module.m
    "#]]
    .assert_eq(overview);
}
