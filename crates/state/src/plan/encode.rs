//! Encodes a plan to its messages.

use std::sync::Arc;

use prost::Message as _;
use rustc_hash::FxHashMap;
use values::{Path, Step, Type, Value, json, msgpack};

use crate::checks::CheckResult;
use crate::error::EncodeError;
use crate::marks;
use crate::plan::model::{
    BackendRecord, Importing, OutputChange, Plan, PlanMode, PlannedFile, Reason, ResourceChange,
};
use crate::plan::wire::{
    BackendMessage, CheckMessage, CheckObjectMessage, FORMAT, FileMessage, OutputChangeMessage,
    PathMessage, PlanMessage, RelevantAttributeMessage, ResourceChangeMessage, StepKind,
    StepMessage, ValueMessage,
};

/// Returns the bytes of `tfplan`.
pub(crate) fn encode(plan: &Plan) -> Result<Vec<u8>, EncodeError> {
    Ok(Encoder::default().plan(plan)?.encode_to_vec())
}

/// Collects the types of all values, each type once.
#[derive(Default)]
struct Encoder {
    positions: FxHashMap<Type, u32>,
    types: Vec<String>,
}

impl Encoder {
    fn plan(mut self, plan: &Plan) -> Result<PlanMessage, EncodeError> {
        let variables = plan.variables.iter().map(|(name, value)| {
            Ok((name.to_string(), self.value(value, &|| format!("var.{name}"))?))
        });
        let variables = variables.collect::<Result<_, EncodeError>>()?;
        let outputs = plan
            .output_changes
            .iter()
            .map(|(name, change)| Ok((name.to_string(), self.output(name, change)?)));
        let output_changes = outputs.collect::<Result<_, EncodeError>>()?;
        let relevant = plan.relevant_attributes.iter().map(|it| {
            let attribute = Some(self.path(&it.attribute)?);
            Ok(RelevantAttributeMessage { resource: it.resource.to_string(), attribute })
        });
        let relevant_attributes = relevant.collect::<Result<_, EncodeError>>()?;
        Ok(PlanMessage {
            format: FORMAT,
            made_by: plan.made_by.clone(),
            id: plan.id.clone(),
            timestamp: plan.timestamp.clone(),
            mode: mode_code(plan.mode),
            applyable: plan.is_applyable,
            errored: plan.has_errors,
            variables,
            ephemeral_variables: plan.ephemeral_variables.iter().map(ToString::to_string).collect(),
            resource_changes: self.changes(&plan.resource_changes)?,
            resource_drift: self.changes(&plan.resource_drift)?,
            ephemerals: plan.ephemerals.iter().map(|it| it.addr.to_string()).collect(),
            output_changes,
            checks: plan.checks.iter().map(check).collect(),
            relevant_attributes,
            targets: plan.targets.iter().map(ToString::to_string).collect(),
            excludes: plan.excludes.iter().map(ToString::to_string).collect(),
            force_replace: plan.force_replace.iter().map(ToString::to_string).collect(),
            backend: Some(self.backend(&plan.backend)?),
            lineage: plan.prior_state.lineage.clone(),
            serial: plan.prior_state.serial,
            root_dir: plan.root_dir.clone(),
            data_dir: plan.data_dir.clone(),
            files_key: plan.files.key.clone(),
            files: plan.files.read.iter().map(|(path, it)| (path.clone(), file(it))).collect(),
            types: self.types,
        })
    }

    fn changes(
        &mut self,
        changes: &[Arc<ResourceChange>],
    ) -> Result<Vec<ResourceChangeMessage>, EncodeError> {
        changes.iter().map(|it| self.change(it)).collect()
    }

    fn change(&mut self, it: &ResourceChange) -> Result<ResourceChangeMessage, EncodeError> {
        if it.addr.resource.mode == addr::ResourceMode::Ephemeral {
            return Err(EncodeError::EphemeralResource(it.addr.to_string()));
        }
        let what = || it.addr.to_string();
        let change = &it.change;
        let (import_id, import_identity) = match change.importing.as_deref() {
            None => (None, None),
            Some(Importing::Id(id)) => (Some(id.clone()), None),
            Some(Importing::Identity(identity)) => (None, Some(self.value(identity, &what)?)),
        };
        Ok(ResourceChangeMessage {
            addr: it.addr.to_string(),
            previous_addr: it.previous_addr.as_ref().map(ToString::to_string),
            deposed: it.deposed.map(|it| it.to_string()),
            provider: it.provider.to_string(),
            action: change.action.code(),
            before: Some(self.value(&change.before, &what)?),
            after: Some(self.value(&change.after, &what)?),
            private: it.private.to_vec(),
            required_replace: self.paths(&it.required_replace)?,
            reason: it.reason.map_or(0, Reason::code),
            import_id,
            import_identity,
            generated_config: change.generated_config.clone(),
            before_identity: self.optional(change.before_identity.as_ref(), &what)?,
            after_identity: self.optional(change.after_identity.as_ref(), &what)?,
        })
    }

    fn output(
        &mut self,
        name: &str,
        it: &OutputChange,
    ) -> Result<OutputChangeMessage, EncodeError> {
        let what = || format!("output.{name}");
        Ok(OutputChangeMessage {
            action: it.action.code(),
            before: Some(self.value(&it.before, &what)?),
            after: Some(self.value(&it.after, &what)?),
            sensitive: it.sensitive,
        })
    }

    fn backend(&mut self, it: &BackendRecord) -> Result<BackendMessage, EncodeError> {
        let config = self.value(&it.config, &|| "the backend configuration".to_owned())?;
        Ok(BackendMessage {
            type_name: it.type_name.clone(),
            config: Some(config),
            workspace: it.workspace.clone(),
        })
    }

    fn optional(
        &mut self,
        value: Option<&Value>,
        what: &dyn Fn() -> String,
    ) -> Result<Option<ValueMessage>, EncodeError> {
        value.map(|it| self.value(it, what)).transpose()
    }

    fn value(
        &mut self,
        value: &Value,
        what: &dyn Fn() -> String,
    ) -> Result<ValueMessage, EncodeError> {
        // The name is only needed in the errors of marked values, so avoid creating it otherwise.
        let name = if value.deep_marks().is_empty() { String::new() } else { what() };
        let (plain, sensitive) = marks::split(value, &name)?;
        let ty = plain.ty();
        let msgpack = msgpack::encode(&plain, &ty).map_err(|it| EncodeError::value(&what(), it))?;
        Ok(ValueMessage { ty: self.position(ty), msgpack, sensitive: self.paths(&sensitive)? })
    }

    fn position(&mut self, ty: Type) -> u32 {
        if let Some(position) = self.positions.get(&ty) {
            return *position;
        }
        let position =
            u32::try_from(self.types.len()).expect("fewer types than a u32 counts fit into memory");
        self.types.push(json::type_to_json(&ty));
        self.positions.insert(ty, position);
        position
    }

    fn paths(&mut self, paths: &[Path]) -> Result<Vec<PathMessage>, EncodeError> {
        paths.iter().map(|it| self.path(it)).collect()
    }

    fn path(&mut self, path: &Path) -> Result<PathMessage, EncodeError> {
        let steps = path.steps().iter().map(|step| {
            let kind = match step {
                Step::Attr(name) => StepKind::Attr(name.to_string()),
                Step::Index(key) => StepKind::Index(self.value(key, &|| "an index".to_owned())?),
            };
            Ok(StepMessage { kind: Some(kind) })
        });
        Ok(PathMessage { steps: steps.collect::<Result<_, EncodeError>>()? })
    }
}

fn check(it: &CheckResult) -> CheckMessage {
    let objects = it.objects.iter().map(|it| CheckObjectMessage {
        addr: it.addr.clone(),
        status: it.status.as_str().to_owned(),
        failure_messages: it.failure_messages.clone(),
    });
    CheckMessage {
        kind: it.kind.as_str().to_owned(),
        config_addr: it.config_addr.clone(),
        status: it.status.as_str().to_owned(),
        objects: objects.collect(),
    }
}

fn file(it: &PlannedFile) -> FileMessage {
    match it {
        PlannedFile::Content(digest) => FileMessage { exists: true, digest: digest.to_vec() },
        PlannedFile::Exists => FileMessage { exists: true, digest: Vec::new() },
        PlannedFile::Missing => FileMessage { exists: false, digest: Vec::new() },
    }
}

fn mode_code(mode: PlanMode) -> u32 {
    match mode {
        PlanMode::Normal => 0,
        PlanMode::Destroy => 1,
        PlanMode::RefreshOnly => 2,
    }
}
