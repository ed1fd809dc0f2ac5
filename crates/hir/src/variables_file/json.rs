//! The JSON syntax of variables files: one object of values, whose strings are never templates.

use db::{ByteRange, Summary};
use sorted::TreeMap;
use syntax::json::{JsonKind, JsonProperty, JsonString, JsonValue, parse_json};
use values::{Number, Str, Type, Value};

use crate::variables_file::{Assignment, Reading};

/// The detail of a syntax error. It does not quote the file.
const NOT_READABLE: &str = "This part of the variables file cannot be read. It is not quoted here, \
                            because it may be a secret. A variables file in the JSON syntax is one \
                            object: names of variables in double quotes, each with a colon and its \
                            value behind it, and commas between them.";

impl Reading<'_> {
    /// Reads text in the JSON syntax.
    pub(super) fn json(&mut self, text: &str) {
        let json = parse_json(text);
        if let Some(error) = &json.error {
            self.problem(Summary::syntax_error(&error.summary), NOT_READABLE, error.range);
        }
        match json.root {
            Some(JsonValue { kind: JsonKind::Object(properties), .. }) => {
                self.json_properties(&properties);
            }
            Some(JsonValue { kind: JsonKind::Array(_), range }) => {
                let detail = "A variables file is one JSON object: the names of variables, and \
                              their values. Write the names and values of all elements into one.";
                self.problem(Summary::VARIABLES_FILE_ARRAY, detail, range);
            }
            Some(JsonValue { range, .. }) if json.error.is_none() => {
                let detail = "A variables file is one JSON object: the names of variables, and their values.";
                self.problem(Summary::VARIABLES_FILE_ROOT, detail, range);
            }
            _ => {}
        }
    }

    fn json_properties(&mut self, properties: &[JsonProperty]) {
        let mut seen = sorted::TreeSet::new();
        // A property named `//` is a comment here, but not inside values.
        for JsonProperty { name, value } in properties.iter().filter(|it| it.name.text != "//") {
            if !seen.insert(&*name.text) {
                let detail =
                    "This name was given a value before in the same file. Keep one of the two.";
                self.problem(Summary::DUPLICATE_FILE_VARIABLE, detail, name.range);
                continue;
            }
            if let Some(read) = self.json_value(value) {
                self.file.assignments.push(Assignment {
                    name: Str::from(&*name.text),
                    name_range: inside(name),
                    value: read,
                    location: self.location(value.range),
                });
            }
        }
    }

    fn json_value(&mut self, value: &JsonValue) -> Option<Value> {
        Some(match &value.kind {
            JsonKind::Null => Value::null(Type::Dynamic),
            JsonKind::Bool(it) => Value::bool(*it),
            JsonKind::Number(text) => match Number::parse(text) {
                Some(number) => Value::number(number),
                None => {
                    let detail = "This number is too large or too small to be held.";
                    self.problem(Summary::VARIABLES_FILE_NUMBER, detail, value.range);
                    return None;
                }
            },
            JsonKind::String(string) => Value::string(&*string.text),
            JsonKind::Array(elements) => {
                // Read every element first, so that all errors are reported at once.
                let read: Vec<Option<Value>> =
                    elements.iter().map(|it| self.json_value(it)).collect();
                Value::tuple(read.into_iter().collect::<Option<_>>()?)
            }
            JsonKind::Object(properties) => self.json_object(properties)?,
        })
    }

    fn json_object(&mut self, properties: &[JsonProperty]) -> Option<Value> {
        let mut attributes = TreeMap::new();
        let mut is_whole = true;
        for JsonProperty { name, value } in properties {
            let read = self.json_value(value);
            is_whole &= read.is_some();
            let Some(read) = read else { continue };
            if attributes.insert(Str::on_heap(&name.text), read).is_some() {
                let detail =
                    "This object has another attribute of the same name. Keep one of the two.";
                self.problem(Summary::DUPLICATE_FILE_KEY, detail, name.range);
                is_whole = false;
            }
        }
        is_whole.then(|| Value::object(attributes.into_iter().collect()))
    }
}

/// The range between the quotes.
fn inside(name: &JsonString) -> ByteRange {
    let ByteRange { start, end } = ByteRange::from(name.range);
    ByteRange { start: start + 1, end: end.saturating_sub(1).max(start + 1) }
}
