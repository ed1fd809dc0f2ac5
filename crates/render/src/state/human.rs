//! A state as text (`show`, `state show`).

use std::fmt::Write;

use addr::{ProviderSource, ResourceInstance};
use state::{DeposedKey, Object, State, Status};

use super::json;
use crate::{
    Schemas, diff,
    style::{Paint, Style},
};

/// Every object with its attributes, and the outputs.
pub fn state(state: &State, schemas: Schemas<'_>, show_sensitive: bool, style: &Style) -> String {
    if state.resources().len() == 0 && state.outputs.is_empty() {
        return "The state file is empty. No resources are represented.\n".to_owned();
    }
    let mut text = String::new();
    for (address, resource, instance) in state.instances() {
        let provider = &resource.provider.source;
        if let Some(object) = &instance.current {
            text.push_str(&object_text(
                &address,
                provider,
                object,
                None,
                schemas,
                show_sensitive,
                style,
            ));
            text.push('\n');
        }
        for (key, object) in &instance.deposed {
            text.push_str(&object_text(
                &address,
                provider,
                object,
                Some(*key),
                schemas,
                show_sensitive,
                style,
            ));
            text.push('\n');
        }
    }
    if !state.outputs.is_empty() {
        let _ = write!(text, "\nOutputs:\n\n");
        for (name, output) in &state.outputs {
            text.push_str(&diff::state_output_line(name, output, show_sensitive, style));
        }
    }
    text
}

/// One instance with its attributes (`state show`). `None` where the state has no such object.
pub fn resource_instance(
    state: &State,
    address: &ResourceInstance,
    schemas: Schemas<'_>,
    show_sensitive: bool,
    style: &Style,
) -> Option<String> {
    let provider = &state.provider_of(address)?.source;
    let object = state.current(address)?;
    Some(object_text(address, provider, object, None, schemas, show_sensitive, style))
}

fn object_text(
    address: &ResourceInstance,
    provider: &ProviderSource,
    object: &Object,
    deposed: Option<DeposedKey>,
    schemas: Schemas<'_>,
    show_sensitive: bool,
    style: &Style,
) -> String {
    let mut notes = String::new();
    if object.status == Status::Tainted {
        notes.push_str(" (tainted)");
    }
    if let Some(key) = deposed {
        let _ = write!(notes, " (deposed object {key})");
    }
    let schema = schemas(provider)
        .and_then(|it| it.of_mode(address.resource.mode, &address.resource.type_name));
    let value = json::decoded(address, provider, object, schemas)
        .unwrap_or_else(|| json::undecoded(object));
    let resource = &address.resource;
    let header =
        format!("{} \"{}\" \"{}\"", resource.mode.block_type(), resource.type_name, resource.name);
    let body =
        diff::object_body(&value, schema.as_ref().map(|it| it.block()), show_sensitive, style);
    let comment = style.paint(Paint::Bold, &format!("# {address}:{notes}"));
    format!("{comment}\n{header} {body}\n")
}
