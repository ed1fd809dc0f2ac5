//! The commands `providers` and those below it.

use db::{Diagnostic, Summary};
use sorted::TreeMap;

use operations::{
    provider_packages::{self, LockOptions},
    requirements::{self, ModuleRequirements, TestRequirements},
    sandboxes::{self, SandboxedProvider},
    session::Failure,
    store,
};
use render::TreeNode;

use crate::{
    args::{ProvidersArgs, ProvidersCommand, ProvidersLockArgs, ProvidersSchemaArgs},
    exit::Exit,
    session::CommandSession,
};

/// Runs `providers`, or the command below it.
pub(crate) fn run(session: &CommandSession, args: &ProvidersArgs) -> Result<Exit, Failure> {
    match &args.command {
        Some(ProvidersCommand::Schema(args)) => schema(session, args),
        Some(ProvidersCommand::Lock(args)) => lock(session, args),
        Some(ProvidersCommand::Mirror(args)) => {
            provider_packages::mirror(session, &args.directory, &args.platform)?;
            Ok(Exit::Success)
        }
        None => tree(session, args),
    }
}

/// Runs `providers lock`: adds checksums to the lock file.
fn lock(session: &CommandSession, args: &ProvidersLockArgs) -> Result<Exit, Failure> {
    let options = LockOptions {
        providers: &args.providers,
        platforms: &args.platform,
        fs_mirror: args.fs_mirror.as_deref(),
        net_mirror: args.net_mirror.as_deref(),
    };
    provider_packages::lock(session, &options)?;
    Ok(Exit::Success)
}

/// Prints the tree of requirements.
fn tree(session: &CommandSession, args: &ProvidersArgs) -> Result<Exit, Failure> {
    let found = requirements::requirements(session, &args.test_directory)?;
    session.ui.line("\nProviders required by configuration:");
    let tests = found.tests.iter().map(test_node);
    let all: Vec<TreeNode> = nodes(&found.root).into_iter().chain(tests).collect();
    session.ui.line(&render::tree(&all));
    if !found.of_state.is_empty() {
        session.ui.line("Providers required by state:\n");
        for source in &found.of_state {
            session.ui.line(&format!("    {}\n", render::required_provider(source, "")));
        }
    }
    print_sandboxed(session, &sandboxes::sandboxed(session, &found.providers())?);
    Ok(Exit::Success)
}

/// Prints the providers that run in a sandbox. Prints nothing if there are none, as OpenTofu does.
fn print_sandboxed(session: &CommandSession, sandboxed: &[SandboxedProvider]) {
    let Some(first) = sandboxed.first() else { return };
    session.ui.line("Providers that run in a sandbox:\n");
    for it in sandboxed {
        session.ui.line(&format!("    {}\n", render::required_provider(&it.source, "")));
    }
    if let Some(missing) = &first.missing {
        session.ui.line(&format!("    (incomplete on this system: {missing})\n"));
    }
}

fn nodes(module: &ModuleRequirements) -> Vec<TreeNode> {
    let providers = module.providers.iter().map(|(source, constraint)| TreeNode {
        text: render::required_provider(source, &constraint.to_string()),
        children: Vec::new(),
    });
    let children = module
        .children
        .iter()
        .map(|(name, child)| TreeNode { text: format!("module.{name}"), children: nodes(child) });
    providers.chain(children).collect()
}

/// The node of a test file, with the providers that it configures and the modules of its runs.
fn test_node(test: &TestRequirements) -> TreeNode {
    let providers = test.providers.iter().map(|source| TreeNode {
        text: render::required_provider(source, ""),
        children: Vec::new(),
    });
    let runs = test
        .runs
        .iter()
        .map(|(name, module)| TreeNode { text: format!("run.{name}"), children: nodes(module) });
    TreeNode { text: format!("test.{}", test.name), children: providers.chain(runs).collect() }
}

/// Runs `providers schema`: prints the schemas of all providers as JSON.
fn schema(session: &CommandSession, args: &ProvidersSchemaArgs) -> Result<Exit, Failure> {
    if !args.json {
        let detail = "The `mayfly providers schema` command requires the `-json` flag.";
        return Err(Diagnostic::new(Summary::JSON_REQUIRED, detail).into());
    }
    let mut open = store::open_unlocked(session, None)?;
    let loaded = session.load(Some(&mut open.file.state))?;
    let requirements = session.requirements(&loaded.project, Some(&open.file.state));
    let mut schemas = TreeMap::new();
    for source in requirements.keys() {
        schemas.insert(source.clone(), loaded.executables.schemas(session, source)?);
    }
    session.ui.line(&render::providers_schema_json(&schemas));
    Ok(Exit::Success)
}
