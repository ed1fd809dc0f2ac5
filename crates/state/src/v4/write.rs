//! Writes state files of format 4.

use addr::{AbsResource, InstanceKey, ProviderConfigRef, ResourceMode};
use base64::Engine as _;
use values::MarkKind;
use values::json::{self, JsonText};

use crate::checks::CheckResult;
use crate::error::EncodeError;
use crate::marks;
use crate::object::{Attributes, Object, Status};
use crate::resources::{DeposedKey, OutputValue, ResourceState, State, StateFile};
use crate::v4::paths;

pub(crate) fn write(file: &StateFile) -> Result<Vec<u8>, EncodeError> {
    let mut out = JsonText::with_capacity(1024 + 1024 * file.state.resources().len());
    out.open('{');
    out.key("version");
    out.token(4);
    out.member("terraform_version", crate::WRITTEN_VERSION);
    out.key("serial");
    out.token(file.serial);
    out.member("lineage", &file.lineage);
    write_outputs(&mut out, &file.state)?;
    write_resources(&mut out, &file.state)?;
    write_checks(&mut out, &file.state.checks);
    out.close('}');
    let mut bytes = out.finish();
    // A local state file of OpenTofu ends with an empty line.
    bytes.push(b'\n');
    Ok(bytes)
}

fn write_outputs(out: &mut JsonText, state: &State) -> Result<(), EncodeError> {
    out.key("outputs");
    out.open('{');
    for (name, output) in &state.outputs {
        out.key(name);
        write_output(out, &format!("output.{name}"), output)?;
    }
    out.close('}');
    Ok(())
}

fn write_output(out: &mut JsonText, what: &str, output: &OutputValue) -> Result<(), EncodeError> {
    let (value, _) = marks::split(&output.value, what)?;
    let ty = value.ty();
    let text = json::encode(&value, &ty).map_err(|it| EncodeError::value(what, it))?;
    out.open('{');
    out.key("value");
    out.json(&text);
    out.key("type");
    out.json(&json::type_to_json(&ty));
    out.flag("sensitive", output.sensitive || output.value.has_deep(MarkKind::Sensitive));
    out.optional("deprecated", output.deprecated.as_deref().unwrap_or_default());
    out.close('}');
    Ok(())
}

/// Writes the resources. Modules are sorted by their text, so `module.m[10]` precedes `module.m[2]`, as in
/// OpenTofu.
fn write_resources(out: &mut JsonText, state: &State) -> Result<(), EncodeError> {
    let mut sorted: Vec<(String, &AbsResource, &ResourceState)> =
        Vec::with_capacity(state.resources().len());
    for (addr, resource) in state.resources() {
        let module = match sorted.last() {
            Some((text, last, _)) if last.module == addr.module => text.clone(),
            _ => addr.module.to_string(),
        };
        sorted.push((module, addr, resource));
    }
    sorted::sort_by(&mut sorted, |(a_module, a, _), (b_module, b, _)| {
        a_module.cmp(b_module).then_with(|| a.resource.cmp(&b.resource))
    });
    out.key("resources");
    out.open('[');
    for (module, addr, resource) in sorted {
        write_resource(out, &module, addr, resource)?;
    }
    out.close(']');
    Ok(())
}

/// Writes one resource in one line, in the form of a state file.
pub(crate) fn write_alone(
    addr: &AbsResource,
    resource: &ResourceState,
) -> Result<String, EncodeError> {
    let mut out = JsonText::compact();
    write_object(&mut out, &addr.module.to_string(), addr, resource)?;
    Ok(out.into_text())
}

fn write_resource(
    out: &mut JsonText,
    module: &str,
    addr: &AbsResource,
    resource: &ResourceState,
) -> Result<(), EncodeError> {
    out.item();
    write_object(out, module, addr, resource)
}

fn write_object(
    out: &mut JsonText,
    module: &str,
    addr: &AbsResource,
    resource: &ResourceState,
) -> Result<(), EncodeError> {
    let mode = match addr.resource.mode {
        ResourceMode::Managed => "managed",
        ResourceMode::Data => "data",
        ResourceMode::Ephemeral => return Err(EncodeError::EphemeralResource(addr.to_string())),
    };
    out.open('{');
    out.optional("module", module);
    out.member("mode", mode);
    out.member("type", &addr.resource.type_name);
    out.member("name", &addr.resource.name);
    let mut objects =
        resource.instances.values().flat_map(|it| it.current.iter().chain(it.deposed.values()));
    // Either the resource has a provider in the file, or each of its objects has one.
    let each_has_one = objects.any(|it| it.provider.is_some());
    let own = each_has_one.then_some(&resource.provider);
    if !each_has_one {
        out.member("provider", &resource.provider.to_string());
    }
    out.key("instances");
    out.open('[');
    for (key, instance) in &resource.instances {
        if let Some(object) = &instance.current {
            write_instance(out, &Written { addr, key, deposed: None, provider: own, object })?;
        }
        for (deposed, object) in &instance.deposed {
            let deposed = Some(*deposed);
            write_instance(out, &Written { addr, key, deposed, provider: own, object })?;
        }
    }
    out.close(']');
    out.close('}');
    Ok(())
}

/// An object with all that its entry in the file shows.
struct Written<'w> {
    addr: &'w AbsResource,
    key: &'w InstanceKey,
    deposed: Option<DeposedKey>,
    /// The provider configuration of the resource, if each object shows its own; `None` if none does.
    provider: Option<&'w ProviderConfigRef>,
    object: &'w Object,
}

fn write_instance(out: &mut JsonText, written: &Written<'_>) -> Result<(), EncodeError> {
    let Written { addr, key, deposed, provider, object } = *written;
    out.item();
    out.open('{');
    match key {
        InstanceKey::None => {}
        InstanceKey::Int(index) => {
            out.key("index_key");
            out.token(index);
        }
        InstanceKey::String(text) => out.member("index_key", text),
    }
    if object.status == Status::Tainted {
        out.member("status", "tainted");
    }
    if let Some(deposed) = deposed {
        out.member("deposed", deposed.as_str());
    }
    if let Some(shared) = provider {
        out.member("provider", &object.provider.as_ref().unwrap_or(shared).to_string());
    }
    out.key("schema_version");
    out.token(object.schema_version);
    write_attributes(out, &object.attributes);
    out.key("sensitive_attributes");
    if object.sensitive_paths.is_empty() {
        out.json("[]");
    } else {
        let what = addr.instance(key.clone()).to_string();
        paths::write(out, &what, &object.sensitive_paths)?;
    }
    write_rest(out, object);
    out.close('}');
    Ok(())
}

fn write_attributes(out: &mut JsonText, attributes: &Attributes) {
    match attributes {
        Attributes::Json(text) => {
            out.key("attributes");
            out.json(text);
        }
        Attributes::Flat(map) => {
            out.key("attributes_flat");
            out.open('{');
            for (key, value) in map.iter() {
                out.member(key, value);
            }
            out.close('}');
        }
    }
}

fn write_rest(out: &mut JsonText, object: &Object) {
    if !object.private.is_empty() {
        out.member("private", &base64::engine::general_purpose::STANDARD.encode(&object.private));
    }
    if !object.dependencies.is_empty() {
        out.key("dependencies");
        out.open('[');
        // OpenTofu's order, so that an unchanged state has unchanged bytes.
        let mut names: Vec<String> = object.dependencies.iter().map(ToString::to_string).collect();
        sorted::sort(&mut names);
        for name in &names {
            out.item();
            out.string(name);
        }
        out.close(']');
    }
    out.flag("create_before_destroy", object.create_before_destroy);
    out.flag("skip_destroy", object.skip_destroy);
    if let Some(identity) = &object.identity {
        out.key("identity");
        out.json(&identity.json);
        out.key("identity_schema_version");
        out.token(identity.schema_version);
    }
}

fn write_checks(out: &mut JsonText, checks: &[CheckResult]) {
    out.key("check_results");
    if checks.is_empty() {
        out.token("null");
        return;
    }
    out.open('[');
    for check in checks {
        out.item();
        write_check(out, check);
    }
    out.close(']');
}

fn write_check(out: &mut JsonText, check: &CheckResult) {
    out.open('{');
    out.member("object_kind", check.kind.as_str());
    out.member("config_addr", &check.config_addr);
    out.member("status", check.status.as_str());
    out.key("objects");
    if check.objects.is_empty() {
        out.token("null");
    } else {
        out.open('[');
        for object in &check.objects {
            out.item();
            out.open('{');
            out.member("object_addr", &object.addr);
            out.member("status", object.status.as_str());
            if !object.failure_messages.is_empty() {
                out.key("failure_messages");
                out.open('[');
                for message in &object.failure_messages {
                    out.item();
                    out.string(message);
                }
                out.close(']');
            }
            out.close('}');
        }
        out.close(']');
    }
    out.close('}');
}
