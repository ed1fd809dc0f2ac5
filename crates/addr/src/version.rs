use std::cmp::Ordering;
use std::fmt;

use smol_str::SmolStr;

/// The error for a text that is not an exact version. The message is a fragment in OpenTofu's wording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct VersionError(pub(crate) String);

/// The version of OpenTofu whose language and formats this program implements.
pub const OPENTOFU_VERSION: &str = "1.12.6";

/// Returns [`OPENTOFU_VERSION`], parsed for comparisons.
pub fn opentofu_version() -> Version {
    Version::parse(OPENTOFU_VERSION).expect("the constant is a version")
}

/// A semantic version.
///
/// Versions sort by precedence: a prerelease comes before its release. Versions of equal precedence sort by build
/// metadata, so that only identical versions compare as equal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version {
    /// The major number.
    pub major: u64,
    /// The minor number.
    pub minor: u64,
    /// The patch number.
    pub patch: u64,
    /// The prerelease after `-`, without the dash; empty for a release.
    pub prerelease: SmolStr,
    /// The build metadata after `+`, without the plus sign; empty if there is none.
    pub build: SmolStr,
}

impl Version {
    /// Creates the release with these numbers.
    pub fn new(major: u64, minor: u64, patch: u64) -> Version {
        Version { major, minor, patch, ..Version::default() }
    }

    /// Parses an exact version, such as `1.2.3-beta.1+build`; missing numbers are zero.
    ///
    /// # Errors
    /// Fails on operators, surrounding blanks, a leading `v`, wildcards, a fourth number and other characters.
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

    /// Parses a version in the form of module registries and `required_version`, which allow a leading `v`.
    ///
    /// # Errors
    /// Fails if the text is not a version.
    pub fn parse_lenient(text: &str) -> Result<Version, VersionError> {
        let body = text.strip_prefix('v').unwrap_or(text);
        let (raw, rest) = RawVersion::scan(body, true);
        match raw.version() {
            Ok(version) if rest.is_empty() => Ok(version),
            _ => Err(VersionError(format!("malformed version: {text}"))),
        }
    }

    /// Returns true if this is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Returns this version without prerelease and build metadata.
    pub fn core(&self) -> Version {
        Version::new(self.major, self.minor, self.patch)
    }

    /// Compares by precedence only, which ignores build metadata.
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
            // Prereleases that differ only in leading zeros have equal precedence but different text.
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
    /// Prints the prerelease and the build metadata with their `-` and `+`.
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

/// Numbers sort by value, and before texts. A number can have any length, so the comparison starts with the
/// lengths.
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

/// A version before validation: the numbers in the text, which may be fewer than three, and the suffixes.
#[derive(Debug, Default)]
pub(crate) struct RawVersion<'a> {
    pub(crate) numbers: Vec<&'a str>,
    pub(crate) prerelease: &'a str,
    pub(crate) build: &'a str,
}

const PORTIONS: [&str; 3] = ["major", "minor", "patch"];

impl<'a> RawVersion<'a> {
    /// Takes a version from the start of `text` and returns it with the remaining text.
    ///
    /// `bare_prerelease` allows a prerelease without a dash, such as `1.0.0beta1`, as module version constraints
    /// do.
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

    /// Returns the version, with zero for missing numbers, or a fragment that describes the error.
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
