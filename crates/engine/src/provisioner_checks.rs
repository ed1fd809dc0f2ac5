//! Validation of `provisioner` blocks by provisioner plugins, before anything is planned or applied.
//!
//! Values that only a run could give are unknown. A plugin is started only for a configuration that has not passed
//! before, see [`Verdicts`].

use std::sync::Arc;

use db::Diagnostic;
use futures::future::LocalBoxFuture;
use hir::{Entry, Module, Program, item::Provisioner};
use sorted::TreeMap;
use values::Str;

use crate::{
    event::PluginName,
    offline::{ModuleScope, Offline},
    request::Environment,
    validate::{
        Asked, Call, Case, Verdicts, ask_all, decode, is_known_good, offline, without_repeated,
    },
};

/// Lets provisioner plugins validate the `provisioner` blocks that `counts` accepts, in every resource of the program.
/// Returns their diagnostics.
pub fn validate_provisioners<'r>(
    program: &'r Arc<Program>,
    environment: &'r Environment,
    workspace: &'r Str,
    verdicts: &'r dyn Verdicts,
    counts: fn(&Provisioner) -> bool,
) -> LocalBoxFuture<'r, Vec<Diagnostic>> {
    Box::pin(validate_blocks(program, environment, workspace, verdicts, counts))
}

async fn validate_blocks(
    program: &Arc<Program>,
    environment: &Environment,
    workspace: &Str,
    verdicts: &dyn Verdicts,
    counts: fn(&Provisioner) -> bool,
) -> Vec<Diagnostic> {
    if program.provisioners.is_empty() {
        return Vec::new();
    }
    let mut diagnostics = Vec::new();
    let mut cases: TreeMap<&Str, Vec<Case<'_>>> = TreeMap::new();
    let offline = offline(program, environment, workspace);
    for module in &program.modules {
        of_module(program, &offline, module, counts, &mut cases, &mut diagnostics);
    }
    for (kind, mut cases) in cases {
        let name = PluginName::Provisioner(kind.clone());
        cases.retain(|case| !is_known_good(&name, case, verdicts));
        if cases.is_empty() {
            continue;
        }
        match environment.providers.start_provisioner(kind).await {
            Ok(plugin) => {
                let asked = Asked::Provisioner(&*plugin);
                let found = ask_all(program, environment, &name, asked, cases, verdicts).await;
                plugin.close().await;
                diagnostics.extend(found);
            }
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    without_repeated(program, diagnostics)
}

/// Adds the configurations of the plugins in the resources of a module.
fn of_module<'p>(
    program: &'p Program,
    offline: &Offline<'p>,
    module: &'p Module,
    counts: fn(&Provisioner) -> bool,
    cases: &mut TreeMap<&'p Str, Vec<Case<'p>>>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let scope = ModuleScope::of(offline, module.id);
    for entry in module.resources.values() {
        for provisioner in entry.resource().provisioners.iter().filter(|it| counts(it)) {
            let case = of_provisioner(program, &scope, entry, provisioner, diagnostics);
            if let Some(case) = case {
                cases.entry(&provisioner.kind).or_default().push(case);
            }
        }
    }
}

/// The configuration of a block. `None` if its provisioner is built in, or if the configuration cannot be evaluated.
fn of_provisioner<'p>(
    program: &Program,
    scope: &ModuleScope<'_>,
    entry: &'p Entry,
    provisioner: &'p Provisioner,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Case<'p>> {
    let schema = program.provisioners.get(&provisioner.kind)?.as_ref()?;
    let (body, header) = (&provisioner.body, provisioner.node);
    let (config, encoded) = decode(program, scope, entry, body, header, schema, diagnostics)?;
    Some(Case {
        entry,
        body: Some(body),
        header,
        call: Some(Call::Provisioner),
        type_name: Str::default(),
        address: entry.resource().resource.to_string(),
        config,
        encoded,
    })
}
