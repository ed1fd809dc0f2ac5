use std::borrow::Cow;

use sorted::SortedMap;
use values::{Kind, Path, Step, Str, Type, Value, ValueMap};

use super::same::same;
use super::{Violation, attr_of, go_syntax, is_secret};
use crate::schema::{Attribute, Block, NestedBlock, NestedObject, Nesting, ObjectNesting};

/// Returns the places where a planned object breaks the rules for planning this configuration over this prior
/// object.
///
/// The messages are for provider developers. A violation is an error, unless the provider declares that it uses
/// the legacy type system. The planned value of a write-only attribute must be null, whatever its configuration.
pub fn plan_valid(block: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<Violation> {
    let mut check = Check { path: Path::root(), violations: Vec::new(), secret: false };
    check.block(block, &ValuesAtPath { prior, config, planned });
    check.violations
}

/// The three values at one path.
#[derive(Clone, Copy)]
struct ValuesAtPath<'a> {
    prior: &'a Value,
    config: &'a Value,
    planned: &'a Value,
}

/// The three values of one attribute or block type.
struct ElementValues<'a> {
    prior: Cow<'a, Value>,
    config: Cow<'a, Value>,
    planned: Cow<'a, Value>,
}

impl<'a> ElementValues<'a> {
    fn of(
        sides: &ValuesAtPath<'a>,
        position: usize,
        name: &str,
        ty: impl Fn() -> Type,
    ) -> ElementValues<'a> {
        ElementValues {
            prior: attr_of(sides.prior, position, name, &ty),
            config: attr_of(sides.config, position, name, &ty),
            planned: attr_of(sides.planned, position, name, &ty),
        }
    }

    fn sides(&self) -> ValuesAtPath<'_> {
        ValuesAtPath { prior: &self.prior, config: &self.config, planned: &self.planned }
    }
}

const ABSENT: &str = "planned for absence but config wants existence";
const PRESENT: &str = "planned for existence but config wants absence";
const UNKNOWN_BLOCK: &str = "attribute representing nested block must not be unknown itself; set \
                             nested attribute values to unknown instead";
const UNKNOWN_ELEMENT: &str = "element representing nested block must not be unknown itself; set \
                               nested attribute values to unknown instead";

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

    fn existence_agrees(&mut self, sides: &ValuesAtPath<'_>) -> bool {
        match (sides.planned.is_null(), sides.config.is_null()) {
            (true, false) => self.report(ABSENT),
            (false, true) => self.report(PRESENT),
            _ => return true,
        }
        false
    }

    fn block(&mut self, block: &Block, sides: &ValuesAtPath<'_>) {
        if !self.existence_agrees(sides) || sides.planned.is_null() {
            return;
        }
        self.note_marks(sides);
        self.attributes(block.attributes(), sides);
        for (position, (name, nested)) in block.blocks().iter().enumerate() {
            let parts = ElementValues::of(sides, position, name, || nested.implied_type());
            self.at(Step::Attr(name.clone()), |this| this.nested_block(nested, &parts.sides()));
        }
    }

    fn attributes(&mut self, attributes: &SortedMap<Str, Attribute>, sides: &ValuesAtPath<'_>) {
        for (position, (name, attribute)) in attributes.iter().enumerate() {
            let part = |side| attr_of(side, position, name, || attribute.implied_type());
            let (config, planned) = (part(sides.config), part(sides.planned));
            // Most attributes end here, so nothing else is looked up before.
            if is_for_the_provider(attribute, &config) || same(&planned, &config) {
                continue;
            }
            let parts = ElementValues { prior: part(sides.prior), config, planned };
            self.at(Step::Attr(name.clone()), |this| this.attribute(attribute, &parts.sides()));
        }
    }

    fn note_marks(&mut self, sides: &ValuesAtPath<'_>) {
        let ValuesAtPath { prior, config, planned } = *sides;
        self.secret |= is_secret(prior) || is_secret(config) || is_secret(planned);
    }

    fn nested_block(&mut self, nested: &NestedBlock, sides: &ValuesAtPath<'_>) {
        let ValuesAtPath { config, planned, .. } = *sides;
        self.note_marks(sides);
        if planned.without_all_marks().raw_equals(&config.without_all_marks()) {
            return;
        }
        if !config.is_known() {
            let quoted = self.quote(planned);
            return self.report(format!("planned value{quoted} for unknown dynamic block"));
        }
        if !planned.is_known() {
            return self.report(UNKNOWN_BLOCK);
        }
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.block(&nested.block, sides),
            Nesting::List => self.block_list(&nested.block, sides),
            Nesting::Map => self.block_map(&nested.block, sides),
            Nesting::Set => self.block_set(sides),
        }
    }

    fn block_list(&mut self, block: &Block, sides: &ValuesAtPath<'_>) {
        let Some(planned) = sides.planned.as_slice() else {
            return self.report(
                "attribute representing a list of nested blocks must be empty to \
                                indicate no blocks, not null",
            );
        };
        let config = sides.config.as_slice().unwrap_or_default();
        if planned.len() != config.len() {
            return self.report(format!(
                "block count in plan ({}) disagrees with count in config ({})",
                planned.len(),
                config.len()
            ));
        }
        for (idx, (planned, config)) in planned.iter().zip(config).enumerate() {
            let prior = sides.prior.as_slice().and_then(|it| it.get(idx));
            self.at(Value::index_step(idx), |this| {
                this.block_element(block, prior, config, planned);
            });
        }
    }

    fn block_map(&mut self, block: &Block, sides: &ValuesAtPath<'_>) {
        let Some(planned) = sides.planned.as_map() else {
            return self.report(
                "attribute representing a map of nested blocks must be empty to \
                                indicate no blocks, not null",
            );
        };
        let nothing = ValueMap::new();
        let config = sides.config.as_map().unwrap_or(&nothing);
        let is_object = matches!(sides.planned.kind(), Kind::Object(_));
        if !is_object && planned.len() != config.len() {
            return self.report(format!(
                "block count in plan ({}) disagrees with count in config ({})",
                planned.len(),
                config.len()
            ));
        }
        for (key, planned) in planned {
            let Some(config) = config.get(key) else {
                self.report(format!(
                    "block key{} from plan is not present in config",
                    go_syntax::key(key, self.secret)
                ));
                continue;
            };
            let prior = sides.prior.as_map().and_then(|it| it.get(key));
            let step = if is_object { Step::Attr(key.clone()) } else { key_step(key) };
            self.at(step, |this| this.block_element(block, prior, config, planned));
        }
        for key in config.keys().filter(|key| !planned.contains_key(*key)) {
            self.report(format!(
                "block key{} from config is not present in plan",
                go_syntax::key(key, self.secret)
            ));
        }
    }

    fn block_element(
        &mut self,
        block: &Block,
        prior: Option<&Value>,
        config: &Value,
        planned: &Value,
    ) {
        if !planned.is_known() {
            return self.report(UNKNOWN_ELEMENT);
        }
        let nothing = Value::null(block.implied_type().clone());
        self.block(block, &ValuesAtPath { prior: prior.unwrap_or(&nothing), config, planned });
    }

    /// Checks a set of blocks. Its elements have no identity by which plan and configuration could be compared, so
    /// their content is not checked.
    fn block_set(&mut self, sides: &ValuesAtPath<'_>) {
        let Some(planned) = sides.planned.as_slice() else {
            return self.report(
                "attribute representing a set of nested blocks must be empty to \
                                indicate no blocks, not null",
            );
        };
        for element in planned.iter().filter(|element| !element.is_known()) {
            self.at(Step::Index(element.clone()), |this| this.report(UNKNOWN_ELEMENT));
        }
    }

    /// Checks an attribute that is not planned as it is configured.
    fn attribute(&mut self, attribute: &Attribute, sides: &ValuesAtPath<'_>) {
        let ValuesAtPath { prior, config, planned } = *sides;
        // The provider considers the configured value equivalent to the prior value and keeps the prior one.
        if same(planned, prior) && !prior.is_null() && !config.is_null() {
            return;
        }
        self.note_marks(sides);
        self.secret |= attribute.sensitive
            || attribute.write_only
            || prior.has_deep_secret()
            || config.has_deep_secret()
            || planned.has_deep_secret();
        if config.is_null() && !planned.is_null() {
            let sensitive = if self.secret { "sensitive " } else { "" };
            let quoted = self.quote(planned);
            return self
                .report(format!("{sensitive}planned value{quoted} for a non-computed attribute"));
        }
        if planned.is_null() && attribute.write_only {
            return;
        }
        match attribute.nested() {
            Some(object) => self.nested_object(object, sides),
            None => self.report_mismatch(sides),
        }
    }

    fn report_mismatch(&mut self, sides: &ValuesAtPath<'_>) {
        let sensitive = if self.secret { "sensitive " } else { "" };
        let planned = self.quote(sides.planned);
        let config = self.quote(sides.config);
        let mut message =
            format!("{sensitive}planned value{planned} does not match config value{config}");
        if !sides.prior.is_null() {
            message.push_str(&format!(" nor prior value{}", self.quote(sides.prior)));
        }
        self.report(message);
    }

    fn nested_object(&mut self, object: &NestedObject, sides: &ValuesAtPath<'_>) {
        if !self.existence_agrees(sides) {
            return;
        }
        if !sides.config.is_null() && !sides.planned.is_known() {
            return self.report("planned unknown for configured value");
        }
        if sides.planned.is_null() {
            return;
        }
        match object.nesting() {
            ObjectNesting::Single => self.attributes(object.attributes(), sides),
            ObjectNesting::List => self.object_list(object, sides),
            ObjectNesting::Map => self.object_map(object, sides),
            ObjectNesting::Set => self.object_set(sides),
        }
    }

    fn object_list(&mut self, object: &NestedObject, sides: &ValuesAtPath<'_>) {
        let planned = sides.planned.as_slice().unwrap_or_default();
        let Some(config) = sides.config.as_slice().filter(|it| it.len() == planned.len()) else {
            return self.report_counts(sides);
        };
        for (idx, (planned, config)) in planned.iter().zip(config).enumerate() {
            let nothing = Value::null(planned.ty());
            let prior = sides.prior.as_slice().and_then(|it| it.get(idx)).unwrap_or(&nothing);
            self.at(Value::index_step(idx), |this| {
                this.attributes(object.attributes(), &ValuesAtPath { prior, config, planned });
            });
        }
    }

    fn object_map(&mut self, object: &NestedObject, sides: &ValuesAtPath<'_>) {
        let nothing = ValueMap::new();
        let planned = sides.planned.as_map().unwrap_or(&nothing);
        let Some(config) = sides.config.as_map().filter(|it| it.len() == planned.len()) else {
            return self.report_counts(sides);
        };
        for (key, planned) in planned {
            let Some(config) = config.get(key) else {
                self.report(format!(
                    "map key{} from plan is not present in config",
                    go_syntax::key(key, self.secret)
                ));
                continue;
            };
            let nothing = Value::null(planned.ty());
            let prior = sides.prior.as_map().and_then(|it| it.get(key)).unwrap_or(&nothing);
            self.at(key_step(key), |this| {
                this.attributes(object.attributes(), &ValuesAtPath { prior, config, planned });
            });
        }
        for key in config.keys().filter(|key| !planned.contains_key(*key)) {
            self.report(format!(
                "map key{} from config is not present in plan",
                go_syntax::key(key, self.secret)
            ));
        }
    }

    /// Checks the length of a set. Unknown elements may turn out equal, so a planned set has a range of possible
    /// lengths.
    fn object_set(&mut self, sides: &ValuesAtPath<'_>) {
        let (planned, config) = (sides.planned.range(), sides.config.range());
        let exact = config.max_length().filter(|max| *max == config.min_length());
        if exact.is_some_and(|length| !planned.includes_length(length)) {
            self.report_counts(sides);
        }
    }

    fn report_counts(&mut self, sides: &ValuesAtPath<'_>) {
        let (planned, config) = (length(sides.planned), length(sides.config));
        self.report(format!("count in plan ({planned}) disagrees with count in config ({config})"));
    }

    /// Returns a space and the value, or nothing if it is secret.
    fn quote(&self, value: &Value) -> String {
        if self.secret || value.has_deep_secret() {
            return String::new();
        }
        format!(" {}", go_syntax::value(value))
    }
}

/// Returns true if the provider chooses the value of an attribute.
fn is_for_the_provider(attribute: &Attribute, config: &Value) -> bool {
    attribute.is_computed_only() || (config.is_null() && attribute.computed)
}

fn key_step(key: &Str) -> Step {
    Step::Index(Value::string(key.clone()))
}

fn length(value: &Value) -> String {
    match value.stored_length() {
        Some(length) => format!("cty.NumberIntVal({length})"),
        None => "cty.UnknownVal(cty.Number)".to_owned(),
    }
}
