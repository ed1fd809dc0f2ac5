//! Functions on timestamps.

use super::{
    call::{Call, FunctionError},
    rfc3339::{self, Civil, Timestamp},
    signature::{Function, Parameter, Place, Returns, Shape},
};
use crate::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "formatdate",
        &[Parameter::string("format"), Parameter::string("time")],
        Returns::Fixed(Shape::String),
        formatdate,
        "Writes a timestamp in another format.",
    ),
    Function::new(
        "timeadd",
        &[Parameter::string("timestamp"), Parameter::string("duration")],
        Returns::Fixed(Shape::String),
        timeadd,
        "Adds a duration such as \"1h30m\" to a timestamp.",
    ),
    Function::new(
        "timecmp",
        &[Parameter::string("timestamp_a"), Parameter::string("timestamp_b")],
        Returns::Fixed(Shape::Number),
        timecmp,
        "Returns -1, 0 or 1 if one timestamp is before, equal to or after another.",
    ),
    Function::new(
        "timestamp",
        &[],
        Returns::Fixed(Shape::String),
        timestamp,
        "Returns the current time of the apply.",
    ),
    Function::new(
        "plantimestamp",
        &[],
        Returns::Fixed(Shape::String),
        plantimestamp,
        "Returns the time of the plan, also in its apply.",
    )
    .only_in(Place::Configuration),
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn known_moment(call: &Call<'_>, position: usize) -> Result<Timestamp, String> {
    Timestamp::parse(call.text(position)).map_err(|message| {
        if call.secret { "not a valid RFC3339 timestamp".to_owned() } else { message }
    })
}

fn formatdate(call: &Call<'_>) -> Result<Value, FunctionError> {
    let rfc3339 = known_moment(call, 1).map_err(|message| FunctionError::at(1, message))?;
    let formatted = formatted(call.text(0), rfc3339);
    formatted.map(Value::string).map_err(|message| {
        let hidden = || "invalid date format".to_owned();
        FunctionError::at(0, if call.secret { hidden() } else { message })
    })
}

/// Formats a timestamp. A run of one letter is a verb; text in single quotes and all other characters are copied.
fn formatted(format: &str, rfc3339: Timestamp) -> Result<String, String> {
    let civil = rfc3339.civil();
    let mut out = String::with_capacity(format.len());
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("''") {
            out.push('\'');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\'') {
            rest = literal(after, &mut out)?;
        } else if first.is_ascii_alphabetic() {
            let end = rest.find(|c| c != first).unwrap_or(rest.len());
            out.push_str(&verb(&rest[..end], &civil, rfc3339)?);
            rest = &rest[end..];
        } else {
            let is_plain = |c: char| c != '\'' && !c.is_ascii_alphabetic();
            let end = rest.find(|c| !is_plain(c)).unwrap_or(rest.len());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    Ok(out)
}

/// Copies the text up to the closing quote, in which two quotes stand for one. Returns the rest after it.
fn literal<'a>(mut rest: &'a str, out: &mut String) -> Result<&'a str, String> {
    loop {
        let end = rest.find('\'').ok_or("unterminated literal '")?;
        out.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('\'') {
            Some(after) => {
                out.push('\'');
                rest = after;
            }
            None => return Ok(rest),
        }
    }
}

fn verb(verb: &str, at: &Civil, rfc3339: Timestamp) -> Result<String, String> {
    let wrong = |rule: &str| Err(format!("invalid date format verb \"{verb}\"{rule}"));
    let twelve = if at.hour.is_multiple_of(12) { 12 } else { at.hour % 12 };
    let half = if at.hour < 12 { "AM" } else { "PM" };
    Ok(match (verb.as_bytes()[0], verb.len()) {
        (b'Y', 2) => format!("{:02}", at.year % 100),
        (b'Y', 4) => format!("{:04}", at.year),
        (b'Y', _) => return wrong(": year must either be \"YY\" or \"YYYY\""),
        (b'M', 3) => month(at)[..3].to_owned(),
        (b'M', 4) => month(at).to_owned(),
        (b'D' | b'h' | b'H' | b'm' | b's' | b'M', 1 | 2) => {
            let number = match verb.as_bytes()[0] {
                b'M' => at.month,
                b'D' => at.day,
                b'h' => at.hour,
                b'H' => twelve,
                b'm' => at.minute,
                _ => at.second,
            };
            format!("{number:0width$}", width = verb.len())
        }
        (b'M', _) => return wrong(": month must be \"M\", \"MM\", \"MMM\", or \"MMMM\""),
        (b'D', _) => return wrong(": day of month must either be \"D\" or \"DD\""),
        (b'h', _) => return wrong(": 24-hour must either be \"h\" or \"hh\""),
        (b'H', _) => return wrong(": 12-hour must either be \"H\" or \"HH\""),
        (b'm', _) => return wrong(": minute must either be \"m\" or \"mm\""),
        (b's', _) => return wrong(": second must either be \"s\" or \"ss\""),
        (b'E', 3) => weekday(at)[..3].to_owned(),
        (b'E', 4) => weekday(at).to_owned(),
        (b'E', _) => return wrong(": day of week must either be \"EEE\" or \"EEEE\""),
        (b'A', 2) => half.to_owned(),
        (b'a', 2) => half.to_lowercase(),
        (b'A', _) => return wrong(": must be \"AA\""),
        (b'a', _) => return wrong(": must be \"aa\""),
        (b'Z', 1) => rfc3339.zone_text(),
        (b'Z', 3) if rfc3339.offset == 0 => "UTC".to_owned(),
        (b'Z', 3 | 4) => rfc3339.offset_text(""),
        (b'Z', 5) => rfc3339.offset_text(":"),
        (b'Z', _) => return wrong(": timezone must be Z, ZZZZ, or ZZZZZ"),
        _ => return wrong(""),
    })
}

fn month(at: &Civil) -> &'static str {
    MONTHS[at.month as usize - 1]
}

fn weekday(at: &Civil) -> &'static str {
    WEEKDAYS[at.weekday as usize]
}

fn timeadd(call: &Call<'_>) -> Result<Value, FunctionError> {
    let rfc3339 = known_moment(call, 0).map_err(FunctionError::new)?;
    let duration = rfc3339::duration(call.text(1)).map_err(|message| {
        FunctionError::new(if call.secret { "time: invalid duration".to_owned() } else { message })
    })?;
    Ok(Value::string(rfc3339.plus(duration).to_text()))
}

fn timecmp(call: &Call<'_>) -> Result<Value, FunctionError> {
    let at = |position| {
        let rfc3339 = known_moment(call, position);
        let rfc3339 = rfc3339.map_err(|message| FunctionError::at(position, message))?;
        Ok((rfc3339.seconds, rfc3339.nanoseconds))
    };
    Ok(Value::int(at(0)?.cmp(&at(1)?) as i64))
}

fn timestamp(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(call.env.now().map_or_else(|| call.unknown(), Value::from))
}

fn plantimestamp(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(call.env.plan_time().map_or_else(|| call.unknown(), Value::from))
}
