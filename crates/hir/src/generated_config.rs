//! Writes the configuration of an object that has none, for `-generate-config-out`.
//!
//! The block has every argument that its schema allows, also those that are null, so that it can be edited without
//! the documentation at hand. Secrets are left out: sensitive and write-only arguments are null, with a comment.

use std::fmt::Write as _;

use provider::{
    Attribute, AttributeType, Block, NestedBlock, NestedObject, Nesting, ObjectNesting,
};
use values::{Kind, Str, Value, json};

use crate::native_text;

/// A `resource` block that describes an object.
pub struct GeneratedConfig {
    /// The block as formatted text, without a line end after it.
    pub text: String,
    /// The arguments that cannot be written.
    pub skipped: Vec<String>,
}

/// Writes the `resource` block of an object. `provider` is the value of the argument `provider`; without it, the
/// block has none.
pub fn resource_block(
    resource: &addr::Resource,
    provider: Option<&str>,
    schema: &Block,
    object: &Value,
) -> GeneratedConfig {
    let mut writer = Writer::default();
    let _ = writeln!(writer.text, "resource \"{}\" \"{}\" {{", resource.type_name, resource.name);
    if let Some(provider) = provider {
        let _ = writeln!(writer.text, "provider = {provider}");
    }
    writer.block(schema, object);
    writer.text.push('}');
    let Writer { text, skipped } = writer;
    let text = syntax::format(&text).unwrap_or(text);
    GeneratedConfig { text, skipped }
}

#[derive(Default)]
struct Writer {
    text: String,
    skipped: Vec<String>,
}

impl Writer {
    /// Writes the arguments and nested blocks of a block.
    fn block(&mut self, schema: &Block, object: &Value) {
        self.attributes(schema.attributes().iter(), object);
        for (name, nested) in schema.blocks() {
            if !nested.block.deprecated || nested.min_items > 0 {
                self.nested_blocks(name, nested, &part(object, name));
            }
        }
    }

    fn attributes<'s>(
        &mut self,
        schemas: impl Iterator<Item = (&'s Str, &'s Attribute)>,
        object: &Value,
    ) {
        for (name, schema) in schemas.filter(|(name, schema)| is_argument(name, schema)) {
            let value = part(object, name);
            match &schema.ty {
                AttributeType::Type(_) => self.attribute(name, schema, &value),
                AttributeType::Nested(nested) => self.objects(name, schema, nested, &value),
            }
        }
    }

    fn attribute(&mut self, name: &Str, schema: &Attribute, value: &Value) {
        if schema.sensitive {
            self.argument(name, "null", schema);
            return;
        }
        match as_json(value).map_or_else(|| native_text::expression(value), Ok) {
            Ok(text) => self.argument(name, &text, schema),
            Err(_) => self.skipped.push(name.to_string()),
        }
    }

    /// Writes an argument with the comment that says why it is null, if it holds a secret.
    fn argument(&mut self, name: &Str, value: &str, schema: &Attribute) {
        let comment = match (schema.sensitive, schema.write_only) {
            (true, true) => " # sensitive write-only",
            (true, false) => " # sensitive",
            (false, true) => " # write-only",
            (false, false) => "",
        };
        let _ = writeln!(self.text, "{} = {value}{comment}", key(name));
    }

    /// Writes an argument with nested attributes.
    fn objects(&mut self, name: &Str, schema: &Attribute, nested: &NestedObject, value: &Value) {
        if schema.sensitive {
            let has_required = nested.attributes().values().any(|it| it.required);
            let empty = match nested.nesting() {
                ObjectNesting::List | ObjectNesting::Set => "[]",
                ObjectNesting::Single if has_required => "null",
                ObjectNesting::Single | ObjectNesting::Map => "{}",
            };
            return self.argument(name, empty, schema);
        }
        if value.is_null() {
            return self.argument(name, "null", schema);
        }
        let _ = write!(self.text, "{} = ", key(name));
        match (nested.nesting(), value.kind()) {
            (ObjectNesting::Map, Kind::Map(entries) | Kind::Object(entries)) => {
                self.text.push_str("{\n");
                for (name, entry) in entries {
                    let _ = write!(self.text, "{} = ", key(name));
                    self.object(nested, entry);
                    self.text.push('\n');
                }
                self.text.push_str("}\n");
            }
            (_, Kind::List(items) | Kind::Set(items) | Kind::Tuple(items)) => {
                self.text.push_str("[\n");
                for item in items {
                    self.object(nested, item);
                    self.text.push_str(",\n");
                }
                self.text.push_str("]\n");
            }
            _ => {
                self.object(nested, value);
                self.text.push('\n');
            }
        }
    }

    fn object(&mut self, nested: &NestedObject, value: &Value) {
        if value.is_null() {
            return self.text.push_str("null");
        }
        self.text.push_str("{\n");
        self.attributes(nested.attributes().iter(), value);
        self.text.push('}');
    }

    fn nested_blocks(&mut self, name: &Str, nested: &NestedBlock, value: &Value) {
        if value.is_null() {
            return;
        }
        match (nested.nesting, value.kind()) {
            (Nesting::Single | Nesting::Group, _) => self.nested_block(name, None, nested, value),
            (Nesting::Map, Kind::Map(entries) | Kind::Object(entries)) => {
                for (label, entry) in entries {
                    self.nested_block(name, Some(label), nested, entry);
                }
            }
            (_, Kind::List(items) | Kind::Set(items) | Kind::Tuple(items)) => {
                items.iter().for_each(|item| self.nested_block(name, None, nested, item));
            }
            _ => {}
        }
    }

    fn nested_block(
        &mut self,
        name: &Str,
        label: Option<&Str>,
        nested: &NestedBlock,
        value: &Value,
    ) {
        let label = label.map(|it| format!(" {}", addr::quote(it))).unwrap_or_default();
        let _ = writeln!(self.text, "{name}{label} {{");
        self.block(&nested.block, value);
        self.text.push_str("}\n");
    }
}

/// Returns true for an attribute that the generated configuration sets. An `id` that is optional and computed is left
/// out: the legacy SDK of providers adds one to each schema, and refuses a configuration that sets it.
fn is_argument(name: &Str, schema: &Attribute) -> bool {
    let is_legacy_id = &**name == "id" && schema.optional && schema.computed;
    schema.required || (schema.optional && !schema.deprecated && !is_legacy_id)
}

/// The attribute or the blocks with a name in an object; null if it has none.
fn part(object: &Value, name: &Str) -> Value {
    object.get_attr(name).unwrap_or_else(|| Value::null(values::Type::Dynamic))
}

fn key(name: &Str) -> String {
    if addr::is_identifier(name) { name.to_string() } else { addr::quote(name) }
}

/// A string with a JSON object or array, as a call of `jsonencode`. `None` for any other value.
fn as_json(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let decoded = json::decode_implied(text.as_bytes()).ok()?;
    Some(format!("jsonencode({})", native_text::expression(&decoded).ok()?))
}

#[cfg(test)]
mod tests {
    use sorted::SortedMap;

    use expect_test::{Expect, expect};
    use values::Type;

    use super::*;

    fn schema() -> Block {
        let secret = Attribute { sensitive: true, ..Attribute::optional(Type::String) };
        let write_only = Attribute { write_only: true, ..Attribute::optional(Type::String) };
        let both = Attribute { write_only: true, ..secret.clone() };
        let old = Attribute { deprecated: true, ..Attribute::optional(Type::String) };
        let nested = |nesting| {
            let attributes =
                [("inner", Attribute::optional(Type::Number)), ("pin", secret.clone())];
            let attributes = attributes.map(|(name, it)| (Str::from(name), it));
            AttributeType::Nested(NestedObject::new(nesting, attributes.into_iter().collect()))
        };
        let optional = |ty| Attribute { optional: true, ..Attribute::new(ty) };
        let attributes = [
            ("arn", Attribute::computed(Type::String)),
            ("both", both),
            ("id", Attribute::optional_computed(Type::String)),
            ("items", optional(nested(ObjectNesting::List))),
            ("name", Attribute::required(Type::String)),
            ("old", old),
            ("policy", Attribute::optional(Type::String)),
            ("secret", secret.clone()),
            ("single", optional(nested(ObjectNesting::Single))),
            ("tags", Attribute::optional(Type::map(Type::String))),
            ("users", optional(nested(ObjectNesting::Map))),
            ("wo", write_only),
            ("zones", Attribute::optional(Type::list(Type::String))),
        ];
        let rule =
            Block::new([("port".into(), Attribute::optional(Type::Number))].into(), [].into());
        let blocks = [
            ("rule", NestedBlock::new(Nesting::List, rule.clone())),
            ("label", NestedBlock::new(Nesting::Map, rule.clone())),
            ("timeouts", NestedBlock::new(Nesting::Single, rule)),
        ];
        let by_name = |(name, it)| (Str::from(name), it);
        Block::new(
            attributes.into_iter().map(by_name).collect(),
            blocks.into_iter().map(|(name, it)| (Str::from(name), it)).collect::<SortedMap<_, _>>(),
        )
    }

    fn inner(inner: i64) -> Value {
        Value::object_from([("inner", Value::int(inner)), ("pin", Value::string("hunter2"))])
    }

    fn rule(port: i64) -> Value {
        Value::object_from([("port", Value::int(port))])
    }

    fn object() -> Value {
        let text = Value::string;
        let map = |value: Value| [(Str::from("a b"), value)].into_iter().collect();
        Value::object_from([
            ("arn", text("arn:1")),
            ("id", text("i-1")),
            ("items", Value::tuple(vec![inner(1), inner(2)])),
            ("name", text("${x} \"%{y}\"\n2")),
            ("old", text("gone")),
            ("policy", text("{\"a\": [1, \"${b}\"]}")),
            ("secret", text("hunter2")),
            ("tags", Value::map(Type::String, map(text("v")))),
            ("users", Value::object(map(inner(3)))),
            ("zones", Value::list(Type::String, vec![text("x"), text("y")])),
            ("rule", Value::tuple(vec![rule(1), rule(2)])),
            ("label", Value::object(map(rule(3)))),
        ])
    }

    fn resource() -> addr::Resource {
        addr::parse_resource("t_thing.n").expect("an address").resource
    }

    #[track_caller]
    fn check(provider: Option<&str>, object: &Value, expected: Expect) {
        let generated = resource_block(&resource(), provider, &schema(), object);
        assert_eq!(generated.skipped, Vec::<String>::new());
        assert_eq!(syntax::format(&generated.text).expect("parses"), generated.text);
        expected.assert_eq(&generated.text);
    }

    #[test]
    fn generated_block_has_all_arguments_and_no_secret() {
        check(
            Some("t.other"),
            &object(),
            expect![[r#"
            resource "t_thing" "n" {
              provider = t.other
              both     = null # sensitive write-only
              items = [
                {
                  inner = 1
                  pin   = null # sensitive
                },
                {
                  inner = 2
                  pin   = null # sensitive
                },
              ]
              name = "$${x} \"%%{y}\"\n2"
              policy = jsonencode({
                a = [1, "$${b}"]
              })
              secret = null # sensitive
              single = null
              tags = {
                "a b" = "v"
              }
              users = {
                "a b" = {
                  inner = 3
                  pin   = null # sensitive
                }
              }
              wo    = null # write-only
              zones = ["x", "y"]
              label "a b" {
                port = 3
              }
              rule {
                port = 1
              }
              rule {
                port = 2
              }
            }"#]],
        );
    }

    #[test]
    fn generated_block_of_an_object_without_values_has_null_arguments() {
        check(
            None,
            &schema().empty_value(),
            expect![[r#"
            resource "t_thing" "n" {
              both   = null # sensitive write-only
              items  = null
              name   = null
              policy = null
              secret = null # sensitive
              single = null
              tags   = null
              users  = null
              wo     = null # write-only
              zones  = null
            }"#]],
        );
    }

    #[test]
    fn strings_that_only_look_like_json_are_strings() {
        for text in ["{x}", "[1", "", " ", "3", "\"a\"", "{\"a\":1} x"] {
            assert_eq!(as_json(&Value::string(text)), None, "{text}");
        }
        assert_eq!(as_json(&Value::string(" [] ")).as_deref(), Some("jsonencode([])"));
    }

    #[test]
    fn values_that_cannot_be_written_are_skipped() {
        let object = Value::object_from([("name", Value::unknown(Type::String))]);
        let generated = resource_block(&resource(), None, &schema(), &object);
        assert_eq!(generated.skipped, ["name"]);
    }
}
