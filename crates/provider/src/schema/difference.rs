//! Finds differences between two schemas that change their meaning. Texts (descriptions, deprecation messages) are
//! ignored: some providers generate them anew in every process.

use sorted::{SortedMap, TreeSet};
use values::Str;

use super::{Attribute, AttributeType, Block, FunctionSignature, NestedBlock, Schema};

/// The path of the first difference of two schemas. The empty path is the schema as a whole.
pub(crate) fn of_schemas(a: &Schema, b: &Schema) -> Option<String> {
    match a.version == b.version {
        true => of_blocks(&a.block, &b.block),
        false => Some(String::new()),
    }
}

/// The path of the first part that only one of the blocks has or that differs.
fn of_blocks(a: &Block, b: &Block) -> Option<String> {
    of_parts(&a.attributes, &b.attributes, of_attributes)
        .or_else(|| of_parts(&a.blocks, &b.blocks, of_nested))
}

fn of_attributes(a: &Attribute, b: &Attribute) -> Option<String> {
    // A required attribute may be optional in another environment, and both are encoded in the same way.
    let is_given = |it: &Attribute| it.required || it.optional;
    let flags = |it: &Attribute| (is_given(it), it.computed, it.sensitive, it.write_only);
    match (&a.ty, &b.ty) {
        _ if flags(a) != flags(b) => Some(String::new()),
        (AttributeType::Type(a), AttributeType::Type(b)) if a == b => None,
        (AttributeType::Nested(a), AttributeType::Nested(b)) if a.nesting == b.nesting => {
            of_parts(&a.attributes, &b.attributes, of_attributes)
        }
        _ => Some(String::new()),
    }
}

fn of_nested(a: &NestedBlock, b: &NestedBlock) -> Option<String> {
    let form = |it: &NestedBlock| (it.nesting, it.min_items, it.max_items);
    match form(a) == form(b) {
        true => of_blocks(&a.block, &b.block),
        false => Some(String::new()),
    }
}

/// The path of the first part that only one of the maps has or that differs.
fn of_parts<T>(
    a: &SortedMap<Str, T>,
    b: &SortedMap<Str, T>,
    of_part: impl Fn(&T, &T) -> Option<String>,
) -> Option<String> {
    let (a_names, b_names): (Vec<&str>, Vec<&str>) =
        (a.keys().map(|it| &**it).collect(), b.keys().map(|it| &**it).collect());
    let within = |name: &str| of_part(a.get(name)?, b.get(name)?);
    let (name, path) = first_other(&a_names, &b_names, within)?;
    Some(if path.is_empty() { name.to_owned() } else { format!("{name}.{path}") })
}

/// The first name that only one of the lists has or whose meaning differs, with the path below it.
pub(crate) fn first_other<'a>(
    a: &[&'a str],
    b: &[&'a str],
    within: impl Fn(&str) -> Option<String>,
) -> Option<(&'a str, String)> {
    let (in_a, in_b): (TreeSet<_>, TreeSet<_>) = (a.iter().collect(), b.iter().collect());
    let gone_or_other = a.iter().find_map(|name| match in_b.contains(name) {
        true => Some((*name, within(name)?)),
        false => Some((*name, String::new())),
    });
    let new = || b.iter().find(|name| !in_a.contains(name)).map(|name| (*name, String::new()));
    gone_or_other.or_else(new)
}

/// Returns true if two functions take the same arguments and return the same type.
pub(crate) fn are_same_functions(a: &FunctionSignature, b: &FunctionSignature) -> bool {
    let form = |it: &FunctionSignature| {
        let each = it.parameters.iter().chain(&it.variadic);
        let each = each.map(|it| (it.ty.clone(), it.allow_null_value, it.allow_unknown_values));
        (each.collect::<Vec<_>>(), it.variadic.is_some(), it.returns.clone())
    };
    form(a) == form(b)
}

#[cfg(test)]
mod tests {
    use values::Type;

    use super::super::{NestedObject, Nesting, ObjectNesting};
    use super::*;

    fn named<T>(parts: Vec<(&str, T)>) -> SortedMap<Str, T> {
        parts.into_iter().map(|(name, part)| (Str::from(name), part)).collect()
    }

    /// A schema with an attribute at the top, one in a nested object, and one in a block.
    fn schema(change: impl FnOnce(&mut Attribute), nesting: Nesting) -> Schema {
        let mut attribute = Attribute::optional(Type::String);
        change(&mut attribute);
        let object = NestedObject::new(ObjectNesting::List, named(vec![("a", attribute.clone())]));
        let object = Attribute::new(AttributeType::Nested(object));
        let inner = Block::new(named(vec![("object", object)]), SortedMap::new());
        let blocks = named(vec![("block", NestedBlock::new(nesting, inner))]);
        let plain = Attribute::optional(Type::Number);
        Schema::new(0, Block::new(named(vec![("plain", plain)]), blocks))
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Attribute), expected: Option<&str>) {
        let (a, b) = (schema(|_| {}, Nesting::Set), schema(change, Nesting::Set));
        assert_eq!(of_schemas(&a, &b).as_deref(), expected);
        assert_eq!(of_schemas(&b, &a).as_deref(), expected);
    }

    #[test]
    fn schema_changes_of_types_and_flags_are_differences() {
        let path = Some("block.object.a");
        check(|_| {}, None);
        check(|it| it.write_only = true, path);
        check(|it| it.sensitive = true, path);
        check(|it| it.computed = true, path);
        check(|it| it.ty = AttributeType::Type(Type::Bool), path);
        let plain = schema(|_| {}, Nesting::Set);
        let other = schema(|_| {}, Nesting::List);
        assert_eq!(of_schemas(&plain, &other).as_deref(), Some("block"));
        let newer = Schema::new(1, plain.block().clone());
        assert_eq!(of_schemas(&plain, &newer).as_deref(), Some(""));
        let less = Schema::new(0, Block::new(plain.block().attributes().clone(), SortedMap::new()));
        assert_eq!(of_schemas(&plain, &less).as_deref(), Some("block"));
        assert_eq!(of_schemas(&less, &plain).as_deref(), Some("block"));
    }

    #[test]
    fn schema_descriptions_and_deprecations_are_no_difference() {
        check(|it| it.description = "Other words.".into(), None);
        check(|it| it.deprecation_message = "Use another one.".into(), None);
        check(|it| it.deprecated = true, None);
    }
}
