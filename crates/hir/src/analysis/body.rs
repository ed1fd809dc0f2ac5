//! Checks of bodies against schemas in the abstract domain: missing and unknown arguments, wrong types, and
//! ephemeral values that would be written to the state.

pub(crate) mod labels;
mod part_path;

use db::{Rule, Summary};
use provider::{Attribute, AttributeType, Block as SchemaBlock, NestedBlock, Nesting};
use smallvec::SmallVec;
use values::{MarkKind, Str, Type, convert, rules::RuleId};

use crate::{
    analysis::{
        body::{labels::dynamic_label, part_path::PartPath},
        infer::Infer,
        instances::instance,
        problem::ItemProblem,
        value::{
            Abstract,
            inside::{Attrs, Inside, Presence},
            marks::{Tri, TriMarks},
            when::When,
        },
    },
    eval,
    expr::{At, Expr, ExprId, Literal, NodeId},
    fix::Fix,
    item::{Attr, Block, Body},
    suggest,
};

/// The error for a value that does not fit the type of its attribute.
pub(super) fn wrong_type(attr: &Attr, problem: &str) -> ItemProblem {
    let detail = format!("Inappropriate value for attribute \"{}\": {problem}.", attr.name);
    ItemProblem::new(attr.value.into(), Summary::INCORRECT_ATTRIBUTE_TYPE, detail)
}

/// The persistence of a body. If it is written to the state, only write-only attributes accept ephemeral values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Persistence {
    /// Written to the state: managed and data resources.
    Stored,
    /// Not written to the state: provider configurations, ephemeral resources, provisioners.
    Ephemeral,
}

/// The position of a body.
#[derive(Clone, Copy)]
struct Place<'p> {
    header: NodeId,
    /// The path of the nested block in the object.
    path: &'p PartPath<'p>,
    /// The schema of the body of the item.
    root: &'p SchemaBlock,
}

/// A `dynamic` block that encloses a body.
pub(super) struct EnclosingDynamic<'o> {
    for_each: ExprId,
    value: &'o Abstract,
    outer: Option<&'o EnclosingDynamic<'o>>,
}

/// The inference of one body.
pub(super) struct BodyInfer<'i, 'a> {
    pub(super) infer: &'i mut Infer<'a>,
    pub(super) persistence: Persistence,
    /// The enclosing `dynamic` blocks. If their collections are empty, they generate no block.
    pub(super) enclosing: Option<&'i EnclosingDynamic<'i>>,
}

impl BodyInfer<'_, '_> {
    /// Infers a block and returns the object that reading it back gives: types come from the schema, marks from the
    /// schema and the configuration.
    pub(super) fn block(&mut self, body: &Body, schema: &SchemaBlock, header: NodeId) -> Abstract {
        let place = Place { header, path: &PartPath::Object, root: schema };
        let value = self.inner_block(body, schema, place);
        self.infer.forget_unmarked_objects();
        value
    }

    fn inner_block(&mut self, body: &Body, schema: &SchemaBlock, place: Place<'_>) -> Abstract {
        let body = &*body.fitted(schema);
        let mut written: SmallVec<[Option<Abstract>; 4]> = SmallVec::new();
        let mut fixup: Vec<&str> = Vec::new();
        for (name, attribute) in schema.attributes() {
            let value = match body.attrs.iter().find(|attr| attr.name == *name) {
                Some(attr) => Some(self.attribute(attr, attribute, place.path)),
                None => self
                    .attribute_as_blocks(body, name, schema, place)
                    .inspect(|_| fixup.push(name)),
            };
            if value.is_none() && attribute.required {
                self.missing_argument(name, place.header);
            }
            written.push(value);
        }
        if schema.blocks().is_empty() && written.iter().flatten().all(is_unmarked) {
            self.unsupported(body, schema, &fixup);
            return self.infer.unmarked_object(schema, unmarked_object);
        }
        let attrs = schema.attributes().iter().zip(written);
        let attrs = attrs.map(|((name, it), value)| (name.clone(), read_back(it, value)));
        let attrs: Attrs = attrs.collect();
        let mut blocks = Vec::with_capacity(schema.blocks().len());
        for (name, nested) in schema.blocks() {
            let value = self.nested_blocks(body, name, nested, place);
            blocks.push((name.clone(), value));
        }
        self.unsupported(body, schema, &fixup);
        object_of(schema, Attrs::merged([attrs, Attrs::from_entries(blocks)]))
    }

    /// The value of blocks where the schema has an attribute whose type is a collection of objects ("attributes as
    /// blocks" of the plugin protocol). `None` if there is no such block.
    fn attribute_as_blocks(
        &mut self,
        body: &Body,
        name: &Str,
        schema: &SchemaBlock,
        place: Place<'_>,
    ) -> Option<Abstract> {
        if body.blocks.iter().all(|it| it.kind != *name) {
            return None;
        }
        let nested = eval::attribute_as_blocks(name, schema, place.root)?;
        let value = self.nested_blocks(body, name, &nested, place);
        self.infer.forget_unmarked_objects();
        Some(value)
    }

    fn missing_argument(&mut self, name: &Str, header: NodeId) {
        let detail = format!("The argument \"{name}\" is required, but no definition was found.");
        let problem = ItemProblem::new(header.into(), Summary::MISSING_ARGUMENT, detail);
        let fix = Fix::MissingArgument(name.clone());
        self.infer.problems.push(problem.fixed_by(Some(fix)));
    }

    fn attribute(&mut self, attr: &Attr, attribute: &Attribute, path: &PartPath<'_>) -> Abstract {
        let value = self.infer.expr(attr.value);
        let wanted = attribute.decode_type();
        self.check_type(attr, &value, &wanted);
        let path = PartPath::Name(path, &attr.name);
        if self.persistence == Persistence::Stored {
            self.check_stored(attr.value, &value, attribute, &path, &When::Always);
        }
        if attribute.write_only {
            self.warn_literal_secret(attr.value, &path);
        }
        value
    }

    fn check_type(&mut self, attr: &Attr, value: &Abstract, wanted: &Type) {
        let problem = match &value.constant {
            Some(constant) => {
                convert::convert(&constant.0, wanted).err().map(|error| error.to_string())
            }
            None if value.ty == Type::Dynamic => None,
            None if convert::can_convert(&value.ty, wanted) => None,
            None => Some(convert::mismatch(&value.ty, wanted)),
        };
        if let Some(problem) = problem {
            self.infer.problems.push(wrong_type(attr, &problem));
        }
    }

    /// Reports an ephemeral value in an attribute that is written to the state, as the ephemeral resources RFC
    /// requires. `path` is the path of the attribute, `is_there` the condition under which the value exists.
    fn check_stored(
        &mut self,
        at: ExprId,
        value: &Abstract,
        attribute: &Attribute,
        path: &PartPath<'_>,
        is_there: &When,
    ) {
        if attribute.write_only {
            return;
        }
        let is_nested = attribute.nested().is_some();
        let mark = value.marks.ephemeral;
        let here = value.ephemeral.here().and(is_there);
        if is_nested && (mark == Tri::Yes || !here.is_never()) {
            return self.misuse(at.into(), value, mark, &here, path);
        }
        let before = self.infer.problems.len();
        match (&attribute.ty, &value.inside) {
            (AttributeType::Nested(object), Inside::Attrs(parts))
                if object.nesting() == provider::ObjectNesting::Single =>
            {
                for (name, part) in parts.iter() {
                    let Some(nested) = object.attributes().get(name) else { continue };
                    let at = self.object_value(at, name).unwrap_or(at);
                    self.check_stored(at, part, nested, &PartPath::Name(path, name), is_there);
                }
            }
            (AttributeType::Nested(object), inside) => {
                let are_there = elements_there(value).and(is_there);
                let elements: Vec<(Option<Str>, Abstract)> = match inside {
                    Inside::Attrs(parts) => parts
                        .iter()
                        .map(|(name, part)| (Some(name.clone()), part.clone()))
                        .collect(),
                    Inside::Items(items) => items.iter().map(|item| (None, item.clone())).collect(),
                    Inside::Each(element) => vec![(None, (**element).clone())],
                    Inside::Opaque(_) => Vec::new(),
                };
                let is_list = object.nesting() == provider::ObjectNesting::List
                    && matches!(inside, Inside::Items(_));
                for (index, (key, element)) in elements.iter().enumerate() {
                    let (place, path) = match key {
                        Some(key) => (self.object_value(at, key), PartPath::Key(path, key)),
                        None if is_list => {
                            (self.tuple_element(at, index), PartPath::Index(path, index))
                        }
                        None => (self.tuple_element(at, index), *path),
                    };
                    self.check_element(place.unwrap_or(at), element, object, &path, &are_there);
                }
            }
            _ => {
                let inner = value.deep_marks().ephemeral;
                if inner > Tri::No {
                    let when = value.ephemeral.somewhere().and(is_there);
                    self.misuse(at.into(), value, inner, &when, path);
                }
            }
        }
        if is_nested && mark > Tri::No && self.infer.problems.len() == before {
            self.misuse(at.into(), value, mark, &When::Never, path);
        }
    }

    /// Checks one element of a nested attribute; see [`BodyInfer::check_stored`].
    fn check_element(
        &mut self,
        at: ExprId,
        element: &Abstract,
        object: &provider::NestedObject,
        path: &PartPath<'_>,
        is_there: &When,
    ) {
        if element.marks.ephemeral > Tri::No {
            let here = element.ephemeral.here().and(is_there);
            return self.misuse(at.into(), element, element.marks.ephemeral, &here, path);
        }
        let Inside::Attrs(parts) = &element.inside else { return };
        for (name, part) in parts.iter() {
            let Some(nested) = object.attributes().get(name) else { continue };
            let at = self.object_value(at, name).unwrap_or(at);
            self.check_stored(at, part, nested, &PartPath::Name(path, name), is_there);
        }
    }

    /// The value expression of a key written in an object constructor.
    fn object_value(&self, at: ExprId, name: &str) -> Option<ExprId> {
        let Expr::Object(items) = &self.infer.exprs[at] else { return None };
        let is_key = |key: ExprId| match &self.infer.exprs[key] {
            Expr::Literal(Literal::String(text)) => **text == *name,
            _ => false,
        };
        items.iter().rev().find(|item| is_key(item.key)).map(|item| item.value)
    }

    /// The expression of an element written in a tuple constructor.
    fn tuple_element(&self, at: ExprId, index: usize) -> Option<ExprId> {
        match &self.infer.exprs[at] {
            Expr::Tuple(elements) => elements.get(index).copied(),
            _ => None,
        }
    }

    /// Reports an ephemeral value at a place that is written to the state. It is less certain if an enclosing
    /// `dynamic` block may generate no block.
    fn misuse(
        &mut self,
        at: At,
        value: &Abstract,
        certainty: Tri,
        when: &When,
        path: &PartPath<'_>,
    ) {
        let detail = format!(
            "\"{path}\" cannot accept an ephemeral value because it is not a write-only attribute, \
             meaning it will be written to the state."
        );
        let problem = ItemProblem::new(at, Summary::EPHEMERAL_VALUE_MISUSE, detail);
        let generated = self.generation_condition();
        let origin = value.origin.as_ref();
        self.infer.problems.push(match generated {
            When::Always => problem.if_ephemeral(certainty, when, origin),
            _ => problem.if_ephemeral(certainty.min(Tri::Maybe), &when.and(&generated), origin),
        });
    }

    /// The condition under which the enclosing `dynamic` blocks generate a block.
    fn generation_condition(&mut self) -> When {
        let (mut generated, mut enclosing) = (When::Always, self.enclosing);
        while let Some(EnclosingDynamic { for_each, value, outer }) = enclosing {
            generated = self.infer.has_elements(*for_each, value).and(&generated);
            enclosing = *outer;
        }
        generated
    }

    /// Warns about a literal in a write-only attribute: the secret is readable in the source, and no engine can
    /// hide it.
    fn warn_literal_secret(&mut self, at: ExprId, path: &PartPath<'_>) {
        if let Expr::Literal(Literal::String(text)) = &self.infer.exprs[at]
            && !text.is_empty()
        {
            let detail = format!(
                "The value of the write-only attribute \"{path}\" is written in the configuration, \
                 where everyone with access to the file can read it. Take it from an ephemeral \
                 variable or an ephemeral resource instead."
            );
            let problem = ItemProblem::new(at.into(), Summary::LITERAL_SECRET, detail);
            self.infer.problems.push(problem);
        }
    }

    fn nested_blocks(
        &mut self,
        body: &Body,
        kind: &Str,
        nested: &NestedBlock,
        place: Place<'_>,
    ) -> Abstract {
        let written: Vec<&Block> = body.blocks.iter().filter(|block| block.kind == *kind).collect();
        self.check_count(&written, kind, nested, place.header);
        let mut elements = Vec::new();
        let mut known = true;
        for (index, block) in written.iter().enumerate() {
            known &= block.dynamic.is_none();
            let all = PartPath::Name(place.path, kind);
            let path = match (nested.nesting, block.labels.first()) {
                (Nesting::List, _) if known => PartPath::Index(&all, index),
                (Nesting::Map, Some(label)) if block.dynamic.is_none() => {
                    PartPath::Key(&all, label)
                }
                _ => all,
            };
            self.check_labels(block, nested);
            let inner = Place { header: block.node, path: &path, root: place.root };
            elements.push((block.labels.first().cloned(), self.nested_block(block, nested, inner)));
        }
        arrange(nested, elements, known)
    }

    /// Reports labels that do not match the nesting mode: a block of a map has exactly one label, others have none.
    fn check_labels(&mut self, block: &Block, nested: &NestedBlock) {
        let given = block.dynamic.as_ref().map_or(block.labels.len(), |it| it.labels.len());
        let wanted = usize::from(nested.nesting == Nesting::Map);
        let found = eval::wrong_labels(block, wanted, given);
        if let Some((summary, detail)) = found {
            self.error(block.node, summary, detail);
        }
    }

    fn nested_block(&mut self, block: &Block, nested: &NestedBlock, place: Place<'_>) -> Abstract {
        let Some(dynamic) = &block.dynamic else {
            return self.inner_block(&block.body, &nested.block, place);
        };
        let for_each = self.infer.expr(dynamic.for_each);
        self.check_dynamic(dynamic.for_each, &for_each, place.path);
        // Marks of `for_each` go to everything inside of the generated blocks.
        let marks = self.infer.contribution(RuleId::DynamicBlock, &for_each).marks;
        let iterator = iterator(self.infer, &for_each);
        let (persistence, outer) = (self.persistence, self.enclosing);
        // If `for_each` itself may be ephemeral, `check_dynamic` has reported that.
        let is_reported = !for_each.ephemeral.here().is_never();
        let inner = EnclosingDynamic { for_each: dynamic.for_each, value: &for_each, outer };
        let enclosing = if is_reported { outer } else { Some(&inner) };
        let before = self.infer.problems.len();
        let made = self.infer.with_symbol(dynamic.iterator, iterator, |infer| {
            let mut body = BodyInfer { infer, persistence, enclosing };
            dynamic.labels.iter().for_each(|label| dynamic_label(body.infer, *label));
            body.inner_block(&block.body, &nested.block, place)
        });
        if let When::If(condition) = for_each.ephemeral.here() {
            // Everything that is made from `for_each` is ephemeral under the same condition. The warning at
            // `for_each` covers it.
            let inside = self.infer.problems.split_off(before);
            let sentence = condition.sentence();
            let is_new = |it: &ItemProblem| {
                it.id() != Rule::PossiblyEphemeral || !it.detail.starts_with(&sentence)
            };
            self.infer.problems.extend(inside.into_iter().filter(is_new));
        }
        if for_each.presence == Presence::Known && for_each.known_length() == Some(0) {
            // No run generates such a block, so nothing in it is ever written to the state.
            let inside = self.infer.problems.split_off(before);
            self.infer
                .problems
                .extend(inside.into_iter().filter(|it| it.id() != Rule::EphemeralValueMisuse));
        }
        made.with_marks(&without_ephemeral(marks))
    }

    fn check_dynamic(&mut self, at: ExprId, for_each: &Abstract, path: &PartPath<'_>) {
        let iterable = matches!(
            for_each.ty,
            Type::Dynamic
                | Type::List(_)
                | Type::Set(_)
                | Type::Map(_)
                | Type::Tuple(_)
                | Type::Object(_)
        );
        let is_null = for_each.constant.as_ref().is_some_and(|it| it.0.is_null());
        if !iterable || is_null {
            let detail = match is_null {
                true => "Cannot use a null value in for_each.".to_owned(),
                false => format!(
                    "Cannot use a {} value in for_each. An iterable collection is required.",
                    for_each.ty.friendly_name()
                ),
            };
            self.error(at, Summary::INVALID_DYNAMIC_FOR_EACH, detail);
        }
        if self.persistence == Persistence::Stored && for_each.marks.ephemeral > Tri::No {
            let when = for_each.ephemeral.here();
            self.misuse(at.into(), for_each, for_each.marks.ephemeral, when, path);
        }
    }

    fn check_count(
        &mut self,
        written: &[&Block],
        kind: &str,
        nested: &NestedBlock,
        header: NodeId,
    ) {
        if written.iter().any(|block| block.dynamic.is_some()) {
            return;
        }
        let count = written.len() as i64;
        let single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
        if single && count > 1 {
            let detail = format!("Only one block of type \"{kind}\" is allowed.");
            self.error(written[1].node, Summary::duplicate_block(kind), detail);
        } else if nested.min_items > count {
            let (summary, detail) = match single {
                true => (
                    Summary::missing_block(kind),
                    format!("A block of type \"{kind}\" is required here."),
                ),
                false => (
                    Summary::insufficient_blocks(kind),
                    format!("At least {} \"{kind}\" blocks are required.", nested.min_items),
                ),
            };
            let problem = ItemProblem::new(header.into(), summary, detail);
            let fix = Fix::MissingBlock(kind.into());
            self.infer.problems.push(problem.fixed_by(Some(fix)));
        } else if !single && nested.max_items > 0 && count > nested.max_items {
            let detail = format!("No more than {} \"{kind}\" blocks are allowed", nested.max_items);
            self.error(
                written[nested.max_items as usize].node,
                Summary::too_many_blocks(kind),
                detail,
            );
        }
    }

    fn unsupported(&mut self, body: &Body, schema: &SchemaBlock, fixup: &[&str]) {
        for attr in &body.attrs {
            if schema.attributes().contains_key(&attr.name) {
                continue;
            }
            self.infer.expr(attr.value);
            if body.is_json {
                let known = schema.attributes().keys().chain(schema.blocks().keys());
                self.extraneous(attr.node, &attr.name, known);
                continue;
            }
            let mut detail = format!("An argument named \"{}\" is not expected here.", attr.name);
            let mut fix = None;
            if schema.blocks().contains_key(&attr.name) {
                detail.push_str(&format!(
                    " Did you mean to define a block of type \"{}\"?",
                    attr.name
                ));
                fix = Some(Fix::ArgumentIsBlock);
            } else if let Some(close) =
                suggest::closest(&attr.name, schema.attributes().keys().map(|name| &**name))
            {
                detail.push_str(&format!(" Did you mean \"{close}\"?"));
                fix = Fix::first(&attr.name, Some(close));
            }
            let problem = ItemProblem::new(attr.node.into(), Summary::UNSUPPORTED_ARGUMENT, detail);
            self.infer.problems.push(problem.fixed_by(fix));
        }
        for block in &body.blocks {
            if schema.blocks().contains_key(&block.kind) || fixup.contains(&&*block.kind) {
                continue;
            }
            let mut detail = format!("Blocks of type \"{}\" are not expected here.", block.kind);
            let mut fix = None;
            if schema.attributes().contains_key(&block.kind) {
                detail.push_str(&format!(
                    " Did you mean to define argument \"{}\"? If so, use the equals sign to assign it a value.",
                    block.kind
                ));
                fix = Some(Fix::BlockIsArgument);
            } else if let Some(close) =
                suggest::closest(&block.kind, schema.blocks().keys().map(|name| &**name))
            {
                detail.push_str(&format!(" Did you mean \"{close}\"?"));
                fix = Fix::first(&block.kind, Some(close));
            }
            let problem = ItemProblem::new(block.node.into(), Summary::UNSUPPORTED_BLOCK, detail);
            self.infer.problems.push(problem.fixed_by(fix));
        }
    }

    fn extraneous<'n>(&mut self, at: NodeId, name: &str, known: impl Iterator<Item = &'n Str>) {
        let hint = suggest::question(suggest::closest(name, known.map(|it| &**it)));
        let detail = format!("No argument or block type is named \"{name}\".{hint}");
        let summary = Summary::EXTRANEOUS_JSON_PROPERTY;
        self.infer.problems.push(ItemProblem::new(at.into(), summary, detail));
    }

    fn error(&mut self, at: impl Into<At>, summary: Summary, detail: impl Into<String>) {
        self.infer.problems.push(ItemProblem::new(at.into(), summary, detail));
    }
}

/// The condition under which the elements of a value exist, as far as that decides whether one of them is
/// ephemeral.
fn elements_there(value: &Abstract) -> When {
    match &value.inside {
        Inside::Each(element) if element.ephemeral.somewhere() == When::Always => {
            value.ephemeral.inside().clone()
        }
        Inside::Each(_) | Inside::Opaque(_) => value.ephemeral.inside().weakened(),
        _ => When::Always,
    }
}

/// The value of the iterator of a `dynamic` block, an object with `key` and `value`.
fn iterator(infer: &Infer<'_>, for_each: &Abstract) -> Abstract {
    let part = |part: Abstract| {
        let part = infer.marked_by(RuleId::DynamicBlock, for_each, part);
        part.with_origin(for_each.origin.clone())
    };
    Abstract::object(Attrs::from_iter([
        ("key".into(), part(Abstract::any())),
        ("value".into(), part(instance(for_each))),
    ]))
}

/// The value of reading a block with these parts.
fn object_of(schema: &SchemaBlock, parts: Attrs) -> Abstract {
    let object = Abstract::object_of_type(schema.implied_type().clone(), parts);
    match schema.deprecated {
        true => object.with_mark(MarkKind::Deprecated, Tri::Yes),
        false => object,
    }
}

/// The value of reading a block without nested blocks whose arguments have no marks. It follows from the schema.
fn unmarked_object(schema: &SchemaBlock) -> Abstract {
    let attrs = schema.attributes().iter();
    object_of(schema, attrs.map(|(name, it)| (name.clone(), read_back(it, None))).collect())
}

fn is_unmarked(value: &Abstract) -> bool {
    value.marks == TriMarks::NONE && value.inner_marks() == TriMarks::NONE
}

/// The value of reading an attribute of the resource. It has no ephemeral marks: ephemeral values are either
/// refused or go to write-only attributes, which read as null.
fn read_back(attribute: &Attribute, written: Option<Abstract>) -> Abstract {
    let ty = attribute.implied_type();
    let mut value = if attribute.write_only {
        Abstract::constant(values::Value::null(ty))
    } else {
        let marks = written.map(|it| (it.marks, it.inner_marks())).unwrap_or_default();
        let (top, inner) = (without_ephemeral(marks.0), without_ephemeral(marks.1));
        Abstract { inside: Inside::Opaque(inner.weakened()), ..Abstract::of_type(ty) }
            .with_marks(&top)
    };
    if attribute.sensitive {
        value = value.with_mark(MarkKind::Sensitive, Tri::Yes);
    }
    if attribute.deprecated {
        value = value.with_mark(MarkKind::Deprecated, Tri::Yes);
    }
    if let Some(nested) =
        attribute.nested().filter(|it| it.nesting() == provider::ObjectNesting::Single)
    {
        let parts = nested
            .attributes()
            .iter()
            .map(|(name, part)| (name.clone(), read_back(part, None)))
            .collect();
        value.inside = Inside::attrs(parts);
    }
    value
}

fn without_ephemeral(marks: TriMarks) -> TriMarks {
    marks.with(MarkKind::Ephemeral, Tri::No)
}

/// The value of reading nested blocks. `known` is false if a `dynamic` block makes their number unknown.
fn arrange(nested: &NestedBlock, elements: Vec<(Option<Str>, Abstract)>, known: bool) -> Abstract {
    let ty = nested.implied_type();
    let value = match nested.nesting {
        Nesting::Single | Nesting::Group => match elements.into_iter().next() {
            Some((_, element)) => element,
            None => Abstract::of_type(ty.clone()),
        },
        _ if !known => {
            match elements.into_iter().map(|(_, element)| element).reduce(|a, b| a.either(&b)) {
                Some(element) => Abstract::each(ty.clone(), element),
                None => Abstract::of_type(ty.clone()),
            }
        }
        Nesting::List => {
            Abstract::tuple(elements.into_iter().map(|(_, element)| element).collect())
        }
        Nesting::Set => {
            match elements.into_iter().map(|(_, element)| element).reduce(|a, b| a.either(&b)) {
                Some(element) => Abstract::each(ty.clone(), element),
                None => Abstract::of_type(ty.clone()),
            }
        }
        Nesting::Map => Abstract::object(
            elements
                .into_iter()
                .map(|(label, element)| (label.unwrap_or_default(), element))
                .collect(),
        ),
    };
    Abstract { ty, constant: None, ..value }
}

/// Infers a body whose schema is not available. References in it are checked, attributes are not.
pub(super) fn without_schema(infer: &mut Infer<'_>, body: &Body) {
    for attr in &body.attrs {
        infer.expr(attr.value);
    }
    for block in body.plain_blocks() {
        match &block.dynamic {
            Some(dynamic) => {
                let for_each = infer.expr(dynamic.for_each);
                let iterator = iterator(infer, &for_each);
                infer.with_symbol(dynamic.iterator, iterator, |infer| {
                    dynamic.labels.iter().for_each(|label| dynamic_label(infer, *label));
                    without_schema(infer, &block.body)
                });
            }
            None => without_schema(infer, &block.body),
        }
    }
}
