//! Results of conditions and assertions, as they are kept from one run to the next.

/// All results, in the order in which they were found.
pub type CheckResults = Vec<CheckResult>;

/// The result of one checkable thing of the configuration, over all its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    pub kind: CheckKind,
    /// Without instance keys, e.g. `module.a.aws_vpc.b`, `output.o`, `check.c`, `var.v`.
    pub config_addr: String,
    pub status: CheckStatus,
    pub objects: Vec<CheckObject>,
}

/// The result of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckObject {
    pub addr: String,
    pub status: CheckStatus,
    pub failure_messages: Vec<String>,
}

/// What carries a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    Resource,
    Output,
    Check,
    Variable,
}

impl CheckKind {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Resource, "resource"),
        (Self::Output, "output"),
        (Self::Check, "check"),
        (Self::Variable, "var"),
    ];

    /// The word in state files.
    pub fn as_str(self) -> &'static str {
        name(&Self::ALL, self)
    }

    /// Reads the word; a kind of a later version is `None`, and such a result is left out.
    pub fn parse(text: &str) -> Option<Self> {
        find(&Self::ALL, text)
    }
}

/// How a condition came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    Unknown,
    Pass,
    Fail,
    Error,
}

impl CheckStatus {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Unknown, "unknown"),
        (Self::Pass, "pass"),
        (Self::Fail, "fail"),
        (Self::Error, "error"),
    ];

    /// The word in state files.
    pub fn as_str(self) -> &'static str {
        name(&Self::ALL, self)
    }

    /// Reads the word; one of a later version counts as unknown.
    pub fn parse(text: &str) -> Self {
        find(&Self::ALL, text).unwrap_or(Self::Unknown)
    }
}

fn name<T: PartialEq + Copy>(table: &[(T, &'static str)], wanted: T) -> &'static str {
    table.iter().find(|(it, _)| *it == wanted).map_or("unknown", |(_, name)| name)
}

fn find<T: Copy>(table: &[(T, &'static str)], name: &str) -> Option<T> {
    table.iter().find(|(_, it)| *it == name).map(|(it, _)| *it)
}
