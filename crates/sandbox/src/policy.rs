//! The policy of a process as data, and as arguments of the launcher.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fmt,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::PathBuf,
};

/// The argument after the last one of a policy.
const END: &str = "--";

/// The port of DNS. A resolver uses TCP for long answers, so it may always be reached along with any other port.
pub(crate) const DNS: u16 = 53;

/// The permissions of a process beyond those that every provider needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// The files and directories that may be read, with everything below them.
    pub read: Vec<PathBuf>,
    /// The files and directories that may be read, changed, created and removed, with everything below them.
    pub write: Vec<PathBuf>,
    /// The TCP ports, of any host, to which connections may be opened.
    pub connect: Ports,
    /// The TCP ports that may be listened on.
    pub bind: Ports,
    /// True if other programs may be started. They run in the same sandbox.
    pub processes: bool,
    /// True if the modes and times of files may be changed by path. That is not limited to `write`, so a process needs
    /// a reason for it.
    pub modes: bool,
}

/// A set of TCP ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// Every port.
    All,
    /// These ports, possibly none.
    Only(BTreeSet<u16>),
}

/// The sandbox of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The permissions of the process. The paths are absolute.
    pub grants: Grants,
    /// True if the process must not start where the kernel cannot apply the policy as a whole.
    pub is_required: bool,
}

impl Default for Ports {
    fn default() -> Ports {
        Ports::NONE
    }
}

impl Ports {
    /// The empty set.
    pub const NONE: Ports = Ports::Only(BTreeSet::new());

    /// Returns true if there is no port in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Ports::NONE
    }

    /// Returns true if a port is in the set.
    #[must_use]
    pub fn contains(&self, port: u16) -> bool {
        match self {
            Ports::All => true,
            Ports::Only(ports) => ports.contains(&port),
        }
    }

    /// Adds the ports of another set.
    pub fn extend(&mut self, other: &Ports) {
        match (&mut *self, other) {
            (Ports::Only(ports), Ports::Only(others)) => ports.extend(others),
            _ => *self = Ports::All,
        }
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ports::All => f.write_str("all"),
            Ports::Only(ports) if ports.is_empty() => f.write_str("none"),
            Ports::Only(ports) => {
                let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
                f.write_str(&ports.join(","))
            }
        }
    }
}

impl Policy {
    /// Returns true if the process may use no network at all.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        self.grants.connect.is_empty() && self.grants.bind.is_empty()
    }

    /// Returns the policy as arguments for the launcher. Paths need not be UTF-8.
    #[must_use]
    pub fn to_arguments(&self) -> Vec<OsString> {
        let grants = &self.grants;
        let path = |name: &str, path: &PathBuf| {
            let mut argument = OsString::from(name);
            argument.push(path);
            argument
        };
        let mut arguments: Vec<OsString> = Vec::new();
        arguments.extend(grants.read.iter().map(|it| path("read=", it)));
        arguments.extend(grants.write.iter().map(|it| path("write=", it)));
        arguments.push(format!("connect={}", grants.connect).into());
        arguments.push(format!("bind={}", grants.bind).into());
        arguments.extend(grants.processes.then(|| "processes".into()));
        arguments.extend(grants.modes.then(|| "modes".into()));
        arguments.extend(self.is_required.then(|| "required".into()));
        arguments.push(END.into());
        arguments
    }

    /// Reads the arguments that [`to_arguments`](Policy::to_arguments) returned, and returns the policy with the
    /// arguments after it. `None` if they are no policy: a part that is not understood might be a restriction.
    #[must_use]
    pub fn from_arguments(arguments: &[OsString]) -> Option<(Policy, &[OsString])> {
        let mut policy = Policy { grants: Grants::default(), is_required: false };
        for (position, argument) in arguments.iter().enumerate() {
            if argument == END {
                return Some((policy, &arguments[position + 1..]));
            }
            policy.read_argument(argument)?;
        }
        None
    }

    fn read_argument(&mut self, argument: &OsStr) -> Option<()> {
        let bytes = argument.as_bytes();
        let after = |name: &str| bytes.strip_prefix(name.as_bytes());
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        if let Some(read) = after("read=") {
            self.grants.read.push(path(read));
        } else if let Some(write) = after("write=") {
            self.grants.write.push(path(write));
        } else if let Some(ports) = after("connect=") {
            self.grants.connect = read_ports(ports)?;
        } else if let Some(ports) = after("bind=") {
            self.grants.bind = read_ports(ports)?;
        } else if bytes == b"processes" {
            self.grants.processes = true;
        } else if bytes == b"modes" {
            self.grants.modes = true;
        } else if bytes == b"required" {
            self.is_required = true;
        } else {
            return None;
        }
        Some(())
    }
}

fn read_ports(text: &[u8]) -> Option<Ports> {
    match std::str::from_utf8(text).ok()? {
        "all" => Some(Ports::All),
        "none" => Some(Ports::NONE),
        ports => {
            let ports: Result<_, _> = ports.split(',').map(str::parse).collect();
            ports.ok().map(Ports::Only)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy() -> Policy {
        let name = OsString::from_vec(b"/not/utf-8/\xff".to_vec());
        Policy {
            grants: Grants {
                read: vec!["/etc/a b".into(), name.into()],
                write: vec!["/tmp".into()],
                connect: Ports::Only([443, 8443].into()),
                bind: Ports::All,
                processes: true,
                modes: true,
            },
            is_required: true,
        }
    }

    #[test]
    fn arguments_are_read_back() {
        let closed = Policy { grants: Grants::default(), is_required: false };
        for policy in [policy(), closed] {
            let mut arguments = policy.to_arguments();
            arguments.extend(["program".into(), "--".into()]);
            let (read, rest) = Policy::from_arguments(&arguments).expect("is a policy");
            assert_eq!(read, policy);
            assert_eq!(rest, ["program", "--"]);
        }
    }

    #[test]
    fn invalid_arguments_are_refused() {
        for arguments in
            [&["read=/x"][..], &["read", "--"], &["connect=70000", "--"], &["bind=", "--"], &[]]
        {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            assert_eq!(Policy::from_arguments(&arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn ports_are_added() {
        let mut ports = Ports::Only([443].into());
        ports.extend(&Ports::Only([80].into()));
        assert_eq!(ports.to_string(), "80,443");
        ports.extend(&Ports::All);
        assert!(ports.contains(1) && !ports.is_empty());
    }
}
