use values::{Deprecation, Kind, Mark, MarkKind, Path, Step, Str, Value};

use crate::provider::ProviderDiagnostic;
use crate::schema::{Attribute, Block, NestedBlock, NestedObject, Nesting, ObjectNesting};

/// Marks the values of sensitive attributes, including null and unknown ones.
///
/// A sensitive attribute inside a set marks the whole set, because elements of sets carry no marks.
#[must_use]
pub fn mark_by_schema(value: &Value, block: &Block) -> Value {
    rewrite(value, block, Interest::Sensitive, &mut |_, site, value| match site {
        Site::Attribute(attribute) if attribute.sensitive => value.with_mark(Mark::Sensitive),
        _ => value,
    })
}

/// Marks the values of deprecated attributes and blocks. `address` is the address of the object.
#[must_use]
pub fn mark_deprecated_by_schema(value: &Value, block: &Block, address: &str) -> Value {
    rewrite(value, block, Interest::Deprecated, &mut |path, site, value| {
        let message = match site {
            Site::Attribute(it) if it.deprecated => &it.deprecation_message,
            Site::Block(it) if it.block.deprecated => &it.block.deprecation_message,
            _ => return value,
        };
        let what = Str::from(format!("{address}{path}"));
        value.with_mark(Mark::Deprecated(Deprecation { what, message: message.clone() }))
    })
}

/// Replaces every write-only value by null, as states and plans require. Marks other than ephemeral stay, and so does
/// the type of a null, because plans and results are compared with their types.
#[must_use]
pub fn null_write_only(value: &Value, block: &Block) -> Value {
    rewrite(value, block, Interest::WriteOnly, &mut |_, site, value| match site {
        Site::Attribute(attribute) if attribute.write_only => {
            let marks = value.deep_marks().without(MarkKind::Ephemeral);
            let ty = if value.is_null() { value.ty() } else { attribute.implied_type() };
            Value::null(ty).with_marks(&marks)
        }
        _ => value,
    })
}

/// Removes the marks of write-only attributes and of the values inside of them, because an ephemeral value is
/// allowed there. A sensitive mark of the attribute as a whole stays: OpenTofu keeps it in states and plans, where
/// the value itself is null. Marks elsewhere stay.
#[must_use]
pub fn unmark_write_only(value: &Value, block: &Block) -> Value {
    rewrite(value, block, Interest::WriteOnly, &mut |_, site, value| match site {
        Site::Attribute(attribute) if attribute.write_only => {
            value.without_all_marks().with_marks(&value.marks().only(MarkKind::Sensitive))
        }
        _ => value,
    })
}

/// The paths of write-only attributes in a value, including those that are null.
pub fn write_only_paths(value: &Value, block: &Block) -> Vec<Path> {
    let mut paths = Vec::new();
    visit(value, block, Interest::WriteOnly, &mut |path, attribute, _| {
        if attribute.write_only {
            paths.push(path.clone());
        }
    });
    paths
}

/// The values of write-only attributes in a value that are not null.
pub fn write_only_values(value: &Value, block: &Block) -> Vec<Value> {
    let mut values = Vec::new();
    visit(value, block, Interest::WriteOnly, &mut |_, attribute, value| {
        if attribute.write_only && !value.is_null() {
            values.push(value.clone());
        }
    });
    values
}

/// The paths of sensitive attributes in a value. A path through a set ends at the set.
pub fn sensitive_paths(value: &Value, block: &Block) -> Vec<Path> {
    let mut paths: Vec<Path> = Vec::new();
    visit(value, block, Interest::Sensitive, &mut |path, attribute, _| {
        if !attribute.sensitive {
            return;
        }
        let path = outside_of_sets(path, value);
        if !paths.contains(&path) {
            paths.push(path);
        }
    });
    paths
}

fn outside_of_sets(path: &Path, value: &Value) -> Path {
    let mut reached = value.clone();
    let mut kept = Path::root();
    for step in path.steps() {
        if matches!(reached.kind(), Kind::Set(_)) {
            break;
        }
        kept.push(step.clone());
        match step.apply(&reached) {
            Some(next) => reached = next,
            None => break,
        }
    }
    kept
}

/// Returns one error for each write-only attribute that is not null in an answer of the provider. An unknown value
/// is not null.
///
/// Used after upgrading, reading, planning, applying, moving and importing. No value is quoted.
pub fn write_only_values_present(
    type_name: &str,
    value: &Value,
    block: &Block,
) -> Vec<ProviderDiagnostic> {
    let mut diagnostics = Vec::new();
    visit(value, block, Interest::WriteOnly, &mut |path, attribute, value| {
        if attribute.write_only && !value.is_null() {
            let path = path.to_string();
            let detail = format!(
                "Resource type {type_name:?} returned an actual value for the write-only attribute \
                 {path:?}, which must be null in every answer. This is an issue in the provider.",
            );
            diagnostics.push(ProviderDiagnostic::error("Invalid provider response", detail));
        }
    });
    diagnostics
}

/// The attributes that a walk looks for. Parts of a schema without any are skipped.
#[derive(Clone, Copy)]
enum Interest {
    WriteOnly,
    Sensitive,
    Deprecated,
}

impl Interest {
    fn in_block(self, block: &Block) -> bool {
        match self {
            Interest::WriteOnly => block.has_write_only(),
            Interest::Sensitive => block.has_sensitive(),
            Interest::Deprecated => block.has_deprecated(),
        }
    }

    fn in_object(self, object: &NestedObject) -> bool {
        match self {
            Interest::WriteOnly => object.has_write_only(),
            Interest::Sensitive => object.has_sensitive(),
            Interest::Deprecated => object.has_deprecated(),
        }
    }
}

/// The part of the schema that a value belongs to.
enum Site<'a> {
    Attribute(&'a Attribute),
    Block(&'a NestedBlock),
}

type Replace<'a> = dyn FnMut(&Path, Site<'_>, Value) -> Value + 'a;

/// Rebuilds a value with its attributes and block collections replaced, from the inside out.
fn rewrite(value: &Value, block: &Block, interest: Interest, replace: &mut Replace<'_>) -> Value {
    Rewrite { interest, path: Path::root(), replace }.block(value, block)
}

struct Rewrite<'a, 'b> {
    interest: Interest,
    path: Path,
    replace: &'a mut Replace<'b>,
}

impl Rewrite<'_, '_> {
    fn block(&mut self, value: &Value, block: &Block) -> Value {
        if !self.interest.in_block(block) || !matches!(value.kind(), Kind::Object(_)) {
            return value.clone();
        }
        value.map_parts(|step, part| {
            let Step::Attr(name) = step else { return part.clone() };
            self.path.push(step.clone());
            let replaced = match (block.attributes().get(name), block.blocks().get(name)) {
                (Some(attribute), _) => self.attribute(part, attribute),
                (None, Some(nested)) => self.nested_block(part, nested),
                (None, None) => part.clone(),
            };
            self.path.pop();
            replaced
        })
    }

    fn attribute(&mut self, value: &Value, attribute: &Attribute) -> Value {
        let inner = match attribute.nested() {
            Some(object) if self.interest.in_object(object) => match object.nesting() {
                ObjectNesting::Single => self.object(value, object),
                _ => self.each_part(value, |this, element| this.object(element, object)),
            },
            _ => value.clone(),
        };
        (self.replace)(&self.path, Site::Attribute(attribute), inner)
    }

    fn object(&mut self, value: &Value, object: &NestedObject) -> Value {
        if !matches!(value.kind(), Kind::Object(_)) {
            return value.clone();
        }
        value.map_parts(|step, part| {
            let Step::Attr(name) = step else { return part.clone() };
            let Some(attribute) = object.attributes().get(name) else { return part.clone() };
            self.path.push(step.clone());
            let replaced = self.attribute(part, attribute);
            self.path.pop();
            replaced
        })
    }

    fn nested_block(&mut self, value: &Value, nested: &NestedBlock) -> Value {
        let inner = match nested.nesting {
            Nesting::Single | Nesting::Group => self.block(value, &nested.block),
            _ => self.each_part(value, |this, element| this.block(element, &nested.block)),
        };
        (self.replace)(&self.path, Site::Block(nested), inner)
    }

    fn each_part(
        &mut self,
        value: &Value,
        mut rewrite: impl FnMut(&mut Self, &Value) -> Value,
    ) -> Value {
        value.map_parts(|step, part| {
            self.path.push(step.clone());
            let replaced = rewrite(self, part);
            self.path.pop();
            replaced
        })
    }
}

type AttributeVisitor<'a> = dyn FnMut(&Path, &Attribute, &Value) + 'a;

/// Calls `look` for every attribute that is present in the value.
fn visit(value: &Value, block: &Block, interest: Interest, look: &mut AttributeVisitor<'_>) {
    Visit { interest, path: Path::root(), look }.block(value, block);
}

struct Visit<'a, 'b> {
    interest: Interest,
    path: Path,
    look: &'a mut AttributeVisitor<'b>,
}

impl Visit<'_, '_> {
    fn block(&mut self, value: &Value, block: &Block) {
        let Kind::Object(parts) = value.kind() else { return };
        if !self.interest.in_block(block) {
            return;
        }
        for (name, part) in parts {
            self.path.push(Step::Attr(name.clone()));
            if let Some(attribute) = block.attributes().get(name) {
                self.attribute(part, attribute);
            } else if let Some(nested) = block.blocks().get(name) {
                match nested.nesting {
                    Nesting::Single | Nesting::Group => self.block(part, &nested.block),
                    _ => self.each_part(part, |this, it| this.block(it, &nested.block)),
                }
            }
            self.path.pop();
        }
    }

    fn attribute(&mut self, value: &Value, attribute: &Attribute) {
        (self.look)(&self.path, attribute, value);
        let Some(object) = attribute.nested() else { return };
        if !self.interest.in_object(object) {
            return;
        }
        match object.nesting() {
            ObjectNesting::Single => self.object(value, object),
            _ => self.each_part(value, |this, it| this.object(it, object)),
        }
    }

    fn object(&mut self, value: &Value, object: &NestedObject) {
        let Kind::Object(parts) = value.kind() else { return };
        for (name, part) in parts {
            if let Some(attribute) = object.attributes().get(name) {
                self.path.push(Step::Attr(name.clone()));
                self.attribute(part, attribute);
                self.path.pop();
            }
        }
    }

    fn each_part(&mut self, value: &Value, mut visit: impl FnMut(&mut Self, &Value)) {
        for (step, part) in value.parts() {
            self.path.push(step);
            visit(self, part);
            self.path.pop();
        }
    }
}
