//! The text form of records: one JSON object per line, with instances as in the state file.

use std::borrow::Cow;

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Begin, Changed, FORMAT, Intent, IntentAction, JournalError, Opening, Record};
use crate::error::EncodeError;
use crate::object_address::ObjectAddress;
use crate::resources::{DeposedKey, Instance, ResourceState};
use crate::v4;

/// The serialized form of a record. It borrows values that may be large.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line<'a> {
    Begin(BeginLine),
    Intent(IntentLine),
    #[serde(borrow)]
    Instance(InstanceLine<'a>),
    Unchanged {
        answers: u64,
    },
    Opening(OpeningLine),
    Closed {
        number: u64,
    },
    Folding {
        serial: u64,
        digest: String,
    },
}

#[derive(Serialize, Deserialize)]
struct BeginLine {
    format: u64,
    lineage: String,
    serial: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    operation: String,
    workspace: String,
    time: String,
    program: String,
    #[serde(default, skip_serializing_if = "is_false")]
    rest: bool,
}

#[derive(Serialize, Deserialize)]
struct IntentLine {
    number: u64,
    address: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deposed: Option<String>,
    action: Action,
    provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    named: Option<String>,
    time: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    Update,
    Delete,
}

#[derive(Serialize, Deserialize)]
struct InstanceLine<'a> {
    address: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<u64>,
    /// The resource as in the state file, with this instance only. Omitted if the instance no longer exists.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    resource: Option<&'a RawValue>,
}

#[derive(Serialize, Deserialize)]
struct OpeningLine {
    number: u64,
    address: String,
    provider: String,
    time: String,
}

/// The part of the first line that identifies the format. Other fields are ignored.
#[derive(Deserialize)]
struct Sniffed {
    begin: SniffedBegin,
}

#[derive(Deserialize)]
struct SniffedBegin {
    format: u64,
}

fn is_false(it: &bool) -> bool {
    !*it
}

pub(super) fn write(record: &Record, entry: &mut Vec<u8>) -> Result<(), EncodeError> {
    let text;
    let line = match record {
        Record::Begin(begin) => Line::Begin(begin_line(begin)),
        Record::Intent(intent) => Line::Intent(intent_line(intent)),
        Record::Instance(changed) => {
            text = resource_text(changed)?;
            let address = changed.address.to_string().into();
            Line::Instance(InstanceLine {
                address,
                answers: changed.answers,
                resource: text.as_deref(),
            })
        }
        Record::Unchanged { answers } => Line::Unchanged { answers: *answers },
        Record::Opening(opening) => Line::Opening(OpeningLine {
            number: opening.number,
            address: opening.address.to_string(),
            provider: opening.provider.to_string(),
            time: opening.time.clone(),
        }),
        Record::Closed { number } => Line::Closed { number: *number },
        Record::Folding { serial, digest } => {
            Line::Folding { serial: *serial, digest: digest.clone() }
        }
    };
    serde_json::to_writer(&mut *entry, &line)
        .map_err(|error| EncodeError::value("a record of the journal", error))?;
    entry.push(b'\n');
    Ok(())
}

fn begin_line(begin: &Begin) -> BeginLine {
    BeginLine {
        format: FORMAT,
        lineage: begin.lineage.clone(),
        serial: begin.serial,
        digest: begin.digest.clone(),
        operation: begin.operation.clone(),
        workspace: begin.workspace.clone(),
        time: begin.time.clone(),
        program: begin.program.clone(),
        rest: begin.is_rest,
    }
}

fn intent_line(intent: &Intent) -> IntentLine {
    IntentLine {
        number: intent.number,
        address: intent.object.instance.to_string(),
        deposed: intent.object.deposed.map(|it| it.to_string()),
        action: match intent.action {
            IntentAction::Create => Action::Create,
            IntentAction::Update => Action::Update,
            IntentAction::Delete => Action::Delete,
        },
        provider: intent.provider.to_string(),
        named: intent.named.clone(),
        time: intent.time.clone(),
    }
}

fn resource_text(changed: &Changed) -> Result<Option<Box<RawValue>>, EncodeError> {
    let Some(provider) = changed.provider.as_ref().filter(|_| !changed.instance.is_empty()) else {
        return Ok(None);
    };
    let instances = [(changed.address.key.clone(), changed.instance.clone())].into();
    let resource = ResourceState { provider: provider.clone(), instances };
    let text = v4::write_resource(&changed.address.containing_resource(), &resource)?;
    let raw = RawValue::from_string(text);
    raw.map(Some).map_err(|error| EncodeError::value("a record of the journal", error))
}

/// Reads the records of one entry and appends them to `records`.
pub(super) fn read(entry: &[u8], records: &mut Vec<Record>) -> Result<(), JournalError> {
    for line in entry.split(|it| *it == b'\n').filter(|it| !it.is_empty()) {
        let number = records.len();
        if number == 0
            && let Ok(sniffed) = serde_json::from_slice::<Sniffed>(line)
            && sniffed.begin.format != FORMAT
        {
            return Err(JournalError::NewFormat(sniffed.begin.format));
        }
        let fault = |cause: String| JournalError::Record { record: number, cause };
        let line: Line<'_> = serde_json::from_slice(line).map_err(|error| {
            // The parser's error text may quote a secret.
            fault(format!("it goes wrong at byte {}", error.column()))
        })?;
        records.push(understood(line).map_err(fault)?);
    }
    Ok(())
}

fn understood(line: Line<'_>) -> Result<Record, String> {
    Ok(match line {
        Line::Begin(it) => Record::Begin(Begin {
            lineage: it.lineage,
            serial: it.serial,
            digest: it.digest,
            operation: it.operation,
            workspace: it.workspace,
            time: it.time,
            program: it.program,
            is_rest: it.rest,
        }),
        Line::Intent(it) => Record::Intent(intent(it)?),
        Line::Instance(it) => Record::Instance(changed(&it)?),
        Line::Unchanged { answers } => Record::Unchanged { answers },
        Line::Opening(it) => Record::Opening(Opening {
            number: it.number,
            address: address(&it.address)?,
            provider: ProviderSource::parse(&it.provider).map_err(|it| it.to_string())?,
            time: it.time,
        }),
        Line::Closed { number } => Record::Closed { number },
        Line::Folding { serial, digest } => Record::Folding { serial, digest },
    })
}

fn intent(line: IntentLine) -> Result<Intent, String> {
    let action = match line.action {
        Action::Create => IntentAction::Create,
        Action::Update => IntentAction::Update,
        Action::Delete => IntentAction::Delete,
    };
    let deposed = match line.deposed.as_deref() {
        None => None,
        Some(_) if action == IntentAction::Create => {
            return Err("it creates a deposed object".to_owned());
        }
        Some(key) => Some(DeposedKey::parse(key).ok_or("its deposed key is invalid")?),
    };
    Ok(Intent {
        number: line.number,
        object: ObjectAddress { instance: address(&line.address)?, deposed },
        action,
        provider: ProviderConfigRef::parse(&line.provider).map_err(|it| it.to_string())?,
        named: line.named,
        time: line.time,
    })
}

fn address(text: &str) -> Result<ResourceInstance, String> {
    addr::parse_resource_instance(text).map_err(|error| error.to_string())
}

fn changed(line: &InstanceLine<'_>) -> Result<Changed, String> {
    let address = address(&line.address)?;
    let mut changed =
        Changed { address, answers: line.answers, provider: None, instance: Instance::default() };
    let Some(raw) = line.resource else { return Ok(changed) };
    let (resource, state) = v4::read_resource(raw.get()).map_err(|error| error.to_string())?;
    let mut instances = state.instances.into_iter();
    match (instances.next(), instances.next()) {
        (Some((key, instance)), None)
            if resource == changed.address.containing_resource() && key == changed.address.key =>
        {
            changed.provider = Some(state.provider);
            changed.instance = instance;
            Ok(changed)
        }
        _ => Err("it holds another instance than it names".to_owned()),
    }
}
