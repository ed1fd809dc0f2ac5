//! `depends_on` of resources, module calls and outputs.

use db::Summary;

use crate::{
    analysis::{env::ItemEnv, infer::Infer, problem::ItemProblem},
    item::{DependsOn, RefTarget},
    item_name::ItemName,
};

/// Reports `depends_on` entries whose targets do not exist.
pub(super) fn check_depends_on(infer: &mut Infer<'_>, env: &ItemEnv<'_>, depends_on: &[DependsOn]) {
    for entry in depends_on {
        let name = match &entry.target {
            RefTarget::Variable(name) => ItemName::Variable(name.clone()),
            RefTarget::Local(name) => ItemName::Local(name.clone()),
            RefTarget::Resource(resource) => ItemName::Resource(resource.clone()),
            RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => {
                ItemName::Module(call.clone())
            }
            RefTarget::Ambient(_) => {
                infer.problems.push(ItemProblem::new(
                    entry.node.into(),
                    Summary::INVALID_DEPENDS_ON,
                    "Only resources, modules, variables and local values can be waited for.",
                ));
                continue;
            }
        };
        if env.find(&name).is_none() {
            let mut fix = None;
            let (summary, detail) = match &entry.target {
                RefTarget::Resource(resource) => {
                    let (detail, close) = env.undeclared_resource(resource);
                    fix = close;
                    (Summary::UNDECLARED_RESOURCE, detail)
                }
                RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => (
                    Summary::UNDECLARED_MODULE,
                    format!("No module call named \"{call}\" is declared here."),
                ),
                RefTarget::Variable(name) => (
                    Summary::UNDECLARED_INPUT_VARIABLE,
                    format!("An input variable with the name \"{name}\" has not been declared."),
                ),
                RefTarget::Local(name) => (
                    Summary::UNDECLARED_LOCAL,
                    format!("A local value with the name \"{name}\" has not been declared."),
                ),
                RefTarget::Ambient(_) => continue,
            };
            let at = entry.node.into();
            let problem = ItemProblem::new(at, summary, detail);
            infer.problems.push(problem.fixed_by(fix));
        }
    }
}
