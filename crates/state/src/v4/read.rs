//! Reads state files of format 4.

use std::borrow::Cow;
use std::sync::Arc;

use addr::{
    AbsResource, ConfigResource, InstanceKey, ModuleInstance, ProviderConfigRef, Resource,
    ResourceMode, Version, parse_module_instance, parse_resource,
};
use base64::Engine as _;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use sorted::TreeMap;
use values::{CodecError, Kind, Mark, Str, Type, Value, json};

use crate::checks::{CheckKind, CheckObject, CheckResult, CheckStatus};
use crate::error::StateError;
use crate::object::{Attributes, Identity, Object, Status};
use crate::resources::{DeposedKey, Instance, OutputValue, ResourceState, State, StateFile};
use crate::v4::paths;

/// The structure of the file. Unknown fields are ignored, as OpenTofu does.
#[derive(Deserialize)]
struct FileV4<'a> {
    version: u64,
    #[serde(borrow, default)]
    terraform_version: Option<Cow<'a, str>>,
    #[serde(default)]
    serial: Option<u64>,
    #[serde(default)]
    lineage: Option<String>,
    #[serde(borrow, default)]
    outputs: Option<TreeMap<Cow<'a, str>, OutputV4<'a>>>,
    #[serde(borrow, default)]
    resources: Option<Vec<ResourceV4<'a>>>,
    #[serde(borrow, default)]
    check_results: Option<Vec<CheckV4<'a>>>,
}

#[derive(Deserialize)]
struct OutputV4<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(borrow, rename = "type")]
    ty: &'a RawValue,
    #[serde(default)]
    sensitive: bool,
    #[serde(default)]
    deprecated: Option<String>,
}

#[derive(Deserialize)]
struct ResourceV4<'a> {
    #[serde(borrow, default)]
    module: Option<Cow<'a, str>>,
    #[serde(borrow)]
    mode: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    type_name: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    provider: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    instances: Option<Vec<InstanceV4<'a>>>,
}

#[derive(Deserialize)]
struct InstanceV4<'a> {
    #[serde(borrow, default)]
    index_key: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    deposed: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    provider: Option<Cow<'a, str>>,
    #[serde(default)]
    schema_version: u64,
    #[serde(borrow, default)]
    attributes: Option<&'a RawValue>,
    #[serde(default)]
    attributes_flat: Option<TreeMap<String, String>>,
    #[serde(borrow, default)]
    sensitive_attributes: Option<&'a RawValue>,
    #[serde(borrow, default)]
    private: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    dependencies: Option<Vec<Cow<'a, str>>>,
    #[serde(default)]
    create_before_destroy: bool,
    #[serde(default)]
    skip_destroy: bool,
    #[serde(borrow, default)]
    identity: Option<&'a RawValue>,
    #[serde(default)]
    identity_schema_version: Option<u64>,
}

#[derive(Deserialize)]
struct CheckV4<'a> {
    #[serde(borrow)]
    object_kind: Cow<'a, str>,
    config_addr: String,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow, default)]
    objects: Option<Vec<CheckObjectV4<'a>>>,
}

#[derive(Deserialize)]
struct CheckObjectV4<'a> {
    object_addr: String,
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

/// The fields that identify the format, for a file that is not a valid format 4.
#[derive(Deserialize)]
struct Sniffed<'a> {
    #[serde(default)]
    version: Option<serde_json::Number>,
    #[serde(borrow, default)]
    encrypted_data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    serial: Option<&'a RawValue>,
}

pub(crate) fn read(bytes: &[u8]) -> Result<StateFile, StateError> {
    let text = std::str::from_utf8(bytes).map_err(|it| StateError::Syntax {
        cause: format!("invalid UTF-8 at byte {}", it.valid_up_to()),
    })?;
    match serde_json::from_str::<FileV4<'_>>(text) {
        Ok(file) if file.version == 4 => Reader::default().file(file),
        Ok(_) => Err(other_format(text, None)),
        Err(error) => Err(other_format(text, Some(error))),
    }
}

/// Reads one resource in the form of a state file.
pub(crate) fn read_resource(text: &str) -> Result<(AbsResource, ResourceState), StateError> {
    let raw = serde_json::from_str(text)
        .map_err(|error| StateError::Syntax { cause: json_fault(&error) })?;
    let mut state = State::default();
    Reader::default().resource(&mut state, raw)?;
    let mut all = state.resources();
    let resource = all.next().map(|(addr, it)| (addr.clone(), it.clone()));
    resource.ok_or_else(|| StateError::Syntax { cause: "a resource has no instance".to_owned() })
}

/// Returns the error for a text that is not a state of format 4.
fn other_format(text: &str, error: Option<serde_json::Error>) -> StateError {
    let sniffed = match serde_json::from_str::<Sniffed<'_>>(text) {
        Ok(sniffed) => sniffed,
        Err(syntax) => return StateError::Syntax { cause: json_fault(&syntax) },
    };
    let version = sniffed.version.map(|it| (it.as_u64(), it));
    match (version, error) {
        _ if sniffed.encrypted_data.is_some() => StateError::Encrypted,
        (None, _) => StateError::NoVersion,
        (Some((Some(version @ 0..=3), _)), _) => StateError::OldVersion { version },
        (Some((Some(4), _)), Some(_)) if !is_serial(sniffed.serial) => StateError::Serial,
        (Some((Some(4), _)), Some(error)) => StateError::Syntax { cause: json_fault(&error) },
        (Some((Some(version), _)), _) => StateError::NewVersion { version },
        (Some((None, number)), _) => StateError::Syntax {
            cause: format!("the format version {number} is not a whole number"),
        },
    }
}

fn is_serial(serial: Option<&RawValue>) -> bool {
    serial.is_none_or(|it| serde_json::from_str::<Option<u64>>(it.get()).is_ok())
}

/// Describes a JSON error and its place. For a value of the wrong type, the parser's text is left out, because it
/// quotes the value, which may be secret.
fn json_fault(error: &serde_json::Error) -> String {
    if error.is_data() {
        let (line, column) = (error.line(), error.column());
        return format!("the value that ends at line {line} column {column} has the wrong type");
    }
    error.to_string()
}

/// The provider configuration of a resource whose objects all have their own: that of the first object. In that
/// case the writer does not write a provider for the resource, so one in the file would not survive the next
/// write.
fn own_provider(instances: &TreeMap<InstanceKey, Instance>) -> Option<ProviderConfigRef> {
    let mut objects =
        instances.values().flat_map(|it| it.current.iter().chain(it.deposed.values()));
    let first = objects.next()?.provider.as_ref()?;
    objects.all(|it| it.provider.is_some()).then(|| first.without_key())
}

/// An object that was read, with the key of its instance.
struct ReadObject {
    key: InstanceKey,
    /// `None` for the current object.
    deposed: Option<DeposedKey>,
    object: Object,
}

/// Caches of values that repeat, so that each is parsed and stored once.
#[derive(Default)]
struct Reader<'a> {
    modules: FxHashMap<Cow<'a, str>, ModuleInstance>,
    providers: FxHashMap<Cow<'a, str>, ProviderConfigRef>,
    dependencies: FxHashMap<Cow<'a, str>, ConfigResource>,
}

impl<'a> Reader<'a> {
    fn file(mut self, file: FileV4<'a>) -> Result<StateFile, StateError> {
        let mut state = State::default();
        state.outputs = read_outputs(file.outputs)?;
        for resource in file.resources.unwrap_or_default() {
            self.resource(&mut state, resource)?;
        }
        state.checks = file.check_results.into_iter().flatten().filter_map(read_check).collect();
        Ok(StateFile {
            written_by: read_version(file.terraform_version)?,
            serial: file.serial.unwrap_or_default(),
            lineage: file.lineage.unwrap_or_default(),
            state,
        })
    }

    fn resource(&mut self, state: &mut State, raw: ResourceV4<'a>) -> Result<(), StateError> {
        let mode = match &*raw.mode {
            "managed" => ResourceMode::Managed,
            "data" => ResourceMode::Data,
            _ => {
                let resource = format!("{:?} {:?}", raw.type_name, raw.name);
                return Err(StateError::Mode { mode: raw.mode.into_owned(), resource });
            }
        };
        let module = match raw.module {
            Some(text) if !text.is_empty() => self.module(text)?,
            _ => ModuleInstance::root(),
        };
        let addr = Resource::new(mode, &*raw.type_name, &*raw.name).in_module(module);
        // Instances of a resource that is listed twice are merged.
        let mut instances =
            state.resource(&addr).map(|it| it.instances.clone()).unwrap_or_default();
        let mut provider = match raw.provider {
            Some(text) => Some(self.provider(text)?),
            None => state.resource(&addr).map(|it| it.provider.clone()),
        };
        for instance in raw.instances.unwrap_or_default() {
            let ReadObject { key, deposed, object } = self.instance(&addr, instance)?;
            if provider.is_none() {
                provider = object.provider.as_ref().map(ProviderConfigRef::without_key);
            }
            place(instances.entry(key.clone()).or_default(), deposed, object).map_err(|what| {
                StateError::Duplicate { instance: format!("{}{what}", addr.instance(key)) }
            })?;
        }
        if let Some(provider) = own_provider(&instances).or(provider) {
            state.insert(addr, ResourceState { provider, instances });
            return Ok(());
        }
        if instances.is_empty() {
            return Ok(());
        }
        Err(StateError::Address { text: String::new(), cause: format!("{addr} has no provider") })
    }

    fn instance(
        &mut self,
        resource: &AbsResource,
        raw: InstanceV4<'a>,
    ) -> Result<ReadObject, StateError> {
        let fault = |instance: String, cause: String| StateError::Instance { instance, cause };
        let key = read_key(raw.index_key).map_err(|it| fault(resource.to_string(), it))?;
        let here = || resource.instance(key.clone()).to_string();
        let deposed = match raw.deposed.as_deref() {
            None | Some("") => None,
            Some(text) => Some(DeposedKey::parse(text).ok_or_else(|| {
                let cause = format!(
                    "has an object with deposed key {text:?}, which is not correctly formatted"
                );
                fault(here(), cause)
            })?),
        };
        let status = match raw.status.as_deref() {
            None | Some("") => Status::Ready,
            Some("tainted") => Status::Tainted,
            Some(other) => return Err(fault(here(), format!("has invalid status {other:?}"))),
        };
        let sensitive_paths =
            raw.sensitive_attributes.map_or(Ok(Vec::new()), |it| paths::read(it.get()));
        let object = Object {
            schema_version: raw.schema_version,
            attributes: read_attributes(raw.attributes, raw.attributes_flat)
                .map_err(|it| fault(here(), it))?,
            sensitive_paths: sensitive_paths.map_err(|it| fault(here(), it))?,
            private: read_private(raw.private).map_err(|it| fault(here(), it))?,
            dependencies: self.dependencies(raw.dependencies.unwrap_or_default())?,
            create_before_destroy: raw.create_before_destroy,
            skip_destroy: raw.skip_destroy,
            status,
            provider: raw.provider.map(|it| self.provider(it)).transpose()?,
            identity: raw
                .identity
                .map(|it| read_identity(it, raw.identity_schema_version))
                .transpose()
                .map_err(|it| fault(here(), it))?,
        };
        Ok(ReadObject { key, deposed, object })
    }

    fn module(&mut self, text: Cow<'a, str>) -> Result<ModuleInstance, StateError> {
        remember(&mut self.modules, text, parse_module_instance)
    }

    fn provider(&mut self, text: Cow<'a, str>) -> Result<ProviderConfigRef, StateError> {
        remember(&mut self.providers, text, ProviderConfigRef::parse)
    }

    fn dependencies(
        &mut self,
        texts: Vec<Cow<'a, str>>,
    ) -> Result<Arc<[ConfigResource]>, StateError> {
        let known = &mut self.dependencies;
        // Terraform before 0.13 wrote instance keys there. They are dropped, as OpenTofu does.
        let parse = |text: &str| parse_resource(text).map(|it| it.config());
        texts.into_iter().map(|text| remember(known, text, parse)).collect()
    }
}

fn remember<'a, T: Clone>(
    known: &mut FxHashMap<Cow<'a, str>, T>,
    text: Cow<'a, str>,
    parse: impl FnOnce(&str) -> Result<T, addr::AddrError>,
) -> Result<T, StateError> {
    if let Some(value) = known.get(&text) {
        return Ok(value.clone());
    }
    let value = parse(&text)
        .map_err(|it| StateError::Address { text: text.to_string(), cause: fragment(&it) })?;
    known.insert(text, value.clone());
    Ok(value)
}

/// The sentence of an address error without its final dot, for use inside of another sentence.
fn fragment(error: &addr::AddrError) -> String {
    error.detail.trim_end_matches('.').to_owned()
}

fn place(
    instance: &mut Instance,
    deposed: Option<DeposedKey>,
    object: Object,
) -> Result<(), String> {
    let object = Arc::new(object);
    let replaced = match deposed {
        None => instance.current.replace(object),
        Some(key) => instance.deposed.insert(key, object),
    };
    match (replaced, deposed) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(String::new()),
        (Some(_), Some(key)) => Err(format!(" deposed object {:?}", key.as_str())),
    }
}

fn read_version(text: Option<Cow<'_, str>>) -> Result<Option<Version>, StateError> {
    let Some(text) = text.filter(|it| !it.is_empty()) else { return Ok(None) };
    let version = Version::parse_lenient(&text);
    version.map(Some).map_err(|_| StateError::WrittenBy { text: text.into_owned() })
}

fn read_key(raw: Option<&RawValue>) -> Result<InstanceKey, String> {
    let Some(raw) = raw.map(RawValue::get).filter(|it| *it != "null") else {
        return Ok(InstanceKey::None);
    };
    if raw.starts_with('"') {
        let text: String = serde_json::from_str(raw)
            .map_err(|_| "has an instance with a malformed instance key".to_owned())?;
        return Ok(InstanceKey::String(text.into()));
    }
    raw.parse()
        .map(InstanceKey::Int)
        .map_err(|_| "has an instance whose key is neither a number nor a string".to_owned())
}

fn read_attributes(
    raw: Option<&RawValue>,
    flat: Option<TreeMap<String, String>>,
) -> Result<Attributes, String> {
    match (raw.map(RawValue::get).filter(|it| *it != "null"), flat) {
        (Some(text), _) if json::is_too_deep(text) => {
            Err("has attributes that nest too deeply".to_owned())
        }
        (Some(text), _) if text.starts_with('{') => {
            Ok(Attributes::Json(json::compact(text).into()))
        }
        (Some(_), _) => Err("has attributes that are not an object".to_owned()),
        (None, Some(flat)) => {
            let entries =
                flat.into_iter().map(|(key, value)| (Str::on_heap(&key), Str::on_heap(&value)));
            Ok(Attributes::Flat(Arc::new(entries.collect())))
        }
        // OpenTofu also reads such an object as an empty one.
        (None, None) => Ok(Attributes::Json("{}".into())),
    }
}

fn read_identity(raw: &RawValue, version: Option<u64>) -> Result<Identity, String> {
    if json::is_too_deep(raw.get()) {
        return Err("has an identity that nests too deeply".to_owned());
    }
    Ok(Identity { schema_version: version.unwrap_or(0), json: json::compact(raw.get()).into() })
}

fn read_private(raw: Option<Cow<'_, str>>) -> Result<Arc<[u8]>, String> {
    let Some(text) = raw else { return Ok(Arc::default()) };
    let bytes = base64::engine::general_purpose::STANDARD.decode(&*text);
    // The decoder's own message quotes a byte.
    bytes.map(Arc::from).map_err(|_| "has private data that is not base64".to_owned())
}

fn read_outputs(
    raw: Option<TreeMap<Cow<'_, str>, OutputV4<'_>>>,
) -> Result<TreeMap<Str, OutputValue>, StateError> {
    let read = |(name, raw): (Cow<'_, str>, OutputV4<'_>)| {
        let fault = |is_type, error: CodecError| {
            // Names and keys inside of a sensitive output are as secret as its values.
            let cause = if raw.sensitive { error.message } else { error.to_string() };
            StateError::Output { name: name.to_string(), is_type, cause }
        };
        let ty: Type =
            json::type_from_json(raw.ty.get().as_bytes()).map_err(|it| fault(true, it))?;
        let value: Value =
            json::decode(raw.value.get().as_bytes(), &ty).map_err(|it| fault(false, it))?;
        // The text is a valid number, but it cannot be written again.
        if has_infinity(&value) {
            let cause = "a finite number is required".to_owned();
            return Err(StateError::Output { name: name.to_string(), is_type: false, cause });
        }
        let value = if raw.sensitive { value.with_mark(Mark::Sensitive) } else { value };
        let output = OutputValue { value, sensitive: raw.sensitive, deprecated: raw.deprecated };
        Ok((Str::from(&*name), output))
    };
    raw.into_iter().flatten().map(read).collect()
}

fn has_infinity(value: &Value) -> bool {
    match value.kind() {
        Kind::Number(number) => number.is_infinite(),
        _ => value.parts().any(|(_, part)| has_infinity(part)),
    }
}

fn read_check(raw: CheckV4<'_>) -> Option<CheckResult> {
    let objects = raw.objects.into_iter().flatten().map(|it| CheckObject {
        addr: it.object_addr,
        status: CheckStatus::parse(&it.status),
        failure_messages: it.failure_messages.unwrap_or_default(),
    });
    Some(CheckResult {
        kind: CheckKind::parse(&raw.object_kind)?,
        config_addr: raw.config_addr,
        status: CheckStatus::parse(&raw.status),
        objects: objects.collect(),
    })
}
