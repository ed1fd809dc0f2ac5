use std::cmp::Ordering;
use std::fmt;

use smol_str::SmolStr;

/// A text that is not one exact version; the message is a fragment, as OpenTofu words it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VersionError(pub(crate) String);

/// The version of OpenTofu whose language and formats these are.
pub const OPENTOFU_VERSION: &str = "1.12.6";

/// [`OPENTOFU_VERSION`], for comparisons.
pub fn opentofu_version() -> Version {
    Version::parse(OPENTOFU_VERSION).expect("the constant is a version")
}

/// A semantic version.
///
/// The order is that of precedence (a prerelease before its release); where that is equal, by build metadata,
/// so that equal means identical.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub patch: u64,
    /// What follows `-`, without it; empty for a release.
    pub prerelease: SmolStr,
    /// What follows `+`, without it.
    pub build: SmolStr,
}

impl Version {
    /// The release with these numbers.
    pub fn new(major: u64, minor: u64, patch: u64) -> Version {
        Version { major, minor, patch, ..Version::default() }
    }

    /// Reads one exact version, such as `1.2.3-beta.1+build`; missing numbers are zero.
    ///
    /// # Errors
    /// On operators, blanks, a leading `v`, wildcards, a fourth number or stray characters.
    pub fn parse(text: &str) -> Result<Version, VersionError> {
        if text.trim().is_empty() {
            return Err(VersionError("empty specification".to_owned()));
        }
        reject_decoration(text)?;
        let (raw, rest) = RawVersion::scan(text, false);
        let version = raw.version().map_err(VersionError)?;
        match rest {
            "" => Ok(version),
            _ if rest.trim().is_empty() => {
                Err(VersionError("extraneous spaces at end of specification".to_owned()))
            }
            _ => Err(VersionError(format!("invalid characters {rest:?}"))),
        }
    }

    /// Reads a version as module registries and `required_version` write it: a leading `v` is accepted.
    ///
    /// # Errors
    /// Where no version is found.
    pub fn parse_lenient(text: &str) -> Result<Version, VersionError> {
        let body = text.strip_prefix('v').unwrap_or(text);
        let (raw, rest) = RawVersion::scan(body, true);
        match raw.version() {
            Ok(version) if rest.is_empty() => Ok(version),
            _ => Err(VersionError(format!("malformed version: {text}"))),
        }
    }

    /// Says whether this is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// The version without prerelease and build metadata.
    pub fn core(&self) -> Version {
        Version::new(self.major, self.minor, self.patch)
    }

    /// Compares by precedence only: build metadata does not count.
    pub fn precedence(&self, other: &Version) -> Ordering {
        let numbers = |it: &Version| (it.major, it.minor, it.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.precedence(other)
            .then_with(|| self.build.cmp(&other.build))
            // Numbers written with leading zeros have equal precedence and different text.
            .then_with(|| self.prerelease.cmp(&other.prerelease))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        self.fmt_extra(f)
    }
}

impl Version {
    /// Prints prerelease and build metadata with their signs.
    pub(crate) fn fmt_extra(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.build.is_empty() {
            write!(f, "+{}", self.build)?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Version, VersionError> {
        Version::parse(text)
    }
}

fn reject_decoration(text: &str) -> Result<(), VersionError> {
    let operator: String = text.chars().take_while(|it| "<>=!~^".contains(*it)).collect();
    let fault = if !operator.is_empty() && operator != "=" {
        format!("can't use constraint operator {operator:?}; an exact version is required")
    } else if !operator.is_empty() {
        format!("invalid sequence {operator:?} at start of specification")
    } else if text.starts_with(char::is_whitespace) {
        "extraneous spaces at start of specification".to_owned()
    } else if text.starts_with('v') {
        "a \"v\" prefix should not be used".to_owned()
    } else {
        return Ok(());
    };
    Err(VersionError(fault))
}

fn compare_prereleases(a: &str, b: &str) -> Ordering {
    match (a.is_empty(), b.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => compare_identifiers(a, b),
    }
}

fn compare_identifiers(a: &str, b: &str) -> Ordering {
    let mut ours = a.split('.');
    let mut theirs = b.split('.');
    loop {
        let order = match (ours.next(), theirs.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => compare_identifier(a, b),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Numbers sort by value and before texts; numbers of any length, so by length first.
fn compare_identifier(a: &str, b: &str) -> Ordering {
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    match (is_number(a), is_number(b)) {
        (true, true) => {
            let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
            a.len().cmp(&b.len()).then_with(|| a.cmp(b))
        }
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => a.cmp(b),
    }
}

/// A version as written: up to three numbers, perhaps fewer.
#[derive(Debug, Default)]
pub(crate) struct RawVersion<'a> {
    pub(crate) numbers: Vec<&'a str>,
    pub(crate) prerelease: &'a str,
    pub(crate) build: &'a str,
}

const PORTIONS: [&str; 3] = ["major", "minor", "patch"];

impl<'a> RawVersion<'a> {
    /// Takes a version from the start of `text` and returns what follows it.
    ///
    /// `bare_prerelease` accepts `1.0.0beta1`, as module version constraints do.
    pub(crate) fn scan(text: &'a str, bare_prerelease: bool) -> (RawVersion<'a>, &'a str) {
        let mut raw = RawVersion::default();
        let mut rest = text;
        loop {
            let (number, after) = split_while(rest, |it| it.is_ascii_digit() || it == '*');
            if number.is_empty() {
                break;
            }
            raw.numbers.push(number);
            rest = after;
            match rest.strip_prefix('.') {
                Some(after) if after.starts_with(|it: char| it.is_ascii_digit() || it == '*') => {
                    rest = after;
                }
                _ => break,
            }
        }
        if raw.numbers.is_empty() {
            return (raw, rest);
        }
        let in_extra = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '.' || it == '~';
        if let Some(after) = rest.strip_prefix('-') {
            (raw.prerelease, rest) = split_while(after, in_extra);
        } else if bare_prerelease && rest.starts_with(|it: char| it.is_ascii_alphabetic()) {
            (raw.prerelease, rest) = split_while(rest, in_extra);
        }
        if let Some(after) = rest.strip_prefix('+') {
            (raw.build, rest) = split_while(after, in_extra);
        }
        (raw, rest)
    }

    /// The version with missing numbers as zero, or the fragment that says what is wrong.
    pub(crate) fn version(&self) -> Result<Version, String> {
        if self.numbers.is_empty() {
            return Err("no version number was found".to_owned());
        }
        if self.numbers.len() > 3 {
            let fault = "too many numbered portions; only three are allowed (major, minor, patch)";
            return Err(fault.to_owned());
        }
        let mut numbers = [0u64; 3];
        for (idx, text) in self.numbers.iter().enumerate() {
            if text.contains('*') {
                return Err(format!(
                    "can't use wildcard for {} number; an exact version is required",
                    PORTIONS[idx]
                ));
            }
            numbers[idx] = text
                .parse()
                .map_err(|_| format!("{} number {text} is too large", PORTIONS[idx]))?;
        }
        Ok(Version {
            prerelease: self.prerelease.into(),
            build: self.build.into(),
            ..Version::new(numbers[0], numbers[1], numbers[2])
        })
    }
}

pub(crate) fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|it| !keep(it)).unwrap_or(text.len()))
}
