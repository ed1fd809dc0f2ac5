use std::fmt;

use super::{
    Attribute, AttributeType, Block, MAX_DEPTH, NestedBlock, Nesting, ObjectNesting, Schema,
};

/// A violation of a rule for schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// The names from the outermost block on, joined by dots. Empty for the schema as a whole.
    pub path: String,
    /// The rule as a sentence fragment.
    pub message: String,
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

pub(super) fn problems(schema: &Schema) -> Vec<SchemaProblem> {
    let mut check = Check { path: Vec::new(), problems: Vec::new() };
    if schema.version < 0 {
        check.report("version must not be negative");
    }
    check.block(&schema.block);
    check.problems
}

struct Check<'a> {
    path: Vec<&'a str>,
    problems: Vec<SchemaProblem>,
}

impl<'a> Check<'a> {
    fn report(&mut self, message: &str) {
        self.problems
            .push(SchemaProblem { path: self.path.join("."), message: message.to_owned() });
    }

    fn block(&mut self, block: &'a Block) {
        if self.path.len() > MAX_DEPTH {
            return self.report("nested too deeply");
        }
        for (name, attribute) in &block.attributes {
            self.path.push(name);
            self.attribute(attribute);
            self.path.pop();
        }
        for (name, nested) in &block.blocks {
            self.path.push(name);
            if block.attributes.contains_key(name) {
                self.report("name defined as both attribute and child block type");
            }
            if !is_block_name(name) {
                self.report("name may contain only lowercase letters, digits and underscores");
            }
            self.nested_block(nested);
            self.path.pop();
        }
    }

    fn attribute(&mut self, attribute: &'a Attribute) {
        if !attribute.optional && !attribute.required && !attribute.computed {
            self.report("must set Optional, Required or Computed");
        }
        if attribute.optional && attribute.required {
            self.report("cannot set both Optional and Required");
        }
        if attribute.computed && attribute.required {
            self.report("cannot set both Computed and Required");
        }
        let AttributeType::Nested(object) = &attribute.ty else { return };
        if self.path.len() > MAX_DEPTH {
            return self.report("nested too deeply");
        }
        for (name, inner) in object.attributes() {
            self.path.push(name);
            self.attribute(inner);
            self.path.pop();
        }
        if object.nesting() == ObjectNesting::Set && object.implied_type().has_dynamic() {
            self.report("NestingSet objects may not contain attributes of dynamic type");
        }
    }

    fn nested_block(&mut self, nested: &'a NestedBlock) {
        let (min, max) = (nested.min_items, nested.max_items);
        if min < 0 || max < 0 {
            self.report("MinItems and MaxItems must both be greater than zero");
        }
        match nested.nesting {
            Nesting::Single if min != max => {
                self.report("MinItems and MaxItems must match in NestingSingle mode");
            }
            Nesting::Single if min != 0 && min != 1 => {
                self.report(
                    "MinItems and MaxItems must be set to either 0 or 1 in NestingSingle mode",
                );
            }
            Nesting::Group | Nesting::Map if min != 0 || max != 0 => {
                self.report("MinItems and MaxItems must both be 0 in this nesting mode");
            }
            Nesting::List | Nesting::Set if min > max && max != 0 => {
                self.report("MinItems must be less than or equal to MaxItems");
            }
            _ => {}
        }
        let before = self.problems.len();
        self.block(&nested.block);
        // Skipped if the block has problems: the type of a block that nests too deeply must not be computed.
        if nested.nesting == Nesting::Set
            && self.problems.len() == before
            && nested.block.implied_type().has_dynamic()
        {
            self.report("NestingSet blocks may not contain attributes of dynamic type");
        }
    }
}

/// Returns true if a block type may have this name. The rule does not apply to attribute names, because real
/// providers use dashes in them.
fn is_block_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_')
}

pub(super) fn write_only_in_set(block: &Block) -> Option<String> {
    if !block.has_write_only() {
        return None;
    }
    let in_attributes = block.attributes.iter().find_map(|(name, attribute)| {
        in_attribute(attribute, false).map(|rest| format!(".{name}{rest}"))
    });
    in_attributes.or_else(|| {
        block.blocks.iter().find_map(|(name, nested)| {
            let found = match nested.nesting {
                Nesting::Set => first_write_only(&nested.block),
                _ => write_only_in_set(&nested.block),
            };
            found.map(|rest| format!(".{name}{rest}"))
        })
    })
}

/// Returns the path below `attribute` to a write-only attribute within a set. `inside` is true if `attribute`
/// itself is in a set.
fn in_attribute(attribute: &Attribute, inside: bool) -> Option<String> {
    if inside && attribute.write_only {
        return Some(String::new());
    }
    let object = attribute.nested()?;
    let inside = inside || object.nesting() == ObjectNesting::Set;
    object
        .attributes()
        .iter()
        .find_map(|(name, inner)| in_attribute(inner, inside).map(|rest| format!(".{name}{rest}")))
}

fn first_write_only(block: &Block) -> Option<String> {
    let in_attributes = block.attributes.iter().find_map(|(name, attribute)| {
        in_attribute(attribute, true).map(|rest| format!(".{name}{rest}"))
    });
    in_attributes.or_else(|| {
        block.blocks.iter().find_map(|(name, nested)| {
            first_write_only(&nested.block).map(|rest| format!(".{name}{rest}"))
        })
    })
}
