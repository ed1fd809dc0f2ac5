//! Tests of the options of the derive macros: the schema and the plans that they give.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use provider::{AttributeType, DescriptionKind, Provider};
use values::{Str, Value};

use super::{echo::Echo, said_of, shown};
use crate::{
    AttributeValue, Choice, Diagnostics, MaybeUnknown, Model, Object, Secret, Set, Timeouts,
    modify::{AttributeContext, RequiresReplaceIf},
    schema::{Attribute, Block, Schema, plain_object, string},
};

/// Describes attributes and blocks, one per line.
fn described(block: &provider::Block, indent: usize) -> String {
    let mut text = String::new();
    for (name, it) in block.attributes() {
        attribute(name, it, indent, &mut text);
    }
    for (name, it) in block.blocks() {
        let limits = format!("{:?} {}-{}", it.nesting, it.min_items, it.max_items);
        text += &format!("{:indent$}{name} {limits} {:?}\n", "", &*it.block.description);
        text += &described(&it.block, indent + 2);
    }
    text
}

fn attribute(name: &str, it: &provider::Attribute, indent: usize, text: &mut String) {
    let flags = [
        (it.required, "required"),
        (it.optional, "optional"),
        (it.computed, "computed"),
        (it.sensitive, "sensitive"),
        (it.write_only, "write_only"),
        (it.deprecated, &*it.deprecation_message),
        (it.description_kind == DescriptionKind::Markdown, "markdown"),
    ];
    let flags: Vec<&str> = flags.into_iter().filter(|it| it.0).map(|it| it.1).collect();
    let (ty, parts) = match &it.ty {
        AttributeType::Type(ty) => (ty.to_string(), None),
        AttributeType::Nested(parts) => (format!("{:?}", parts.nesting()), Some(parts)),
    };
    *text += &format!("{:indent$}{name}: {ty}, {}", "", flags.join(" "));
    *text += &if it.description.is_empty() {
        String::new()
    } else {
        format!(", {:?}", &*it.description)
    };
    text.push('\n');
    for (name, it) in parts.into_iter().flat_map(|it| it.attributes()) {
        attribute(name, it, indent + 2, text);
    }
}

#[track_caller]
fn check<M: Model>(expected: Expect) {
    let schema = M::schema().to_provider();
    let problems: Vec<String> = schema.problems().iter().map(ToString::to_string).collect();
    assert_eq!(problems, Vec::<String>::new());
    let block = schema.block();
    let head =
        format!("{} {:?} {}", schema.version(), &*block.description, block.deprecation_message);
    expected.assert_eq(&format!("{}\n{}", head.trim_end(), described(block, 0)));
}

/// A type with all options.
///
/// The second
/// paragraph.
#[derive(Model)]
#[model(version = 1 + 2, deprecated = "Use another one.", markdown)]
struct Options {
    /// The id.
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    plain: String,
    maybe: Option<bool>,
    any: Value,
    open: MaybeUnknown<String>,
    #[attribute(required)]
    needed: Option<String>,
    #[attribute(optional, computed)]
    both: Option<Vec<String>>,
    #[attribute(default = 1.5)]
    defaulted: Option<f64>,
    #[attribute(sensitive, deprecated = "Use plain.")]
    hidden: Option<String>,
    #[attribute(write_only)]
    secret_wo: Option<Secret>,
    secret: Secret,
    secrets: Option<BTreeMap<Str, Secret>>,
    r#type: Option<String>,
    #[attribute(name = "fn")]
    function: Option<u8>,
    shade: Shade,
    /// The inner object.
    inner: Option<Inner>,
    inners: Option<Set<Inner>>,
    undescribed: Option<Inner>,
    plain_part: Option<Plain>,
    plain_parts: Option<Vec<Plain>>,
    nested_lists: Option<Vec<Vec<Inner>>>,
    #[attribute(computed)]
    chosen: Option<Inner>,
    #[block]
    timeouts: Option<Timeouts>,
    /// The rules.
    #[block(min = 1, max = 3, name = "rule")]
    rules: Vec<Inner>,
    #[flatten]
    more: More,
}

#[derive(Choice, Clone, Copy)]
enum Shade {
    Light,
    #[choice("very dark")]
    VeryDark,
}

/// An object.
#[derive(Model)]
struct Inner {
    /// A name.
    name: String,
    password: Option<Secret>,
}

#[derive(Model)]
#[model(plain)]
struct Plain {
    name: String,
    password: Option<Secret>,
}

/// A part without a description of its own.
#[derive(Model)]
#[model(deprecated = "Never shown.")]
struct More {
    #[attribute(computed, identity)]
    serial: Option<i64>,
    #[block]
    extra: Set<Inner>,
}

#[test]
fn options_of_fields_are_flags_of_the_schema() {
    check::<Options>(expect![[r#"
        3 "A type with all options.\n\nThe second paragraph." Use another one.
        any: any, optional markdown
        both: list(string), optional computed markdown
        chosen: Single, computed markdown, "An object."
          name: string, computed, "A name."
          password: string, computed sensitive
        defaulted: number, optional computed markdown
        fn: number, optional markdown
        hidden: string, optional sensitive Use plain. markdown
        id: string, computed markdown, "The id."
        inner: Single, optional markdown, "The inner object."
          name: string, required, "A name."
          password: string, optional sensitive
        inners: Set, optional markdown, "An object."
          name: string, required, "A name."
          password: string, optional sensitive
        maybe: bool, optional markdown
        needed: string, required markdown
        nested_lists: list(list(object({ name = string, password = string }))), optional sensitive markdown, "An object."
        open: string, required markdown
        plain: string, required markdown
        plain_part: object({ name = string, password = string }), optional sensitive markdown
        plain_parts: list(object({ name = string, password = string })), optional sensitive markdown
        secret: string, required sensitive markdown
        secret_wo: string, optional write_only markdown
        secrets: map(string), optional sensitive markdown
        serial: number, computed markdown
        shade: string, required markdown
        type: string, optional markdown
        undescribed: Single, optional markdown, "An object."
          name: string, required, "A name."
          password: string, optional sensitive
        extra Set 0-0 "An object."
          name: string, required, "A name."
          password: string, optional sensitive
        rule List 1-3 "The rules."
          name: string, required, "A name."
          password: string, optional sensitive
        timeouts Single 0-0 "The longest times for the operations of an object."
          create: string, optional, "The longest time for the creation, such as \"30s\" or \"2h45m\"."
          delete: string, optional, "The longest time for the deletion, such as \"30s\" or \"2h45m\"."
          read: string, optional, "The longest time for a read, such as \"30s\" or \"2h45m\"."
          update: string, optional, "The longest time for an update, such as \"30s\" or \"2h45m\"."
    "#]]);
}

#[derive(Model)]
struct Undocumented {
    #[flatten]
    more: More,
}

#[test]
fn flattened_structs_keep_their_descriptions_to_themselves() {
    check::<Undocumented>(expect![[r#"
        0 ""
        serial: number, computed
        extra Set 0-0 "An object."
          name: string, required, "A name."
          password: string, optional sensitive
    "#]]);
}

#[derive(Model)]
struct Defaults {
    #[attribute(default = "de")]
    language: String,
    #[attribute(default = Shade::VeryDark)]
    shade: Shade,
    #[attribute(default = 7)]
    count: MaybeUnknown<Option<u8>>,
    #[attribute(default = vec!["a".to_owned()])]
    tags: Vec<String>,
    part: Option<DefaultPart>,
    parts: Option<Vec<DefaultPart>>,
    #[block]
    block: Vec<DefaultPart>,
}

#[derive(Model)]
struct DefaultPart {
    #[attribute(default = true)]
    enabled: bool,
    #[attribute(default = -3)]
    level: i64,
    name: Option<String>,
}

#[tokio::test]
async fn defaults_apply_at_every_depth() {
    let plan = async |prior: &str, config: &str| {
        let planned = Echo::<Defaults>::plan(prior, config).await.planned_state;
        shown(&planned.expect("is planned"))
    };
    expect![[r#"{block=[], count=7, language="de", shade="very dark", tags=["a"]}"#]]
        .assert_eq(&plan("null", r#"{"block": []}"#).await);
    let config = r#"{"language": "en", "part": {"level": 2}, "parts": [{}, {"enabled": false}],
        "block": [{"name": "n"}]}"#;
    expect![[r#"{block=[{enabled=true, level=-3, name="n"}], count=7, language="en", part={enabled=true, level=2}, parts=[{enabled=true, level=-3}, {enabled=false, level=-3}], shade="very dark", tags=["a"]}"#]].assert_eq(&plan("null", config).await);
    // The prior value does not replace the default.
    let prior = r#"{"language": "en", "shade": "light", "count": 1, "tags": [], "block": []}"#;
    expect![[r#"{block=[], count=7, language="de", shade="very dark", tags=["a"]}"#]]
        .assert_eq(&plan(prior, r#"{"block": []}"#).await);
}

/// An attribute that is younger than a state is null there.
#[test]
fn default_stands_for_values_that_a_state_lacks() {
    let state = r#"{"part": {"name": "n"}, "block": [{}]}"#;
    let read = Echo::<Defaults>::read(state, crate::Unknowns::Refused).expect("is read");
    expect![[r#"{block=[{enabled=true, level=-3}], count=7, language="de", part={enabled=true, level=-3, name="n"}, shade="very dark", tags=["a"]}"#]].assert_eq(&shown(&read.encode()));
}

#[derive(Model)]
struct Validated {
    #[attribute(one_of("a", "b"))]
    one: Option<String>,
    #[attribute(between(1, 9))]
    whole: Option<u64>,
    #[attribute(range(0.5, 1.0))]
    float: Option<f64>,
    #[attribute(range(-1.0, 1.0))]
    exact: Option<values::Number>,
    #[attribute(length(2, 3))]
    text: Option<String>,
    #[attribute(count(1, 2))]
    list: Option<Vec<String>>,
    #[attribute(check = even, check = short)]
    checked: Option<Secret>,
    #[attribute(validate = crate::validate::LengthBetween(1, 1))]
    custom: Option<String>,
    #[attribute(check = str::parse::<std::net::IpAddr>)]
    address: Option<String>,
    shades: Option<Set<Shade>>,
    bytes: Option<BTreeMap<Str, u8>>,
    timeouts: Option<Timeouts>,
}

fn even(text: &str) -> Result<(), &'static str> {
    if text.len().is_multiple_of(2) { Ok(()) } else { Err("its length is odd") }
}

fn short(text: &str) -> Result<(), String> {
    if text.len() < 5 { Ok(()) } else { Err(format!("it has {} bytes", text.len())) }
}

#[tokio::test]
async fn validators_run_in_order_until_one_fails() {
    let validate = async |config: &str| Echo::<Validated>::validate(config).await;
    let valid = r#"{"one": "b", "whole": 9, "float": 0.5, "exact": 1, "text": "äa", "list": ["x"],
        "checked": "four", "custom": "c", "address": "::1", "shades": ["light"], "bytes": {"a": 255},
        "timeouts": {"create": "90m"}}"#;
    assert_eq!(validate(valid).await, "");
    let invalid = r#"{"one": "c", "whole": 10, "float": 0.25, "exact": 1.01, "text": "long", "list": [],
        "checked": "seven77", "custom": "cc", "address": "::1::", "shades": ["light", "grey"], "bytes": {"a": 256, "b": 1},
        "timeouts": {"create": "90"}}"#;
    expect![[r#"
        .address: Invalid Attribute Value
        .bytes["a"]: Invalid Attribute Value
        .checked: Invalid Attribute Value
        .custom: Invalid Attribute Value Length
        .exact: Invalid Attribute Value
        .float: Invalid Attribute Value
        .list: Invalid Attribute Value
        .one: Invalid Attribute Value Match
        .shades[...]: Invalid Attribute Value Match
        .text: Invalid Attribute Value Length
        .timeouts.create: Invalid Attribute Value
        .whole: Invalid Attribute Value"#]]
    .assert_eq(&validate(invalid).await);
    let wrong_numbers = r#"{"whole": 1.5, "float": 0.1234567890123456789, "checked": "eight888"}"#;
    expect![[r#"
        .checked: Invalid Attribute Value
        .float: Invalid Attribute Value
        .whole: Invalid Attribute Value"#]]
    .assert_eq(&validate(wrong_numbers).await);
    assert_eq!(validate(r#"{"one": "?", "text": "?", "checked": "?", "custom": "?"}"#).await, "");
}

#[derive(Model)]
struct Replaced {
    #[attribute(requires_replace)]
    always: Option<String>,
    #[attribute(requires_replace_if_configured, optional, computed)]
    configured: Option<String>,
    #[attribute(modify = RequiresReplaceIf(becomes_x))]
    sometimes: Option<String>,
    part: Option<ReplacedPart>,
    #[block]
    blocks: Vec<ReplacedPart>,
}

fn becomes_x(_: &AttributeContext<'_>, planned: &Value) -> bool {
    planned.as_str() == Some("x")
}

#[derive(Model)]
struct ReplacedPart {
    #[attribute(requires_replace)]
    name: String,
    #[attribute(computed, keeps_state)]
    id: Option<String>,
}

#[tokio::test]
async fn replacement_is_required_by_the_options() {
    let prior = r#"{"always": "a", "configured": "c", "sometimes": "s",
        "part": {"name": "p", "id": "1"}, "blocks": [{"name": "b", "id": "2"}]}"#;
    let replaced = async |config: &str| {
        let plan = Echo::<Replaced>::plan(prior, config).await;
        assert_eq!(said_of(&plan.diagnostics), "");
        let paths: Vec<String> = plan.requires_replace.iter().map(ToString::to_string).collect();
        format!("{}\n{}", paths.join(" "), shown(&plan.planned_state.expect("is planned")))
    };
    let same =
        r#"{"always": "a", "sometimes": "s", "part": {"name": "p"}, "blocks": [{"name": "b"}]}"#;
    expect![[r#"

        {always="a", blocks=[{id="2", name="b"}], configured="c", part={id="1", name="p"}, sometimes="s"}"#]].assert_eq(&replaced(same).await);
    let changed = r#"{"configured": "d", "sometimes": "x", "part": {"name": "q"},
        "blocks": [{"name": "b"}, {"name": "c"}]}"#;
    expect![[r#"
        .always .blocks[1].name .configured .part.name .sometimes
        {blocks=[{id="2", name="b"}, {id=?, name="c"}], configured="d", part={id="1", name="q"}, sometimes="x"}"#]].assert_eq(&replaced(changed).await);
    let less = r#"{"always": "a", "sometimes": "y", "part": null, "blocks": []}"#;
    expect![[r#"

        {always="a", blocks=[], configured=?, sometimes="y"}"#]]
    .assert_eq(&replaced(less).await);
}

#[derive(Model)]
#[model(
    exactly_one_of(a, b),
    at_least_one_of(b, part, rule),
    conflicting(part, "rule", once),
    requires(c, once),
    validate = no_x
)]
struct Ruled {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
    part: Option<RuledPart>,
    #[block]
    rule: Vec<RuledPart>,
    #[block]
    once: Option<RuledPart>,
    #[block]
    labelled: BTreeMap<Str, RuledPart>,
    parts: Option<BTreeMap<Str, RuledPart>>,
    set: Option<Set<RuledPart>>,
}

#[derive(Model)]
#[model(conflicting(x, y), requires("y", z))]
struct RuledPart {
    x: Option<String>,
    y: Option<String>,
    z: Option<Secret>,
}

fn no_x(config: &Object, diagnostics: &mut Diagnostics) {
    if config.string(Ruled::A).as_deref() == Some("x") {
        diagnostics.error_at(config.path_of(Ruled::A), "No x", "");
    }
}

async fn check_rules(config: &str, expected: Expect) {
    expected.assert_eq(&Echo::<Ruled>::validate(config).await);
}

#[tokio::test]
async fn rules_hold_in_objects_at_every_depth() {
    check_rules(r#"{"a": "v", "part": {}, "rule": []}"#, expect![""]).await;
    check_rules(
        r#"{"rule": []}"#,
        expect![[r#"
        .a: Invalid Attribute Combination
        .b: Invalid Attribute Combination"#]],
    )
    .await;
    check_rules(
        r#"{"a": "x", "b": "w", "c": "c", "part": {}, "rule": [{}]}"#,
        expect![[r#"
            .a: Invalid Attribute Combination
            .rule: Invalid Attribute Combination
            .c: Invalid Attribute Combination
            .a: No x"#]],
    )
    .await;
    let inside = r#"{"b": "v", "rule": [{}, {"x": "1", "y": "2"}], "labelled": {"l": {"y": "2"}},
        "parts": {"k": {"x": "1", "y": "2", "z": "3"}}, "set": [{"y": "hidden"}]}"#;
    check_rules(
        inside,
        expect![[r#"
        .parts["k"].y: Invalid Attribute Combination
        .set[...].y: Invalid Attribute Combination
        .labelled["l"].y: Invalid Attribute Combination
        .rule[1].y: Invalid Attribute Combination
        .rule[1].y: Invalid Attribute Combination"#]],
    )
    .await;
}

/// An unknown value may be null later, so it breaks no rule yet; the values are checked again before a change.
#[tokio::test]
async fn unknown_values_break_no_rule_yet() {
    check_rules(r#"{"a": "?", "b": "v", "rule": []}"#, expect![""]).await;
    check_rules(r#"{"a": "?", "b": "?", "rule": []}"#, expect![""]).await;
    check_rules(r#"{"a": "v", "b": "?", "c": "?", "rule": []}"#, expect![""]).await;
    check_rules(r#"{"b": "v", "rule": [{"x": "?", "y": "2", "z": "3"}, {"y": "?"}]}"#, expect![""])
        .await;
    check_rules(r#"{"b": "v", "rule": [{"y": "2", "z": "?"}]}"#, expect![""]).await;
}

#[test]
fn keys_have_names_and_paths() {
    assert_eq!((Options::TYPE.name(), Options::FUNCTION.name()), ("type", "fn"));
    assert_eq!(Options::RULES.path().to_string(), ".rule");
    assert_eq!(Shade::TEXTS, ["light", "very dark"]);
    assert_eq!(Shade::from_text("very dark").map(Shade::text), Some("very dark"));
    assert!(Shade::from_text("Light").is_none());
}

/// A schema can differ from the struct: a type may lack attributes, and its flags may differ.
#[test]
fn schema_can_be_changed_after_deriving() {
    let schema: Schema = Inner::schema().map_block(|block| {
        let changed = |it: Attribute| it.deprecated("Use another one.");
        block.without(Inner::NAME).with(Inner::PASSWORD, changed).with("absent", changed)
    });
    expect![[r#"
        password: string, optional sensitive Use another one.
    "#]]
    .assert_eq(&described(schema.to_provider().block(), 0));
}

struct Mistaken<const KIND: u8>;

impl<const KIND: u8> Model for Mistaken<KIND> {
    fn describe(block: Block) -> Block {
        let text = || string().optional();
        match KIND {
            0 => block.attribute("a", text().default_value(1_i64)),
            1 => block.attribute(
                "a",
                text().validator(crate::validate::OneOf(&["x"])).default_value("y"),
            ),
            2 => block.attribute(
                "a",
                plain_object(&Block::new().attribute("b", text().write_only())).optional(),
            ),
            3 => block.attribute("a", Vec::<Vec<WriteOnlyPart>>::attribute().optional()),
            _ => block.attribute("a", string()),
        }
    }

    fn decode(_: &Object, _: crate::Unknowns) -> Result<Self, crate::Diagnostic> {
        Ok(Mistaken)
    }

    fn encode_into(&self, _: &mut crate::ValueMap) {}
}

#[derive(Model)]
struct WriteOnlyPart {
    #[attribute(write_only)]
    secret: Option<Secret>,
}

#[tokio::test]
async fn mistakes_in_schemas_are_reported_to_the_author() {
    async fn mistake<const KIND: u8>() -> String {
        let said = Echo::<Mistaken<KIND>>::server().await.schemas().await;
        let said = said.expect_err("is refused");
        said.iter().map(|it| it.detail.as_str()).collect::<Vec<_>>().join("\n")
    }
    let all = [
        mistake::<0>().await,
        mistake::<1>().await,
        mistake::<2>().await,
        mistake::<3>().await,
        mistake::<4>().await,
    ];
    expect![[r#"
        The schema of test_echo is wrong: a has a default of another type.
        The schema of test_echo is wrong: a has a default that its own validators refuse.
        The schema of test_echo is wrong: a has a write-only part, but is not an attribute with nested attributes.
        The schema of test_echo is wrong: a has a write-only part, but is not an attribute with nested attributes.
        The schema of test_echo is wrong: a: must set Optional, Required or Computed."#]].assert_eq(&all.join("\n"));
}
