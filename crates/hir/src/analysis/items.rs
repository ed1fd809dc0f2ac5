//! The inference of each kind of item.

pub(crate) mod backend;
pub(crate) mod conditions;
pub(crate) mod depends_on;
pub(crate) mod encryption;
pub(crate) mod module_call;
pub(crate) mod output;
pub(crate) mod provider_meta;
pub(crate) mod provider_reference;
pub(crate) mod provisioner;
pub(crate) mod redundant_provider;
pub(crate) mod refactoring;
pub(crate) mod repetition;
pub(crate) mod resource;
pub(super) mod setup;
pub(crate) mod static_body;
pub(crate) mod variable;

use std::sync::Arc;

use db::{Rule, Severity, Summary};
use rustc_hash::FxHashSet;
use values::Str;

use crate::{
    Db,
    analysis::{
        analyzed::{AnalyzedItem, Inference},
        body::{BodyInfer, Persistence, without_schema},
        env::ItemEnv,
        infer::Infer,
        items::repetition::{check_repetition_type, refuse_sensitive_repetition},
        problem::ItemProblem,
        value::{Abstract, marks::Tri},
    },
    content::item,
    expr::{ExprId, NodeId},
    fix::Fix,
    item::{Block, Item, ItemKind, ProviderConfig, RequiredProvider, Terraform},
    item_name::{ItemKey, ItemName},
    names::{required_providers, terraform_blocks},
    place::ItemPlace,
    statics::{self, static_error::Deferral},
    symbols::declared_before,
};

/// Infers one item.
pub(super) fn infer_item<'db>(db: &'db dyn Db, analyzed: AnalyzedItem<'db>) -> Inference {
    let item = item(db, analyzed.key(db));
    let env = ItemEnv::of(db, analyzed, item);
    let inference = infer_in(env.fresh(), item);
    let mut problems = inference.problems.into_vec();
    super::instances::check_keys(&env, item, &mut problems);
    check_duplicate(&env, item, &mut problems);
    drop_warnings_about_errors(item, &mut problems);
    Inference { problems: problems.into(), ..inference }
}

/// Removes warnings about possibly ephemeral values from expressions that contain an error: an expression that
/// fails is not ephemeral in any run.
fn drop_warnings_about_errors(item: &Item, problems: &mut Vec<ItemProblem>) {
    let is_warning = |it: &ItemProblem| it.id() == Rule::PossiblyEphemeral;
    if !problems.iter().any(is_warning) {
        return;
    }
    let errors = problems.iter().filter(|it| it.severity() == Severity::Error);
    let faults: FxHashSet<ExprId> = errors.filter_map(|it| it.at.expr()).collect();
    let is_sound =
        |it: &ItemProblem| it.at.expr().is_none_or(|at| !item.exprs.has_any_inside(at, &faults));
    problems.retain(|it| !is_warning(it) || is_sound(it));
}

/// Infers the item of an environment.
pub(super) fn infer_in(env: ItemEnv<'_>, item: &Arc<Item>) -> Inference {
    match &item.kind {
        ItemKind::Variable(it) => variable::infer(item, it, env),
        ItemKind::Local(it) => {
            let mut infer = Infer::new(&item.exprs, &env);
            let value = infer.expr(it.value);
            Inference { value, problems: infer.problems.into() }
        }
        ItemKind::Output(it) => output::infer(item, it, env),
        ItemKind::Resource(it) => resource::infer(item, it, env),
        ItemKind::ModuleCall(it) => module_call::infer(item, it, env),
        ItemKind::Provider(it) => provider_config(item, it, env),
        ItemKind::Check(it) => {
            let mut infer = Infer::new(&item.exprs, &env);
            for assert in &it.asserts {
                conditions::check(&mut infer, assert);
            }
            Inference { value: Abstract::any(), problems: infer.problems.into() }
        }
        ItemKind::Terraform(it) => {
            let mut infer = Infer::new(&item.exprs, &env);
            backend::check(&mut infer, &env, it);
            let entries = it.required_providers.iter();
            it.encryptions.iter().for_each(|it| encryption::check(&mut infer, &env, item, it));
            it.provider_metas.iter().for_each(|it| provider_meta::check(&mut infer, &env, it));
            infer.problems.extend(repeated_settings(&env, it));
            infer.problems.extend(repeated_sources(it));
            infer
                .problems
                .extend(entries.flat_map(|it| [wrong_source(it), wrong_version(it)]).flatten());
            Inference { value: Abstract::any(), problems: infer.problems.into() }
        }
        ItemKind::Moved(it) => refactoring::moved(item, it, &env),
        ItemKind::Removed(it) => refactoring::removed(item, it, &env),
        ItemKind::Import(it) => refactoring::import(item, it, env),
        ItemKind::Other(_) | ItemKind::Test(_) => {
            Inference { value: Abstract::any(), problems: Box::default() }
        }
    }
}

/// Infers a provider configuration. Its arguments may be ephemeral, because they are never written to the state.
fn provider_config(item: &Item, config: &ProviderConfig, mut env: ItemEnv<'_>) -> Inference {
    let source = required_providers(env.db, env.directory).source(&config.local_name);
    let mut problems = Vec::new();
    if let Some(for_each) = config.for_each {
        let mut infer = Infer::new(&item.exprs, &env);
        env.in_repetition.set(true);
        let value = provider_instances(&mut infer, &env, config, for_each);
        env.in_repetition.set(false);
        problems = std::mem::take(&mut infer.problems);
        env.each = Some(super::instances::each_value(&value));
    }
    let mut infer = Infer::new(&item.exprs, &env);
    match env.workspace.providers(env.db).get(&source) {
        Some(input) => {
            let schemas = &input.schemas(env.db).0;
            let schema = Arc::clone(schemas.configuration());
            hint_at_required(&mut infer, config, schemas.provider.block(), item.header);
            let mut body = BodyInfer {
                infer: &mut infer,
                persistence: Persistence::Ephemeral,
                enclosing: None,
            };
            body.block(&config.body, schema.block(), item.header);
        }
        None => without_schema(&mut infer, &config.body),
    }
    problems.append(&mut infer.problems);
    problems.extend(redundant_provider::check(item, config, &source, &env));
    Inference { value: Abstract::any(), problems: problems.into() }
}

/// Adds a hint for each required argument that is missing. It is no error: the provider may take the argument from
/// its environment.
fn hint_at_required(
    infer: &mut Infer<'_>,
    config: &ProviderConfig,
    schema: &provider::Block,
    header: NodeId,
) {
    let body = config.body.fitted(schema);
    let is_written = |name: &Str| {
        body.attrs.iter().any(|it| it.name == *name)
            || body.blocks.iter().any(|it| it.kind == *name)
    };
    let required = schema.attributes().iter().filter(|(_, attribute)| attribute.required);
    for (name, _) in required.filter(|(name, _)| !is_written(name)) {
        let detail = format!(
            "The argument \"{name}\" is required, unless the provider takes it from its environment."
        );
        let problem = ItemProblem::new(header.into(), Summary::MISSING_ARGUMENT, detail);
        let problem = problem.at_most(Severity::Hint);
        infer.problems.push(problem.fixed_by(Some(Fix::MissingArgument(name.clone()))));
    }
}

/// Infers `for_each` of a provider configuration. The set of instances must be known before anything runs, and
/// their keys are shown, so ephemeral and sensitive values are refused.
fn provider_instances(
    infer: &mut Infer<'_>,
    env: &ItemEnv<'_>,
    config: &ProviderConfig,
    for_each: ExprId,
) -> Abstract {
    let value = infer.expr(for_each);
    let certainty = value.marks.ephemeral;
    let subject = statics::subject_of(config);
    if certainty > Tri::No {
        let detail = format!(
            "Ephemeral values, or values derived from ephemeral values, cannot be used as {subject}."
        );
        let problem = ItemProblem::new(for_each.into(), Summary::EPHEMERAL_STATIC_VALUE, detail);
        let when = value.ephemeral.here();
        infer.problems.push(problem.if_ephemeral(certainty, when, value.origin.as_ref()));
        return value;
    }
    refuse_sensitive_repetition(infer, "for_each", for_each, &value);
    check_repetition_type(infer, "for_each", for_each, &value);
    if !infer.is_faulty(for_each, &infer.faults()) {
        let ItemKey { block, index } = env.key;
        let keys = statics::provider_keys(env.db, env.workspace, env.directory, block, index);
        let error = keys.as_ref().err().and_then(Option::as_ref);
        // A function such as `file` is not evaluated this early, so the keys may still turn out to be valid.
        let sure = error.filter(|it| it.deferral != Deferral::RuntimeFunction);
        infer.problems.extend(sure.and_then(|it| it.problem()));
    }
    value
}

/// Adds an error if an earlier item has the same name.
fn check_duplicate(env: &ItemEnv<'_>, item: &Item, problems: &mut Vec<ItemProblem>) {
    let (db, key) = (env.db, env.key);
    let name = ItemName::of(item);
    if name.is_shared() {
        return;
    }
    if let Some(first) = declared_before(db, env.directory, &name, key)
        && !db::is_override(key.block.file(db).path(db))
    {
        problems.push(duplicate(db, key, first));
    }
}

/// The error for an item of an override file that has nothing to override.
pub(super) fn without_base(item: &Item) -> ItemProblem {
    let (summary, what, noun) = match &item.kind {
        ItemKind::Variable(it) => (
            Summary::MISSING_VARIABLE,
            format!("no variable named \"{}\"", it.name),
            "a variable that was already declared",
        ),
        ItemKind::Local(it) => (
            Summary::MISSING_LOCAL,
            format!("no local value named \"{}\"", it.name),
            "a local value that was already defined",
        ),
        ItemKind::Output(it) => (
            Summary::MISSING_OUTPUT,
            format!("no output named \"{}\"", it.name),
            "an output that was already defined",
        ),
        ItemKind::ModuleCall(it) => (
            Summary::MISSING_MODULE_CALL,
            format!("no module call named \"{}\"", it.name),
            "a module call that was defined",
        ),
        ItemKind::Resource(it) => return without_base_resource(item, &it.resource),
        ItemKind::Provider(it) => (
            Summary::MISSING_PROVIDER,
            format!(
                "no configuration of provider \"{}\" with the alias \"{}\"",
                it.local_name,
                it.alias.as_deref().unwrap_or_default()
            ),
            "a provider configuration that was already defined",
        ),
        _ => (Summary::MISSING_DECLARATION, "no such block".to_owned(), "a block"),
    };
    missing_base(item, summary, &what, noun)
}

fn without_base_resource(item: &Item, resource: &addr::Resource) -> ItemProblem {
    let noun = match resource.mode {
        addr::ResourceMode::Managed => "resource",
        addr::ResourceMode::Data => "data resource",
        addr::ResourceMode::Ephemeral => "ephemeral resource",
    };
    let what = format!("no {} {noun} named \"{}\"", resource.type_name, resource.name);
    missing_base(item, Summary::missing_resource(noun), &what, "a block that is")
}

fn missing_base(item: &Item, summary: Summary, what: &str, noun: &str) -> ItemProblem {
    let detail = format!(
        "There is {what}. An override file can only override {noun} in a primary configuration \
         file; move the block into one to declare it."
    );
    ItemProblem::new(item.header.into(), summary, detail)
}

fn duplicate(db: &dyn Db, later: ItemKey, first: ItemKey) -> ItemProblem {
    let declared = item(db, later);
    let (summary, detail) = match &declared.kind {
        ItemKind::Variable(it) => (
            Summary::DUPLICATE_VARIABLE,
            format!(
                "A variable named \"{}\" was already declared. Variable names must be unique within a module.",
                it.name
            ),
        ),
        ItemKind::Local(it) => (
            Summary::DUPLICATE_LOCAL,
            format!(
                "A local value named \"{}\" was already defined. Local value names must be unique within a module.",
                it.name
            ),
        ),
        ItemKind::Output(it) => (
            Summary::DUPLICATE_OUTPUT,
            format!(
                "An output named \"{}\" was already defined. Output names must be unique within a module.",
                it.name
            ),
        ),
        ItemKind::ModuleCall(it) => (
            Summary::DUPLICATE_MODULE_CALL,
            format!(
                "A module call named \"{}\" was already defined. Module calls must have unique names within a module.",
                it.name
            ),
        ),
        ItemKind::Resource(it) => {
            let (type_name, name) = (&it.resource.type_name, &it.resource.name);
            let (kind, noun) = match it.resource.mode {
                addr::ResourceMode::Managed => ("resource", "resource"),
                addr::ResourceMode::Data => ("data", "data resource"),
                addr::ResourceMode::Ephemeral => ("ephemeral resource", "ephemeral resource"),
            };
            (
                Summary::duplicate_resource(kind, type_name),
                format!(
                    "A {type_name} {noun} named \"{name}\" was already declared. Resource names \
                     must be unique per type in each module."
                ),
            )
        }
        ItemKind::Provider(it) => (
            Summary::DUPLICATE_PROVIDER,
            format!(
                "A configuration of provider \"{}\" under this name was already given. Use \"alias\" for a second one.",
                it.local_name
            ),
        ),
        ItemKind::Check(it) => (
            Summary::duplicate_check(&it.name),
            format!(
                "A check block named \"{}\" was already declared. Check blocks must be unique within each module.",
                it.name
            ),
        ),
        _ => (Summary::DUPLICATE_NAME, "This name was already declared in this module.".to_owned()),
    };
    let mut problem = ItemProblem::new(declared.header.into(), summary, detail);
    problem.relate(first, item(db, first).header, "first declared here");
    problem
}

/// The errors for settings that a module may have only once, and that an earlier `terraform` block has already. An
/// override file may repeat each once, to replace it.
fn repeated_settings(env: &ItemEnv<'_>, settings: &Terraform) -> Vec<ItemProblem> {
    let file = |key: ItemKey| {
        let file = key.block.file(env.db);
        db::is_override(file.path(env.db)).then_some(file)
    };
    let has_any =
        |it: &Terraform| UNIQUE_SETTINGS.iter().any(|setting| !(setting.nodes)(it).is_empty());
    if !has_any(settings) && settings.provider_metas.is_empty() {
        return Vec::new();
    }
    let all = terraform_blocks(env.db, env.directory);
    let before = all.iter().take_while(|key| **key != env.key);
    let earlier: Vec<(ItemKey, &Terraform)> = before
        .filter(|key| file(**key) == file(env.key))
        .filter_map(|key| Some((*key, item(env.db, *key).kind.as_terraform()?)))
        .collect();
    let first = |of: &dyn Fn(&Terraform) -> Vec<NodeId>| {
        earlier.iter().find_map(|(key, it)| Some(ItemPlace::new(*key, *of(it).first()?)))
    };
    let mut problems = Vec::new();
    for UniqueSetting { nodes, summary, detail } in UNIQUE_SETTINGS {
        let own = nodes(settings);
        let (first, later) = match first(nodes) {
            Some(first) => (first, own.as_slice()),
            None if own.is_empty() => continue,
            None => (ItemPlace::new(env.key, own[0]), &own[1..]),
        };
        problems.extend(later.iter().map(|at| repeated(summary.clone(), detail, *at, first)));
    }
    for (index, meta) in settings.provider_metas.iter().enumerate() {
        let (Some(name), at) = (meta.labels.first(), &meta.node) else { continue };
        let same = |it: &[Block]| it.iter().find(|it| it.labels == meta.labels).map(|it| it.node);
        let here =
            same(&settings.provider_metas[..index]).map(|node| ItemPlace::new(env.key, node));
        let before = earlier
            .iter()
            .find_map(|(key, it)| Some(ItemPlace::new(*key, same(&it.provider_metas)?)));
        let detail = format!(
            "A provider_meta block for provider \"{name}\" was already declared. Providers may \
             only have one provider_meta block per module."
        );
        let first = before.or(here);
        let summary = Summary::DUPLICATE_PROVIDER_META;
        problems.extend(first.map(|it| repeated(summary, &detail, *at, it)));
    }
    let (backends, clouds) = (backends as fn(&Terraform) -> Vec<NodeId>, clouds as fn(&_) -> _);
    let own = |of: fn(&Terraform) -> Vec<NodeId>| of(settings).first().copied();
    let cloud = first(&clouds).or(own(clouds).map(|node| ItemPlace::new(env.key, node)));
    let backend = first(&backends).or(own(backends).map(|node| ItemPlace::new(env.key, node)));
    if let (Some(cloud), Some(other)) = (cloud, backend)
        && let Some(at) = own(backends).or(own(clouds))
    {
        let detail = "A module may declare either a \"cloud\" block or a \"backend\" block, since \
                      both configure where state is kept. Remove one of the two.";
        let first = if cloud.at == at.into() { other } else { cloud };
        problems.push(repeated(Summary::CLOUD_AND_BACKEND, detail, at, first));
    }
    problems
}

fn repeated(summary: Summary, detail: &str, at: NodeId, first: ItemPlace) -> ItemProblem {
    let mut problem = ItemProblem::new(at.into(), summary, detail);
    problem.relate(first.item, first.at, "first declared here");
    problem
}

/// A setting that a module may have only once.
struct UniqueSetting {
    /// Finds the nodes of the setting.
    nodes: fn(&Terraform) -> Vec<NodeId>,
    /// The summary of the error for a second one.
    summary: Summary,
    /// The detail of the error for a second one.
    detail: &'static str,
}

/// The settings that a module may have only once.
const UNIQUE_SETTINGS: &[UniqueSetting] = &[
    UniqueSetting {
        nodes: backends,
        summary: Summary::DUPLICATE_BACKEND,
        detail: "A module may have only one backend configuration. Remove one of the two.",
    },
    UniqueSetting {
        nodes: |it| it.requirements_node.into_iter().collect(),
        summary: Summary::DUPLICATE_REQUIRED_PROVIDERS,
        detail: "A module may have only one required providers configuration. Merge the two.",
    },
    UniqueSetting {
        nodes: clouds,
        summary: Summary::DUPLICATE_CLOUD,
        detail: "A module may have only one \"cloud\" block. Remove one of the two.",
    },
    UniqueSetting {
        nodes: |it| it.encryptions.iter().map(|it| it.node).collect(),
        summary: Summary::DUPLICATE_ENCRYPTION,
        detail: "A module may have only one encryption configuration. Merge the two.",
    },
];

fn backends(settings: &Terraform) -> Vec<NodeId> {
    settings.backend.iter().map(|it| it.node).collect()
}

fn clouds(settings: &Terraform) -> Vec<NodeId> {
    settings.clouds.iter().map(|it| it.node).collect()
}

/// The warnings for a provider that is required under two names. A resource type without a `provider` argument
/// would be ambiguous.
fn repeated_sources(settings: &Terraform) -> Vec<ItemProblem> {
    let mut problems = Vec::new();
    let mut seen: Vec<(addr::ProviderSource, &Str)> = Vec::new();
    for entry in &settings.required_providers {
        let Some((text, _)) = &entry.source else { continue };
        let Ok(source) = addr::ProviderSource::parse(text) else { continue };
        let Some((_, first)) = seen.iter().find(|it| it.0 == source || *it.1 == entry.local_name)
        else {
            seen.push((source, &entry.local_name));
            continue;
        };
        // A repeated name has been reported already.
        if **first == entry.local_name {
            continue;
        }
        let detail = format!(
            "Provider {} with the local name \"{}\" was previously required as \"{first}\". A \
             provider can only be required once within required_providers. Remove one of the two, \
             and name the other wherever a \"provider\" argument has the removed name.",
            source.for_display(),
            entry.local_name
        );
        let problem =
            ItemProblem::new(entry.node.into(), Summary::DUPLICATE_REQUIRED_PROVIDER, detail);
        problems.push(problem);
    }
    problems
}

/// The error for a provider source that cannot be parsed.
fn wrong_source(entry: &RequiredProvider) -> Option<ItemProblem> {
    let (text, node) = entry.source.as_ref()?;
    let error = addr::ProviderSource::parse(text).err()?;
    Some(ItemProblem::new((*node).into(), Summary::INVALID_PROVIDER_SOURCE, error.to_string()))
}

/// The error for a version constraint of a required provider that cannot be parsed.
fn wrong_version(entry: &RequiredProvider) -> Option<ItemProblem> {
    let (text, node) = entry.version.as_ref()?;
    let error = addr::VersionConstraint::parse_provider(text).err()?;
    let detail = format!(
        "The version constraint \"{text}\" of provider \"{}\" cannot be understood: {error}.",
        entry.local_name
    );
    Some(ItemProblem::new((*node).into(), Summary::INVALID_VERSION_CONSTRAINT, detail))
}
