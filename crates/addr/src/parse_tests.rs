use crate::key::InstanceKey;
use crate::module::{ModuleInstance, ModulePath};
use crate::parse::{
    Target, parse_config_resource, parse_module_instance, parse_module_path, parse_resource,
    parse_resource_instance, parse_target,
};
use crate::resource::{Resource, ResourceInstance, ResourceMode};

#[track_caller]
fn round_trip(text: &str) -> Target {
    let target = parse_target(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(target.to_string(), text);
    target
}

#[test]
fn parsed_addresses_print_unchanged() {
    let texts = [
        "module.a",
        "module.a[0].module.b[\"x\"]",
        "aws_vpc.main",
        "aws_vpc.main[10]",
        "data.aws_ami.x[\"k\"]",
        "ephemeral.vault_kv.y",
        "module.m[\"a\"].ephemeral.T.N[\"k\"]",
        "module.a.module.b.data.t.n",
        r#"t.n["a\"b\\c\n$${x}%%{y}$z"]"#,
        r#"t.n["é日\u0007"]"#,
        "t.with-dash",
        "_t._n",
    ];
    for text in texts {
        round_trip(text);
    }
}

#[test]
fn address_is_parsed_into_its_parts() {
    let target = round_trip("module.a[\"x\"].ephemeral.t.n[0]");
    let module = ModuleInstance::root().child("a", InstanceKey::string("x"));
    let resource = Resource::new(ResourceMode::Ephemeral, "t", "n");
    let key = InstanceKey::Int(0);
    assert_eq!(target, Target::Instance(ResourceInstance { module, resource, key }));
    assert!(matches!(round_trip("t.n"), Target::Resource(_)));
    assert!(matches!(round_trip("module.a"), Target::Module(_)));
}

#[test]
fn addresses_allow_blanks_and_normalize_keys() {
    let target = parse_target(" module . a [ \"e\u{301}\" ] . t.n [ 0 ]").expect("it is one");
    assert_eq!(target.to_string(), "module.a[\"\u{e9}\"].t.n[0]");
}

#[test]
fn invalid_address_is_an_error_with_a_range() {
    let cases = [
        ("", "Variable name required: Must begin with a variable name.", 0..0),
        ("0a.b", "Variable name required: Must begin with a variable name.", 0..0),
        (
            "a",
            "Invalid address: Resource specification must include a resource type and name.",
            0..1,
        ),
        (
            "data.a",
            "Invalid address: Resource specification must include a resource type and name.",
            0..6,
        ),
        (
            "module",
            "Invalid address operator: Prefix \"module.\" must be followed by a module name.",
            0..6,
        ),
        (
            "module[0].a",
            "Invalid address operator: Prefix \"module.\" must be followed by a module name.",
            0..6,
        ),
        ("a.", "Attribute name required: Dot must be followed by attribute name.", 1..2),
        ("a[0].b", "Invalid address: A resource name is required.", 1..4),
        ("ephemeral[0].b", "Invalid address: An ephemeral resource name is required.", 9..12),
        ("data[0].b", "Invalid address: A data source name is required.", 4..7),
        ("a.b.c", "Invalid address: Resource instance key must be given in square brackets.", 3..5),
        ("a.b[0][1]", "Invalid address: Unexpected extra operators after address.", 6..9),
        (
            "a.b[0",
            "Unclosed index brackets: Index operator must end with a closing bracket (\"]\").",
            3..5,
        ),
        (
            "a.b[*]",
            "Index value required: Index brackets must contain either a literal number or a literal string.",
            3..4,
        ),
        (
            "a.b[-1]",
            "Index value required: Index brackets must contain either a literal number or a literal string.",
            3..4,
        ),
        ("a.b[1.5]", "Invalid index: An instance index must be a whole number.", 4..7),
        (
            "a.b[99999999999999999999]",
            "Invalid index: An instance index must be a whole number.",
            4..24,
        ),
        (
            "a.b[\"x]",
            "Unterminated template string: The quoted key has no closing quote on its line.",
            4..7,
        ),
        (
            "a.b[\"${x}\"]",
            "Template not allowed: A literal key cannot contain a template sequence.",
            5..6,
        ),
        ("a.b[\"\\ud800\"]", "Invalid escape sequence: There is no such code point.", 5..11),
        ("a.b!", "Invalid character: Expected an attribute access or an index operator.", 3..4),
    ];
    for (text, expected, span) in cases {
        let error = parse_target(text).expect_err(text);
        assert_eq!((error.to_string().as_str(), error.span), (expected, span), "{text}");
    }
}

#[test]
fn specific_address_parsers_name_the_expected_kind() {
    let said = |result: Result<String, crate::AddrError>| result.unwrap_or_else(|e| e.to_string());
    let instance = |text: &str| said(parse_resource_instance(text).map(|it| it.to_string()));
    assert_eq!(instance("t.n"), "t.n");
    assert_eq!(
        instance("module.a"),
        "Invalid address: A resource instance address is required here. The module path must be \
         followed by a resource instance specification."
    );
    let resource = |text: &str| said(parse_resource(text).map(|it| it.to_string()));
    assert_eq!(resource("module.a[0].t.n"), "module.a[0].t.n");
    assert_eq!(
        resource("t.n[0]"),
        "Invalid address: A resource address is required. This instance key identifies a specific \
         resource instance, which is not expected here."
    );
    let block = |text: &str| said(parse_config_resource(text).map(|it| it.to_string()));
    assert_eq!(block("module.a.ephemeral.t.n"), "module.a.ephemeral.t.n");
    assert!(block("t.n[0]").starts_with("Resource instance address with keys is not allowed: "));
    assert!(
        block("module.a[0].t.n").starts_with("Module instance address with keys is not allowed: ")
    );
    let module = |text: &str| said(parse_module_instance(text).map(|it| it.to_string()));
    assert_eq!(module(""), "");
    assert_eq!(module("module.a[0]"), "module.a[0]");
    assert!(module("module.a.b.c").contains("additional invalid content"));
    let path = |text: &str| said(parse_module_path(text).map(|it| it.to_string()));
    assert_eq!(path("module.a.module.b"), "module.a.module.b");
    assert!(path("module.a[0]").contains("must be a module instead"));
}

#[test]
fn addresses_sort_as_in_state_and_plan() {
    let expected = [
        "ephemeral.z.z",
        "data.a.a",
        "a.a",
        "a.b",
        "b.a[0]",
        "b.a[2]",
        "b.a[10]",
        "b.a[\"0\"]",
        "b.a[\"a\"]",
        "module.a.z.z",
        "module.a[0].a.a",
        "module.a[\"k\"].a.a",
        "module.b.data.a.a",
        "module.b.a.a",
        "module.a.module.a.a.a",
    ];
    let mut instances: Vec<ResourceInstance> =
        expected.iter().rev().map(|text| parse_resource_instance(text).expect(text)).collect();
    instances.sort();
    let sorted: Vec<String> = instances.iter().map(ToString::to_string).collect();
    assert_eq!(sorted, expected);
}

#[test]
fn target_covers_its_instances() {
    let cases = [
        ("t.n", "t.n", true),
        ("t.n", "t.n[0]", true),
        ("t.n[0]", "t.n", false),
        ("t.n[0]", "t.n[0]", true),
        ("t.n", "module.a.t.n", false),
        ("data.t.n", "t.n", false),
        ("module.a", "module.a.t.n", true),
        ("module.a", "module.a[0].module.b.t.n[1]", true),
        ("module.a[1]", "module.a[0].t.n", false),
        ("module.a.t.n", "module.a[0].t.n[1]", true),
        ("module.a", "t.n", false),
    ];
    for (target, instance, covered) in cases {
        let parsed = parse_resource_instance(instance).expect(instance);
        let target_parsed = parse_target(target).expect(target);
        assert_eq!(target_parsed.covers(&parsed), covered, "{target} {instance}");
        if covered {
            assert!(target_parsed.touches(&parsed.config()), "{target} {instance}");
        }
    }
    let block = parse_config_resource("module.a.t.n").expect("it is one");
    assert!(parse_target("module.a[7].t.n[1]").expect("it is one").touches(&block));
    assert!(!parse_target("module.b").expect("it is one").touches(&block));
    assert!(!parse_target("t.n").expect("it is one").touches(&block));
}

#[test]
fn instance_address_leads_to_its_block_and_module() {
    let instance = parse_resource_instance("module.a[0].module.b.t_x.n[1]").expect("it is one");
    let block = instance.config();
    assert!(instance.is_declared_by(&block));
    assert_eq!(block.to_string(), "module.a.module.b.t_x.n");
    assert_eq!(block.resource.implied_provider(), "t");
    let path = ModulePath::new(["a".into(), "b".into()]);
    assert!(instance.module.is_instance_of(&path));
    assert_eq!(path.parent(), Some(ModulePath::root().child("a")));
    assert!(ModulePath::root().contains(&path) && !path.contains(&ModulePath::root()));
    let parent = instance.module.parent().expect("it is nested");
    assert_eq!(parent.to_string(), "module.a[0]");
    assert!(parent.contains(&instance.module));
    assert_eq!(path.unkeyed_instance().to_string(), "module.a.module.b");
}

#[test]
fn address_parser_never_panics() {
    let pieces =
        ["a", ".", "[", "]", "\"", "\\", "u", "0", "$", "{", "é", " ", "\n", "module", "data"];
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
        }
        if let Ok(target) = parse_target(&text) {
            assert_eq!(parse_target(&target.to_string()), Ok(target), "{text}");
        }
    }
}
