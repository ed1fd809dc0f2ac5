//! Timeouts of operations, as configurations set them.

use std::time::Duration;

/// The longest times for the operations of an object.
#[derive(crate::Model, Clone, Default, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// The longest time for the creation, such as "30s" or "2h45m".
    #[attribute(check = parse)]
    pub create: Option<String>,
    /// The longest time for a read, such as "30s" or "2h45m".
    #[attribute(check = parse)]
    pub read: Option<String>,
    /// The longest time for an update, such as "30s" or "2h45m".
    #[attribute(check = parse)]
    pub update: Option<String>,
    /// The longest time for the deletion, such as "30s" or "2h45m".
    #[attribute(check = parse)]
    pub delete: Option<String>,
}

/// The types of a provider have the field `timeouts` for `timeouts { create = "90m" }`:
///
/// ```
/// use std::time::Duration;
/// use mayfly_sdk::{Model, Timeouts};
///
/// #[derive(Model)]
/// struct Cluster {
///     name: String,
///     /// Without `#[block]` it is an attribute: `timeouts = { create = "90m" }`.
///     #[block]
///     timeouts: Option<Timeouts>,
/// }
///
/// fn limit(planned: Cluster) -> Duration {
///     planned.timeouts.unwrap_or_default().create_or(Duration::from_secs(20 * 60))
/// }
/// ```
impl Timeouts {
    /// The timeout of a creation.
    #[must_use]
    pub fn create_or(&self, default: Duration) -> Duration {
        or(self.create.as_deref(), default)
    }

    /// The timeout of a read.
    #[must_use]
    pub fn read_or(&self, default: Duration) -> Duration {
        or(self.read.as_deref(), default)
    }

    /// The timeout of an update.
    #[must_use]
    pub fn update_or(&self, default: Duration) -> Duration {
        or(self.update.as_deref(), default)
    }

    /// The timeout of a deletion.
    #[must_use]
    pub fn delete_or(&self, default: Duration) -> Duration {
        or(self.delete.as_deref(), default)
    }
}

fn or(text: Option<&str>, default: Duration) -> Duration {
    text.and_then(|it| parse(it).ok()).unwrap_or(default)
}

/// The units of a duration in seconds. A unit comes before those that its name begins with.
const UNITS: [(&str, f64); 7] = [
    ("h", 3600.0),
    ("ms", 1e-3),
    ("m", 60.0),
    ("s", 1.0),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ns", 1e-9),
];

/// Parses a duration in the format of Go: numbers with units.
fn parse(text: &str) -> Result<Duration, &'static str> {
    const INVALID: &str = "it must be a duration such as \"30s\" or \"2h45m\"";
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() || text.is_empty() {
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').ok_or(INVALID)?;
        let number: f64 = rest[..end].parse().map_err(|_| INVALID)?;
        let unit = UNITS.iter().find(|(unit, _)| rest[end..].starts_with(unit)).ok_or(INVALID)?;
        let part = Duration::try_from_secs_f64(number * unit.1).map_err(|_| INVALID)?;
        total = total.checked_add(part).ok_or(INVALID)?;
        rest = &rest[end + unit.0.len()..];
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_durations_in_the_format_of_go() {
        for (text, seconds) in
            [("30s", 30.0), ("2h45m", 9900.0), ("1.5h", 5400.0), ("250ms", 0.25), ("0s", 0.0)]
        {
            assert_eq!(parse(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in
            ["", "30", "s", "-1s", "1 s", "1x", "1e3s", ".", "..s", "99999999999999999999999h"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        let timeouts = Timeouts { create: Some("1m".to_owned()), ..Timeouts::default() };
        let [minute, hour] = [60, 3600].map(Duration::from_secs);
        assert_eq!([timeouts.create_or(hour), timeouts.update_or(hour)], [minute, hour]);
        assert_eq!([timeouts.read_or(hour), timeouts.delete_or(hour)], [hour, hour]);
    }
}
