//! Results of checks (conditions and assertions), which are kept from one run to the next.

/// All check results, in the order in which they were evaluated.
pub type CheckResults = Vec<CheckResult>;

/// The result of one checkable object of the configuration, over all its instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The kind of the checkable object.
    pub kind: CheckKind,
    /// The address without instance keys, such as `module.a.aws_vpc.b`, `output.o`, `check.c` or `var.v`.
    pub config_addr: String,
    /// The status over all instances.
    pub status: CheckStatus,
    /// The results of the instances.
    pub objects: Vec<CheckObject>,
}

/// The check result of one instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckObject {
    /// The address of the instance.
    pub addr: String,
    /// The status of the instance.
    pub status: CheckStatus,
    /// The messages of the conditions that failed.
    pub failure_messages: Vec<String>,
}

/// The kind of a checkable object.
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

    /// The name of the kind in state files.
    pub fn as_str(self) -> &'static str {
        name(&Self::ALL, self)
    }

    /// Parses the name of a kind. `None` for a kind of a later version; the reader omits such a result.
    pub fn parse(text: &str) -> Option<Self> {
        find(&Self::ALL, text)
    }
}

/// The outcome of a check.
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

    /// The name of the status in state files.
    pub fn as_str(self) -> &'static str {
        name(&Self::ALL, self)
    }

    /// Parses the name of a status. A status of a later version counts as unknown.
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
