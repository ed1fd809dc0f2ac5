//! A state as text (`show`, `state show`).

use std::fmt::Write;

use addr::{AbsResource, ModuleInstance, ProviderSource, ResourceInstance};
use state::{DeposedKey, InstanceEntry, Object, State, Status};

use crate::{
    Schemas, diff,
    state::json,
    style::{Paint, Style},
};

/// Every object with its attributes, and the outputs.
pub fn state(state: &State, schemas: Schemas<'_>, show_sensitive: bool, style: &Style) -> String {
    if state.resources().len() == 0 && state.outputs.is_empty() {
        return "The state file is empty. No resources are represented.\n".to_owned();
    }
    let view = View { schemas, show_sensitive, style };
    let mut text = String::new();
    let mut last: Option<ModuleInstance> = None;
    for InstanceEntry { address, resource, instance } in state.instances() {
        let current = instance.current.iter().map(|it| (it, None));
        let deposed = instance.deposed.iter().map(|(key, it)| (it, Some(*key)));
        for (object, key) in current.chain(deposed) {
            text.push_str(match &last {
                None => "",
                Some(module) if *module == address.module => "\n",
                Some(_) => "\n\n",
            });
            last = Some(address.module.clone());
            text.push_str(&view.object(&address, &resource.provider.source, object, key));
        }
    }
    if !state.outputs.is_empty() {
        let _ = write!(text, "\n\nOutputs:\n\n");
        for (name, output) in &state.outputs {
            text.push_str(&diff::state_output_line(name, output, show_sensitive, style));
        }
    }
    text
}

/// One instance with its attributes (`state show`). `None` if the state does not contain it.
pub fn resource_instance(
    state: &State,
    address: &ResourceInstance,
    schemas: Schemas<'_>,
    show_sensitive: bool,
    style: &Style,
) -> Option<String> {
    let provider = &state.provider_of(address)?.source;
    let object = state.current(address)?;
    Some(View { schemas, show_sensitive, style }.object(address, provider, object, None))
}

struct View<'a> {
    schemas: Schemas<'a>,
    show_sensitive: bool,
    style: &'a Style,
}

impl View<'_> {
    fn object(
        &self,
        address: &ResourceInstance,
        provider: &ProviderSource,
        object: &Object,
        deposed: Option<DeposedKey>,
    ) -> String {
        let note = match (deposed, object.status) {
            (Some(key), _) => format!(" (deposed object {key})"),
            (None, Status::Tainted) => " (tainted)".to_owned(),
            (None, Status::Ready) => String::new(),
        };
        let resource = &address.resource;
        let schemas = (self.schemas)(provider);
        let schema = schemas.and_then(|it| it.of_mode(resource.mode, &resource.type_name));
        let value = json::decoded(address, provider, object, self.schemas);
        let value = value.unwrap_or_else(|| json::undecoded(object));
        let block = schema.as_ref().map(|it| it.block());
        let body = diff::object_body(&value, block, self.show_sensitive, self.style);
        let header = format!(
            "{} \"{}\" \"{}\"",
            resource.mode.block_type(),
            resource.type_name,
            resource.name
        );
        format!("# {address}:{note}\n{header} {body}\n")
    }
}

/// The announcement of `state replace-provider`.
pub fn provider_replacement(
    from: &ProviderSource,
    to: &ProviderSource,
    resources: &[AbsResource],
    style: &Style,
) -> String {
    let mut text = format!(
        "OpenTofu will perform the following actions:\n\n  {} Updating provider:\n    {} {from}\n    {} \
         {to}\n\n{} {} resources:\n\n",
        style.paint(Paint::Yellow, "~"),
        style.paint(Paint::Red, "-"),
        style.paint(Paint::Green, "+"),
        style.paint(Paint::Bold, "Changing"),
        resources.len(),
    );
    for resource in resources {
        text.push_str(&format!("  {resource}\n"));
    }
    text
}
