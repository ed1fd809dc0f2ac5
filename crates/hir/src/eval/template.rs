//! Evaluates templates.

use db::Summary;
use values::{
    Kind, Marks, Refinements, Type, Value,
    convert::convert,
    rules::{self, RuleId},
};

use crate::{
    eval::evaluation::{Evaluation, Fault, Outcome},
    expr::{ExprId, TemplatePart},
    scope::Interrupt,
};

/// The maximum length, in bytes, of the known prefix that an unknown template keeps.
const LONGEST_PREFIX: usize = 128;

/// The most bytes that are allocated for a text before it is evaluated.
const MOST_EXPECTED: usize = 4096;

/// A template result under construction.
struct Text {
    text: String,
    marks: Marks,
    is_known: bool,
    has_failed: bool,
}

impl Text {
    /// An empty text with room for `bytes` bytes.
    fn with_room(bytes: usize) -> Text {
        Text {
            text: String::with_capacity(bytes),
            marks: Marks::NONE,
            is_known: true,
            has_failed: false,
        }
    }

    /// The memory size of the text with one more piece: during construction, and as a shared string.
    fn size_with(&self, piece: &str) -> u64 {
        2 * (self.text.len() as u64 + piece.len() as u64)
    }

    #[inline]
    fn push(&mut self, piece: &str) {
        if self.is_known {
            self.text.push_str(piece);
        }
    }

    /// The value of the template. It is never null; if unknown, it keeps its known prefix.
    fn finish(self) -> Value {
        let value = if self.is_known && !self.has_failed {
            Value::string(self.text)
        } else {
            let mut known = Refinements::non_null();
            if !self.has_failed {
                known = known.with_safe_prefix(beginning(&self.text, LONGEST_PREFIX));
            }
            Value::unknown_with(Type::String, known)
        };
        value.with_marks(&self.marks)
    }
}

impl Evaluation<'_> {
    pub(super) fn template(&mut self, id: ExprId, parts: &[TemplatePart]) -> Outcome {
        let expected: usize = parts.iter().map(expected_length).sum();
        let mut text = Text::with_room(expected.min(MOST_EXPECTED));
        for part in parts {
            match part {
                TemplatePart::Literal(piece) => text.push(piece),
                TemplatePart::Expr(id) => {
                    let before = self.failures();
                    let value = self.value(*id)?;
                    self.append(*id, &value, &mut text)?;
                    text.has_failed |= self.failures() > before;
                }
            }
        }
        self.charge(id, text.text.len() as u64)?;
        Ok(text.finish())
    }

    fn append(&mut self, at: ExprId, value: &Value, text: &mut Text) -> Result<(), Interrupt> {
        text.marks.add(&rules::result_marks(RuleId::Template, [value]));
        if value.is_null() {
            let detail =
                "The expression result is null. Cannot include a null value in a string template.";
            self.fail(invalid_interpolation(at, detail.to_owned()), value.marks());
            return Ok(());
        }
        if !value.is_known() {
            text.is_known = false;
            return Ok(());
        }
        match value.kind() {
            Kind::String(piece) => return self.append_piece(at, piece, text),
            // The text that the conversion below gives, without a value around it.
            Kind::Number(number) => return self.append_piece(at, &number.text(), text),
            _ => {}
        }
        match convert(value, &Type::String) {
            Ok(converted) => {
                return self.append_piece(at, converted.as_str().unwrap_or_default(), text);
            }
            Err(error) => {
                let marks = value.deep_marks();
                text.marks.add(&marks);
                let detail = format!(
                    "Cannot include the given value in a string template: {}.",
                    error.message
                );
                self.fail(invalid_interpolation(at, detail), &marks);
            }
        }
        Ok(())
    }

    fn append_piece(&mut self, at: ExprId, piece: &str, text: &mut Text) -> Result<(), Interrupt> {
        self.reserve(at, text.size_with(piece))?;
        text.push(piece);
        Ok(())
    }

    /// Concatenates the strings of a `%{ for }`. If one is unknown, the result is unknown.
    pub(super) fn template_join(&mut self, tuple: ExprId) -> Outcome {
        let value = self.value(tuple)?;
        let Some(elements) = value.as_slice().filter(|it| it.iter().all(Value::is_known)) else {
            return Ok(Value::unknown(Type::String).with_marks(&value.deep_marks()));
        };
        let mut text = Text::with_room(0);
        text.marks.add(&rules::result_marks(RuleId::Template, [&value]));
        for element in elements {
            self.append(tuple, element, &mut text)?;
        }
        self.charge(tuple, text.text.len() as u64)?;
        Ok(text.finish())
    }
}

/// The length of a part's text in bytes, as far as it is known before evaluation.
fn expected_length(part: &TemplatePart) -> usize {
    match part {
        TemplatePart::Literal(piece) => piece.len(),
        // Most names are shorter.
        TemplatePart::Expr(_) => 24,
    }
}

/// Truncates a text to at most `most` bytes, at a character boundary.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn invalid_interpolation(at: ExprId, detail: String) -> Fault {
    Fault { at, summary: Summary::INVALID_TEMPLATE_INTERPOLATION, detail }
}
