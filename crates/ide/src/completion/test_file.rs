//! Completion in test files: runs, outputs, provider configurations, and addresses of the module under test.

use addr::ResourceMode;
use hir::{
    names::{ItemName, item},
    symbols::NameKind,
};

use super::{CompletionKind, Proposal, Proposals, body::outputs};
use crate::{
    Document, Module,
    hover::declared,
    language::{Addressed, TEST_ROOTS},
    scheme::call_of,
    test_file::{TestName, declared_in_file, earlier_runs},
};

/// The most addresses of a list.
const MOST_ADDRESSES: usize = 2_000;

/// The most levels of called modules whose objects are proposed.
const DEEPEST: usize = 4;

/// Proposes the first names of references that only test files have.
pub(super) fn roots(acc: &mut Proposals<'_, '_>) {
    let module = acc.cursor.document.module();
    let has_runs = !earlier_runs(acc.cursor).is_empty();
    let has_outputs = !acc.cursor.is_elsewhere() && !module.names(NameKind::Output).is_empty();
    for (name, doc) in TEST_ROOTS {
        if if *name == "run" { has_runs } else { has_outputs } {
            acc.add(Proposal::new(*name, CompletionKind::Keyword).doc(doc).rank(4));
        }
    }
}

/// Proposes names of runs and of outputs. Returns false if the names before the dot are neither.
pub(super) fn namespace(acc: &mut Proposals<'_, '_>, root: &str, names: &[&str]) -> bool {
    let proposals = match (root, names) {
        ("run", []) => runs(acc),
        ("run", [name]) => {
            let module = acc.cursor.document.run(name).and_then(|it| it.module());
            module.map(outputs).unwrap_or_default()
        }
        ("output", []) if !acc.cursor.is_elsewhere() => outputs(acc.cursor.document.module()),
        // Nothing is known of the module of the run.
        _ => return acc.cursor.is_elsewhere(),
    };
    proposals.into_iter().for_each(|it| acc.add(it));
    true
}

fn runs(acc: &Proposals<'_, '_>) -> Vec<Proposal> {
    let runs = earlier_runs(acc.cursor).into_iter();
    let names = runs.filter_map(|it| it.block.label_texts().next());
    names.map(|it| Proposal::new(it, CompletionKind::Module).detail("run")).collect()
}

/// The provider configurations that a test file declares.
pub(super) fn providers(document: Document<'_>) -> Vec<String> {
    let name = |it| match it {
        TestName::Provider(name, Some(alias)) => Some(format!("{name}.{alias}")),
        TestName::Provider(name, None) => Some(name.to_string()),
        TestName::Run(_) => None,
    };
    declared_in_file(document).into_iter().filter_map(name).collect()
}

/// Proposes addresses in the module under test, or what follows the names that are already there.
pub(super) fn addresses(acc: &mut Proposals<'_, '_>, addressed: Addressed, typed: &[&str]) {
    if acc.cursor.is_elsewhere() {
        return;
    }
    let module = acc.cursor.document.module();
    let start: String = typed.iter().map(|it| format!("{it}.")).collect();
    let mut found = Found { addressed, addresses: Vec::new() };
    found.module(module.with_directory(module.directory), "", 0);
    for Address { text, kind, documentation } in found.addresses {
        if let Some(rest) = text.strip_prefix(&start) {
            acc.add(Proposal::new(rest, kind).doc(&documentation).rank(1));
        }
    }
}

/// An address of the module under test.
struct Address {
    text: String,
    kind: CompletionKind,
    documentation: String,
}

struct Found {
    addressed: Addressed,
    addresses: Vec<Address>,
}

impl Found {
    /// Finds the addresses in a module and in the modules that it calls.
    fn module(&mut self, module: Module<'_>, prefix: &str, depth: usize) {
        for kind in self.kinds() {
            for (name, key) in module.names(*kind) {
                let Some((text, kind)) =
                    self.address(&name).filter(|_| depth == 0 || is_inner(&name))
                else {
                    continue;
                };
                if self.addresses.len() < MOST_ADDRESSES {
                    let documentation = declared(module, key).text();
                    self.addresses.push(Address {
                        text: format!("{prefix}{text}"),
                        kind,
                        documentation,
                    });
                }
            }
        }
        if self.addressed == Addressed::Checkable || depth == DEEPEST {
            return;
        }
        for (name, key) in module.names(NameKind::Module) {
            let ItemName::Module(call) = name else { continue };
            if item(module.db, key).kind.as_module_call().is_some()
                && let Some(called) = call_of(&module, &call)
            {
                let prefix = format!("{prefix}module.{call}.");
                self.module(module.with_directory(called), &prefix, depth + 1);
            }
        }
    }

    fn kinds(&self) -> &'static [NameKind] {
        match self.addressed {
            Addressed::Managed | Addressed::Data | Addressed::Objects => &[NameKind::Resource],
            Addressed::Modules => &[NameKind::Module],
            Addressed::ObjectsAndModules => &[NameKind::Resource, NameKind::Module],
            Addressed::Checkable => {
                &[NameKind::Variable, NameKind::Output, NameKind::Check, NameKind::Resource]
            }
        }
    }

    /// The address of an item. `None` if it may not be named here.
    fn address(&self, name: &ItemName) -> Option<(String, CompletionKind)> {
        Some(match name {
            ItemName::Variable(it) => (format!("var.{it}"), CompletionKind::Variable),
            ItemName::Output(it) => (format!("output.{it}"), CompletionKind::Attribute),
            ItemName::Check(it) => (format!("check.{it}"), CompletionKind::Keyword),
            ItemName::Module(it) => (format!("module.{it}"), CompletionKind::Module),
            ItemName::Resource(it) => {
                let fits = match (self.addressed, it.mode) {
                    (_, ResourceMode::Ephemeral) => false,
                    (Addressed::Managed, mode) => mode == ResourceMode::Managed,
                    (Addressed::Data, mode) => mode == ResourceMode::Data,
                    _ => true,
                };
                fits.then_some((it.to_string(), CompletionKind::Resource))?
            }
            _ => return None,
        })
    }
}

/// Returns true for items that have an address in a called module too.
fn is_inner(name: &ItemName) -> bool {
    matches!(name, ItemName::Resource(_) | ItemName::Module(_))
}
