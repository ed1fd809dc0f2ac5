//! A long session of edits that add and remove names, blocks, files and modules.

use std::{path::PathBuf, sync::Arc};

use db::{Diagnostic, MemorySystem, System};
use hir::{Program, workspace::StaticInputs};
use project::{Configure as _, EditableProject};
use sorted::TreeMap;

/// The modules that edits call in turn: more than a project keeps loaded without a caller.
const MODULES: usize = 40;
/// The kinds of edits.
const KINDS: usize = 8;

/// The kind of the source of the module call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sources {
    /// A literal.
    Literal,
    /// An expression of locals, so that any edit can lead to another module.
    Computed,
}

/// A project with its number of edits so far.
pub(crate) struct Churn {
    system: Arc<MemorySystem>,
    project: EditableProject,
    sources: Sources,
    number: usize,
}

impl Churn {
    /// Loads and checks a configuration with `others` resources that no edit touches.
    pub(crate) fn new(sources: Sources, others: usize) -> Churn {
        let system = Arc::new(MemorySystem::new());
        for first in (0..others).step_by(100) {
            let text: String = (first..others.min(first + 100)).map(other).collect();
            system.write(format!("other{first}.tf"), text);
        }
        for index in 0..MODULES {
            let text = format!(
                "variable \"in\" {{}}\n\nlocals {{\n  inner{index} = var.in\n}}\n\n\
                 output \"out\" {{\n  value = local.inner{index}\n}}\n"
            );
            system.write(format!("m{index}/main.tf"), text);
        }
        system.write("main.tf", main_text(sources, 0));
        let project = load(&system);
        let mut churn = Churn { system, project, sources, number: 0 };
        churn.project.recheck();
        churn
    }

    /// The number of edits so far.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// Makes the next edit and checks the configuration.
    pub(crate) fn step(&mut self) -> (Vec<Diagnostic>, Program) {
        self.number += 1;
        let number = self.number;
        let (file, gone) = (format!("f{number}.tf"), format!("f{}.tf", number - 1));
        match number % KINDS {
            4 => {
                self.system
                    .write(&file, format!("output \"f{number}\" {{\n  value = local.a1\n}}\n"));
                self.project.tree_mut().reload([&*file]);
            }
            5 => {
                self.system.remove(&gone);
                self.project.tree_mut().reload([&*gone]);
            }
            _ => {
                let text = main_text(self.sources, number);
                self.system.write("main.tf", &*text);
                assert!(self.project.set_text("main.tf", &text), "it is part of the configuration");
            }
        }
        self.project.recheck()
    }

    /// The diagnostics and the program of a newly loaded project with the same texts.
    pub(crate) fn fresh(&self) -> (Vec<Diagnostic>, Program) {
        load(&self.system).recheck()
    }
}

/// A local value and a resource that no edit touches.
fn other(index: usize) -> String {
    format!(
        "locals {{\n  a{index} = \"{index}\"\n}}\n\nresource \"terraform_data\" \"r{index}\" {{\n  input = \
         local.a{index}\n}}\n\n"
    )
}

fn load(system: &Arc<MemorySystem>) -> EditableProject {
    let system = Arc::clone(system) as Arc<dyn System>;
    let loaded = EditableProject::load(system, PathBuf::from("."), TreeMap::new());
    let mut project = loaded.expect("the root module is there");
    project
        .set_static_inputs(StaticInputs { workspace: "default".into(), ..StaticInputs::default() });
    project
}

/// The text of the edited file after this number of edits.
fn main_text(sources: Sources, number: usize) -> String {
    let name = format!("name{number}");
    let mut text = format!(
        "locals {{\n  {name} = 1\n  other = 2\n}}\n\n\
         resource \"terraform_data\" \"main\" {{\n  input = local.{name}\n}}\n"
    );
    match number % KINDS {
        1 => {
            text.push_str(&format!(
                "\nvariable \"v{number}\" {{\n  default = 1\n}}\n\n\
                 output \"o{number}\" {{\n  value = var.v{number}\n}}\n"
            ));
        }
        2 => text.push_str(&format!("\noutput \"o\" {{\n  value = local.none{number}\n}}\n")),
        6 | 7 => {
            let directory = format!("./m{}", number / KINDS % MODULES);
            let source = match sources {
                Sources::Literal => format!("\"{directory}\""),
                Sources::Computed => {
                    text.push_str(&format!(
                        "\nlocals {{\n  source{number} = \"{directory}\"\n}}\n"
                    ));
                    format!("local.source{number}")
                }
            };
            text.push_str(&format!(
                "\nmodule \"c{number}\" {{\n  source = {source}\n  in     = local.{name}\n}}\n\n\
                 output \"o{number}\" {{\n  value = module.c{number}.out\n}}\n"
            ));
        }
        _ => {}
    }
    text
}
