use std::cmp::Ordering;
use std::fmt;

use crate::version::{RawVersion, Version, split_while};

/// The error for a text that is not a version constraint. The message is a fragment in OpenTofu's wording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConstraintError(String);

/// The operator by which a term compares a version with its boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operator {
    /// `=`, or no operator.
    Equal,
    /// `!=`.
    NotEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `~>`: at least the boundary; only the last written number may increase.
    Pessimistic,
}

impl Operator {
    fn parse(text: &str) -> Option<Operator> {
        Some(match text {
            "" | "=" => Operator::Equal,
            "!=" => Operator::NotEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            "~>" => Operator::Pessimistic,
            _ => return None,
        })
    }

    fn text(self) -> &'static str {
        match self {
            Operator::Equal => "",
            Operator::NotEqual => "!=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Pessimistic => "~>",
        }
    }
}

/// A comparison, such as `~> 1.2`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConstraintTerm {
    /// The operator.
    pub operator: Operator,
    /// The version to compare with; numbers that the text omits are zero.
    pub boundary: Version,
    /// The count of numbers in the text of a pessimistic boundary, 1 to 3: `~> 1.2` and `~> 1.2.0` differ. Always
    /// 3 for other operators.
    pub written: u8,
}

/// A list of comparisons that must all hold. The empty list allows every version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VersionConstraint {
    terms: Vec<ConstraintTerm>,
}

impl VersionConstraint {
    /// Returns the constraint without terms.
    pub fn any() -> VersionConstraint {
        VersionConstraint::default()
    }

    /// Parses the version constraint of a provider, whose syntax for blanks and operators is strict.
    ///
    /// # Errors
    /// Fails on unknown operators (`=>` and `=<` get a hint), a `v` prefix, wildcards, a fourth number or a
    /// missing comma.
    pub fn parse_provider(text: &str) -> Result<VersionConstraint, ConstraintError> {
        let mut terms = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (term, after) = strict_term(rest);
            let consumed = match &rest[..rest.len() - after.len()] {
                "" => rest,
                consumed => consumed,
            };
            let term = term.map_err(|fault| {
                ConstraintError(format!("invalid specification {consumed:?}: {fault}"))
            })?;
            terms.push(term);
            rest = after.trim();
            if rest.is_empty() {
                break;
            }
            rest = match rest.strip_prefix(',') {
                Some(after) => after.trim(),
                None if rest.starts_with('v') => {
                    return Err(ConstraintError(V_PREFIX.to_owned()));
                }
                None => return Err(ConstraintError(format!("missing comma after {consumed:?}"))),
            };
        }
        Ok(VersionConstraint { terms })
    }

    /// Parses the version constraint of a module or of `required_version`, which allows blanks around each part
    /// and a `v` prefix.
    ///
    /// # Errors
    /// Fails on the first invalid term, and names it.
    pub fn parse(text: &str) -> Result<VersionConstraint, ConstraintError> {
        let terms = text.split(',').map(lenient_term).collect::<Result<_, _>>()?;
        Ok(VersionConstraint { terms })
    }

    /// The comparisons, in the order of the text.
    pub fn terms(&self) -> &[ConstraintTerm] {
        &self.terms
    }

    /// Returns the conjunction of both constraints.
    pub fn and(&self, other: &VersionConstraint) -> VersionConstraint {
        let mut terms = self.terms.clone();
        for term in &other.terms {
            if !terms.contains(term) {
                terms.push(term.clone());
            }
        }
        VersionConstraint { terms }
    }

    /// Returns true if the constraint allows this version of a provider.
    ///
    /// A prerelease is allowed only if a term requests exactly that version with `=`.
    pub fn allows_provider(&self, version: &Version) -> bool {
        (!version.is_prerelease() || self.names(version))
            && self.terms.iter().all(|term| term.meets_as_provider(version))
    }

    /// Returns true if the constraint allows this version of a module or of the program.
    ///
    /// A prerelease satisfies an inequality only if the boundary is a prerelease with the same numbers.
    pub fn allows(&self, version: &Version) -> bool {
        self.terms.iter().all(|term| term.meets(version))
    }

    /// Returns true if a term requires exactly this version.
    pub fn names(&self, version: &Version) -> bool {
        let is_exact =
            |term: &ConstraintTerm| term.operator == Operator::Equal && term.boundary == *version;
        self.terms.iter().any(is_exact)
    }

    /// Returns the canonical text for the dependency lock file: sorted by boundary, without duplicates.
    pub fn canonical(&self) -> String {
        let mut terms: Vec<ConstraintTerm> = self.terms.clone();
        for term in &mut terms {
            // For a provider, `~> 1` means the same as `~> 1.0`.
            term.written = term.written.max(2);
        }
        terms.sort_by(|a, b| a.boundary.cmp(&b.boundary).then_with(|| a.rank().cmp(&b.rank())));
        terms.dedup();
        let texts: Vec<String> = terms.iter().map(ToString::to_string).collect();
        texts.join(", ")
    }
}

/// Prints the terms in the order of the text, with canonical spacing: `~> 1.2, != 1.3.1`.
impl fmt::Display for VersionConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, term) in self.terms.iter().enumerate() {
            let separator = if idx == 0 { "" } else { ", " };
            write!(f, "{separator}{term}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ConstraintTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.operator != Operator::Equal {
            write!(f, "{} ", self.operator.text())?;
        }
        let it = &self.boundary;
        match self.written {
            1 => write!(f, "{}", it.major)?,
            2 => write!(f, "{}.{}", it.major, it.minor)?,
            _ => write!(f, "{}.{}.{}", it.major, it.minor, it.patch)?,
        }
        it.fmt_extra(f)
    }
}

impl ConstraintTerm {
    /// The position of this term among the terms with the same boundary: lower bounds come first.
    fn rank(&self) -> u8 {
        match self.operator {
            Operator::Greater => 1,
            Operator::GreaterOrEqual => 2,
            Operator::Equal => 3,
            Operator::Pessimistic if self.written == 3 => 4,
            Operator::Pessimistic => 5,
            Operator::LessOrEqual => 6,
            Operator::Less => 7,
            Operator::NotEqual => 8,
        }
    }

    fn meets_as_provider(&self, version: &Version) -> bool {
        let order = version.precedence(&self.boundary);
        match self.operator {
            Operator::Equal => *version == self.boundary,
            Operator::NotEqual => *version != self.boundary,
            Operator::Pessimistic => {
                order.is_ge() && version.precedence(&self.pessimistic_limit()).is_lt()
            }
            _ => self.meets_order(order),
        }
    }

    fn meets(&self, version: &Version) -> bool {
        let order = version.precedence(&self.boundary);
        match self.operator {
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::Pessimistic => {
                self.prerelease_fits(version)
                    && (!self.boundary.is_prerelease() || version.is_prerelease())
                    && order.is_ge()
                    && self.fixed_numbers_match(version)
            }
            _ => self.prerelease_fits(version) && self.meets_order(order),
        }
    }

    fn meets_order(&self, order: Ordering) -> bool {
        match self.operator {
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Equal | Operator::NotEqual | Operator::Pessimistic => false,
        }
    }

    fn prerelease_fits(&self, version: &Version) -> bool {
        !version.is_prerelease()
            || (self.boundary.is_prerelease() && version.core() == self.boundary.core())
    }

    fn pessimistic_limit(&self) -> Version {
        let Version { major, minor, .. } = self.boundary;
        match self.written {
            3 => Version::new(major, minor.saturating_add(1), 0),
            _ => Version::new(major.saturating_add(1), 0, 0),
        }
    }

    /// Returns true if the version agrees in all written numbers but the last; `~> 1` has none of these.
    fn fixed_numbers_match(&self, version: &Version) -> bool {
        let ours = [self.boundary.major, self.boundary.minor];
        let theirs = [version.major, version.minor];
        let fixed = usize::from(self.written.saturating_sub(1)).min(ours.len());
        ours[..fixed] == theirs[..fixed]
    }
}

const V_PREFIX: &str = "a \"v\" prefix should not be used when specifying versions";

/// Parses one term at the start of the text. Also returns the remaining text if the term is invalid.
fn strict_term(text: &str) -> (Result<ConstraintTerm, String>, &str) {
    let (operator, rest) = split_while(text, |it| "<>=!~^".contains(it));
    let (separator, rest) = split_while(rest, |it| it.is_whitespace() || it == 'v');
    let (raw, rest) = RawVersion::scan(rest, false);
    let result = strict_operator(operator)
        .and_then(|op| {
            strict_separator(operator, separator)?;
            Ok(op)
        })
        .and_then(|op| term_of(op, &raw, "omit segments that should be unconstrained"));
    (result, rest)
}

fn strict_operator(text: &str) -> Result<Operator, String> {
    match Operator::parse(text) {
        Some(operator) => Ok(operator),
        None => Err(match text {
            "=<" => format!("invalid constraint operator {text:?}; did you mean \"<=\"?"),
            "=>" => format!("invalid constraint operator {text:?}; did you mean \">=\"?"),
            _ => format!("invalid constraint operator {text:?}"),
        }),
    }
}

fn strict_separator(operator: &str, separator: &str) -> Result<(), String> {
    match separator {
        "" => Ok(()),
        " " if !operator.is_empty() => Ok(()),
        _ if separator.contains('v') => Err(V_PREFIX.to_owned()),
        _ if operator.is_empty() => Err("extraneous spaces at start of specification".to_owned()),
        _ => Err(format!("only one space is expected after the operator {operator:?}")),
    }
}

fn term_of(
    operator: Operator,
    raw: &RawVersion<'_>,
    wildcard_hint: &str,
) -> Result<ConstraintTerm, String> {
    for (idx, number) in raw.numbers.iter().take(3).enumerate() {
        if number.contains('*') {
            let portion = ["major", "minor", "patch"][idx];
            return Err(format!("can't use wildcard for {portion} number; {wildcard_hint}"));
        }
    }
    let boundary = raw.version()?;
    let written = if operator == Operator::Pessimistic { raw.numbers.len() } else { 3 };
    Ok(ConstraintTerm { operator, boundary, written: u8::try_from(written).unwrap_or(3) })
}

fn lenient_term(text: &str) -> Result<ConstraintTerm, ConstraintError> {
    let malformed = || ConstraintError(format!("Malformed constraint: {text}"));
    let (operator, rest) = split_while(text.trim(), |it| "<>=!~^".contains(it));
    let operator = Operator::parse(operator).ok_or_else(malformed)?;
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('v').unwrap_or(rest);
    let (raw, rest) = RawVersion::scan(rest, true);
    if !rest.is_empty() {
        return Err(malformed());
    }
    term_of(operator, &raw, "").map_err(|_| malformed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts come from lock files that Terraform 1.11.4 wrote.
    #[test]
    fn constraint_text_matches_lock_files_of_terraform() {
        let cases = [
            (">= 1.0", ">= 1.0.0"),
            ("~> 1", "~> 1.0"),
            ("~>1.2.0", "~> 1.2.0"),
            ("= 5.100", "5.100.0"),
            ("!= 5", "!= 5.0.0"),
            (">1, <= 9.0.0-beta1", "> 1.0.0, <= 9.0.0-beta1"),
            (">= 2.0, >=2.0.0, >= 2", ">= 2.0.0"),
            (">= 4.0, != 5.2, ~> 6.0", ">= 4.0.0, != 5.2.0, ~> 6.0"),
            ("", ""),
        ];
        for (written, canonical) in cases {
            let constraint = VersionConstraint::parse_provider(written).expect("a constraint");
            assert_eq!(constraint.canonical(), canonical, "{written}");
        }
    }
}
