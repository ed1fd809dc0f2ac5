//! The protobuf messages of `tfplan`. Field numbers are never reused.

use prost::Message;

/// The format version that this build reads and writes.
pub(crate) const FORMAT: u32 = 1;

/// The first fields of [`PlanMessage`], which keep their meaning in every format version.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HeaderMessage {
    #[prost(uint32, tag = "1")]
    pub(crate) format: u32,
    #[prost(string, tag = "2")]
    pub(crate) made_by: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlanMessage {
    #[prost(uint32, tag = "1")]
    pub(crate) format: u32,
    #[prost(string, tag = "2")]
    pub(crate) made_by: String,
    #[prost(string, tag = "3")]
    pub(crate) id: String,
    #[prost(string, tag = "4")]
    pub(crate) timestamp: String,
    #[prost(uint32, tag = "5")]
    pub(crate) mode: u32,
    #[prost(bool, tag = "6")]
    pub(crate) applyable: bool,
    #[prost(bool, tag = "7")]
    pub(crate) errored: bool,
    /// Types as JSON. Values refer to them by position, so each type is stored once.
    #[prost(string, repeated, tag = "8")]
    pub(crate) types: Vec<String>,
    #[prost(btree_map = "string, message", tag = "9")]
    pub(crate) variables: std::collections::BTreeMap<String, ValueMessage>,
    #[prost(string, repeated, tag = "10")]
    pub(crate) ephemeral_variables: Vec<String>,
    #[prost(message, repeated, tag = "11")]
    pub(crate) resource_changes: Vec<ResourceChangeMessage>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) resource_drift: Vec<ResourceChangeMessage>,
    /// Addresses. The action is always to open.
    #[prost(string, repeated, tag = "13")]
    pub(crate) ephemerals: Vec<String>,
    #[prost(btree_map = "string, message", tag = "14")]
    pub(crate) output_changes: std::collections::BTreeMap<String, OutputChangeMessage>,
    #[prost(message, repeated, tag = "15")]
    pub(crate) checks: Vec<CheckMessage>,
    #[prost(message, repeated, tag = "16")]
    pub(crate) relevant_attributes: Vec<RelevantAttributeMessage>,
    #[prost(string, repeated, tag = "17")]
    pub(crate) targets: Vec<String>,
    #[prost(string, repeated, tag = "18")]
    pub(crate) excludes: Vec<String>,
    #[prost(string, repeated, tag = "19")]
    pub(crate) force_replace: Vec<String>,
    #[prost(message, optional, tag = "20")]
    pub(crate) backend: Option<BackendMessage>,
    #[prost(string, tag = "21")]
    pub(crate) lineage: String,
    #[prost(uint64, tag = "22")]
    pub(crate) serial: u64,
    #[prost(string, tag = "23")]
    pub(crate) root_dir: String,
    #[prost(string, tag = "24")]
    pub(crate) data_dir: String,
    #[prost(bytes = "vec", tag = "25")]
    pub(crate) files_key: Vec<u8>,
    #[prost(btree_map = "string, message", tag = "26")]
    pub(crate) files: std::collections::BTreeMap<String, FileMessage>,
}

/// A file that functions read. Without a digest, only its existence was checked.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FileMessage {
    #[prost(bool, tag = "1")]
    pub(crate) exists: bool,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) digest: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValueMessage {
    /// The position in [`PlanMessage::types`].
    #[prost(uint32, tag = "1")]
    pub(crate) ty: u32,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) msgpack: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) sensitive: Vec<PathMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PathMessage {
    #[prost(message, repeated, tag = "1")]
    pub(crate) steps: Vec<StepMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StepMessage {
    #[prost(oneof = "StepKind", tags = "1, 2")]
    pub(crate) kind: Option<StepKind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum StepKind {
    #[prost(string, tag = "1")]
    Attr(String),
    #[prost(message, tag = "2")]
    Index(ValueMessage),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResourceChangeMessage {
    #[prost(string, tag = "1")]
    pub(crate) addr: String,
    #[prost(string, optional, tag = "2")]
    pub(crate) previous_addr: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub(crate) deposed: Option<String>,
    #[prost(string, tag = "4")]
    pub(crate) provider: String,
    #[prost(uint32, tag = "5")]
    pub(crate) action: u32,
    #[prost(message, optional, tag = "6")]
    pub(crate) before: Option<ValueMessage>,
    #[prost(message, optional, tag = "7")]
    pub(crate) after: Option<ValueMessage>,
    #[prost(bytes = "vec", tag = "8")]
    pub(crate) private: Vec<u8>,
    #[prost(message, repeated, tag = "9")]
    pub(crate) required_replace: Vec<PathMessage>,
    #[prost(uint32, tag = "10")]
    pub(crate) reason: u32,
    #[prost(string, optional, tag = "11")]
    pub(crate) import_id: Option<String>,
    #[prost(message, optional, tag = "12")]
    pub(crate) import_identity: Option<ValueMessage>,
    #[prost(string, tag = "13")]
    pub(crate) generated_config: String,
    #[prost(message, optional, tag = "14")]
    pub(crate) before_identity: Option<ValueMessage>,
    #[prost(message, optional, tag = "15")]
    pub(crate) after_identity: Option<ValueMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct OutputChangeMessage {
    #[prost(uint32, tag = "1")]
    pub(crate) action: u32,
    #[prost(message, optional, tag = "2")]
    pub(crate) before: Option<ValueMessage>,
    #[prost(message, optional, tag = "3")]
    pub(crate) after: Option<ValueMessage>,
    #[prost(bool, tag = "4")]
    pub(crate) sensitive: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CheckMessage {
    #[prost(string, tag = "1")]
    pub(crate) kind: String,
    #[prost(string, tag = "2")]
    pub(crate) config_addr: String,
    #[prost(string, tag = "3")]
    pub(crate) status: String,
    #[prost(message, repeated, tag = "4")]
    pub(crate) objects: Vec<CheckObjectMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CheckObjectMessage {
    #[prost(string, tag = "1")]
    pub(crate) addr: String,
    #[prost(string, tag = "2")]
    pub(crate) status: String,
    #[prost(string, repeated, tag = "3")]
    pub(crate) failure_messages: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RelevantAttributeMessage {
    #[prost(string, tag = "1")]
    pub(crate) resource: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) attribute: Option<PathMessage>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct BackendMessage {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<ValueMessage>,
    #[prost(string, tag = "3")]
    pub(crate) workspace: String,
}
