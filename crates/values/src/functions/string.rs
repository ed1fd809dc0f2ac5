//! Functions on one text.

use unicode_segmentation::UnicodeSegmentation;

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Kind, Refinements, Value};

const STR: &[Parameter] = &[Parameter::string("str")];

const fn text(
    name: &'static str,
    params: &'static [Parameter],
    body: fn(&Call<'_>) -> Result<Value, FunctionError>,
    doc: &'static str,
) -> Function {
    Function::new(name, params, Returns::Fixed(Shape::String), body, doc)
}

const fn test(
    name: &'static str,
    params: &'static [Parameter],
    body: fn(&Call<'_>) -> Result<Value, FunctionError>,
    doc: &'static str,
) -> Function {
    Function::new(name, params, Returns::Fixed(Shape::Bool), body, doc)
}

pub(super) const FUNCTIONS: &[Function] = &[
    text("upper", STR, upper, "Turns letters into upper case."),
    text("lower", STR, lower, "Turns letters into lower case."),
    text("title", STR, title, "Turns the first letter of each word into upper case."),
    text("strrev", STR, strrev, "Turns a string around."),
    text("chomp", STR, chomp, "Removes line ends from the end."),
    text("trimspace", STR, trimspace, "Removes white space from both ends."),
    text(
        "trim",
        &[Parameter::string("str"), Parameter::string("cutset")],
        trim,
        "Removes characters from both ends.",
    ),
    text(
        "trimprefix",
        &[Parameter::string("str"), Parameter::string("prefix")],
        trimprefix,
        "Removes a prefix if it is there.",
    ),
    text(
        "trimsuffix",
        &[Parameter::string("str"), Parameter::string("suffix")],
        trimsuffix,
        "Removes a suffix if it is there.",
    ),
    text(
        "substr",
        &[Parameter::string("str"), Parameter::number("offset"), Parameter::number("length")],
        substr,
        "Returns a number of characters from an offset on.",
    ),
    text(
        "indent",
        &[Parameter::number("spaces"), Parameter::string("str")],
        indent,
        "Adds spaces at the beginning of all lines but the first.",
    ),
    test(
        "startswith",
        &[Parameter::string("str").lazy(), Parameter::string("prefix").shallow()],
        startswith,
        "Returns true if a string starts with a prefix.",
    ),
    test(
        "endswith",
        &[Parameter::string("str"), Parameter::string("suffix")],
        endswith,
        "Returns true if a string ends with a suffix.",
    ),
    test(
        "strcontains",
        &[Parameter::string("str"), Parameter::string("substr")],
        strcontains,
        "Returns true if a string contains another.",
    ),
];

/// Maps each character to one character, as Go does: `ß` stays the same, and there is no final sigma.
fn mapped(call: &Call<'_>, map: fn(char) -> Option<char>) -> Result<Value, FunctionError> {
    let text: String = call.text(0).chars().map(|c| map(c).unwrap_or(c)).collect();
    Ok(Value::string(text))
}

fn only<I: Iterator<Item = char>>(mut chars: I) -> Option<char> {
    chars.next().filter(|_| chars.next().is_none())
}

/// Returns the upper case. Greek letters with an iota subscript have two upper cases: one of several characters,
/// and one of a single character, which is used here.
fn upper_case(c: char) -> Option<char> {
    let distance = match u32::from(c) {
        0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7 => 8,
        0x1fb3 | 0x1fc3 | 0x1ff3 => 9,
        _ => return only(c.to_uppercase()),
    };
    char::from_u32(u32::from(c) + distance)
}

/// Returns the title case. Digraphs have a title case of their own, and Georgian letters stay the same.
fn title_case(c: char) -> Option<char> {
    Some(match c {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        'ა'..='ჿ' => c,
        c => return upper_case(c),
    })
}

fn upper(call: &Call<'_>) -> Result<Value, FunctionError> {
    let text = call.text(0);
    if text.is_ascii() {
        return Ok(Value::string(text.to_ascii_uppercase()));
    }
    mapped(call, upper_case)
}

fn lower(call: &Call<'_>) -> Result<Value, FunctionError> {
    let text = call.text(0);
    if text.is_ascii() {
        return Ok(Value::string(text.to_ascii_lowercase()));
    }
    mapped(call, |c| if c == 'İ' { Some('i') } else { only(c.to_lowercase()) })
}

fn title(call: &Call<'_>) -> Result<Value, FunctionError> {
    let mut out = String::with_capacity(call.text(0).len());
    let mut in_word = false;
    for c in call.text(0).chars() {
        out.push(if in_word { c } else { title_case(c).unwrap_or(c) });
        in_word = continues_word(c);
    }
    Ok(Value::string(out))
}

/// Returns true if a character does not end a word. Go ends words at white space and at ASCII punctuation except
/// the underscore.
fn continues_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { !c.is_whitespace() }
}

fn strrev(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::string(call.text(0).graphemes(true).rev().collect::<String>()))
}

fn chomp(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::string(call.text(0).trim_end_matches(['\r', '\n'])))
}

fn trimspace(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::string(call.text(0).trim()))
}

fn trim(call: &Call<'_>) -> Result<Value, FunctionError> {
    let cutset = call.text(1);
    Ok(Value::string(call.text(0).trim_matches(|c| cutset.contains(c))))
}

fn trimprefix(call: &Call<'_>) -> Result<Value, FunctionError> {
    let text = call.text(0);
    Ok(Value::string(text.strip_prefix(call.text(1)).unwrap_or(text)))
}

fn trimsuffix(call: &Call<'_>) -> Result<Value, FunctionError> {
    let text = call.text(0);
    Ok(Value::string(text.strip_suffix(call.text(1)).unwrap_or(text)))
}

/// Offsets and lengths count grapheme clusters. A negative offset counts from the end; a negative length selects
/// the rest.
fn substr(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (offset, length) = (call.integer(1)?, call.integer(2)?);
    let text = call.text(0);
    let count = i64::try_from(text.graphemes(true).count()).unwrap_or(i64::MAX);
    let start = if offset < 0 { (offset + count).max(0) } else { offset };
    let skip = usize::try_from(start).unwrap_or(usize::MAX);
    let take = usize::try_from(length).unwrap_or(usize::MAX);
    Ok(Value::string(text.graphemes(true).skip(skip).take(take).collect::<String>()))
}

fn indent(call: &Call<'_>) -> Result<Value, FunctionError> {
    let spaces = usize::try_from(call.integer(0)?)
        .map_err(|_| FunctionError::at(0, "must be zero or greater"))?;
    let lines = call.text(1).matches('\n').count();
    let padded = lines.saturating_mul(spaces).saturating_add(call.text(1).len());
    call.reserve(padded as u64)?;
    if lines == 0 {
        return Ok(call.args[1].clone());
    }
    let padding = format!("\n{}", " ".repeat(spaces));
    Ok(Value::string(call.text(1).replace('\n', &padding)))
}

/// Decides on a known prefix of an unknown text if that prefix is long enough.
fn startswith(call: &Call<'_>) -> Result<Value, FunctionError> {
    let prefix = call.text(1);
    let known = match call.args[0].kind() {
        Kind::String(text) => return Ok(Value::bool(text.starts_with(prefix))),
        Kind::Unknown(known) => known.prefix(),
        _ => "",
    };
    if known.starts_with(prefix) {
        return Ok(Value::bool(true));
    }
    if !prefix.starts_with(known) {
        return Ok(Value::bool(false));
    }
    Ok(call.unknown().refined(&Refinements::non_null()))
}

fn endswith(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::bool(call.text(0).ends_with(call.text(1))))
}

fn strcontains(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::bool(call.text(0).contains(call.text(1))))
}
