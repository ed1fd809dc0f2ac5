//! The keys of values in test doubles: attributes of resource types, and outputs of modules.

use db::Directory;
use hir::names::{ItemName, item, required_providers};
use syntax::{
    AstNode,
    ast::{self, HasItems as _},
};

use super::{SchemaPart, call_of, schema_of, schema_of_resource};
use crate::Module;

/// The keys of an object in a test double.
#[derive(Clone)]
pub(crate) enum DoubleKeys {
    /// The attributes of a resource type.
    Attributes(SchemaPart),
    /// The outputs of a module.
    Outputs(Directory),
}

/// The keys that the object of a test double has. `blocks` are the blocks around the object, outermost first.
pub(crate) fn double_keys(module: Module<'_>, blocks: &[ast::Block]) -> Option<DoubleKeys> {
    let (block, outer) = blocks.split_last()?;
    let mode = match block.block_type()?.as_str() {
        "mock_resource" => addr::ResourceMode::Managed,
        "mock_data" => addr::ResourceMode::Data,
        "override_resource" | "override_data" => return overridden(module, block),
        "override_module" => {
            let addr::Target::Module(target) = target(block)? else { return None };
            return Some(DoubleKeys::Outputs(inside(module, &target)?.directory));
        }
        _ => return None,
    };
    let provider = outer.last()?.label_texts().next()?;
    let source = required_providers(module.db, module.directory).source(&provider);
    let part = schema_of(module, source, mode, &block.label_texts().next()?)?;
    Some(DoubleKeys::Attributes(part))
}

fn overridden(module: Module<'_>, block: &ast::Block) -> Option<DoubleKeys> {
    let (around, resource) = match target(block)? {
        addr::Target::Resource(it) => (it.module, it.resource),
        addr::Target::Instance(it) => (it.module, it.resource),
        addr::Target::Module(_) => return None,
    };
    let module = inside(module, &around)?;
    let key = module.lookup(&ItemName::Resource(resource))?;
    let resource = item(module.db, key).kind.as_resource()?;
    Some(DoubleKeys::Attributes(schema_of_resource(module, resource)?))
}

/// The address in `target`.
fn target(block: &ast::Block) -> Option<addr::Target> {
    let value = block.body()?.attribute("target")?.value()?;
    let text: String = value.syntax().text().to_string().split_whitespace().collect();
    addr::parse_target(&text.replace("[*]", "")).ok()
}

/// The module that calls lead to.
fn inside<'db>(module: Module<'db>, path: &addr::ModuleInstance) -> Option<Module<'db>> {
    path.steps().iter().try_fold(module.with_directory(module.directory), |module, step| {
        Some(module.with_directory(call_of(&module, &step.name)?))
    })
}
