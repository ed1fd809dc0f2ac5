//! Makes up the value of an object from its schema: configured values stay, given values fill in, and what a
//! provider would compute is generated.
//!
//! **Invariant:** equal inputs give equal values, so that a later plan of the same object finds no change.

use provider::{Attribute, Block, NestedBlock, Nesting, ProviderDiagnostic};
use sorted::TreeMap;
use values::{Path, Str, Type, Value, ValueMap, convert};

/// Returns a configuration in which attributes that only the provider sets are null.
pub(super) fn without_computed(block: &Block, config: &Value) -> Value {
    config.transform(&mut |path: &Path, value: &Value| {
        let is_computed = block.attribute_by_path(path).is_some_and(Attribute::is_computed_only);
        if is_computed { Value::null(value.ty()) } else { value.clone() }
    })
}

/// Makes up values, and collects the problems of given values.
pub(super) struct Composer {
    seed: u64,
    diagnostics: Vec<ProviderDiagnostic>,
}

/// The values that a test gives, by attribute.
type Given = TreeMap<Str, Value>;

impl Composer {
    /// Creates a composer for objects of a type. The type decides the generated texts.
    pub(super) fn new(type_name: &str) -> Composer {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let seed = type_name
            .bytes()
            .fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        Composer { seed, diagnostics: Vec::new() }
    }

    /// Returns the problems of the given values.
    pub(super) fn finish(self) -> Vec<ProviderDiagnostic> {
        self.diagnostics
    }

    /// Composes the value of a block.
    pub(super) fn block(&mut self, block: &Block, config: &Value, given: &Given) -> Value {
        let configured = |name: &str| {
            let value = if config.is_known() { config.get_attr(name) } else { None };
            value.filter(|it| !it.is_null())
        };
        let mut composed = ValueMap::new();
        for (name, attribute) in block.attributes() {
            let value = self.attribute(name, attribute, configured(name), given.get(name));
            composed.insert(name.clone(), value);
        }
        for (name, nested) in block.blocks() {
            let value = self.nested(name, nested, configured(name), given.get(name));
            composed.insert(name.clone(), value);
        }
        for name in given.keys() {
            if !block.attributes().contains_key(name) && !block.blocks().contains_key(name) {
                self.error(
                    format!("Invalid override for block field `{name}`"),
                    "The field is unknown. Please, ensure it is a part of resource definition.",
                );
            }
        }
        Value::object(composed)
    }

    fn attribute(
        &mut self,
        name: &str,
        attribute: &Attribute,
        configured: Option<Value>,
        given: Option<&Value>,
    ) -> Value {
        let ty = attribute.implied_type();
        let given = given.map(|it| self.given(name, attribute, &ty, configured.is_some(), it));
        if attribute.write_only {
            if given.is_some() {
                self.diagnostics.push(ProviderDiagnostic::warning(
                    format!("Encountered override for write-only attribute `{name}`"),
                    "Override values for write-only attributes have no impact since the write-only \
                     attributes will always be null in the provider response.",
                ));
            }
            return Value::null(ty);
        }
        match configured {
            Some(value) => value,
            None => match given {
                Some(value) => value,
                None if attribute.computed => self.generated(&ty),
                None => Value::null(ty),
            },
        }
    }

    /// Checks a value that a test gives to an attribute, and converts it.
    fn given(
        &mut self,
        name: &str,
        attribute: &Attribute,
        ty: &Type,
        is_configured: bool,
        value: &Value,
    ) -> Value {
        if is_configured {
            self.error(
                format!("Invalid mock/override field `{name}`"),
                "The field is ignored since overriding configuration values is not allowed.",
            );
        }
        if !attribute.computed {
            self.error(
                format!("Non-computed field `{name}` is not allowed to be overridden"),
                "Overriding non-computed fields is not allowed, so this field cannot be processed.",
            );
        }
        convert::convert(value, ty).unwrap_or_else(|error| {
            let detail = format!(
                "Values provided for override / mock must match resource fields types: {}.",
                error.message
            );
            self.error(format!("Invalid mock/override field `{name}`"), detail);
            Value::null(ty.clone())
        })
    }

    /// Composes the blocks of one type. There are as many as the configuration has.
    fn nested(
        &mut self,
        name: &str,
        nested: &NestedBlock,
        configured: Option<Value>,
        given: Option<&Value>,
    ) -> Value {
        let is_object = given.is_none_or(|it| it.as_map().is_some());
        if let Some(given) = given.filter(|_| !is_object) {
            self.error(
                format!("Invalid override for block field `{name}`"),
                format!(
                    "Blocks can be overridden only by objects, got `{}`",
                    given.ty().friendly_name()
                ),
            );
        }
        let config = configured.filter(|it| it.is_known() && it.stored_length() != Some(0));
        let Some(config) = config else {
            if given.is_some() && is_object {
                self.error(
                    format!("Invalid override for block field `{name}`"),
                    "Cannot override block value, because it's not present in configuration.",
                );
            }
            return nested.empty_value();
        };
        let attributes = given.and_then(Value::as_map);
        let given: Given =
            attributes.into_iter().flatten().map(|(name, it)| (name.clone(), it.clone())).collect();
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.block(&nested.block, &config, &given),
            _ => config.map_parts(|_, element| self.block(&nested.block, element, &given)),
        }
    }

    /// Generates a value of a type, as a provider might compute it: a short text, zero, false, or an empty
    /// collection.
    fn generated(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Number => Value::int(0),
            Type::Bool => Value::bool(false),
            Type::String => Value::string(self.text()),
            Type::List(element) => Value::list((**element).clone(), Vec::new()),
            Type::Set(element) => Value::set((**element).clone(), Vec::new()),
            Type::Map(element) => Value::map((**element).clone(), ValueMap::new()),
            Type::Object(attributes) => {
                let attributes = attributes.iter();
                Value::object(
                    attributes.map(|(name, it)| (name.clone(), self.generated(it))).collect(),
                )
            }
            Type::Tuple(_) => Value::empty_tuple(),
            _ => Value::null(Type::Dynamic),
        }
    }

    /// Generates a text of 4 to 15 letters and digits.
    fn text(&mut self) -> String {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890";
        let length = 4 + self.below(12);
        (0..length).map(|_| char::from(LETTERS[self.below(LETTERS.len())])).collect()
    }

    /// The next number of a SplitMix64 sequence, less than `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn error(&mut self, summary: String, detail: impl Into<String>) {
        self.diagnostics.push(ProviderDiagnostic::error(summary, detail));
    }
}

#[cfg(test)]
mod tests {
    use sorted::SortedMap;

    use super::*;

    fn block() -> Block {
        let list = Type::List(Type::String.into());
        let attributes = [
            ("id", Attribute::computed(Type::String)),
            ("name", Attribute::required(Type::String)),
            ("note", Attribute::optional(Type::String)),
            ("zone", Attribute::optional_computed(Type::String)),
            ("size", Attribute::computed(Type::Number)),
            ("tags", Attribute::computed(list)),
        ];
        let attributes = attributes.map(|(name, it)| (Str::from(name), it));
        let inner = [(Str::from("key"), Attribute::computed(Type::Bool))];
        let rule = NestedBlock::new(Nesting::List, Block::new(inner.into(), SortedMap::new()));
        Block::new(attributes.into(), [(Str::from("rule"), rule)].into())
    }

    fn config(rules: usize) -> Value {
        let block = block();
        let rule = Value::object_from([("key", Value::null(Type::Bool))]);
        let mut attributes = block.empty_value().as_map().cloned().unwrap_or_default();
        attributes.insert("name".into(), Value::string("n"));
        if rules > 0 {
            attributes.insert("rule".into(), Value::list(rule.ty(), vec![rule; rules]));
        }
        Value::object(attributes)
    }

    fn composed(given: &[(&str, Value)], rules: usize) -> (Value, Vec<ProviderDiagnostic>) {
        let given = given.iter().map(|(name, it)| (Str::from(*name), it.clone())).collect();
        let mut composer = Composer::new("a_type");
        let value = composer.block(&block(), &config(rules), &given);
        (value, composer.finish())
    }

    #[test]
    fn computed_attributes_are_made_up_and_the_same_each_time() {
        let (value, problems) = composed(&[], 2);
        assert!(problems.is_empty());
        assert!(value.raw_equals(&composed(&[], 2).0));
        let attr = |name: &str| value.get_attr(name).expect("is there");
        assert!(attr("id").as_str().is_some_and(|it| (4..16).contains(&it.len())));
        assert!(attr("zone").as_str().is_some());
        assert_eq!(attr("name").as_str(), Some("n"));
        assert!(attr("note").is_null());
        assert!(attr("size").raw_equals(&Value::int(0)));
        assert_eq!(attr("tags").stored_length(), Some(0));
        assert_eq!(attr("rule").stored_length(), Some(2));
    }

    #[test]
    fn override_values_fill_in_computed_attributes() {
        let rule = Value::object_from([("key", Value::bool(true))]);
        let (value, problems) = composed(&[("id", Value::int(7)), ("rule", rule)], 1);
        assert!(problems.is_empty());
        assert_eq!(value.get_attr("id").expect("is there").as_str(), Some("7"));
        let rules = value.get_attr("rule").expect("is there");
        let key = rules.as_slice().and_then(|it| it[0].get_attr("key"));
        assert_eq!(key.and_then(|it| it.as_bool()), Some(true));
    }

    #[test]
    fn unsuitable_given_values_are_errors() {
        let given = [
            ("name", Value::string("other")),
            ("note", Value::string("not computed")),
            ("size", Value::string("large")),
            ("rule", Value::object_from([("key", Value::bool(true))])),
            ("nowhere", Value::int(1)),
        ];
        let (_, problems) = composed(&given, 0);
        let summaries: Vec<&str> = problems.iter().map(|it| it.summary.as_str()).collect();
        assert_eq!(
            summaries,
            [
                "Invalid mock/override field `name`",
                "Non-computed field `name` is not allowed to be overridden",
                "Non-computed field `note` is not allowed to be overridden",
                "Invalid mock/override field `size`",
                "Invalid override for block field `rule`",
                "Invalid override for block field `nowhere`",
            ]
        );
    }
}
