//! Decodes CSV as strictly as Go's reader: each record has as many fields as the first one, and quotes enclose
//! only whole fields.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns},
};
use crate::{Kind, Str, Type, Value, ValueMap};

pub(super) const FUNCTIONS: &[Function] = &[Function::new(
    "csvdecode",
    &[Parameter::string("str")],
    Returns::From(csvdecode_type),
    csvdecode,
    "Decodes CSV to a list of objects; the first line has the names of the attributes.",
)];

fn csvdecode_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].kind() {
        Kind::String(text) => {
            let names = header(&mut Reader::new(text))
                .map_err(|message| FunctionError::quoting(0, message))?;
            Ok(Type::list(Type::object(names.iter().map(|name| (name, Type::String)))))
        }
        _ => Ok(Type::Dynamic),
    }
}

fn header(reader: &mut Reader<'_>) -> Result<Vec<Str>, String> {
    let names = reader.record()?.ok_or("missing header line")?;
    let names: Vec<Str> = names.iter().map(|name| crate::text::normalized(name)).collect();
    // After sorting, equal names are neighbours.
    let mut sorted: Vec<&Str> = names.iter().collect();
    sorted::sort(&mut sorted);
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("duplicate column name {}", crate::go_quoted(pair[0]))),
        None => Ok(names),
    }
}

fn csvdecode(call: &Call<'_>) -> Result<Value, FunctionError> {
    rows(call).map(|rows| {
        let element = call.ty.element().cloned().unwrap_or(Type::Dynamic);
        Value::list(element, rows)
    })
}

fn rows(call: &Call<'_>) -> Result<Vec<Value>, FunctionError> {
    let mut reader = Reader::new(call.text(0));
    let names = header(&mut reader).map_err(|message| FunctionError::quoting(0, message))?;
    let (mut rows, mut size) = (Vec::new(), 0);
    while let Some(fields) = reader.record().map_err(FunctionError::new)? {
        if fields.len() != names.len() {
            let line = reader.first_line;
            let message = format!("CSV parse error on line {line}: wrong number of fields");
            return Err(FunctionError::new(message));
        }
        let fields = fields.into_iter().map(Value::string);
        let row: ValueMap = names.iter().cloned().zip(fields).collect();
        let row = Value::object(row);
        size += row.unshared_size();
        call.reserve(size)?;
        rows.push(row);
    }
    Ok(rows)
}

/// A field that was in quotes.
struct QuotedField<'a> {
    text: String,
    /// The text after the closing quote on its line.
    rest: &'a str,
    /// The ending of that line.
    end: &'static str,
}

struct Reader<'a> {
    rest: &'a str,
    /// The number of the last line that was read, counted from one.
    line: usize,
    /// The line on which the record begins.
    first_line: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Reader<'a> {
        Reader { rest: text, line: 0, first_line: 0 }
    }

    /// Returns the next line without its line ending, and the line ending as it appears in a quoted field.
    fn next_line(&mut self) -> Option<(&'a str, &'static str)> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let (line, rest, end) = match self.rest.split_once('\n') {
            Some((line, rest)) => (line, rest, "\n"),
            None => (self.rest, "", ""),
        };
        self.rest = rest;
        Some((line.strip_suffix('\r').unwrap_or(line), end))
    }

    /// Returns the fields of the next line that is not empty. A record with quoted fields may span several lines.
    fn record(&mut self) -> Result<Option<Vec<String>>, String> {
        let (mut line, mut end) = loop {
            match self.next_line() {
                Some(("", _)) => {}
                Some(found) => break found,
                None => return Ok(None),
            }
        };
        self.first_line = self.line;
        let mut fields = Vec::new();
        loop {
            let Some(quoted) = line.strip_prefix('"') else {
                let (field, rest) =
                    line.split_once(',').map_or((line, None), |(a, b)| (a, Some(b)));
                if field.contains('"') {
                    return Err(self.wrong("bare \" in non-quoted-field"));
                }
                fields.push(field.to_owned());
                match rest {
                    Some(rest) => line = rest,
                    None => return Ok(Some(fields)),
                }
                continue;
            };
            let field = self.quoted(quoted, end)?;
            fields.push(field.text);
            end = field.end;
            match field.rest.strip_prefix(',') {
                Some(rest) => line = rest,
                None if field.rest.is_empty() => return Ok(Some(fields)),
                None => return Err(self.wrong(NOT_CLOSED)),
            }
        }
    }

    /// Reads a field after its opening quote. `line` is the rest of the line, and `end` its ending.
    fn quoted(
        &mut self,
        mut line: &'a str,
        mut end: &'static str,
    ) -> Result<QuotedField<'a>, String> {
        let mut field = String::new();
        loop {
            match line.split_once('"') {
                Some((text, rest)) => {
                    field.push_str(text);
                    match rest.strip_prefix('"') {
                        Some(rest) => {
                            field.push('"');
                            line = rest;
                        }
                        None => return Ok(QuotedField { text: field, rest, end }),
                    }
                }
                None => {
                    field.push_str(line);
                    field.push_str(end);
                    (line, end) = self.next_line().ok_or_else(|| self.wrong(NOT_CLOSED))?;
                }
            }
        }
    }

    fn wrong(&self, what: &str) -> String {
        format!("CSV parse error on line {}: {}", self.line, what)
    }
}

const NOT_CLOSED: &str = "extraneous or missing \" in quoted-field";
