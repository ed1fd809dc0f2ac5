//! The expiry of an ephemeral resource: from the text that the API gives to the time of the next renewal.

use std::time::{Duration, SystemTime};

use jiff::{Timestamp, civil::DateTime, fmt::strtime::BrokenDownTime, tz::TimeZone};
use serde::{Deserialize, Serialize};

use super::{
    expression::locator::{Locator, LocatorError},
    request::client::Answer,
    session::{located, unusable},
};
use mayfly_sdk::{Diagnostic, Model};

/// The way in which the answers of an API tell when they expire.
#[derive(Clone, Default, Serialize, Deserialize, Model)]
#[serde(default)]
pub(super) struct Expiry {
    /// duration, time (RFC 3339), or time.LAYOUT with a layout such as 2006-01-02 15:04.
    #[attribute(check = check_kind)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expiry_type: Option<String>,
    /// The place of the expiry in the answer: header.NAME, body.PATH or exact.TEXT.
    #[attribute(check = check_locator)]
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry_locator: Option<String>,
    /// The unit behind the number of a duration: s, m, h.
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry_unit: Option<String>,
    /// The time before the expiry at which the renewal begins, such as 0.5s.
    #[attribute(check = check_duration)]
    #[serde(skip_serializing_if = "Option::is_none")]
    expiry_ahead: Option<String>,
}

impl Expiry {
    /// The latest time for the next renewal. `None` if no expiry is configured.
    ///
    /// # Errors
    /// Returns an error if the answer has no expiry, or one that cannot be read.
    pub(super) fn renew_at(
        &self,
        answer: &Answer,
        now: SystemTime,
    ) -> Result<Option<SystemTime>, Diagnostic> {
        let Some(kind) = &self.expiry_type else { return Ok(None) };
        let unit = self.expiry_unit.as_deref().unwrap_or_default();
        let locator = Locator::parse_expiry(self.expiry_locator.as_deref().unwrap_or_default())
            .map_err(|it| unusable("expiry_locator", &it.to_string()))?;
        let missing = || unusable("expiry_locator", "the answer has no expiry there");
        let text = located(&locator, answer).ok_or_else(missing)?;
        // The text is a part of the answer, so no error quotes it.
        let end = match kind.as_str() {
            "duration" => {
                let length = values::functions::duration(&format!("{}{}", text.trim(), unit));
                let unread = || match unit.is_empty() {
                    true => unusable(
                        "expiry_locator",
                        "the expiry is no duration; if it is a number, set `expiry_unit`, for example to \"s\"",
                    ),
                    false => unusable("expiry_unit", "the expiry is no number with this unit"),
                };
                now.checked_add(length.ok_or_else(unread)?).unwrap_or_else(latest)
            }
            kind => {
                let layout = kind.strip_prefix("time.");
                let unread = || unusable("expiry_type", "the expiry is no time of this layout");
                parse_time(text.trim(), layout).ok_or_else(unread)?
            }
        };
        let ahead = self.expiry_ahead.as_deref().and_then(values::functions::duration);
        let ahead = ahead.unwrap_or_default();
        Ok(Some(end.checked_sub(ahead).unwrap_or(now).max(SystemTime::UNIX_EPOCH)))
    }
}

fn check_kind(text: &str) -> Result<(), &'static str> {
    let is_layout = || text.strip_prefix("time.").is_some_and(|it| strftime(it).is_some());
    match matches!(text, "duration" | "time") || is_layout() {
        true => Ok(()),
        false => {
            Err("it must be duration, time, or time. with a layout of Go, such as time.2006-01-02")
        }
    }
}

fn check_locator(text: &str) -> Result<(), LocatorError> {
    Locator::parse_expiry(text).map(drop)
}

fn check_duration(text: &str) -> Result<(), &'static str> {
    let duration = values::functions::duration(text);
    duration.map(drop).ok_or("it must be a duration such as 0.5s or 1m30s")
}

/// Parses a time: of RFC 3339, or of a layout in Go's notation. A time without a zone is in UTC. A time that the clock
/// cannot express, such as the end of the year 9999, is the latest one.
fn parse_time(text: &str, layout: Option<&str>) -> Option<SystemTime> {
    let Some(layout) = layout else {
        let local = || text.get(..19)?.parse::<DateTime>().ok();
        return match text.parse::<Timestamp>() {
            Ok(time) => Some(time.into()),
            Err(_) => local().filter(|it| it.year() == DateTime::MAX.year()).map(|_| latest()),
        };
    };
    // Go's `Z07:00` is `Z` for UTC, else an offset.
    let layouts = [strftime(layout)?, strftime(&layout.replace("Z07:00", "Z"))?];
    let parsed = layouts.iter().find_map(|it| BrokenDownTime::parse(it, text).ok())?;
    if let Ok(zoned) = parsed.to_timestamp() {
        return Some(zoned.into());
    }
    let local: DateTime = parsed.to_datetime().ok()?;
    Some(TimeZone::UTC.to_timestamp(local).map_or_else(|_| latest(), SystemTime::from))
}

/// The latest time that the protocol can express: the end of the year 9998 in UTC.
fn latest() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(253_370_764_799)
}

/// The elements of Go's layouts with their equivalents. A longer element stands before its beginning.
const ELEMENTS: [(&str, &str); 30] = [
    ("Z07:00", "%:z"),
    ("Z0700", "%z"),
    ("-07:00", "%:z"),
    ("-0700", "%z"),
    (".000000000", "%.f"),
    (".999999999", "%.f"),
    (".000000", "%.f"),
    (".999999", "%.f"),
    (".000", "%.f"),
    (".999", "%.f"),
    ("January", "%B"),
    ("Monday", "%A"),
    ("2006", "%Y"),
    ("Jan", "%b"),
    ("Mon", "%a"),
    ("MST", "%Q"),
    ("01", "%m"),
    ("02", "%d"),
    ("03", "%I"),
    ("04", "%M"),
    ("05", "%S"),
    ("06", "%y"),
    ("15", "%H"),
    ("_2", "%e"),
    ("PM", "%p"),
    ("pm", "%P"),
    ("1", "%-m"),
    ("2", "%-d"),
    ("3", "%-I"),
    ("4", "%-M"),
];

/// Converts a layout to the notation of `strftime`. `None` if the layout has no element, so that it would accept only
/// itself.
fn strftime(layout: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = layout;
    let mut has_element = false;
    while let Some(c) = rest.chars().next() {
        let element = ELEMENTS.iter().find(|(element, _)| rest.starts_with(element));
        match element {
            Some((element, directive)) => {
                out.push_str(directive);
                rest = &rest[element.len()..];
                has_element = true;
            }
            None => {
                if c == '%' {
                    out.push('%');
                }
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    has_element.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(time: SystemTime) -> u64 {
        time.duration_since(SystemTime::UNIX_EPOCH).map(|it| it.as_secs()).unwrap_or_default()
    }

    #[test]
    fn times_are_parsed_by_rfc_3339_or_the_layout() {
        for (text, layout, expected) in [
            ("2026-11-26T10:00:00Z", None, Some(1_795_687_200)),
            ("2026-11-26T11:00:00.5+01:00", None, Some(1_795_687_200)),
            ("2026-11-26", None, None),
            ("2026-11-26 10:00:00", Some("2006-01-02 15:04:05"), Some(1_795_687_200)),
            (
                "Thu, 26 Nov 2026 11:00:00 +0100",
                Some("Mon, 02 Jan 2006 15:04:05 -0700"),
                Some(1_795_687_200),
            ),
            ("26/11/26 10:00 AM", Some("02/01/06 03:04 PM"), Some(1_795_687_200)),
            ("2026-11-26T10:00:00Z", Some("2006-01-02T15:04:05Z07:00"), Some(1_795_687_200)),
            ("2026-11-26T11:00:00+01:00", Some("2006-01-02T15:04:05Z07:00"), Some(1_795_687_200)),
            ("11/26/2026 10:00AM", Some("1/2/2006 3:04PM"), Some(1_795_687_200)),
            ("Nov 26 10:00:00 2026", Some("Jan _2 15:04:05 2006"), Some(1_795_687_200)),
            ("Nov  6 10:00:00 2026", Some("Jan _2 15:04:05 2006"), Some(1_793_959_200)),
            ("9999-12-31T23:59:59Z", None, Some(253_370_764_799)),
            ("tomorrow", Some("2006-01-02"), None),
        ] {
            assert_eq!(parse_time(text, layout).map(seconds), expected, "{text} {layout:?}");
        }
    }

    #[test]
    fn kinds_of_expiries_are_validated() {
        for kind in ["duration", "time", "time.2006-01-02", "time.15:04"] {
            assert_eq!(check_kind(kind), Ok(()), "{kind}");
        }
        for kind in ["", "date", "time.", "time.x", "Time"] {
            assert!(check_kind(kind).is_err(), "{kind}");
        }
        assert_eq!((check_duration("0.5s"), check_duration("1h30m")), (Ok(()), Ok(())));
        assert!(check_duration("5").is_err());
    }
}
