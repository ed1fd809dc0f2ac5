//! Timestamps and durations as texts: RFC 3339 as Go parses and formats it, with OpenTofu's messages.

/// A point in time, with the UTC offset in which it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timestamp {
    /// Seconds since 1970, in UTC.
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
    /// The UTC offset in seconds; positive east of Greenwich.
    pub(super) offset: i64,
}

/// The calendar fields of a timestamp in its own offset.
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    /// The day of the week; Sunday is 0.
    pub(super) weekday: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
}

const DAY: i64 = 86_400;

impl Timestamp {
    /// Parses a timestamp.
    pub(super) fn parse(text: &str) -> Result<Timestamp, String> {
        let mut reader = Reader { rest: text };
        let rfc3339 = reader.rfc3339()?;
        reader.is_strict(text)?;
        Ok(rfc3339)
    }

    /// Parses a timestamp in the forms of YAML: with short fields, without a zone, or only a date.
    pub(super) fn parse_loosely(text: &str) -> Option<Timestamp> {
        let mut reader = Reader { rest: text };
        let rfc3339 = reader.loose_moment().ok()?;
        reader.rest.is_empty().then_some(rfc3339)
    }

    /// Returns the timestamp `nanoseconds` later.
    pub(super) fn plus(self, nanoseconds: i64) -> Timestamp {
        let sum = i64::from(self.nanoseconds) + nanoseconds.rem_euclid(1_000_000_000);
        let seconds = self.seconds + nanoseconds.div_euclid(1_000_000_000) + sum / 1_000_000_000;
        let nanoseconds = u32::try_from(sum % 1_000_000_000).unwrap_or(0);
        Timestamp { seconds, nanoseconds, offset: self.offset }
    }

    pub(super) fn civil(self) -> Civil {
        let local = self.seconds + self.offset;
        let (days, rest) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let Date { year, month, day } = date_of(days);
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        Civil {
            year,
            month,
            day,
            weekday: small((days + 4).rem_euclid(7)),
            hour: small(rest / 3600),
            minute: small(rest / 60 % 60),
            second: small(rest % 60),
        }
    }

    /// Returns the offset as `+01:30`, with `colon` between hours and minutes.
    pub(super) fn offset_text(self, colon: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.abs() / 60;
        format!("{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60)
    }

    /// Returns the offset, or `Z` for UTC.
    pub(super) fn zone_text(self) -> String {
        if self.offset == 0 { "Z".to_owned() } else { self.offset_text(":") }
    }

    /// Formats as RFC 3339 without fractions.
    pub(super) fn to_text(self) -> String {
        let at = self.civil();
        let sign = if at.year < 0 { "-" } else { "" };
        format!(
            "{sign}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}",
            at.year.abs(),
            at.month,
            at.day,
            at.hour,
            at.minute,
            at.second,
            self.zone_text()
        )
    }
}

/// Returns the days since 1970 of a Gregorian date. The computation lets years begin in March.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// A date of the Gregorian calendar.
struct Date {
    year: i64,
    month: u32,
    day: u32,
}

/// Returns the date for days since 1970; the inverse of [`days_of`].
fn date_of(days: i64) -> Date {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Date { year, month: u32::try_from(month).unwrap_or(1), day: u32::try_from(day).unwrap_or(1) }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A cursor over the rest of a text.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn rfc3339(&mut self) -> Result<Timestamp, String> {
        let year = self.year()?;
        self.literal('-')?;
        let month = self.number("month", 2, 1..=12)?;
        self.literal('-')?;
        let day = self.number("day of month", 2, 0..=99)?;
        self.literal('T')?;
        let hour = self.number("hour", 1, 0..=23)?;
        self.literal(':')?;
        let minute = self.number("minute", 2, 0..=59)?;
        self.literal(':')?;
        let second = self.number("second", 2, 0..=59)?;
        let nanoseconds = self.fraction();
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(unusable(self.rest, "timestamp segment"));
        }
        if day < 1 || day > days_in(month, year) {
            return Err(invalid("day out of range"));
        }
        let days = days_of(year, month, day);
        let seconds = days * DAY + hour * 3600 + minute * 60 + second - offset;
        Ok(Timestamp { seconds, nanoseconds, offset })
    }

    fn loose_moment(&mut self) -> Result<Timestamp, String> {
        let year = self.year()?;
        self.literal('-')?;
        let month = self.number("month", 1, 1..=12)?;
        self.literal('-')?;
        let day = self.number("day of month", 1, 0..=99)?;
        if day < 1 || day > days_in(month, year) {
            return Err(invalid("day out of range"));
        }
        let midnight = days_of(year, month, day) * DAY;
        if self.rest.is_empty() {
            return Ok(Timestamp { seconds: midnight, nanoseconds: 0, offset: 0 });
        }
        let has_zone = !self.rest.starts_with(' ');
        self.rest = self.rest.strip_prefix(['T', 't', ' ']).ok_or("no time")?;
        let hour = self.number("hour", 1, 0..=23)?;
        self.literal(':')?;
        let minute = self.number("minute", 1, 0..=59)?;
        self.literal(':')?;
        let second = self.number("second", 1, 0..=59)?;
        let nanoseconds = self.fraction();
        let offset = if has_zone { self.offset()? } else { 0 };
        let seconds = midnight + hour * 3600 + minute * 60 + second - offset;
        Ok(Timestamp { seconds, nanoseconds, offset })
    }

    fn year(&mut self) -> Result<i64, String> {
        let digits = self.rest.get(..4).filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        let digits = digits.ok_or_else(|| unusable(self.rest, "year"))?;
        self.rest = &self.rest[4..];
        Ok(digits.parse().unwrap_or(0))
    }

    /// Parses a number of `least` to two digits.
    fn number(
        &mut self,
        what: &str,
        least: usize,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<i64, String> {
        let digits = self.rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        if digits < least {
            return Err(unusable(self.rest, what));
        }
        let (number, rest) = self.rest.split_at(digits);
        let number = number.parse().unwrap_or(0);
        self.rest = rest;
        if range.contains(&number) { Ok(number) } else { Err(unusable(rest, what)) }
    }

    fn literal(&mut self, wanted: char) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix(wanted) {
            self.rest = rest;
            return Ok(());
        }
        Err(invalid(&match wanted {
            'T' => "missing required time introducer 'T'".to_owned(),
            _ if self.rest.is_empty() => format!("end of string where \"{wanted}\" is expected"),
            _ => format!("found {} where \"{wanted}\" is expected", quoted(self.rest)),
        }))
    }

    /// Parses digits after a point or a comma; only the first nine count.
    fn fraction(&mut self) -> u32 {
        let digits = self.rest.strip_prefix(['.', ',']).unwrap_or("");
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return 0;
        }
        self.rest = &self.rest[1 + length..];
        let digits = format!("{:0<9}", &digits[..length.min(9)]);
        digits.parse().unwrap_or(0)
    }

    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let wrong = || unusable(self.rest, "UTC offset");
        let part = self.rest.get(..6).ok_or_else(wrong)?;
        let two =
            |range| part.get(range).filter(|it: &&str| it.bytes().all(|b| b.is_ascii_digit()));
        let sign = match part.as_bytes()[0] {
            b'+' => 1,
            b'-' => -1,
            _ => return Err(wrong()),
        };
        let (Some(hours), Some(minutes), b':') = (two(1..3), two(4..6), part.as_bytes()[3]) else {
            return Err(wrong());
        };
        let (hours, minutes): (i64, i64) =
            (hours.parse().unwrap_or(0), minutes.parse().unwrap_or(0));
        self.rest = &self.rest[6..];
        if hours > 24 || minutes > 60 {
            return Err(unusable(self.rest, "UTC offset"));
        }
        Ok(sign * (hours * 3600 + minutes * 60))
    }

    /// Refuses the forms that Go's parser accepts but RFC 3339 does not.
    fn is_strict(&self, text: &str) -> Result<(), String> {
        if text.as_bytes().get(12) == Some(&b':') {
            return Err(unusable(&text[11..12], "hour"));
        }
        if text.as_bytes().get(19) == Some(&b',') {
            return Err(unusable(",", "timestamp segment"));
        }
        let zone = text.len().checked_sub(6).map_or("", |start| &text[start..]);
        let is_out = |range, most: u32| {
            zone.get(range).and_then(|it: &str| it.parse::<u32>().ok()).is_some_and(|it| it >= most)
        };
        if !text.ends_with('Z') && (is_out(1..3, 24) || is_out(4..6, 60)) {
            return Err(unusable(zone, "UTC offset"));
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    crate::go_quoted(text)
}

fn invalid(reason: &str) -> String {
    format!("not a valid RFC3339 timestamp: {reason}")
}

/// Creates the error for unexpected text.
fn unusable(found: &str, what: &str) -> String {
    invalid(&match what {
        _ if found.is_empty() => format!("end of string before {what}"),
        "hour" if found.contains(':') => "hour must be between 0 and 23 inclusive".to_owned(),
        "hour" | "minute" => format!("{what} must have exactly two digits"),
        _ => format!("cannot use {} as {what}", quoted(found)),
    })
}

/// Parses a duration such as `-1h30m` to nanoseconds.
pub(super) fn duration(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", escaped(text));
    let (is_negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (part, after) = term(rest, text)?;
        total = total.checked_add(part).filter(|it| *it <= LIMIT).ok_or_else(invalid)?;
        rest = after;
    }
    match (is_negative, i64::try_from(total)) {
        (true, Ok(total)) => Ok(-total),
        (true, Err(_)) => Ok(i64::MIN),
        (false, Ok(total)) => Ok(total),
        (false, Err(_)) => Err(invalid()),
    }
}

/// The largest magnitude of a duration.
const LIMIT: u64 = 1 << 63;

/// Parses one number with its unit. Returns its nanoseconds and the rest of the text.
fn term<'a>(rest: &'a str, text: &str) -> Result<(u64, &'a str), String> {
    let invalid = || format!("time: invalid duration {}", escaped(text));
    let (whole, rest) = digits(rest);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let nanoseconds: u64 = match unit {
        "" => return Err(format!("time: missing unit in duration {}", escaped(text))),
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        unit => {
            let (unit, text) = (escaped(unit), escaped(text));
            return Err(format!("time: unknown unit {unit} in duration {text}"));
        }
    };
    let total = whole.checked_mul(nanoseconds).filter(|it| *it <= LIMIT).ok_or_else(invalid)?;
    let part = part_of(fraction, nanoseconds);
    Ok((total.checked_add(part).filter(|it| *it <= LIMIT).ok_or_else(invalid)?, rest))
}

/// Returns the nanoseconds of a fraction of a unit. Go computes it in floating point, from as many digits as fit
/// into 63 bits.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the result is below the unit, and rounded as Go rounds it"
)]
fn part_of(digits: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1.0_f64);
    for digit in digits.bytes() {
        let next = value.checked_mul(10).and_then(|it| it.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|it| *it <= LIMIT) else { break };
        (value, scale) = (next, scale * 10.0);
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// Quotes a text, with every byte outside ASCII as a hexadecimal escape.
fn escaped(text: &str) -> String {
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' | 0x7f => out.push(char::from(byte)),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out + "\""
}
