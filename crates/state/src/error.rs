//! Why a state could not be read or written.

use values::Path;

/// Why a value could not be put into state or plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The value, or a part of it, is ephemeral. Its address is said, never its content.
    #[error("{what}{path} is ephemeral, and ephemeral values are never saved")]
    Ephemeral { what: String, path: String },
    /// The codec refuses the value: it is unknown, infinite or not of its type.
    #[error("{what} cannot be saved: {cause}")]
    Value { what: String, cause: String },
    /// An object of an ephemeral resource.
    #[error("{0} is an ephemeral resource, and those are never saved")]
    EphemeralResource(String),
    /// The zip or JSON layer failed; only on a bug or an exhausted memory.
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

/// Why a state file could not be read: a summary and a detail, as the reference words them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.summary(), self.detail())]
pub enum StateError {
    /// Not JSON, or JSON of another shape. `cause` has line and column.
    Syntax { cause: String },
    /// JSON without a `version`.
    NoVersion,
    /// A `serial` that is no whole number, or out of bounds.
    Serial,
    /// A format of before Terraform 0.12.
    OldVersion { version: u64 },
    /// A format that does not exist yet.
    NewVersion { version: u64 },
    /// The envelope of an encrypted state, and nobody has decrypted it.
    Encrypted,
    /// The version of the program that wrote it is no version.
    WrittenBy { text: String },
    /// A resource's mode is neither `managed` nor `data`.
    Mode { mode: String, resource: String },
    /// A module, resource or provider address.
    Address { text: String, cause: String },
    /// An instance's key, status, deposed key or paths.
    Instance { instance: String, cause: String },
    /// An instance that is there twice.
    Duplicate { instance: String },
    /// An output's type or value.
    Output { name: String, is_type: bool, cause: String },
}

impl StateError {
    /// One line.
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

    /// What is wrong, where, and the way out.
    pub fn detail(&self) -> String {
        match self {
            Self::Syntax { cause } => format!(
                "The state file could not be parsed as JSON: {cause}."
            ),
            Self::NoVersion => "The state file does not have a \"version\" attribute, which is required to identify the format version.".to_owned(),
            Self::Serial => format!(
                "The \"serial\" of the state file is not a whole number from 0 to {}. It tells older states from newer ones: set it to the number that the state had last, or to a higher one.",
                u64::MAX
            ),
            Self::OldVersion { version } => format!(
                "The state file uses format version {version}, which Terraform wrote before version 0.12. Run \"tofu state pull\" with OpenTofu once and use what it prints."
            ),
            Self::NewVersion { version } => format!(
                "The state file uses format version {version}, which this version of Mayfly does not read. It may have been written by a newer version of OpenTofu than {}, with which Mayfly is compatible: use that version, or restore an older state.",
                crate::WRITTEN_VERSION
            ),
            Self::Encrypted => "This state file is encrypted and can not be read without an encryption configuration.".to_owned(),
            Self::WrittenBy { text } => format!(
                "State file claims to have been written by OpenTofu version {text:?}, which is not a valid version string."
            ),
            Self::Mode { mode, resource } => format!(
                "State contains a resource with mode {mode:?} ({resource}) which is not supported."
            ),
            Self::Address { text, cause } => format!("The state file has {text:?} for an address: {cause}."),
            Self::Instance { instance, cause } => format!("Instance {instance} {cause}."),
            Self::Duplicate { instance } => format!("Instance {instance} appears multiple times in the state file."),
            Self::Output { name, is_type: true, cause } => format!(
                "The state file has an invalid type specification for output {name:?}: {cause}."
            ),
            Self::Output { name, is_type: false, cause } => {
                format!("The state file has an invalid value for output {name:?}: {cause}.")
            }
        }
    }
}
