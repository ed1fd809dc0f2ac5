//! The expressions `base.name` and `base[key]`.

use db::Summary;
use values::{Kind, Number, Str, Type, Value, convert, rules::RuleId};

use crate::{
    analysis::{
        infer::{Certainty, Infer, constructor::key_text, flow::Flow},
        origin::DroppedMark,
        problem::ItemProblem,
        value::{
            Abstract,
            failing::Failing,
            inside::Inside,
            marks::Tri,
            when::{Ephemerality, Test, When},
        },
    },
    eval::{describe::statement, traversal::traversal_text},
    expr::{At, Expr, ExprId, Ref},
    fix::Fix,
    item_name::Keys,
    suggest,
};

const NO_ELEMENT: &str = "The given key does not identify an element in this collection value";

impl Infer<'_> {
    pub(super) fn get_attr(&mut self, id: ExprId, base: ExprId, name: &Str) -> Abstract {
        if let Some(call) = self.module_of(base) {
            let before = self.problems.len();
            let output = self.env.module_output(&call, name, id, &mut self.problems);
            let found: Vec<ItemProblem> = self.problems.drain(before..).collect();
            found.into_iter().for_each(|problem| self.report_by_certainty(problem));
            if let Some(output) = output {
                if output.marks.deprecated > Tri::No {
                    self.note_deprecated(id, &call, Some(name));
                }
                // There may be no instance, or none with the key.
                let loses = self.env.module_keys(&call) != Keys::None;
                let failing = output.failing.clone().losing_marks(loses);
                return Abstract { failing, ..output };
            }
        }
        let value = self.expr(base);
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::Attribute, &value), &value);
        // The type of an untyped null is open and would accept any attribute.
        let part = (!value.is_null()).then(|| value.attr(name)).flatten();
        if part.is_none() {
            let before = self.problems.len();
            self.missing_attribute(id, &value, name);
            self.explain(before, &[(base, &value)]);
        }
        taken(flow, part, &[&value])
    }

    /// Returns the name of the call, if an expression is a module call whose outputs come next: `module.x` or
    /// `module.x[k]`.
    fn module_of(&mut self, base: ExprId) -> Option<Str> {
        match &self.exprs[base] {
            Expr::Ref(Ref::Module(call)) => {
                (!self.env.module_keys(call).are_needed()).then(|| call.clone())
            }
            Expr::Index { base: indexed, key } => {
                let Expr::Ref(Ref::Module(call)) = &self.exprs[*indexed] else { return None };
                let (call, key) = (call.clone(), *key);
                let keys = self.env.module_keys(&call);
                if !keys.are_needed() {
                    return None;
                }
                let key = self.expr(key);
                if keys == Keys::Numbers {
                    self.check_position(base, &key);
                }
                Some(call)
            }
            _ => None,
        }
    }

    /// Reports a key that is no number for a call with `count`.
    fn check_position(&mut self, index: ExprId, key: &Abstract) {
        let Some(constant) = &key.constant else { return };
        if let Err(error) = convert::convert(&constant.0, &Type::Number) {
            let detail = format!("{NO_ELEMENT}: {}.", error.message);
            self.fails(At::Step(index), Summary::INVALID_INDEX, detail);
        }
    }

    fn missing_attribute(&mut self, id: ExprId, value: &Abstract, name: &str) {
        if value.is_null() {
            let detail = "This value is null, so it does not have any attributes.";
            return self.fails(At::Step(id), Summary::ATTRIBUTE_OF_NULL, detail);
        }
        let mut fix = None;
        let detail = match &value.ty {
            Type::Object(object) => {
                let close = suggest::closest(name, object.iter().map(|(name, _)| &**name));
                fix = Fix::last(name, close);
                let hint = close.map(|close| format!(" Did you mean \"{close}\"?"));
                let hint = hint.unwrap_or_default();
                format!("This object does not have an attribute named \"{name}\".{hint}")
            }
            Type::Map(_) => {
                let detail = format!("This map does not have an element with the key \"{name}\".");
                return self.fails(At::Step(id), Summary::MISSING_MAP_ELEMENT, detail);
            }
            Type::List(_) | Type::Set(_) | Type::Tuple(_) => {
                let kind = match &value.ty {
                    Type::Set(_) => "set",
                    Type::Tuple(_) => "tuple",
                    _ => "list",
                };
                format!(
                    "Can't access attributes on a {kind}. Did you mean to access attribute \
                     \"{name}\" for a specific element, or across all elements with [*]?"
                )
            }
            ty if ty.is_primitive() => format!(
                "Can't access attributes on a primitive-typed value ({}).",
                ty.friendly_name()
            ),
            _ => return,
        };
        let problem = ItemProblem::new(At::Step(id), Summary::UNSUPPORTED_ATTRIBUTE, detail);
        let problem = problem.fixed_by(fix);
        match self.is_of_resource(id) && matches!(value.ty, Type::Object(_)) {
            true => self.report(problem),
            false => self.report_by_certainty(problem),
        }
    }

    /// Returns true if an access reads an attribute of a resource. OpenTofu checks such an access against the
    /// schema wherever it is, even in the arms of a conditional, in loops and in `try`.
    fn is_of_resource(&self, id: ExprId) -> bool {
        let Expr::GetAttr { base, .. } = &self.exprs[id] else { return false };
        let object = match &self.exprs[*base] {
            Expr::Index { base, .. } => *base,
            _ => *base,
        };
        matches!(self.exprs[object], Expr::Ref(Ref::Resource(_)))
    }

    /// Adds the values that an access read to the problems from `before` on, as far as they are constants and no
    /// secrets.
    fn explain(&mut self, before: usize, read: &[(ExprId, &Abstract)]) {
        let exprs = self.exprs;
        let line = |(id, value): &(ExprId, &Abstract)| {
            let constant = value.constant.as_ref().filter(|_| self.is_showable(value))?;
            Some(format!("{} {}", traversal_text(exprs, *id)?, statement(&constant.0)))
        };
        let mut values: Vec<String> = read.iter().filter_map(line).collect();
        sorted::sort(&mut values);
        for problem in &mut self.problems[before..] {
            problem.values.clone_from(&values);
        }
    }

    pub(super) fn index(&mut self, id: ExprId, base: ExprId, key: ExprId) -> Abstract {
        let (read_base, read_key) = (base, key);
        let base = self.expr(base);
        let key = self.expr(key);
        let before = self.problems.len();
        let mut flow = Flow::default();
        self.index_marks(&mut flow, &base, &key);
        let found = match &key.constant {
            Some(constant) => self.constant_index(id, &base, &constant.0),
            None => self.unknown_index(id, &base, read_key, &key),
        };
        self.explain(before, &[(read_base, &base), (read_key, &key)]);
        if key.constant.is_some() {
            return taken(flow, found, &[&base, &key]);
        }
        // While the key is unknown, so is the element that it selects.
        flow.add_maybe(&base);
        taken(flow, found.map(Abstract::undecided), &[&base, &key])
    }

    /// Adds the marks of the container and of the key. The rule for the key depends on whether the container is an
    /// object.
    fn index_marks(&self, flow: &mut Flow, base: &Abstract, key: &Abstract) {
        let object = [
            (self.contribution(RuleId::IndexObject, base), base),
            (self.contribution(RuleId::IndexObjectKey, key), key),
        ];
        let collection = [
            (self.contribution(RuleId::IndexCollection, base), base),
            (self.contribution(RuleId::IndexCollection, key), key),
        ];
        let is_object = matches!(base.ty, Type::Object(_)) && base.failing.is_typed_early;
        for (object, collection) in object.into_iter().zip(collection) {
            let contribution = match &base.ty {
                Type::Object(_) if is_object => object.0,
                Type::Object(_) | Type::Dynamic => object.0.either(&collection.0),
                _ => collection.0,
            };
            let mut read = Flow::default();
            read.add(contribution, object.1);
            let is_key = is_object && std::ptr::eq(object.1, key);
            flow.join(&if is_key { read.dropping(DroppedMark::ObjectIndex) } else { read });
        }
    }

    /// Returns the element under a constant key. `None` if there is none, which is reported, or if the key cannot
    /// be used.
    fn constant_index(&mut self, id: ExprId, base: &Abstract, key: &Value) -> Option<Abstract> {
        if base.is_null() {
            let detail = "This value is null, so it does not have any indices.";
            self.fails(At::Step(id), Summary::INDEX_OF_NULL, detail);
            return None;
        }
        if key.is_null() {
            self.invalid_index(id, "Can't use a null value as an indexing key.");
            return None;
        }
        if !self.is_key(id, base, &key.ty()) {
            return None;
        }
        match &base.ty {
            Type::List(_) | Type::Tuple(_) => self.position(id, base, key),
            Type::Map(_) | Type::Object(_) => {
                let found =
                    key_text(&Abstract::constant(key.clone())).and_then(|name| base.attr(&name));
                if found.is_none() {
                    self.invalid_index(id, format!("{NO_ELEMENT}."));
                }
                found
            }
            // An object is indexed by name, a list by number; this container may become either.
            _ => Some(base.any_element()),
        }
    }

    fn unknown_index(
        &mut self,
        id: ExprId,
        base: &Abstract,
        at: ExprId,
        key: &Abstract,
    ) -> Option<Abstract> {
        if !self.is_key(id, base, &key.ty) {
            return None;
        }
        let any = base.any_element();
        let ephemeral = match &base.inside {
            _ if base.ephemeral.inside().is_never() => Ephemerality::NEVER,
            Inside::Items(items) => {
                let places = items.iter().enumerate();
                let tests: Vec<_> =
                    places.map(|(at, it)| (Test::Position(at), &it.ephemeral)).collect();
                self.selected(at, &tests, self.has_showable_shape(base))
            }
            Inside::Attrs(attrs) => {
                let names = attrs.iter();
                let tests: Vec<_> =
                    names.map(|(name, it)| (Test::Key(name.clone()), &it.ephemeral)).collect();
                self.selected(at, &tests, self.has_showable_shape(base))
            }
            Inside::Each(element) => element.ephemeral.clone(),
            Inside::Opaque(_) => any.ephemeral.map(|it| it.weakened_by(self.reads_of(at))),
        };
        Some(Abstract { ephemeral, ..any })
    }

    /// The ephemerality of the part that an index selects. The index is known to select one of the parts.
    pub(super) fn selected(
        &self,
        at: ExprId,
        parts: &[(Test, &Ephemerality)],
        is_showable: bool,
    ) -> Ephemerality {
        let mut kinds: Vec<(&Ephemerality, Vec<&Test>)> = Vec::new();
        for (test, part) in parts {
            match kinds.iter_mut().find(|(it, _)| it == part) {
                Some((_, tests)) => tests.push(test),
                None => kinds.push((part, vec![test])),
            }
        }
        // The most frequent ephemerality comes last, as the default; the conditions then name only the exceptions.
        sorted::sort_by_key(&mut kinds, |(_, tests)| tests.len());
        let Some((common, _)) = kinds.pop() else { return Ephemerality::NEVER };
        kinds.into_iter().fold(common.clone(), |all, (part, tests)| {
            let is_selected = tests
                .into_iter()
                .map(|test| self.tested_if(is_showable, at, test.clone()))
                .fold(When::Never, |any, it| any.or(&it));
            Ephemerality::choose(&is_selected, part, &all)
        })
    }

    /// Returns true if the container can have keys of the type; otherwise reports the index.
    fn is_key(&mut self, id: ExprId, base: &Abstract, key: &Type) -> bool {
        let wanted = match &base.ty {
            Type::Dynamic => return true,
            Type::List(_) | Type::Tuple(_) => Type::Number,
            Type::Map(_) | Type::Object(_) => Type::String,
            Type::Set(_) => {
                self.invalid_index(
                    id,
                    "Elements of a set are identified only by their value and have no index or key \
                     to select with, so a set can only be used as a whole.",
                );
                return false;
            }
            _ => {
                self.invalid_index(id, "This value does not have any indices.");
                return false;
            }
        };
        let fits = convert::can_convert(key, &wanted);
        if !fits {
            let reason = convert::mismatch(key, &wanted);
            self.invalid_index(id, format!("{NO_ELEMENT}: {reason}."));
        }
        fits
    }

    fn position(&mut self, id: ExprId, base: &Abstract, key: &Value) -> Option<Abstract> {
        let number = match convert::convert(key, &Type::Number) {
            Ok(number) => number,
            Err(error) => {
                self.invalid_index(id, format!("{NO_ELEMENT}: {}.", error.message));
                return None;
            }
        };
        let Kind::Number(number) = number.kind() else { return Some(base.any_element()) };
        let problem = match whole(number) {
            Ok(position) => match base.item(position) {
                Some(item) => return Some(item),
                None => format!(
                    "the given index is greater than or equal to the length of the collection{}",
                    counted(base)
                ),
            },
            Err(problem) => problem.to_owned(),
        };
        self.invalid_index(id, format!("{NO_ELEMENT}: {problem}."));
        None
    }

    /// Reports a key that no element has. It is only a hint if the item may have no instances and indexes
    /// instances, because the instances are known only during evaluation, and within the steps of a splat over an
    /// element that is never known.
    fn invalid_index(&mut self, id: ExprId, detail: impl Into<String>) {
        let of_instances = matches!(&self.exprs[id], Expr::Index { base, .. }
            if matches!(self.exprs[*base], Expr::Ref(Ref::Resource(_) | Ref::Module(_))));
        let is_doubtful = self.in_splat || of_instances && self.env.may_be_absent();
        let certainty = if is_doubtful { Certainty::Doubtful } else { Certainty::Sure };
        self.with_certainty(certainty, |it| {
            it.fails(At::Step(id), Summary::INVALID_INDEX, detail);
        });
    }
}

/// The result of an access: the part with the marks in `flow`, or the value of a failed access if `part` is `None`.
/// A failed access leaves the marks of everything that it read, without those of the part.
fn taken(mut flow: Flow, part: Option<Abstract>, read: &[&Abstract]) -> Abstract {
    let Some(part) = part else {
        read.iter().for_each(|value| flow.add_maybe(value));
        let failing = read.iter().fold(Failing::NEVER, |failing, it| failing.reading(it));
        let failing = failing.of_any_type();
        return flow.onto(Abstract { failing, ..Abstract::any() });
    };
    let is_there = part.failing.keeps_marks;
    let keeps_type = part.failing.keeps_type && read.iter().all(|it| it.failing.keeps_type);
    let loses = !is_there && flow.marks().union(&part.sure_marks()) != flow.marks();
    let failing = read.iter().fold(Failing::NEVER, |failing, it| failing.reading(it));
    let mut failing = failing.losing_marks(loses);
    failing.keeps_type = keeps_type;
    flow.onto(Abstract { failing, ..part })
}

fn whole(number: &Number) -> Result<usize, &'static str> {
    if !number.is_integer() {
        return Err("indexing a sequence requires a whole number");
    }
    if number.signum() < 0 {
        return Err("a negative number is not a valid index for a sequence");
    }
    Ok(number.to_usize().unwrap_or(usize::MAX))
}

fn counted(base: &Abstract) -> String {
    match &base.inside {
        Inside::Items(items) => format!(", which is {}", items.len()),
        _ => String::new(),
    }
}
