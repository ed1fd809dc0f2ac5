use std::hash::{DefaultHasher, Hasher as _};

use sorted::TreeMap;
use values::conform::conforms;
use values::{Kind, Path, Refinements, Step, Str, Type, Value, ValueMap};

use super::same::hash_value;
use super::{Violation, attr_of, go_syntax, is_secret};
use crate::schema::{Attribute, Block, NestedBlock, Nesting};

/// Returns the places where `actual` is not a completion of the planned object. An unknown part may have become
/// any value that its refinements allow; every other part must be as planned.
pub fn object_compatible(block: &Block, planned: &Value, actual: &Value) -> Vec<Violation> {
    let mut check = Check::default();
    check.block(block, planned, actual);
    check.violations
}

#[derive(Default)]
struct Check {
    path: Path,
    violations: Vec<Violation>,
    /// True if a value that encloses the current path is sensitive, so its content must not be quoted.
    secret: bool,
}

impl Check {
    fn report(&mut self, message: impl Into<String>) {
        self.violations.push(Violation { path: self.path.clone(), message: message.into() });
    }

    fn at(&mut self, step: Step, check: impl FnOnce(&mut Check)) {
        let secret = self.secret;
        let is_shown = super::is_shown(&step, secret);
        if is_shown {
            self.path.push(step);
        }
        check(self);
        if is_shown {
            self.path.pop();
        }
        self.secret = secret;
    }

    fn block(&mut self, block: &Block, planned: &Value, actual: &Value) {
        let at_root = if self.path.is_root() { "Root object " } else { "" };
        match (planned.is_null(), actual.is_null()) {
            (true, true) => return,
            (true, false) => return self.report(format!("{at_root}was absent, but now present")),
            (false, true) => return self.report(format!("{at_root}was present, but now absent")),
            (false, false) => {}
        }
        self.secret |= is_secret(planned) || is_secret(actual);
        for (position, (name, attribute)) in block.attributes().iter().enumerate() {
            let part = |of| attr_of(of, position, name, || attribute.implied_type());
            let (planned, actual) = (part(planned), part(actual));
            self.at(Step::Attr(name.clone()), |this| this.attribute(attribute, &planned, &actual));
        }
        for (position, (name, nested)) in block.blocks().iter().enumerate() {
            let part = |of| attr_of(of, position, name, || nested.implied_type());
            let (planned, actual) = (part(planned), part(actual));
            self.at(Step::Attr(name.clone()), |this| this.nested_block(nested, &planned, &actual));
        }
    }

    /// Checks an attribute. All violations inside a secret become one violation that quotes nothing.
    fn attribute(&mut self, attribute: &Attribute, planned: &Value, actual: &Value) {
        let secret = self.secret
            || attribute.sensitive
            || attribute.write_only
            || nested_secret(attribute)
            || planned.has_deep_secret()
            || actual.has_deep_secret();
        let before = self.violations.len();
        self.value(&planned.without_all_marks(), &actual.without_all_marks());
        if secret && self.violations.len() > before {
            self.violations.truncate(before);
            self.report("inconsistent values for sensitive attribute");
        }
    }

    fn nested_block(&mut self, nested: &NestedBlock, planned: &Value, actual: &Value) {
        self.secret |= is_secret(planned) || is_secret(actual);
        match nested.nesting {
            Nesting::Single | Nesting::Group => {
                if planned.is_known() || !actual.is_null() {
                    self.block(&nested.block, planned, actual);
                }
            }
            Nesting::List => self.block_list(&nested.block, planned, actual),
            Nesting::Map => self.block_map(&nested.block, planned, actual),
            Nesting::Set => self.block_set(&nested.block, planned, actual),
        }
    }

    fn block_list(&mut self, block: &Block, planned: &Value, actual: &Value) {
        let (Some(planned), Some(actual)) = (planned.as_slice(), actual.as_slice()) else { return };
        if planned.len() != actual.len() {
            return self.report(format!(
                "block count changed from {} to {}",
                planned.len(),
                actual.len()
            ));
        }
        for (idx, (planned, actual)) in planned.iter().zip(actual).enumerate() {
            self.at(Value::index_step(idx), |this| this.block(block, planned, actual));
        }
    }

    fn block_map(&mut self, block: &Block, planned: &Value, actual: &Value) {
        let is_object = matches!(planned.kind(), Kind::Object(_));
        let (Some(planned), Some(actual)) = (planned.as_map(), actual.as_map()) else { return };
        if !is_object && planned.len() != actual.len() {
            return self.report(format!(
                "block count changed from {} to {}",
                planned.len(),
                actual.len()
            ));
        }
        for (key, planned) in planned {
            let Some(actual) = actual.get(key) else {
                self.report(format!("block key{} has vanished", go_syntax::key(key, self.secret)));
                continue;
            };
            let step = match is_object {
                true => Step::Attr(key.clone()),
                false => Step::Index(Value::string(key.clone())),
            };
            self.at(step, |this| this.block(block, planned, actual));
        }
        for key in actual.keys().filter(|key| !planned.contains_key(*key)) {
            self.report(format!("new block key{} has appeared", go_syntax::key(key, self.secret)));
        }
    }

    fn block_set(&mut self, block: &Block, planned: &Value, actual: &Value) {
        let (Some(planned), Some(actual)) = (planned.as_slice(), actual.as_slice()) else { return };
        self.secret |= block.has_sensitive() || block.has_write_only();
        self.set_elements(unmatched_elements(planned, actual, known_names, |planned, actual| {
            object_compatible(block, planned, actual).is_empty()
        }));
        if planned.len() < actual.len() {
            self.report(format!(
                "block set length changed from {} to {}",
                planned.len(),
                actual.len()
            ));
        }
    }

    fn set_elements(&mut self, unmatched: Unmatched<'_>) {
        let sides = [
            ("planned", &unmatched.planned, "any element in actual"),
            ("actual", &unmatched.actual, "any element in plan"),
        ];
        for (side, elements, others) in sides {
            for element in elements {
                let quoted = match self.secret || element.has_deep_secret() {
                    true => String::new(),
                    false => format!(" {}", go_syntax::value(element)),
                };
                self.report(format!("{side} set element{quoted} does not correlate with {others}"));
            }
        }
    }

    fn value(&mut self, planned: &Value, actual: &Value) {
        let ty = planned.ty();
        if ty == Type::Dynamic {
            return;
        }
        let actual_ty = actual.ty();
        if actual_ty != ty && !conforms(&actual_ty, &ty).is_empty() {
            let mismatch = values::convert::mismatch(&actual_ty, &ty);
            return self.report(format!("wrong final value type: {mismatch}"));
        }
        if let Kind::Unknown(refinements) = planned.kind() {
            return self.placeholder(planned, refinements, actual);
        }
        match (planned.is_null(), actual.is_null()) {
            (true, true) => return,
            (false, true) => {
                return self.report(format!("was {}, but now null", go_syntax::value(planned)));
            }
            (true, false) => {
                return self.report(format!("was null, but now {}", go_syntax::value(actual)));
            }
            (false, false) => {}
        }
        if !actual.is_known() {
            return self.report("was known, but now unknown");
        }
        self.known(planned, actual);
    }

    fn placeholder(&mut self, planned: &Value, refinements: &Refinements, actual: &Value) {
        if excludes(refinements, actual) {
            self.report(format!(
                "final value {} does not conform to planning placeholder {}",
                go_syntax::value(actual),
                go_syntax::value(planned)
            ));
        }
    }

    fn known(&mut self, planned: &Value, actual: &Value) {
        match (planned.kind(), actual.kind()) {
            (Kind::Object(planned), Kind::Object(actual)) => {
                for (name, planned) in planned {
                    if let Some(actual) = actual.get(name) {
                        self.at(Step::Attr(name.clone()), |this| this.value(planned, actual));
                    }
                }
            }
            (Kind::Map(planned), Kind::Map(actual)) => self.map(planned, actual),
            (Kind::Set(planned), Kind::Set(actual)) => {
                self.set_elements(unmatched_elements(
                    planned,
                    actual,
                    known_part,
                    |planned, actual| {
                        let mut check = Check::default();
                        check.value(planned, actual);
                        check.violations.is_empty()
                    },
                ));
                if planned.len() < actual.len() {
                    let (planned, actual) = (planned.len(), actual.len());
                    self.report(format!("length changed from {planned} to {actual}"));
                }
            }
            (
                Kind::List(planned) | Kind::Tuple(planned),
                Kind::List(actual) | Kind::Tuple(actual),
            ) => {
                self.sequence(planned, actual);
            }
            _ if !planned.raw_equals(actual) => {
                let (planned, actual) = (go_syntax::value(planned), go_syntax::value(actual));
                self.report(format!("was {planned}, but now {actual}"));
            }
            _ => {}
        }
    }

    fn sequence(&mut self, planned: &[Value], actual: &[Value]) {
        for (idx, (planned, actual)) in planned.iter().zip(actual).enumerate() {
            self.at(Value::index_step(idx), |this| this.value(planned, actual));
        }
        for idx in actual.len()..planned.len() {
            self.report(format!("element {idx} has vanished"));
        }
        for idx in planned.len()..actual.len() {
            self.report(format!("new element {idx} has appeared"));
        }
    }

    fn map(&mut self, planned: &ValueMap, actual: &ValueMap) {
        for (key, planned) in planned {
            match actual.get(key) {
                None => {
                    self.report(format!("element{} has vanished", go_syntax::key(key, self.secret)))
                }
                Some(actual) => {
                    let step = Step::Index(Value::string(key.clone()));
                    self.at(step, |this| this.value(planned, actual));
                }
            }
        }
        for key in actual.keys().filter(|key| !planned.contains_key(*key)) {
            self.report(format!("new element{} has appeared", go_syntax::key(key, self.secret)));
        }
    }
}

fn nested_secret(attribute: &Attribute) -> bool {
    attribute.nested().is_some_and(|it| it.has_sensitive() || it.has_write_only())
}

/// Returns true if the refinements of the unknown value rule the actual value out.
fn excludes(refinements: &Refinements, actual: &Value) -> bool {
    match actual.kind() {
        Kind::Unknown(_) => false,
        Kind::Null => refinements.is_not_null(),
        Kind::Number(number) => !refinements.includes_number(number),
        Kind::String(text) => !text.starts_with(refinements.prefix()),
        Kind::List(_) | Kind::Map(_) | Kind::Set(_) => {
            let range = actual.range();
            let shortest_too_long =
                refinements.max_length().is_some_and(|max| range.min_length() > max);
            let longest_too_short =
                range.max_length().is_some_and(|max| max < refinements.min_length());
            shortest_too_long || longest_too_short
        }
        Kind::Bool(_) | Kind::Tuple(_) | Kind::Object(_) => false,
    }
}

#[derive(Default)]
struct Unmatched<'a> {
    planned: Vec<&'a Value>,
    actual: Vec<&'a Value>,
}

/// The parts of an element that a matching element must repeat exactly.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fixed<'a> {
    /// The whole element.
    Whole,
    /// Only these attributes.
    Attributes(Vec<&'a Str>),
}

/// Returns the elements without a match in the other set. Every planned element needs an actual one that completes
/// it, and the other way round; one element may match several.
///
/// To avoid comparing all pairs, elements are compared only if their known parts agree.
fn unmatched_elements<'a>(
    planned: &'a [Value],
    actual: &'a [Value],
    fixed: impl Fn(&'a Value) -> Fixed<'a>,
    compatible: impl Fn(&Value, &Value) -> bool,
) -> Unmatched<'a> {
    let mut matched = vec![false; actual.len()];
    let mut indexes: TreeMap<Fixed<'a>, TreeMap<u64, Vec<usize>>> = TreeMap::new();
    let mut unmatched = Unmatched::default();
    for element in planned {
        let fixed = fixed(element);
        let key = hash_of(element, &fixed);
        let index = indexes.entry(fixed).or_insert_with_key(|fixed| index_by(actual, fixed));
        let mut found = false;
        for &position in index.get(&key).map(Vec::as_slice).unwrap_or_default() {
            // An actual element that is already matched needs no comparison once this planned element has a match.
            if (!found || !matched[position]) && compatible(element, &actual[position]) {
                found = true;
                matched[position] = true;
            }
        }
        if !found {
            unmatched.planned.push(element);
        }
    }
    let left = actual.iter().zip(matched).filter(|(_, matched)| !matched);
    unmatched.actual = left.map(|(element, _)| element).collect();
    unmatched
}

fn index_by(elements: &[Value], fixed: &Fixed<'_>) -> TreeMap<u64, Vec<usize>> {
    let mut index: TreeMap<u64, Vec<usize>> = TreeMap::new();
    for (position, element) in elements.iter().enumerate() {
        index.entry(hash_of(element, fixed)).or_default().push(position);
    }
    index
}

/// The fixed part of an element of a set attribute.
fn known_part(element: &Value) -> Fixed<'_> {
    // A null of dynamic type may stand for a value of any type, so such an element is not fixed as a whole.
    if element.is_wholly_known() && !element.ty().has_dynamic() {
        return Fixed::Whole;
    }
    known_names(element)
}

/// The fixed part of a block: its known attributes of primitive type.
fn known_names(element: &Value) -> Fixed<'_> {
    let is_fixed =
        |part: &Value| matches!(part.kind(), Kind::Bool(_) | Kind::Number(_) | Kind::String(_));
    let parts = element.as_map().into_iter().flatten();
    Fixed::Attributes(parts.filter(|(_, part)| is_fixed(part)).map(|(name, _)| name).collect())
}

fn hash_of(element: &Value, fixed: &Fixed<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match fixed {
        Fixed::Whole => hash_value(element, &mut hasher),
        Fixed::Attributes(names) => {
            for part in names.iter().filter_map(|name| element.as_map()?.get(*name)) {
                hash_value(part, &mut hasher);
            }
        }
    }
    hasher.finish()
}
