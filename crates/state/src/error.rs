//! Errors from reading and writing states and plans.

use values::Path;

/// An error that prevents writing a value to a state or plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The value or a part of it is ephemeral. The error shows its address, never its content.
    #[error("{what}{path} is ephemeral, and ephemeral values are never saved")]
    Ephemeral { what: String, path: String },
    /// The codec refuses the value, because it is unknown, infinite or of the wrong type.
    #[error("{what} cannot be saved: {cause}")]
    Value { what: String, cause: String },
    /// The object belongs to an ephemeral resource.
    #[error("{0} is an ephemeral resource, and those are never saved")]
    EphemeralResource(String),
    /// The zip or JSON layer failed, which only happens on a bug or if memory is exhausted.
    #[error("failed to write the plan file: {0}")]
    Archive(String),
}

impl EncodeError {
    pub(crate) fn ephemeral(what: &str, path: &Path) -> Self {
        Self::Ephemeral { what: what.to_owned(), path: path.to_string() }
    }

    pub(crate) fn value(what: &str, cause: impl ToString) -> Self {
        Self::Value { what: what.to_owned(), cause: cause.to_string() }
    }
}

/// An error that prevents reading a state file. Summary and detail follow OpenTofu's messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.summary(), self.detail())]
pub enum StateError {
    /// The file is not JSON, or not of the expected structure. `cause` has the line and the column.
    Syntax { cause: String },
    /// The JSON has no `version`.
    NoVersion,
    /// The `serial` is not a whole number or out of bounds.
    Serial,
    /// The format is older than Terraform 0.12.
    OldVersion { version: u64 },
    /// The format is newer than the supported one.
    NewVersion { version: u64 },
    /// The state is encrypted and was not decrypted.
    Encrypted,
    /// The version of the program that wrote the state is not a valid version.
    WrittenBy { text: String },
    /// The mode of a resource is neither `managed` nor `data`.
    Mode { mode: String, resource: String },
    /// A module, resource or provider address is invalid.
    Address { text: String, cause: String },
    /// The key, status, deposed key or paths of an instance are invalid.
    Instance { instance: String, cause: String },
    /// An instance occurs twice.
    Duplicate { instance: String },
    /// The type or the value of an output is invalid.
    Output { name: String, is_type: bool, cause: String },
}

impl StateError {
    /// The summary, one line.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Syntax { .. }
            | Self::NoVersion
            | Self::Serial
            | Self::OldVersion { .. }
            | Self::NewVersion { .. } => "Unsupported state file format",
            Self::Encrypted => "Encrypted state",
            Self::WrittenBy { .. } => "Invalid OpenTofu version string",
            Self::Mode { .. } => "Invalid resource mode in state",
            Self::Address { .. } => "Invalid address in state",
            Self::Instance { .. } => "Invalid resource instance metadata in state",
            Self::Duplicate { .. } => "Duplicate resource instance in state",
            Self::Output { is_type: true, .. } => "Invalid output value type in state",
            Self::Output { is_type: false, .. } => "Invalid output value saved in state",
        }
    }

    /// The detail: the error, its place, and how to resolve it.
    pub fn detail(&self) -> String {
        match self {
            Self::Syntax { cause } => {
                format!("The state file could not be parsed as JSON: {cause}.")
            }
            Self::NoVersion => "The state file does not have a \"version\" attribute, which is \
                                required to identify the format version."
                .to_owned(),
            Self::Serial => format!(
                "The \"serial\" of the state file is not a whole number from 0 to {}. It \
                 distinguishes older states from newer ones: set it to the last number that the \
                 state had, or to a higher one.",
                u64::MAX
            ),
            Self::OldVersion { version } => format!(
                "The state file uses format version {version}, which Terraform wrote before \
                 version 0.12. Run \"tofu state pull\" with OpenTofu once and use what it prints."
            ),
            Self::NewVersion { version } => format!(
                "The state file uses format version {version}, which this version of Mayfly does \
                 not read. It may have been written by a newer version of OpenTofu than {}, with \
                 which Mayfly is compatible: use that version, or restore an older state.",
                crate::WRITTEN_VERSION
            ),
            Self::Encrypted => "This state file is encrypted and can not be read without an \
                                encryption configuration."
                .to_owned(),
            Self::WrittenBy { text } => format!(
                "State file claims to have been written by OpenTofu version {text:?}, which is not \
                 a valid version string."
            ),
            Self::Mode { mode, resource } => format!(
                "State contains a resource with mode {mode:?} ({resource}) which is not supported."
            ),
            Self::Address { text, cause } => {
                format!("The state file has {text:?} for an address: {cause}.")
            }
            Self::Instance { instance, cause } => format!("Instance {instance} {cause}."),
            Self::Duplicate { instance } => {
                format!("Instance {instance} appears multiple times in the state file.")
            }
            Self::Output { name, is_type: true, cause } => format!(
                "The state file has an invalid type specification for output {name:?}: {cause}."
            ),
            Self::Output { name, is_type: false, cause } => {
                format!("The state file has an invalid value for output {name:?}: {cause}.")
            }
        }
    }
}
