//! Properties that hold for all bytes from the other side of a connection. The fuzz targets (`fuzz/`) and
//! `tests/hostile` run these functions.
//!
//! `hunter2` is the secret: no text that is passed on may contain it.

use std::sync::{Arc, Mutex, PoisonError};

use prost::Message;
use provider::{ProviderDiagnostic, ProviderSchemas, null_write_only, write_only_values_present};
use tokio::runtime::Builder;

use crate::{
    client::decode_finite,
    diagnostics, dynamic_value,
    generated::{tfplugin, tfplugin5, tfplugin6},
    handshake::{self, Address},
    logs::{Listener, Tail, read_stderr},
    parse_reattach, schema_read, schema_write,
    sink::PluginEvent,
};

const SECRET: &str = "hunter2";

fn redact(text: &str) -> String {
    text.replace(SECRET, "*")
}

#[track_caller]
fn check_clean(text: &str) {
    assert!(!text.contains(SECRET), "{text:?} shows the secret");
}

/// Checks that a handshake line is either refused with a redacted error or gives an address, and that a printed
/// address is read back unchanged.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_handshake(bytes: &[u8]) {
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    match handshake::parse(line) {
        Ok(read) => {
            if let Address::Unix(path) = &read.address {
                let again = handshake::print(read.protocol, path, read.certificate.as_deref());
                assert!(handshake::parse(&again) == Ok(read), "{line:?} is printed as {again:?}");
            } else {
                assert!(read.certificate.is_some(), "TCP without TLS");
            }
        }
        Err(error) => check_clean(&error.map_text(|it| redact(&it)).to_string()),
    }
}

/// Checks that stderr becomes events without the secret, at most two for each line.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_log(bytes: &[u8]) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink = {
        let heard = Arc::clone(&heard);
        move |_: &str, event: PluginEvent| {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        }
    };
    let listener = Listener::new("p", Arc::new(sink), Arc::new(redact));
    let tail = Tail::default();
    let runtime = Builder::new_current_thread().build().expect("a runtime without drivers");
    runtime.block_on(read_stderr(bytes, listener, tail.clone()));
    tail.take().iter().for_each(|line| check_clean(line));
    let heard = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
    let lines = bytes.split(|it| *it == b'\n').count();
    assert!(heard.len() <= 2 * lines, "{} events of {lines} lines", heard.len());
    for event in heard {
        match event {
            PluginEvent::Log(record) => {
                check_clean(&record.message);
                let more = [record.module, record.caller, record.timestamp];
                more.iter().flatten().for_each(|it| check_clean(it));
                for (key, value) in record.fields {
                    check_clean(&key);
                    check_clean(&value);
                }
            }
            PluginEvent::Panicked { line } => check_clean(&line),
            other => panic!("{other:?} of a log"),
        }
    }
}

/// Checks that parsing `TF_REATTACH_PROVIDERS` succeeds or returns an error with a text.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_reattach(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = parse_reattach(text) {
        assert!(!error.to_string().is_empty());
    }
}

/// Checks that accepted schemas are valid, and that neither sending them in protocol 6 nor caching them changes
/// them.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_schemas(bytes: &[u8]) {
    if let Ok(answer) = tfplugin5::GetProviderSchemaResponse::decode(bytes)
        && let Ok(schemas) = schema_read::schemas(answer.into(), Default::default())
    {
        check_same(&schemas);
    }
    if let Ok(answer) = tfplugin6::GetProviderSchemaResponse::decode(bytes)
        && let Ok(schemas) = schema_read::schemas(answer.into(), Default::default())
    {
        check_same(&schemas);
    }
}

fn check_same(schemas: &ProviderSchemas) {
    let types = schemas.managed_types().filter_map(|it| schemas.managed(it));
    for schema in types.chain([Arc::clone(&schemas.provider)]) {
        assert!(schema.problems().is_empty(), "{:?} was taken", schema.problems());
    }
    let sent = schema_write::schemas(schemas).encode_to_vec();
    let answer = tfplugin6::GetProviderSchemaResponse::decode(&sent[..]).expect("just encoded");
    let again = schema_read::schemas(answer.into(), Default::default());
    let again = again.unwrap_or_else(|fault| panic!("what was taken is refused: {fault}"));
    assert!(schema_write::schemas(&again).encode_to_vec() == sent, "there is one way to write");
    let Ok(cached) = provider::schema_codec::encode(schemas, &[7; 32]) else { return };
    let cached =
        provider::schema_codec::CachedSchemas::open(cached, &[7; 32]).expect("just written");
    let cached = ProviderSchemas::from_cache(cached).expect("just written");
    assert!(schema_write::schemas(&cached).encode_to_vec() == sent, "the cache changes schemas");
    assert!(cached.damage().is_empty());
}

/// Checks an answer to a plan, apply or open call: its diagnostics are redacted, and its state is an error or a
/// finite value of the schema's type without write-only values.
///
/// # Panics
///
/// If the property does not hold.
pub fn check_answer(bytes: &[u8]) {
    if let Ok(answer) = tfplugin::PlanResourceChangeResponse::decode(bytes) {
        check_diagnostics(answer.diagnostics);
        check_state(answer.planned_state.as_ref());
        for path in answer.requires_replace {
            let path = diagnostics::read_path(path);
            assert!(diagnostics::read_path(diagnostics::write_path(&path)) == path, "{path}");
        }
    }
    if let Ok(answer) = tfplugin::ApplyResourceChangeResponse::decode(bytes) {
        check_diagnostics(answer.diagnostics);
        check_state(answer.new_state.as_ref());
    }
    if let Ok(answer) = tfplugin::OpenEphemeralResourceResponse::decode(bytes) {
        check_diagnostics(answer.diagnostics);
        check_state(answer.result.as_ref());
    }
}

fn check_diagnostics(messages: Vec<tfplugin::Diagnostic>) {
    let read = diagnostics::read_all(messages, &redact, "p", "Call");
    assert!(read.len() <= 202, "{} diagnostics are passed on", read.len());
    for it in &read {
        check_clean(&it.summary);
        check_clean(&it.detail);
        check_clean(&it.path.as_ref().map(ToString::to_string).unwrap_or_default());
    }
    // A text that was cut ends with the number of omitted bytes and may be cut once more, so compare only whole
    // ones.
    let is_short = |it: &ProviderDiagnostic| it.summary.len() < 1000 && it.detail.len() < 16 << 10;
    let messages = diagnostics::write_all(read.clone());
    let again = diagnostics::read_all(messages, &str::to_owned, "p", "Call");
    let is_whole = read.len() <= 100 && read.iter().all(is_short);
    assert!(!is_whole || same(&again, &read), "diagnostics change when they are passed on");
}

fn same(one: &[ProviderDiagnostic], other: &[ProviderDiagnostic]) -> bool {
    // A path without steps equals no path.
    let path = |it: &ProviderDiagnostic| it.path.clone().filter(|it| !it.is_root());
    let same = |(a, b): (&ProviderDiagnostic, &ProviderDiagnostic)| {
        a.severity == b.severity
            && (&a.summary, &a.detail, path(a)) == (&b.summary, &b.detail, path(b))
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

fn check_state(message: Option<&tfplugin::DynamicValue>) {
    let schema = sample::schema();
    let block = schema.block();
    let Ok(value) = decode_finite(message, schema.implied_type()) else { return };
    assert!(values::conform::conforms(&value.ty(), schema.implied_type()).is_empty());
    let kept = null_write_only(&value, block);
    assert!(write_only_values_present("t", &kept, block).is_empty(), "a write-only value is kept");
    let sent = dynamic_value::encode(&kept, schema.implied_type()).expect("what was read is sent");
    let again = decode_finite(Some(&sent), schema.implied_type()).expect("just encoded");
    // A whole number beyond 64 bits that arrived as a float is sent on as its shortest text, as OpenTofu does.
    let twice = dynamic_value::encode(&again, schema.implied_type()).expect("just decoded");
    assert!(twice.msgpack == sent.msgpack, "a state changes when it is sent");
}

/// A schema with every kind of attribute and block.
mod sample {
    use std::sync::LazyLock;

    use provider::{Attribute, Block, NestedBlock, Nesting, Schema};
    use values::{Str, Type};

    pub(super) fn schema() -> &'static Schema {
        static SCHEMA: LazyLock<Schema> = LazyLock::new(make);
        &SCHEMA
    }

    fn make() -> Schema {
        let write_only = || Attribute { write_only: true, ..Attribute::optional(Type::String) };
        let inner = Block::new(
            [
                (Str::from("secret"), write_only()),
                (Str::from("size"), Attribute::optional(Type::Number)),
            ]
            .into(),
            Default::default(),
        );
        let nested =
            |nesting| NestedBlock { block: inner.clone(), nesting, min_items: 0, max_items: 0 };
        let attributes = [
            (Str::from("id"), Attribute::computed(Type::String)),
            (Str::from("any"), Attribute::optional(Type::Dynamic)),
            (Str::from("tags"), Attribute::optional(Type::map(Type::String))),
            (Str::from("ports"), Attribute::optional(Type::set(Type::Number))),
            (Str::from("password"), write_only()),
        ];
        let blocks = [
            (Str::from("list"), nested(Nesting::List)),
            (Str::from("single"), nested(Nesting::Single)),
            (Str::from("map"), nested(Nesting::Map)),
        ];
        Schema::new(0, Block::new(attributes.into(), blocks.into()))
    }
}
