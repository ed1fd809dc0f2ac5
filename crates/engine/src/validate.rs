//! Validation of configurations by providers before anything is planned (`validate`).
//!
//! Values that only a run could give are unknown. A provider is started only for a configuration that has not
//! passed before, see [`Verdicts`]; it is not configured.
//!
//! A plan lets providers validate every instance. [`validate_unplanned`] validates the blocks without instances.

use std::{collections::HashSet, sync::Arc};

use addr::{InstanceKey, ModuleInstance, ProviderSource, Resource, ResourceMode};
use db::{Diagnostic, Summary};
use futures::{StreamExt, future::LocalBoxFuture, stream};
use hir::{
    Entry, Module, ModuleId, NodeId, Program, Scope, eval,
    item::Body,
    names::provider_local_name,
    statics::{ProviderInstances, RepeatedProvider},
};
use provider::{
    Block, Provider, ProviderDiagnostic, ProviderSchemas, Provisioner, ValidateRequest,
};
use sorted::{TreeMap, TreeSet};
use state::Action;
use values::{Str, Value, msgpack};

use crate::{
    builtin,
    event::PluginName,
    foreign, function_checks,
    functions::Functions,
    known_conditions,
    offline::{Each, EachScope, ModuleScope, Offline},
    place::{RunPhase, enter_phase},
    request::{Environment, PlanOutcome},
};

/// A cache of the configurations that plugins have accepted. Implementations must not reveal the configurations.
pub trait Verdicts: Send + Sync {
    /// Returns true if the plugin has accepted this configuration in this call before.
    fn has_passed(&self, plugin: &PluginName, question: &Question<'_>) -> bool;
    /// Records that the plugin accepted the configuration without diagnostics.
    fn passed(&self, plugin: &PluginName, question: &Question<'_>);
}

/// A validation call of a plugin.
pub struct Question<'a> {
    pub call: Call,
    /// The resource type. Empty for a provisioner.
    pub type_name: &'a str,
    /// The encoded configuration.
    pub config: &'a [u8],
    /// The configuration as a value.
    pub value: &'a Value,
}

/// The kind of a validation call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// The call for the resource blocks of this mode.
    Resource(ResourceMode),
    /// The call for `provisioner` blocks.
    Provisioner,
}

/// A configuration to validate.
pub(crate) struct Case<'a> {
    pub(crate) entry: &'a Entry,
    /// The body; `None` for a provider that is used without a configuration.
    pub(crate) body: Option<&'a Body>,
    /// The place of diagnostics that name no attribute.
    pub(crate) header: NodeId,
    /// The call; `None` for the configuration of a provider.
    pub(crate) call: Option<Call>,
    pub(crate) type_name: Str,
    pub(crate) address: String,
    pub(crate) config: Value,
    pub(crate) encoded: Vec<u8>,
}

/// The number of steps that the evaluation of all bodies may take. Longer evaluations are left to the plan,
/// because editors validate too.
pub(crate) const MAX_STEPS: u64 = 50_000_000;

impl Case<'_> {
    pub(crate) fn question(&self, call: Call) -> Question<'_> {
        let (config, value) = (&*self.encoded, &self.config);
        Question { call, type_name: &self.type_name, config, value }
    }
}

/// The maximum number of concurrent calls of a plugin.
const PARALLEL: usize = 10;

/// Validates every configuration of the program and returns the diagnostics of the providers. `instances` are the known
/// instances of `provider` blocks: each is validated.
pub fn validate<'r>(
    program: &'r Arc<Program>,
    environment: &'r Environment,
    workspace: &'r Str,
    verdicts: &'r dyn Verdicts,
    instances: &'r ProviderInstances,
) -> LocalBoxFuture<'r, Vec<Diagnostic>> {
    Box::pin(validate_all(program, environment, workspace, verdicts, instances))
}

async fn validate_all(
    program: &Arc<Program>,
    environment: &Environment,
    workspace: &Str,
    verdicts: &dyn Verdicts,
    instances: &ProviderInstances,
) -> Vec<Diagnostic> {
    let offline = || offline(program, environment, workspace);
    let mut cases: TreeMap<ProviderSource, Vec<Case<'_>>> = TreeMap::new();
    let mut diagnostics = Vec::new();
    for module in &program.modules {
        let entries = module.resources.values().collect();
        let found = of_resources(program, &offline, verdicts, module, entries).into_iter();
        for found in found.chain([of_providers(program, &offline(), module, instances)]) {
            diagnostics.extend(found.diagnostics);
            found.cases.into_iter().for_each(|(source, case)| {
                cases.entry(source).or_default().push(case);
            });
        }
    }
    diagnostics.extend(known_conditions::failed(program, &offline()));
    diagnostics.extend(function_checks::check(program, environment, workspace).await);
    for (source, case) in of_unconfigured(program) {
        cases.entry(source).or_default().push(case);
    }
    diagnostics.extend(ask_providers(program, environment, cases, verdicts).await);
    without_repeated(program, diagnostics)
}

/// Validates the resource blocks that have no instance in a plan, because the plan has not validated them.
pub fn validate_unplanned<'r>(
    program: &'r Arc<Program>,
    environment: &'r Environment,
    workspace: &'r Str,
    verdicts: &'r dyn Verdicts,
    outcome: &'r PlanOutcome,
) -> LocalBoxFuture<'r, Vec<Diagnostic>> {
    Box::pin(validate_others(program, environment, workspace, verdicts, outcome))
}

async fn validate_others(
    program: &Arc<Program>,
    environment: &Environment,
    workspace: &Str,
    verdicts: &dyn Verdicts,
    outcome: &PlanOutcome,
) -> Vec<Diagnostic> {
    let offline = || offline(program, environment, workspace);
    let planned = planned_blocks(program, outcome);
    let mut cases: TreeMap<ProviderSource, Vec<Case<'_>>> = TreeMap::new();
    for module in &program.modules {
        let unplanned =
            module.resources.iter().filter(|(it, _)| !planned.contains(&(module.id, it)));
        let entries = unplanned.map(|(_, entry)| entry).collect();
        // Drop the evaluation errors: they are errors of instances, and these blocks have none.
        for found in of_resources(program, &offline, verdicts, module, entries) {
            found.cases.into_iter().for_each(|(source, case)| {
                cases.entry(source).or_default().push(case);
            });
        }
    }
    without_repeated(program, ask_providers(program, environment, cases, verdicts).await)
}

/// Returns the context for evaluations outside of a run: no state, no values of variables, no providers.
pub(crate) fn offline<'p>(
    program: &'p Arc<Program>,
    environment: &Environment,
    workspace: &Str,
) -> Offline<'p> {
    enter_phase(RunPhase::Validating);
    Offline {
        program,
        objects: None,
        values: None,
        workspace: workspace.clone(),
        functions: Functions::new(&environment.system, false).without_plan().at_most(MAX_STEPS),
        system: Arc::clone(&environment.system),
        answers: None,
    }
}

/// Returns the resource blocks with an instance in the plan, each with the id of its module.
fn planned_blocks<'p>(
    program: &Program,
    outcome: &'p PlanOutcome,
) -> HashSet<(ModuleId, &'p Resource)> {
    let plan = &outcome.plan;
    let stays = |action| !matches!(action, Action::Delete | Action::Forget);
    let changes = plan.changes().filter(|it| stays(it.change.action));
    let changes = changes.map(|it| (&it.addr.module, &it.addr.resource));
    let read = outcome.refreshed.resources().map(|(addr, _)| (&addr.module, &addr.resource));
    let read = read.filter(|(_, resource)| resource.mode == ResourceMode::Data);
    let opened = plan.ephemerals.iter().map(|it| (&it.addr.module, &it.addr.resource));
    let blocks = changes.chain(read).chain(opened);
    let mut directories: TreeMap<&ModuleInstance, Option<ModuleId>> = TreeMap::new();
    blocks
        .filter_map(|(module, resource)| {
            let directory = directories.entry(module);
            Some(((*directory.or_insert_with(|| directory_of(program, module)))?, resource))
        })
        .collect()
}

/// Returns the id of the module of an instance; `None` if the configuration does not call it.
fn directory_of(program: &Program, module: &ModuleInstance) -> Option<ModuleId> {
    module.steps().iter().try_fold(program.root().id, |id, step| {
        Some(program.module(id).calls.get(step.name.as_str())?.1)
    })
}

async fn ask_providers(
    program: &Program,
    environment: &Environment,
    cases: TreeMap<ProviderSource, Vec<Case<'_>>>,
    verdicts: &dyn Verdicts,
) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (source, cases) in cases {
        let plugin = PluginName::Provider(source.clone());
        match environment.providers.start(&source).await {
            Ok(provider) => {
                let asked = Asked::Provider(&*provider);
                let found = ask_all(program, environment, &plugin, asked, cases, verdicts).await;
                diagnostics.extend(found);
                provider.close().await;
            }
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    diagnostics
}

/// Removes duplicate diagnostics. A directory whose calls lead to different modules occurs several times in the
/// program, and each occurrence has the same diagnostics.
pub(crate) fn without_repeated(program: &Program, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let directories: TreeSet<&Str> = program.modules.iter().map(|it| &it.dir).collect();
    if directories.len() == program.modules.len() {
        return diagnostics;
    }
    let mut told: Vec<Diagnostic> = Vec::new();
    for found in diagnostics {
        if !told.contains(&found) {
            told.push(found);
        }
    }
    told
}

/// Returns true if the plugin has accepted the configuration before. Provider configurations depend on the
/// environment, so their results are not cached.
pub(crate) fn is_known_good(plugin: &PluginName, case: &Case<'_>, verdicts: &dyn Verdicts) -> bool {
    let Some(call) = case.call else { return false };
    verdicts.has_passed(plugin, &case.question(call))
}

/// The evaluated configurations of a module.
struct Evaluated<'a> {
    /// The configurations that providers have to validate, each with its provider.
    cases: Vec<(ProviderSource, Case<'a>)>,
    /// The diagnostics of other configurations.
    diagnostics: Vec<Diagnostic>,
}

/// The number of resources that a thread takes at a time.
const PART: usize = 128;

/// Evaluates the configurations of these resources of a module, on all processors, and keeps those that their provider
/// has not accepted before. Each is looked up and dropped before the next one needs memory.
fn of_resources<'p>(
    program: &'p Program,
    offline: &(impl Fn() -> Offline<'p> + Sync),
    verdicts: &dyn Verdicts,
    module: &'p Module,
    entries: Vec<&'p Entry>,
) -> Vec<Evaluated<'p>> {
    parallel::share_parts(&entries, PART, |parts| {
        enter_phase(RunPhase::Validating);
        let offline = offline();
        // The next part of the same thread reuses the values that one part has evaluated.
        let scope = ModuleScope::of(&offline, module.id);
        let evaluated = |(index, part): (usize, &[&'p Entry])| {
            let mut diagnostics = Vec::new();
            let case = |entry| of_resource(program, &scope, module, entry, &mut diagnostics);
            let is_open = |(source, case): &(ProviderSource, Case<'_>)| {
                !is_known_good(&PluginName::Provider(source.clone()), case, verdicts)
            };
            let cases = part.iter().copied().filter_map(case).filter(is_open).collect();
            (index, Evaluated { cases, diagnostics })
        };
        parts.map(evaluated).collect()
    })
}

fn of_resource<'p>(
    program: &Program,
    scope: &ModuleScope<'_>,
    module: &Module,
    entry: &'p Entry,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(ProviderSource, Case<'p>)> {
    let resource = entry.resource();
    let mode = resource.resource.mode;
    let source = module.provider_sources.get(provider_local_name(resource))?;
    let schema = program.schemas.get(source)?.of_mode(mode, &resource.resource.type_name)?;
    let block = schema.block();
    if builtin::objects_to_nothing(source, mode) {
        let (body, header) = (&resource.body, entry.item.header);
        evaluate(program, scope, entry, body, header, block, diagnostics);
        return None;
    }
    let (config, encoded) =
        decode(program, scope, entry, &resource.body, entry.item.header, block, diagnostics)?;
    let case = Case {
        entry,
        body: Some(&resource.body),
        header: entry.item.header,
        call: Some(Call::Resource(mode)),
        type_name: Str::from(resource.resource.type_name.as_str()),
        address: resource.resource.to_string(),
        config,
        encoded,
    };
    Some((source.clone(), case))
}

/// Evaluates the provider configurations of a module. Skips empty ones, unless the provider has required
/// arguments. A block with `for_each` has a configuration for each known instance; if the instances are not known, it
/// has one with unknown values of `each`.
fn of_providers<'p>(
    program: &'p Program,
    offline: &Offline<'_>,
    module: &'p Module,
    instances: &ProviderInstances,
) -> Evaluated<'p> {
    let scope = ModuleScope::of(offline, module.id);
    let (mut cases, mut diagnostics) = (Vec::new(), Vec::new());
    for ((local_name, alias), entry) in &module.providers {
        let config = entry.provider_config();
        let Some(source) = module.provider_sources.get(local_name) else { continue };
        let Some(schemas) = program.schemas.get(source) else { continue };
        let is_empty = config.body.attrs.is_empty() && config.body.blocks.is_empty();
        if is_empty && !schemas.wants_configuration() {
            continue;
        }
        let block = schemas.configuration().block();
        let (local_name, alias) = (local_name.clone(), alias.clone());
        let directory = module.dir.clone();
        let known =
            instances.get(&RepeatedProvider { directory, local_name, alias: alias.clone() });
        for each in each_of(known) {
            let scope = EachScope { module: &scope, each: &each };
            let header = entry.item.header;
            let mut found = Vec::new();
            let decoded = decode(program, &scope, entry, &config.body, header, block, &mut found);
            let alias = alias.as_ref().map(|alias| format!(".{alias}")).unwrap_or_default();
            let address = format!("provider[{:?}]{alias}{}", source.to_string(), each.key);
            if matches!(each.key, InstanceKey::String(_)) {
                found = found.into_iter().map(|it| it.with_address(address.clone())).collect();
            }
            diagnostics.extend(found);
            let Some((value, encoded)) = decoded else { continue };
            let case = Case {
                entry,
                body: Some(&config.body),
                header,
                call: None,
                type_name: Str::default(),
                address,
                config: value,
                encoded,
            };
            cases.push((source.clone(), case));
        }
    }
    Evaluated { cases, diagnostics }
}

/// The values of `each` in the known instances of a `provider` block.
fn each_of(instances: Option<&TreeMap<Str, Value>>) -> Vec<Each> {
    let each = |(key, value): (&Str, &Value)| Each {
        key: InstanceKey::string(&**key),
        value: Some(value.clone()),
    };
    match instances {
        Some(instances) => instances.iter().map(each).collect(),
        None => vec![Each::default()],
    }
}

/// Returns an empty configuration for each provider that has required arguments but no configuration. Its
/// diagnostics refer to the first resource that uses the provider.
fn of_unconfigured(program: &Program) -> Vec<(ProviderSource, Case<'_>)> {
    let configured = program.modules.iter().flat_map(|module| {
        let names = module.providers.keys();
        names.filter_map(|(local_name, _)| module.provider_sources.get(local_name))
    });
    let mut seen: TreeSet<&ProviderSource> = configured.collect();
    let mut cases = Vec::new();
    for module in &program.modules {
        let mut wanting: TreeMap<&str, (&ProviderSource, &ProviderSchemas)> = TreeMap::new();
        for (local_name, source) in &module.provider_sources {
            let schemas = program.schemas.get(source).filter(|it| it.wants_configuration());
            wanting.extend(schemas.map(|it| (&**local_name, (source, &**it))));
        }
        // Stop early: thousands of resources share a few providers, most of which have no required arguments.
        let entries = module.resources.values().take_while(|_| !wanting.is_empty());
        for entry in entries {
            let Some(&(source, schemas)) = wanting.get(provider_local_name(entry.resource()))
            else {
                continue;
            };
            if seen.insert(source) {
                cases.extend(unconfigured(source, entry, schemas.configuration().block()));
            }
        }
    }
    cases
}

fn unconfigured<'p>(
    source: &ProviderSource,
    entry: &'p Entry,
    block: &Block,
) -> Option<(ProviderSource, Case<'p>)> {
    let config = block.empty_value();
    let encoded = msgpack::encode(&config, block.implied_type()).ok()?;
    let case = Case {
        entry,
        body: None,
        header: entry.item.header,
        call: None,
        type_name: Str::default(),
        address: format!("provider[{:?}]", source.to_string()),
        config,
        encoded,
    };
    Some((source.clone(), case))
}

/// Returns the configuration as the provider receives it, with its encoding. `None` if it cannot be evaluated; the
/// analysis or this evaluation reports that.
pub(crate) fn decode(
    program: &Program,
    scope: &dyn Scope,
    entry: &Entry,
    body: &Body,
    header: NodeId,
    block: &Block,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Value, Vec<u8>)> {
    let value = evaluate(program, scope, entry, body, header, block, diagnostics)?;
    let value = value.without_all_marks();
    let encoded = msgpack::encode(&value, block.implied_type()).ok()?;
    Some((value, encoded))
}

fn evaluate(
    program: &Program,
    scope: &dyn Scope,
    entry: &Entry,
    body: &Body,
    header: NodeId,
    block: &Block,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Value> {
    let decoded = eval::decode_body(&entry.item.exprs, body, header, block, scope).ok()?;
    if decoded.exceeded.is_some() {
        diagnostics.extend(known_conditions::exceeding(program, entry, decoded));
        return None;
    }
    if decoded.has_errors() {
        for problem in decoded.diagnostics {
            let mut diagnostic = Diagnostic::new(problem.summary, problem.detail)
                .at(program.locate(entry.origin, problem.at));
            diagnostic.context = program.context(entry.origin);
            diagnostic.values = problem.values;
            diagnostics.push(diagnostic);
        }
        return None;
    }
    Some(decoded.value)
}

/// A started plugin that validates configurations.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'p> {
    Provider(&'p dyn Provider),
    Provisioner(&'p dyn Provisioner),
}

/// Lets a plugin validate configurations. Returns its diagnostics, and notes what passed.
pub(crate) async fn ask_all(
    program: &Program,
    environment: &Environment,
    plugin: &PluginName,
    asked: Asked<'_>,
    cases: Vec<Case<'_>>,
    verdicts: &dyn Verdicts,
) -> Vec<Diagnostic> {
    let answers = stream::iter(cases).map(|case| async {
        let answer = match asked {
            Asked::Provider(provider) => ask(provider, &case).await,
            Asked::Provisioner(provisioner) => provisioner.validate(case.config.clone()).await,
        };
        (case, answer)
    });
    let answers: Vec<_> = answers.buffered(PARALLEL).collect().await;
    let mut diagnostics = Vec::new();
    for (case, answer) in answers {
        if let (Some(call), true) = (case.call, answer.is_empty()) {
            verdicts.passed(plugin, &case.question(call));
        }
        if let PluginName::Provider(source) = plugin
            && case.body.is_none()
            && answer.iter().any(ProviderDiagnostic::is_error)
        {
            diagnostics.push(requires_configuration(source));
        }
        diagnostics.extend(answer.into_iter().map(|it| located(program, environment, &case, it)));
    }
    diagnostics
}

/// Returns the error for a provider that rejects an empty configuration.
pub(crate) fn requires_configuration(source: &ProviderSource) -> Diagnostic {
    Diagnostic::new(
        Summary::UNCONFIGURED_PROVIDER,
        format!(
            "Provider \"{source}\" requires explicit configuration. Add a provider block to the \
             root module and configure the provider's required arguments as described in the provider documentation."
        ),
    )
}

async fn ask(provider: &dyn Provider, case: &Case<'_>) -> Vec<ProviderDiagnostic> {
    let request =
        ValidateRequest { type_name: case.type_name.clone(), config: case.config.clone() };
    match case.call {
        None | Some(Call::Provisioner) => {
            provider.validate_provider_config(case.config.clone()).await
        }
        Some(Call::Resource(ResourceMode::Managed)) => {
            provider.validate_resource_config(request).await
        }
        Some(Call::Resource(ResourceMode::Data)) => provider.validate_data_config(request).await,
        Some(Call::Resource(ResourceMode::Ephemeral)) => {
            provider.validate_ephemeral_config(request).await
        }
    }
}

fn located(
    program: &Program,
    environment: &Environment,
    case: &Case<'_>,
    found: ProviderDiagnostic,
) -> Diagnostic {
    let at = found
        .path
        .as_ref()
        .zip(case.body)
        .and_then(|(path, body)| eval::locate_path(body, &case.entry.item.exprs, path));
    let at = at.unwrap_or_else(|| case.header.into());
    let redact = |text: &str| environment.redactor.redact(text);
    let mut diagnostic = foreign::diagnostic(&found, redact);
    diagnostic.context = program.context(case.entry.origin);
    diagnostic.at(program.locate(case.entry.origin, at)).with_address(case.address.clone())
}
