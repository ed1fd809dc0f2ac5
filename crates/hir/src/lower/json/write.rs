//! Writes blocks and expressions as native text.

use db::Summary;
use rustc_hash::FxHashMap;
use syntax::{
    TextRange, TextSize,
    json::{JsonKind, JsonProperty, JsonString, JsonValue},
};

use crate::lower::{
    json::{
        map::Map,
        problem::{extraneous, fault},
        shape::{Mode, Rest, Shape},
    },
    problem::{PLACE, Problem},
};

/// The native text under construction.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) text: String,
    pub(super) map: Map,
    pub(super) problems: Vec<Problem>,
    /// The ranges of strings with syntax errors. A placeholder stands for them, so problems inside are dropped.
    pub(super) unread: Vec<TextRange>,
    /// The nesting depth in schema bodies, which are written twice.
    depth: usize,
}

/// The depth limit for writing objects as blocks. Deeper schema bodies are written only as arguments, because the
/// size doubles with each level.
const MAX_BODIES: usize = 16;

impl Writer {
    fn at(&self) -> TextSize {
        TextSize::of(&self.text)
    }

    /// Writes text without a counterpart in the JSON text.
    pub(super) fn glue(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes text that corresponds to `source` as a whole.
    pub(super) fn whole(&mut self, text: &str, source: TextRange) {
        let start = self.at();
        self.text.push_str(text);
        self.map.whole(TextRange::new(start, self.at()), source);
    }

    /// Writes text that is equal to the JSON text at `source`.
    pub(super) fn exact(&mut self, text: &str, source: TextSize) {
        let start = self.at();
        self.text.push_str(text);
        self.map.exact(TextRange::new(start, self.at()), source);
    }

    fn shared(&mut self, text: &str, source: TextRange) {
        let start = self.at();
        self.text.push_str(text);
        self.map.shared(TextRange::new(start, self.at()), source);
    }

    /// Writes a file, which is an object or an array of objects.
    pub(super) fn file(&mut self, root: &JsonValue, shape: &'static Shape) {
        match &root.kind {
            JsonKind::Object(_) | JsonKind::Array(_) => self.body(root, shape),
            _ => self.problems.push(fault(
                root.range,
                Summary::JSON_ROOT,
                "The root value in a JSON-based configuration must be either a JSON object or a JSON array of objects.",
            )),
        }
    }

    /// The properties of a body, which is an object or an array of objects.
    fn properties<'j>(&mut self, body: &'j JsonValue) -> Vec<&'j JsonProperty> {
        const OBJECT: &str =
            "A JSON object is required here, to define arguments and child blocks.";
        const OBJECTS: &str = "Either a JSON object or a JSON array of objects is required here, \
                               to define arguments and child blocks.";
        let mut found = Vec::new();
        let (elements, wanted) = match &body.kind {
            JsonKind::Array(elements) => (elements.as_slice(), OBJECT),
            _ => (std::slice::from_ref(body), OBJECTS),
        };
        for element in elements {
            match &element.kind {
                JsonKind::Object(properties) => found.extend(properties),
                JsonKind::Null => {}
                _ => self.problems.push(wrong_type(element.range, wanted)),
            }
        }
        found
    }

    fn body(&mut self, body: &JsonValue, shape: &'static Shape) {
        let mut seen: FxHashMap<&str, TextRange> = FxHashMap::default();
        for JsonProperty { name, value } in self.properties(body) {
            if name.text == "//" {
                continue;
            }
            if let Some((labels, inner)) = shape.block(&name.text) {
                self.blocks(name, value, labels, inner);
                continue;
            }
            let Some(mode) = shape.mode(&name.text) else {
                self.extraneous(name, shape);
                continue;
            };
            if let Some(first) = seen.get(name.text.as_str()) {
                self.problems.push(set_twice(name, *first));
                continue;
            }
            seen.insert(&name.text, name.range);
            self.argument(name, value, mode);
            if shape.rest == Rest::Schema && mode == Mode::Template {
                self.attribute_and_blocks(name, value);
            }
        }
    }

    fn argument(&mut self, name: &JsonString, value: &JsonValue, mode: Mode) {
        if !addr::is_identifier(&name.text) {
            let detail = format!(
                "{:?} is no name of an argument: it must start with a letter or underscore and may \
                 contain only letters, digits, underscores, and dashes.",
                name.text
            );
            return self.problems.push(fault(name.range, Summary::JSON_ARGUMENT_NAME, detail));
        }
        self.whole(&name.text, name.range);
        self.glue(" = ");
        self.expression(value, mode);
        self.glue("\n");
    }

    fn extraneous(&mut self, name: &JsonString, shape: &Shape) {
        self.problems.push(extraneous(name.range, &name.text, shape.names()));
    }

    /// Writes a property of a schema body as blocks, in case the schema says that it is a block type.
    fn attribute_and_blocks(&mut self, name: &JsonString, value: &JsonValue) {
        let is_object = |it: &JsonValue| matches!(it.kind, JsonKind::Object(_));
        let may_be = match &value.kind {
            JsonKind::Object(_) => true,
            JsonKind::Array(elements) => !elements.is_empty() && elements.iter().all(is_object),
            _ => false,
        };
        if may_be && self.depth < MAX_BODIES && addr::is_identifier(&name.text) {
            self.depth += 1;
            // Problems inside are already reported for the argument.
            let known = self.problems.len();
            self.blocks(name, value, 0, Shape::of_schema());
            self.problems.truncate(known);
            self.depth -= 1;
        }
    }

    fn blocks(
        &mut self,
        kind: &JsonString,
        value: &JsonValue,
        labels: usize,
        shape: &'static Shape,
    ) {
        let mut given = Vec::new();
        self.labelled(kind, &mut given, value, labels, shape);
    }

    /// Descends through the objects whose property names are labels.
    fn labelled<'j>(
        &mut self,
        kind: &'j JsonString,
        given: &mut Vec<&'j JsonString>,
        value: &'j JsonValue,
        labels: usize,
        shape: &'static Shape,
    ) {
        if given.len() == labels {
            return match &value.kind {
                JsonKind::Null => {}
                JsonKind::Object(_) => self.block(kind, given, value, shape),
                JsonKind::Array(elements) => {
                    elements.iter().for_each(|it| self.block(kind, given, it, shape));
                }
                _ => {
                    let detail = format!(
                        "Either a JSON object or a JSON array is required, representing the \
                         contents of one or more {:?} blocks.",
                        kind.text
                    );
                    self.problems.push(wrong_type(value.range, &detail));
                }
            };
        }
        let properties = self.properties(value);
        if properties.is_empty() && !is_wrong_type(value) {
            let what = match (labels, given.len()) {
                (2, 0) => "type",
                _ => "name",
            };
            let detail = format!(
                "At least one object property is required, whose name represents the {} block's {what}.",
                kind.text
            );
            let range = TextRange::new(value.range.start(), opening(value).end());
            self.problems.push(Problem::new(Summary::MISSING_BLOCK_LABEL, range, detail));
        }
        for property in properties {
            given.push(&property.name);
            self.labelled(kind, given, &property.value, labels, shape);
            given.pop();
        }
    }

    fn block(
        &mut self,
        kind: &JsonString,
        labels: &[&JsonString],
        body: &JsonValue,
        shape: &'static Shape,
    ) {
        match labels {
            [] => self.whole(&kind.text, kind.range),
            _ => self.shared(&kind.text, kind.range),
        }
        for (index, label) in labels.iter().enumerate() {
            let quoted = super::strings::quoted(&label.text);
            self.glue(" ");
            match index + 1 == labels.len() {
                true => self.whole(&quoted, label.range),
                false => self.shared(&quoted, label.range),
            }
        }
        self.glue(" ");
        self.whole("{", opening(body));
        self.glue("\n");
        self.body(body, shape);
        self.whole("}", TextRange::new(body.range.end(), body.range.end()));
        self.glue("\n");
    }

    /// Writes a value as an expression.
    pub(super) fn expression(&mut self, value: &JsonValue, mode: Mode) {
        let start = value.range.start();
        match &value.kind {
            JsonKind::Null => self.exact("null", start),
            JsonKind::Bool(true) => self.exact("true", start),
            JsonKind::Bool(false) => self.exact("false", start),
            JsonKind::Number(text) => self.exact(text, start),
            JsonKind::String(string) => self.string(string, mode),
            JsonKind::Array(elements) => {
                self.whole("[", TextRange::at(start, 1.into()));
                for element in elements {
                    self.expression(element, mode);
                    self.glue(", ");
                }
                self.whole("]", closing(value));
            }
            JsonKind::Object(properties) => self.object(value, properties, mode),
        }
    }

    fn object(&mut self, value: &JsonValue, properties: &[JsonProperty], mode: Mode) {
        let mut seen: FxHashMap<&str, TextRange> = FxHashMap::default();
        self.whole("{", opening(value));
        for JsonProperty { name, value } in properties {
            if let Some(first) = seen.insert(&name.text, name.range) {
                self.problems.push(defined_twice(name, first));
                continue;
            }
            let inner = match mode {
                Mode::Requirement if name.text == "configuration_aliases" => Mode::Raw,
                mode => mode,
            };
            self.string(name, mode);
            self.glue(" = ");
            self.expression(value, inner);
            self.glue(", ");
        }
        self.whole("}", closing(value));
    }
}

fn opening(value: &JsonValue) -> TextRange {
    match value.kind {
        JsonKind::Object(_) | JsonKind::Array(_) => TextRange::at(value.range.start(), 1.into()),
        _ => value.range,
    }
}

/// The closing bracket of a value. Empty if the file ends before it.
fn closing(value: &JsonValue) -> TextRange {
    let end = value.range.end();
    TextRange::new(end.checked_sub(1.into()).unwrap_or(end).max(value.range.start()), end)
}

fn is_wrong_type(value: &JsonValue) -> bool {
    !matches!(value.kind, JsonKind::Object(_) | JsonKind::Array(_) | JsonKind::Null)
}

fn wrong_type(range: TextRange, detail: &str) -> Problem {
    fault(range, Summary::JSON_TYPE, detail)
}

fn set_twice(name: &JsonString, first: TextRange) -> Problem {
    let detail = format!("The argument {:?} was already set at {PLACE}.", name.text);
    Problem { related: Some(first), ..fault(name.range, Summary::JSON_DUPLICATE_ARGUMENT, detail) }
}

fn defined_twice(name: &JsonString, first: TextRange) -> Problem {
    let detail = format!("An attribute named {:?} was already defined at {PLACE}.", name.text);
    Problem { related: Some(first), ..fault(name.range, Summary::JSON_DUPLICATE_KEY, detail) }
}
