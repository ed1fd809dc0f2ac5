use std::sync::Arc;

use addr::{ProviderConfigRef, parse_resource_instance};
use expect_test::{Expect, expect};
use values::{Mark, Type, Value};

use crate::{
    CheckStatus, DeposedKey, EncodeError, Object, OutputValue, StateError, StateFile, Status,
};

const TERRAFORM: &str = include_str!("../../tests/data/terraform-1.11.4.json");
const OPENTOFU: &str = include_str!("../../tests/data/opentofu-1.12.6.json");

fn read(text: &str) -> StateFile {
    StateFile::read(text.as_bytes()).expect("a state")
}

/// A state with one resource.
fn one_resource(module: &str, mode: &str, instances: &str) -> String {
    format!(
        "{{\"version\": 4, \"resources\": [{{\"module\": \"{module}\", \"mode\": \"{mode}\", \
         \"type\": \"t\", \"name\": \"n\", \"provider\": \
         \"provider[\\\"terraform.io/builtin/terraform\\\"]\", \"instances\": [{instances}]}}]}}"
    )
}

fn written(file: &StateFile) -> String {
    String::from_utf8(file.write().expect("nothing ephemeral")).expect("JSON is UTF-8")
}

#[track_caller]
fn fails(text: &str, expected: Expect) {
    let error = StateFile::read(text.as_bytes()).expect_err("not a state");
    expected.assert_eq(&error.to_string());
}

#[test]
fn states_of_opentofu_and_terraform_round_trip() {
    assert_eq!(written(&read(OPENTOFU)), OPENTOFU);
    let ours =
        TERRAFORM.replace("\"terraform_version\": \"1.11.4\"", "\"terraform_version\": \"1.12.6\"");
    // Terraform writes no empty line at the end.
    assert_eq!(written(&read(TERRAFORM)), format!("{ours}\n"));
}

#[test]
fn every_state_field_is_read() {
    let file = read(OPENTOFU);
    assert_eq!(file.serial, u64::MAX);
    assert_eq!(file.written_by.as_ref().map(ToString::to_string).as_deref(), Some("1.12.6"));
    let addr = parse_resource_instance(r#"module.a["k.]\""].aws_db.main"#).expect("an address");
    let instance = file.state.instance(&addr).expect("it is there");
    let object = instance.current.as_ref().expect("it is there");
    assert_eq!(object.status, Status::Tainted);
    assert_eq!(&*object.private, b"secret");
    assert_eq!(object.sensitive_paths[1].to_string(), ".list[1]");
    assert_eq!(object.identity.as_ref().map(|it| it.schema_version), Some(2));
    assert_eq!(instance.deposed.len(), 1);
    let each = parse_resource_instance(r#"aws_vpc.each["eu-1"]"#).expect("an address");
    let provider = file.state.provider_of(&each).expect("it is there").to_string();
    assert_eq!(provider, r#"provider["registry.opentofu.org/hashicorp/aws"].by_region["eu-1"]"#);
    assert_eq!(file.state.checks[1].status, CheckStatus::Error);
    assert_eq!(format!("{:?}", file.state.outputs["old"].value), "(sensitive value)");
    assert!(!format!("{file:?}").contains("db-1"), "attributes are not for logs");
}

#[test]
fn whitespace_and_unknown_state_fields_are_ignored() {
    let compact: String = TERRAFORM.lines().map(str::trim_start).collect();
    assert_eq!(read(&compact), read(TERRAFORM));
    let more = TERRAFORM.replacen("\"serial\"", "\"from_the_future\": [{}],\n  \"serial\"", 1);
    assert_eq!(read(&more), read(TERRAFORM));
}

#[test]
fn truncated_state_is_an_error() {
    let bytes = OPENTOFU.trim_end().as_bytes();
    for end in 0..bytes.len() {
        let error = StateFile::read(&bytes[..end]).expect_err("not a state");
        assert!(matches!(error, StateError::Syntax { .. }), "{end}: {error}");
    }
}

#[test]
fn an_empty_state_has_all_top_level_fields() {
    expect![[r#"
        {
          "version": 4,
          "terraform_version": "1.12.6",
          "serial": 0,
          "lineage": "l",
          "outputs": {},
          "resources": [],
          "check_results": null
        }

    "#]]
    .assert_eq(&written(&StateFile::new("l".to_owned())));
}

#[test]
fn state_errors_name_cause_and_position() {
    fails(
        "",
        expect![
            "Unsupported state file format: The state file could not be parsed as JSON: EOF while \
             parsing a value at line 1 column 0."
        ],
    );
    fails(
        "{}",
        expect![[
            r#"Unsupported state file format: The state file does not have a "version" attribute, which is required to identify the format version."#
        ]],
    );
    fails(
        "{\"version\": 3, \"modules\": []}",
        expect![[
            r#"Unsupported state file format: The state file uses format version 3, which Terraform wrote before version 0.12. Run "tofu state pull" with OpenTofu once and use what it prints."#
        ]],
    );
    fails(
        "{\"version\": 5}",
        expect![
            "Unsupported state file format: The state file uses format version 5, which this \
             version of Mayfly does not read. It may have been written by a newer version of \
             OpenTofu than 1.12.6, with which Mayfly is compatible: use that version, or restore an older state."
        ],
    );
    fails(
        "{\"version\": -1}",
        expect![
            "Unsupported state file format: The state file could not be parsed as JSON: the format \
             version -1 is not a whole number."
        ],
    );
    fails(
        "{\"encrypted_data\": \"x\", \"encryption_version\": \"v0\", \"serial\": 1}",
        expect![
            "Encrypted state: This state file is encrypted and can not be read without an encryption configuration."
        ],
    );
    fails(
        "{\"version\": 4, \"terraform_version\": \"x\"}",
        expect![[
            r#"Invalid OpenTofu version string: State file claims to have been written by OpenTofu version "x", which is not a valid version string."#
        ]],
    );
    fails(
        "{\"version\": 4, \"outputs\": {\"o\": {\"value\": 1, \"type\": \"no\"}}}",
        expect![[
            r#"Invalid output value type in state: The state file has an invalid type specification for output "o": invalid type."#
        ]],
    );
    fails(
        "{\"version\": 4, \"outputs\": {\"o\": {\"value\": \"x\", \"type\": \"number\"}}}",
        expect![[
            r#"Invalid output value saved in state: The state file has an invalid value for output "o": a number is required."#
        ]],
    );
    fails(
        "{\"version\": 4, \"serial\": -1}",
        expect![
            "Unsupported state file format: The \"serial\" of the state file is not a whole number \
             from 0 to 18446744073709551615. It distinguishes older states from newer ones: set it \
             to the last number that the state had, or to a higher one."
        ],
    );
}

#[test]
fn state_errors_quote_no_content() {
    for (rest, expected) in [
        (
            r#""serial": "kanarek""#,
            expect![
                "Unsupported state file format: The \"serial\" of the state file is not a whole \
                 number from 0 to 18446744073709551615. It distinguishes older states from newer \
                 ones: set it to the last number that the state had, or to a higher one."
            ],
        ),
        (
            r#""outputs": {"o": {"value": {"kanarek": "x"}, "type": ["map", "number"], "sensitive": true}}"#,
            expect![[
                r#"Invalid output value saved in state: The state file has an invalid value for output "o": a number is required."#
            ]],
        ),
        (
            r#""outputs": {"o": {"value": {"kanarek": "x"}, "type": ["map", "number"]}}"#,
            expect![[
                r#"Invalid output value saved in state: The state file has an invalid value for output "o": ["kanarek"]: a number is required."#
            ]],
        ),
        (
            r#""outputs": {"o": {"value": 1, "type": ["object", {"kanarek": 1}], "sensitive": true}}"#,
            expect![[
                r#"Invalid output value type in state: The state file has an invalid type specification for output "o": invalid type."#
            ]],
        ),
    ] {
        let text = format!("{{\"version\": 4, {rest}}}");
        fails(&text, expected);
    }
}

#[test]
fn state_errors_name_the_instance() {
    fails(
        &one_resource("", "ephemeral", ""),
        expect![[
            r#"Invalid resource mode in state: State contains a resource with mode "ephemeral" ("t" "n") which is not supported."#
        ]],
    );
    fails(
        &one_resource("module", "managed", ""),
        expect![[
            r#"Invalid address in state: The state file has "module" for an address: Prefix "module." must be followed by a module name."#
        ]],
    );
    fails(
        &one_resource("", "managed", "{\"index_key\": 1.5}"),
        expect![
            "Invalid resource instance metadata in state: Instance t.n has an instance whose key \
             is neither a number nor a string."
        ],
    );
    fails(
        &one_resource("module.m", "managed", "{\"status\": \"fine\"}"),
        expect![[
            r#"Invalid resource instance metadata in state: Instance module.m.t.n has invalid status "fine"."#
        ]],
    );
    fails(
        &one_resource("", "managed", "{\"deposed\": \"1\"}"),
        expect![[
            r#"Invalid resource instance metadata in state: Instance t.n has an object with deposed key "1", which is not correctly formatted."#
        ]],
    );
    fails(
        &one_resource("", "managed", "{\"attributes\": [1]}"),
        expect![
            "Invalid resource instance metadata in state: Instance t.n has attributes that are not an object."
        ],
    );
    fails(
        &one_resource("", "managed", "{\"private\": \"%\"}"),
        expect![
            "Invalid resource instance metadata in state: Instance t.n has private data that is not base64."
        ],
    );
    fails(
        &one_resource("", "managed", "{\"index_key\": 0}, {\"index_key\": 0}"),
        expect![
            "Duplicate resource instance in state: Instance t.n[0] appears multiple times in the state file."
        ],
    );
    fails(
        &one_resource("", "managed", "{\"deposed\": \"00000000\"}, {\"deposed\": \"00000000\"}"),
        expect![[
            r#"Duplicate resource instance in state: Instance t.n deposed object "00000000" appears multiple times in the state file."#
        ]],
    );
    fails(
        &one_resource("", "managed", "{\"dependencies\": [\"a..b\"]}"),
        expect![[
            r#"Invalid address in state: The state file has "a..b" for an address: Dot must be followed by attribute name."#
        ]],
    );
    fails(
        &one_resource(
            "",
            "managed",
            "{\"sensitive_attributes\": [[{\"type\": \"x\", \"value\": 1}]]}",
        ),
        expect![[
            r#"Invalid resource instance metadata in state: Instance t.n has an unsupported step "x" in sensitive_attributes."#
        ]],
    );
    fails(
        &one_resource("", "managed", "{\"sensitive_attributes\": {}}"),
        expect![
            "Invalid resource instance metadata in state: Instance t.n has malformed sensitive_attributes."
        ],
    );
}

#[test]
fn ephemeral_value_cannot_be_encoded_in_a_state() {
    let secret = Value::string("hunter2").with_mark(Mark::Ephemeral);
    let object = Value::object_from([("a", Value::tuple(vec![secret.clone()]))]);
    let error = Object::encode("t.n", 0, &object, &object.ty()).expect_err("ephemeral");
    assert_eq!(error.to_string(), "t.n.a[0] is ephemeral, and ephemeral values are never saved");
    let mut file = StateFile::new(String::new());
    let output = OutputValue { value: secret, sensitive: false, deprecated: None };
    file.state.outputs.insert("o".into(), output);
    assert!(matches!(file.write(), Err(EncodeError::Ephemeral { .. })));
    file.state.outputs.clear();
    let addr = parse_resource_instance("ephemeral.t.n").expect("an address");
    file.state.set_current(&addr, &provider(""), Arc::new(Object::from_json(0, "{}".into())));
    assert!(matches!(file.write(), Err(EncodeError::EphemeralResource(_))));
}

fn provider(rest: &str) -> ProviderConfigRef {
    let text = format!("provider[\"terraform.io/builtin/terraform\"]{rest}");
    ProviderConfigRef::parse(&text).expect("an address")
}

#[test]
fn attributes_round_trip_with_their_marks() {
    let value = Value::object_from([
        ("plain", Value::int(1)),
        ("secret", Value::string("<x>").with_mark(Mark::Sensitive)),
        ("none", Value::null(Type::String)),
    ]);
    let object = Object::encode("t.n", 7, &value, &value.ty()).expect("it can be saved");
    assert_eq!(object.sensitive_paths.len(), 1);
    let back = object.decode(&value.ty()).expect("the same type");
    assert!(back.raw_equals(&value));
    let error = object.decode(&Type::String).expect_err("another type").to_string();
    assert!(!error.contains('x'), "{error}");
}

#[test]
fn unknown_values_cannot_be_saved() {
    let value = Value::object_from([("a", Value::unknown(Type::String))]);
    let error = Object::encode("t.n", 0, &value, &value.ty()).expect_err("unknown");
    assert!(error.to_string().starts_with("t.n cannot be saved: "), "{error}");
}

#[test]
fn removed_objects_leave_no_empty_resources() {
    let mut state = StateFile::new(String::new()).state;
    let addr = |text| parse_resource_instance(text).expect("an address");
    let (a, b) = (addr("t.n[0]"), addr("module.m.t.n"));
    let object = Arc::new(Object::from_json(0, "{}".into()));
    let key = DeposedKey::from_random(7);
    state.set_current(&a, &provider(""), Arc::clone(&object));
    assert!(state.depose(&a, key) && !state.depose(&a, key));
    assert_eq!(state.current(&a), None);
    assert!(state.restore_deposed(&a, key) && !state.restore_deposed(&a, key));
    assert!(state.move_instance(&a, &b) && !state.move_instance(&a, &b));
    assert_eq!(state.resources().len(), 1);
    assert!(Arc::ptr_eq(state.current(&b).expect("moved"), &object));
    state.set_deposed(&b, key, &provider(""), Arc::clone(&object));
    assert!(state.remove_current(&b).is_some() && state.remove_current(&b).is_none());
    assert!(!state.is_empty());
    assert!(state.remove_deposed(&b, key).is_some());
    assert!(state.is_empty());
    let keyed = provider(".x[\"k\"]");
    state.set_current(&a, &keyed, object);
    assert_eq!(state.provider_of(&a), Some(&keyed));
}

#[test]
fn objects_of_the_terraform_registry_are_adopted_unless_required() {
    let text = OPENTOFU.replace("registry.opentofu.org", "registry.terraform.io");
    let mut file = read(&text);
    assert!(!file.state.adopt_other_registry(&|_| true));
    assert_eq!(written(&file), text);
    assert!(file.state.adopt_other_registry(&|_| false));
    assert_eq!(written(&file), OPENTOFU);
}

#[test]
fn state_dependencies_are_sorted_as_text() {
    let text = one_resource("", "managed", r#"{"dependencies": ["t.b", "module.m.t.z", "t.a"]}"#);
    let written = written(&read(&text));
    let place = |name: &str| written.find(&format!("\"{name}\"")).expect("is written");
    assert!(place("module.m.t.z") < place("t.a") && place("t.a") < place("t.b"), "{written}");
}

/// Truncated states and states with a changed byte are either read or refused.
#[test]
fn damaged_state_never_panics() {
    for at in (0..OPENTOFU.len()).step_by(17) {
        let _ = StateFile::read(&OPENTOFU.as_bytes()[..at]);
        for byte in [b'"', b'{', b'0', 0xff, b' '] {
            let mut bytes = OPENTOFU.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = StateFile::read(&bytes);
        }
    }
    let deep = format!("{{\"version\": 4, \"outputs\": {}", "[".repeat(1_000_000));
    assert!(matches!(StateFile::read(deep.as_bytes()), Err(StateError::Syntax { .. })));
    let nested = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let output = format!(
        "{{\"version\": 4, \"outputs\": {{\"o\": {{\"value\": {nested}, \"type\": \"dynamic\"}}}}}}"
    );
    assert!(StateFile::read(output.as_bytes()).is_err());
}

#[test]
fn deep_nesting_and_infinity_in_a_state_are_refused() {
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    let attributes =
        |json: &str| one_resource("", "managed", &format!("{{\"attributes\": {json}}}"));
    let identity = |json: &str| one_resource("", "managed", &format!("{{\"identity\": {json}}}"));
    assert_eq!(read(&attributes(&deep(500))).state.resources().count(), 1);
    fails(
        &attributes(&deep(1_000_000)),
        expect![
            "Invalid resource instance metadata in state: Instance t.n has attributes that nest too deeply."
        ],
    );
    fails(
        &identity(&deep(1_000_000)),
        expect![
            "Invalid resource instance metadata in state: Instance t.n has an identity that nests too deeply."
        ],
    );
    fails(
        "{\"version\": 4, \"outputs\": {\"o\": {\"type\": \"number\", \"value\": \"-Inf\"}}}",
        expect![[
            r#"Invalid output value saved in state: The state file has an invalid value for output "o": a finite number is required."#
        ]],
    );
}

#[test]
fn provider_of_a_resource_comes_from_its_instances() {
    let own = r#"{"provider": "provider[\"example.com/a/b\"].x[0]", "attributes": {}}"#;
    let file = read(&one_resource("", "managed", own));
    let (_, resource) = file.state.resources().next().expect("a resource");
    assert_eq!(resource.provider.to_string(), "provider[\"example.com/a/b\"].x");
    assert_eq!(read(&written(&file)).state, file.state);
}
