//! Decodes one YAML document. Mappings become objects and sequences become tuples.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use super::scalar;
use crate::{Kind, Str, Type, Value, convert, go_quoted};

/// The maximum nesting depth.
const DEEPEST: usize = 256;

/// The maximum number of values, including those that aliases repeat.
const MOST: usize = 1_000_000;

/// Decodes a document.
pub(super) fn decode(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains(is_control) {
        return Err("control characters are not allowed".to_owned());
    }
    let last = text.rsplit(['\n', '\r']).next().unwrap_or("");
    let mut reader = Reader {
        text,
        parser: Parser::new_from_str(text),
        anchors: BTreeMap::new(),
        values: 0,
        length: text.chars().count(),
        last_line: match (last.starts_with(' '), last.trim().is_empty()) {
            (true, false) => LastLine::Text,
            (true, true) => LastLine::Spaces,
            (false, _) => LastLine::Other,
        },
    };
    reader.document()
}

/// Returns true for characters that YAML allows only in escaped form.
fn is_control(c: char) -> bool {
    let is_low = c < ' ' && !matches!(c, '\t' | '\n' | '\r');
    is_low
        || matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// A node with an anchor.
enum Anchored {
    /// The node is still being read.
    Pending,
    Complete {
        value: Value,
        /// The number of values in it.
        values: usize,
    },
}

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, StrInput<'t>>,
    anchors: BTreeMap<usize, Anchored>,
    values: usize,
    /// The length of the text in characters.
    length: usize,
    last_line: LastLine,
}

/// The content after the last line break.
#[derive(Clone, Copy)]
enum LastLine {
    /// Indented text. The parser adds the missing line break to it.
    Text,
    /// Only spaces. The parser reads them as an empty line if there are as many as the block is indented.
    Spaces,
    Other,
}

/// An event of the parser with its place.
struct LocatedEvent<'t> {
    event: Event<'t>,
    span: Span,
}

/// Adds a position to a message as OpenTofu does: the first line gets none, other lines count from zero, and
/// columns from one.
fn at(span: &Span, message: &str) -> String {
    match span.start.line().saturating_sub(1) {
        0 => message.to_owned(),
        line => format!("on line {line}, column {}: {message}", span.start.col() + 1),
    }
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<LocatedEvent<'t>, String> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok(LocatedEvent { event, span }),
            Some(Err(error)) => {
                let span = Span::empty(*error.marker());
                Err(at(&span, &self.syntax_problem(error.info(), &span)))
            }
            None => Err("found unexpected end of stream".to_owned()),
        }
    }

    /// Returns the message for a syntax error, in OpenTofu's words if the mapping is simple.
    fn syntax_problem(&self, problem: &str, span: &Span) -> String {
        if problem.ends_with("found unknown anchor") {
            return format!("reference to undefined anchor {}", go_quoted(self.name_at(span)));
        }
        if problem.starts_with("unexpected character") {
            return "found character that cannot start any token".to_owned();
        }
        let context = problem.strip_prefix("while ").and_then(|rest| rest.split_once(", "));
        context.map_or(problem, |(_, problem)| problem).replacen(
            "expected '",
            "did not find expected '",
            1,
        )
    }

    fn document(&mut self) -> Result<Value, String> {
        self.next()?;
        if !matches!(self.next()?.event, Event::DocumentStart(_)) {
            return Err("on line 1, column 1: missing start of document".to_owned());
        }
        let first = self.next()?;
        let value = self.node(first, 0)?;
        self.next()?;
        match self.next()? {
            LocatedEvent { event: Event::StreamEnd, .. } => Ok(value),
            LocatedEvent { span, .. } => Err(at(&span, "unexpected extra content after value")),
        }
    }

    fn node(&mut self, next: LocatedEvent<'t>, depth: usize) -> Result<Value, String> {
        let LocatedEvent { event, span } = next;
        if depth > DEEPEST {
            return Err(at(&span, "the nesting is too deep"));
        }
        self.count(1)?;
        match event {
            Event::Alias(anchor) => self.alias(anchor, &span),
            Event::Scalar(text, style, anchor, tag) => {
                let value =
                    scalar(self.ended(&text, style, &span), style, &tag_name(tag.as_deref()))
                        .map_err(|message| at(&span, &message))?;
                self.complete(anchor, &value, 1);
                Ok(value)
            }
            Event::SequenceStart(anchor, tag) => {
                self.expect_tag("sequence", "seq", tag.as_deref(), &span)?;
                self.anchored(anchor, |reader| reader.sequence(depth))
            }
            Event::MappingStart(anchor, tag) => {
                self.expect_tag("mapping", "map", tag.as_deref(), &span)?;
                self.anchored(anchor, |reader| reader.mapping(depth))
            }
            _ => Err(at(&span, "expecting value but found end of stream")),
        }
    }

    /// Returns the text of a scalar. A block at the end of a text without a final line break has no final line
    /// break either.
    fn ended<'s>(&self, text: &'s str, style: ScalarStyle, span: &Span) -> &'s str {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        if !is_block || span.end.index() < self.length {
            return text;
        }
        match self.last_line {
            LastLine::Text => text.strip_suffix('\n').unwrap_or(text),
            LastLine::Spaces if text.ends_with("\n\n") => &text[..text.len() - 1],
            LastLine::Spaces | LastLine::Other => text,
        }
    }

    fn expect_tag(
        &self,
        what: &str,
        kind: &str,
        tag: Option<&Tag>,
        span: &Span,
    ) -> Result<(), String> {
        let tag = tag_name(tag);
        if tag.is_empty() || tag == format!("tag:yaml.org,2002:{kind}") {
            return Ok(());
        }
        Err(at(span, &format!("can't interpret {what} as {tag}")))
    }

    /// Counts values, including those that aliases repeat, so that a small text cannot become a huge value.
    fn count(&mut self, more: usize) -> Result<(), String> {
        self.values += more;
        if self.values > MOST { Err("there are too many values".to_owned()) } else { Ok(()) }
    }

    fn anchored(
        &mut self,
        anchor: usize,
        read: impl FnOnce(&mut Self) -> Result<Value, String>,
    ) -> Result<Value, String> {
        // Zero means that the node has no anchor.
        if anchor > 0 {
            self.anchors.insert(anchor, Anchored::Pending);
        }
        let before = self.values;
        let value = read(self)?;
        self.complete(anchor, &value, self.values - before + 1);
        Ok(value)
    }

    fn complete(&mut self, anchor: usize, value: &Value, values: usize) {
        if anchor > 0 {
            self.anchors.insert(anchor, Anchored::Complete { value: value.clone(), values });
        }
    }

    fn alias(&mut self, anchor: usize, span: &Span) -> Result<Value, String> {
        let found = match self.anchors.get(&anchor) {
            Some(Anchored::Complete { value, values }) => Ok((value.clone(), *values)),
            pending => Err(pending.is_some()),
        };
        match found {
            Ok((value, values)) => self.count(values).map(|()| value),
            Err(is_pending) => {
                let name = go_quoted(self.name_at(span));
                let message = match is_pending {
                    true => format!("cannot refer to anchor {name} from inside its own definition"),
                    false => format!("reference to undefined anchor {name}"),
                };
                Err(at(span, &message))
            }
        }
    }

    /// Returns the name of the alias at a position.
    fn name_at(&self, span: &Span) -> &'t str {
        let line = self.text.lines().nth(span.start.line().saturating_sub(1)).unwrap_or("");
        let start = line.char_indices().nth(span.start.col()).map_or(line.len(), |(at, _)| at);
        let name = line[start..].trim_start_matches('*');
        let end = name.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
        &name[..end.unwrap_or(name.len())]
    }

    fn sequence(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                LocatedEvent { event: Event::SequenceEnd, .. } => return Ok(Value::tuple(items)),
                next => items.push(self.node(next, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, String> {
        let mut entries: BTreeMap<Str, Value> = BTreeMap::new();
        loop {
            let LocatedEvent { event, span } = self.next()?;
            let key = match event {
                Event::MappingEnd => return Ok(Value::object(entries.into_iter().collect())),
                Event::Scalar(text, style, anchor, tag) => {
                    let is_merge = text == "<<" && tag.is_none();
                    let key = scalar(&text, style, &tag_name(tag.as_deref()))
                        .map_err(|message| at(&span, &message))?;
                    // An anchor on a key is ignored, as in OpenTofu.
                    self.anchors.remove(&anchor);
                    if is_merge { None } else { Some(key_text(&key, &span)?) }
                }
                _ => return Err(at(&span, "only strings are allowed as mapping keys")),
            };
            let next = self.next()?;
            let value = self.node(next, depth + 1)?;
            match (key, value.kind()) {
                (Some(key), _) => {
                    entries.insert(key, value);
                }
                (None, Kind::Object(merged)) => {
                    entries.extend(merged.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
                (None, _) => {
                    let ty = value.ty().friendly_name();
                    return Err(at(&span, &format!("cannot merge {ty} into mapping")));
                }
            }
        }
    }
}

fn key_text(key: &Value, span: &Span) -> Result<Str, String> {
    if key.is_null() {
        return Err(at(span, "mapping key cannot be null"));
    }
    let text = convert::convert(key, &Type::String).ok();
    let text = text.as_ref().and_then(Value::as_str).map(Str::on_heap);
    text.ok_or_else(|| at(span, "only strings are allowed as mapping keys"))
}

fn scalar(text: &str, style: ScalarStyle, tag: &str) -> Result<Value, String> {
    match style {
        // A block without lines is a null string, as in OpenTofu.
        ScalarStyle::Literal | ScalarStyle::Folded if text.is_empty() => {
            Ok(Value::null(Type::String))
        }
        style => scalar::resolve(text, tag, style == ScalarStyle::Plain),
    }
}

fn tag_name(tag: Option<&Tag>) -> String {
    tag.map_or_else(String::new, |tag| format!("{}{}", tag.handle, tag.suffix))
}
