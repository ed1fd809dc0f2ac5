//! Decodes a plan from its messages. Everything is validated, because a plan file is untrusted input.

use std::{collections::BTreeMap, sync::Arc};

use addr::{ProviderConfigRef, ResourceInstance, ResourceMode, Target};
use prost::Message as _;
use sorted::TreeMap;
use values::{Path, Step, Str, Type, Value, json, msgpack};

use crate::checks::{CheckKind, CheckObject, CheckResult, CheckStatus};
use crate::marks;
use crate::plan::file::PlanFileError;
use crate::plan::model::{
    Action, BackendRecord, Change, EphemeralPlan, Importing, OutputChange, Plan, PlanMode,
    PlannedFile, PlannedFiles, Reason, RelevantAttribute, ResourceChange, StateIdentity,
};
use crate::plan::wire::{
    BackendMessage, CheckMessage, FORMAT, FileMessage, HeaderMessage, OutputChangeMessage,
    PathMessage, PlanMessage, RelevantAttributeMessage, ResourceChangeMessage, StepKind,
    ValueMessage,
};
use crate::resources::DeposedKey;

/// Decodes `tfplan`. Returns an error unless `program` created it.
pub(crate) fn decode(bytes: &[u8], program: &str) -> Result<Plan, PlanFileError> {
    let header = HeaderMessage::decode(bytes).map_err(|it| damaged(it.to_string()))?;
    if header.made_by != program {
        let running = program.to_owned();
        return Err(PlanFileError::OtherProgram { made_by: header.made_by, running });
    }
    if header.format != FORMAT {
        return Err(damaged(format!(
            "its format is {}, and this program knows {FORMAT}",
            header.format
        )));
    }
    let message = PlanMessage::decode(bytes).map_err(|it| damaged(it.to_string()))?;
    let types = message.types.iter().map(|it| {
        json::type_from_json(it.as_bytes())
            .map_err(|cause| damaged(format!("a type is wrong: {cause}")))
    });
    Decoder { types: types.collect::<Result<_, _>>()? }.plan(message)
}

fn damaged(cause: impl Into<String>) -> PlanFileError {
    PlanFileError::Damaged { entry: "tfplan".to_owned(), cause: cause.into() }
}

fn address(error: addr::AddrError) -> PlanFileError {
    damaged(error.detail.trim_end_matches('.'))
}

struct Decoder {
    types: Vec<Type>,
}

impl Decoder {
    fn plan(&self, it: PlanMessage) -> Result<Plan, PlanFileError> {
        Ok(Plan {
            id: it.id,
            timestamp: it.timestamp,
            made_by: it.made_by,
            mode: mode(it.mode)?,
            is_applyable: it.applyable,
            has_errors: it.errored,
            variables: self.named(it.variables, |this, _, value| this.value(&value))?,
            ephemeral_variables: it.ephemeral_variables.into_iter().map(Str::from).collect(),
            resource_changes: each(it.resource_changes, |it| self.change(it).map(Arc::new))?,
            resource_drift: each(it.resource_drift, |it| self.change(it).map(Arc::new))?,
            ephemerals: each(it.ephemerals, ephemeral)?,
            output_changes: self.named(it.output_changes, |this, _, it| this.output(&it))?,
            checks: each(it.checks, check)?,
            relevant_attributes: each(it.relevant_attributes, |it| self.relevant(it))?,
            targets: each(it.targets, target)?,
            excludes: each(it.excludes, target)?,
            force_replace: each(it.force_replace, |it| instance(&it))?,
            backend: self.backend(it.backend.ok_or_else(|| damaged("it names no backend"))?)?,
            prior_state: StateIdentity { lineage: it.lineage, serial: it.serial },
            root_dir: it.root_dir,
            data_dir: it.data_dir,
            files: PlannedFiles { key: it.files_key, read: files(it.files)? },
        })
    }

    fn named<M, T>(
        &self,
        entries: BTreeMap<String, M>,
        f: impl Fn(&Self, &str, M) -> Result<T, PlanFileError>,
    ) -> Result<TreeMap<Str, T>, PlanFileError> {
        let read = |(name, it): (String, M)| Ok((Str::from(name.as_str()), f(self, &name, it)?));
        entries.into_iter().map(read).collect()
    }

    fn change(&self, it: ResourceChangeMessage) -> Result<ResourceChange, PlanFileError> {
        let addr = instance(&it.addr)?;
        if addr.resource.mode == ResourceMode::Ephemeral {
            return Err(damaged(format!("it has a change of {addr}, which is ephemeral")));
        }
        let importing = match (it.import_id, &it.import_identity) {
            (None, None) => None,
            (Some(id), None) => Some(Importing::Id(id)),
            (None, Some(identity)) => Some(Importing::Identity(self.value(identity)?)),
            (Some(_), Some(_)) => return Err(damaged(format!("{addr} is imported in two ways"))),
        };
        let action = action(it.action)?;
        let deposed = it.deposed.map(|key| deposed(&addr, &key, action));
        Ok(ResourceChange {
            previous_addr: it.previous_addr.as_deref().map(instance).transpose()?.map(Box::new),
            deposed: deposed.transpose()?,
            provider: Arc::new(ProviderConfigRef::parse(&it.provider).map_err(address)?),
            change: Change {
                action,
                before: self.required(it.before.as_ref(), &it.addr)?,
                after: self.required(it.after.as_ref(), &it.addr)?,
                importing: importing.map(Box::new),
                generated_config: it.generated_config,
                before_identity: it.before_identity.map(|it| self.value(&it)).transpose()?,
                after_identity: it.after_identity.map(|it| self.value(&it)).transpose()?,
            },
            private: it.private.into(),
            required_replace: each(it.required_replace, |it| self.path(it))?,
            reason: reason(it.reason)?,
            addr,
        })
    }

    fn output(&self, it: &OutputChangeMessage) -> Result<OutputChange, PlanFileError> {
        Ok(OutputChange {
            action: action(it.action)?,
            before: self.required(it.before.as_ref(), "an output")?,
            after: self.required(it.after.as_ref(), "an output")?,
            sensitive: it.sensitive,
        })
    }

    fn relevant(&self, it: RelevantAttributeMessage) -> Result<RelevantAttribute, PlanFileError> {
        let resource = instance(&it.resource)?;
        Ok(RelevantAttribute { resource, attribute: self.path(it.attribute.unwrap_or_default())? })
    }

    fn backend(&self, it: BackendMessage) -> Result<BackendRecord, PlanFileError> {
        let config = self.required(it.config.as_ref(), "the backend")?;
        Ok(BackendRecord { type_name: it.type_name, config, workspace: it.workspace })
    }

    fn required(&self, value: Option<&ValueMessage>, what: &str) -> Result<Value, PlanFileError> {
        self.value(value.ok_or_else(|| damaged(format!("a value of {what} is missing")))?)
    }

    fn value(&self, it: &ValueMessage) -> Result<Value, PlanFileError> {
        let ty = usize::try_from(it.ty).ok().and_then(|at| self.types.get(at));
        let ty = ty.ok_or_else(|| damaged("a value refers to a missing type"))?;
        let plain = msgpack::decode(&it.msgpack, ty)
            .map_err(|it| damaged(format!("a value is wrong: {it}")))?;
        let paths = it.sensitive.iter().map(|it| self.path(it.clone()));
        Ok(marks::join(&plain, &paths.collect::<Result<Vec<_>, _>>()?))
    }

    fn path(&self, it: PathMessage) -> Result<Path, PlanFileError> {
        let step = |kind: Option<StepKind>| match kind {
            Some(StepKind::Attr(name)) => Ok(Step::Attr(Str::on_heap(&name))),
            Some(StepKind::Index(key)) => {
                // An index must not have sensitive paths of its own: such paths could nest without end.
                if !key.sensitive.is_empty() {
                    return Err(damaged("an index is sensitive"));
                }
                Ok(Step::Index(self.value(&key)?))
            }
            None => Err(damaged("a path has an empty step")),
        };
        it.steps.into_iter().map(|it| step(it.kind)).collect()
    }
}

fn each<M, T>(
    messages: Vec<M>,
    f: impl Fn(M) -> Result<T, PlanFileError>,
) -> Result<Vec<T>, PlanFileError> {
    messages.into_iter().map(f).collect()
}

fn instance(text: &str) -> Result<ResourceInstance, PlanFileError> {
    addr::parse_resource_instance(text).map_err(address)
}

fn target(text: String) -> Result<Target, PlanFileError> {
    addr::parse_target(&text).map_err(address)
}

fn ephemeral(text: String) -> Result<EphemeralPlan, PlanFileError> {
    let addr = instance(&text)?;
    if addr.resource.mode != ResourceMode::Ephemeral {
        return Err(damaged(format!("it opens {addr}, which is not ephemeral")));
    }
    Ok(EphemeralPlan { addr })
}

fn check(it: CheckMessage) -> Result<CheckResult, PlanFileError> {
    let kind = CheckKind::parse(&it.kind)
        .ok_or_else(|| damaged(format!("a check is of kind {:?}", it.kind)))?;
    let objects = it.objects.into_iter().map(|it| CheckObject {
        addr: it.addr,
        status: CheckStatus::parse(&it.status),
        failure_messages: it.failure_messages,
    });
    Ok(CheckResult {
        kind,
        config_addr: it.config_addr,
        status: CheckStatus::parse(&it.status),
        objects: objects.collect(),
    })
}

fn files(
    files: BTreeMap<String, FileMessage>,
) -> Result<TreeMap<String, PlannedFile>, PlanFileError> {
    let read =
        |(path, it): (String, FileMessage)| match (it.exists, <[u8; 32]>::try_from(it.digest)) {
            (true, Ok(digest)) => Ok((path, PlannedFile::Content(digest))),
            (true, Err(none)) if none.is_empty() => Ok((path, PlannedFile::Exists)),
            (false, Err(none)) if none.is_empty() => Ok((path, PlannedFile::Missing)),
            _ => Err(damaged(format!("the digest of the file {path:?} is wrong"))),
        };
    files.into_iter().map(read).collect()
}

fn mode(code: u32) -> Result<PlanMode, PlanFileError> {
    match code {
        0 => Ok(PlanMode::Normal),
        1 => Ok(PlanMode::Destroy),
        2 => Ok(PlanMode::RefreshOnly),
        _ => Err(damaged(format!("its mode is {code}"))),
    }
}

/// The key of a deposed object, which can only be destroyed or forgotten.
fn deposed(
    addr: &ResourceInstance,
    key: &str,
    action: Action,
) -> Result<DeposedKey, PlanFileError> {
    if !matches!(action, Action::NoOp | Action::Delete | Action::Forget) {
        return Err(damaged(format!(
            "it has the action {action:?} for a deposed object of {addr}"
        )));
    }
    DeposedKey::parse(key).ok_or_else(|| damaged(format!("{addr} has the deposed key {key:?}")))
}

fn action(code: u32) -> Result<Action, PlanFileError> {
    let found = Action::ALL.into_iter().find(|it| it.code() == code);
    found.ok_or_else(|| damaged(format!("it has an action {code}")))
}

fn reason(code: u32) -> Result<Option<Reason>, PlanFileError> {
    if code == 0 {
        return Ok(None);
    }
    let found = Reason::ALL.into_iter().find(|it| it.code() == code);
    found.map(Some).ok_or_else(|| damaged(format!("it has a reason {code}")))
}
