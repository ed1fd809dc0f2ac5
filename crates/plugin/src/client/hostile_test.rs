//! Tests against a server whose answers break the rules of the protocol. Each becomes an error that names the
//! provider and the call.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use expect_test::{Expect, expect};
use provider::{
    CallFunctionRequest, OpenEphemeralRequest, Private, Provider, ProviderDiagnostic,
    ReadDataSourceRequest, ReadResourceRequest,
};
use tokio::net::UnixListener;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::{Code, Status, transport::Server};
use values::{Type, Value};

use super::GrpcProvider;
use crate::{
    encoded::{EncodedMessage, V6, decoded, encoded},
    generated::{
        tfplugin::{self, DynamicValue},
        tfplugin6::{self, schema},
    },
    handshake::Address,
    protocol::ProtocolVersion,
    reattach::Reattach,
    sink::{PluginEvent, Redact},
};

/// A provider server with fixed answers.
#[derive(Clone, Default)]
struct Fake {
    schema: tfplugin6::GetProviderSchemaResponse,
    value: DynamicValue,
    renew_at: Option<prost_types::Timestamp>,
    status: Option<Status>,
    diagnostics: Vec<tfplugin::Diagnostic>,
    calls: Arc<Mutex<Vec<&'static str>>>,
}

impl Fake {
    fn answer(&self, call: &str, request: EncodedMessage) -> Result<EncodedMessage, Status> {
        let value = Some(self.value.clone());
        match call {
            "GetProviderSchema" => {
                self.calls.lock().expect("not poisoned").push("schema");
                Ok(encoded(&self.schema))
            }
            "ReadResource" => match self.status.clone() {
                Some(status) => Err(status),
                None => Ok(encoded(&tfplugin::ReadResourceResponse {
                    new_state: value,
                    ..Default::default()
                })),
            },
            "ReadDataSource" => Ok(encoded(&tfplugin::ReadDataSourceResponse {
                state: value,
                ..Default::default()
            })),
            "OpenEphemeralResource" => self.open(),
            "CloseEphemeralResource" => {
                let request: tfplugin::CloseEphemeralResourceRequest = decoded(request)?;
                assert_eq!(request.private.as_deref(), Some(&b"lease"[..]));
                self.calls.lock().expect("not poisoned").push("close");
                Ok(encoded(&tfplugin::CloseEphemeralResourceResponse::default()))
            }
            "CallFunction" => {
                Ok(encoded(&tfplugin::CallFunctionResponse { result: value, error: None }))
            }
            _ => Err(Status::unimplemented("")),
        }
    }

    fn open(&self) -> Result<EncodedMessage, Status> {
        self.calls.lock().expect("not poisoned").push("open");
        if let Some(status) = self.status.clone() {
            return Err(status);
        }
        Ok(encoded(&tfplugin::OpenEphemeralResourceResponse {
            result: Some(self.value.clone()),
            renew_at: self.renew_at,
            private: Some(Bytes::from_static(b"lease")),
            diagnostics: self.diagnostics.clone(),
            ..Default::default()
        }))
    }
}

/// Serves `fake` on a socket and attaches a client to it.
async fn attach(fake: Fake) -> (GrpcProvider, tempfile::TempDir) {
    attach_with(fake, Arc::new(|text: &str| text.replace("hunter2", "***"))).await
}

async fn attach_with(fake: Fake, redact: Arc<dyn Redact>) -> (GrpcProvider, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).expect("it listens");
    let server = V6(Arc::new(move |call| {
        let (fake, call) = (fake.clone(), call.to_owned());
        Some(Box::new(move |request| {
            let answer = fake.answer(&call, request);
            Box::pin(async { answer })
        }))
    }));
    tokio::spawn(Server::builder().serve_with_incoming(server, UnixListenerStream::new(listener)));
    let reattach =
        Reattach { protocol: ProtocolVersion::V6, address: Address::Unix(path), process: 0 };
    let sink = Arc::new(|_: &str, _: PluginEvent| {});
    let provider =
        GrpcProvider::attach(&reattach, "example.com/tests/fake", sink, redact, None).await;
    (provider.unwrap_or_else(|error| panic!("{error}")), folder)
}

fn attribute(name: &str, ty: &'static str) -> schema::Attribute {
    schema::Attribute {
        name: name.into(),
        r#type: Bytes::from_static(ty.as_bytes()),
        optional: true,
        ..Default::default()
    }
}

fn of(block: schema::Block) -> tfplugin6::Schema {
    tfplugin6::Schema { version: 0, block: Some(block) }
}

/// Returns a provider with one type of each kind, all with the schema `block`.
fn with_schema(block: schema::Block) -> Fake {
    let types = || [("fake_thing".to_owned(), of(block.clone()))].into();
    let function = tfplugin::Function {
        r#return: Some(tfplugin::function::Return { r#type: Bytes::from_static(b"\"string\"") }),
        ..Default::default()
    };
    let schema = tfplugin6::GetProviderSchemaResponse {
        resource_schemas: types(),
        data_source_schemas: types(),
        ephemeral_resource_schemas: types(),
        functions: [("f".to_owned(), function)].into(),
        ..Default::default()
    };
    Fake { schema, ..Fake::default() }
}

fn simple() -> Fake {
    with_schema(schema::Block {
        attributes: vec![attribute("a", "\"string\"")],
        ..Default::default()
    })
}

fn null() -> Value {
    Value::null(Type::object([("a", Type::String)]))
}

fn texts(diagnostics: &[ProviderDiagnostic]) -> String {
    diagnostics.iter().map(|it| format!("{}: {}\n", it.summary, it.detail)).collect()
}

async fn read(fake: Fake) -> String {
    let (provider, _folder) = attach(fake).await;
    let answer = provider.read_resource(ReadResourceRequest {
        type_name: "fake_thing".into(),
        current_state: null(),
        private: Private::default(),
        provider_meta: None,
        identity: None,
    });
    let answer = answer.await;
    assert!(answer.new_state.is_none());
    texts(&answer.diagnostics)
}

async fn check_schema(block: schema::Block, expected: Expect) {
    let (provider, _folder) = attach(with_schema(block)).await;
    let Err(diagnostics) = provider.schemas().await else { panic!("the schema is accepted") };
    expected.assert_eq(&texts(&diagnostics));
}

#[tokio::test]
async fn invalid_provider_schemas_are_errors_with_the_type() {
    let block = |attributes| schema::Block { attributes, ..Default::default() };
    check_schema(block(vec![attribute("a", "[\"list\"]")]), expect![[r#"
        Failed to load plugin schemas: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).GetProviderSchema with an invalid schema for managed resource type "fake_thing": a: its type cannot be read: invalid type. This is a bug in the provider.
    "#]]).await;
    check_schema(block(vec![attribute("a", "")]), expect![[r#"
        Failed to load plugin schemas: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).GetProviderSchema with an invalid schema for managed resource type "fake_thing": a: it has neither a type nor nested attributes. This is a bug in the provider.
    "#]]).await;
    let both = schema::Attribute { required: true, ..attribute("a", "\"bool\"") };
    check_schema(block(vec![both]), expect![[r#"
        Failed to load plugin schemas: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).GetProviderSchema with an invalid schema for managed resource type "fake_thing": a: cannot set both Optional and Required. This is a bug in the provider.
    "#]]).await;
    let nested = schema::Object { nesting: 9, attributes: Vec::new() };
    let nested = schema::Attribute { nested_type: Some(nested), ..attribute("a", "") };
    check_schema(block(vec![nested]), expect![[r#"
        Failed to load plugin schemas: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).GetProviderSchema with an invalid schema for managed resource type "fake_thing": a: invalid nesting mode. This is a bug in the provider.
    "#]]).await;
    let nested = schema::NestedBlock { type_name: "b".into(), ..Default::default() };
    check_schema(schema::Block { block_types: vec![nested], ..Default::default() }, expect![[r#"
        Failed to load plugin schemas: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).GetProviderSchema with an invalid schema for managed resource type "fake_thing": b: invalid nesting mode. This is a bug in the provider.
    "#]])
        .await;
}

#[tokio::test]
async fn undecodable_values_are_errors_with_provider_and_call() {
    let value = |msgpack: &'static [u8]| Fake {
        value: DynamicValue { msgpack: Bytes::from_static(msgpack), json: Bytes::new() },
        ..simple()
    };
    expect![[r#"
        Invalid provider response: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).ReadResource with a value that cannot be understood: a map of values is required. This is a bug in the provider.
    "#]].assert_eq(&read(value(b"\xc1")).await);
    // A map whose header claims four billion entries.
    expect![[r#"
        Invalid provider response: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).ReadResource with a value that cannot be understood: an object with 1 attributes is required. This is a bug in the provider.
    "#]].assert_eq(&read(value(b"\xdf\xff\xff\xff\xff")).await);
    expect![[r#"
        Invalid provider response: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).ReadResource with a value that cannot be understood: unsupported attribute. This is a bug in the provider.
    "#]].assert_eq(&read(value(b"\x81\xa1b\xa1x")).await);
    let json = Fake {
        value: DynamicValue {
            msgpack: Bytes::new(),
            json: Bytes::from_static(b"{\"a\":[\"hunter2\"]}"),
        },
        ..simple()
    };
    expect![[r#"
        Invalid provider response: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).ReadResource with a value that cannot be understood: .a: string is required. This is a bug in the provider.
    "#]].assert_eq(&read(json).await);
    let (provider, _folder) = attach(value(b"\x93")).await;
    let request = ReadDataSourceRequest {
        type_name: "fake_thing".into(),
        config: null(),
        provider_meta: None,
    };
    expect![[r#"
        Invalid provider response: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).ReadDataSource with a value that cannot be understood: a map of values is required. This is a bug in the provider.
    "#]].assert_eq(&texts(&provider.read_data_source(request).await.diagnostics));
    let fault = provider
        .call_function(CallFunctionRequest { name: "f".into(), arguments: Vec::new() })
        .await;
    expect![
        "Invalid provider response: The provider example.com/tests/fake answered \
             plugin6.(*GRPCProvider).CallFunction with a value that cannot be understood: string \
             is required. This is a bug in the provider."
    ]
    .assert_eq(&fault.err().map(|it| it.message).unwrap_or_default());
}

#[tokio::test]
async fn missing_resource_type_is_not_requested_from_the_provider() {
    let fake = Fake::default();
    expect![[r#"
        Unsupported resource type: The provider example.com/tests/fake has no resource type "fake_thing".
    "#]].assert_eq(&read(fake.clone()).await);
}

#[tokio::test]
async fn unusable_open_response_closes_the_ephemeral() {
    let unreadable = DynamicValue { msgpack: Bytes::from_static(b"\xc1"), json: Bytes::new() };
    let late = prost_types::Timestamp { seconds: i64::MAX, nanos: 0 };
    let good = DynamicValue { msgpack: Bytes::from_static(b"\x81\xa1a\xa1x"), json: Bytes::new() };
    for fake in [
        Fake { value: unreadable, ..simple() },
        Fake { value: good, renew_at: Some(late), ..simple() },
    ] {
        let calls = Arc::clone(&fake.calls);
        let (provider, _folder) = attach(fake).await;
        let request = OpenEphemeralRequest { type_name: "fake_thing".into(), config: null() };
        let answer = provider.open_ephemeral(request).await;
        assert!(answer.opened.is_none() && answer.diagnostics[0].is_error());
        assert_eq!(*calls.lock().expect("not poisoned"), ["schema", "open", "close"]);
    }
}

#[tokio::test]
async fn grpc_status_becomes_the_diagnostic_of_opentofu() {
    let fails = |code, text: &str| Fake { status: Some(Status::new(code, text)), ..simple() };
    let mut seen = String::new();
    for code in [Code::Unavailable, Code::Cancelled, Code::Unimplemented, Code::ResourceExhausted] {
        seen.push_str(&read(fails(code, "hunter2 is too long")).await);
    }
    expect![[r#"
        Plugin did not respond: The provider example.com/tests/fake encountered an error, and failed to respond to the plugin6.(*GRPCProvider).ReadResource call. The plugin logs may contain more details.
        Request cancelled: The plugin6.(*GRPCProvider).ReadResource request to the provider example.com/tests/fake was cancelled.
        Unsupported plugin method: The plugin6.(*GRPCProvider).ReadResource method is not supported by the provider example.com/tests/fake.
        Plugin error: The provider example.com/tests/fake returned an unexpected error from plugin6.(*GRPCProvider).ReadResource: *** is too long
    "#]].assert_eq(&seen);
}

/// A redactor that replaces the text of each learned attribute, and all learned private bytes.
#[derive(Default)]
struct Learner(Mutex<Vec<String>>);

impl Redact for Learner {
    fn redact(&self, text: &str) -> String {
        let known = self.0.lock().expect("not poisoned");
        known.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
    }

    fn learn_opened(&self, result: &Value) {
        let texts = result.elements().filter_map(|(_, part)| part.as_str().map(str::to_owned));
        self.0.lock().expect("not poisoned").extend(texts);
    }

    fn learn_private(&self, private: &[u8]) {
        let text = String::from_utf8_lossy(private).into_owned();
        self.0.lock().expect("not poisoned").push(text);
    }
}

/// Opens an ephemeral resource, which must fail, and returns the texts of the diagnostics.
async fn open(fake: Fake) -> String {
    let (provider, _folder) = attach_with(fake, Arc::new(Learner::default())).await;
    let request = OpenEphemeralRequest { type_name: "fake_thing".into(), config: null() };
    let answer = provider.open_ephemeral(request).await;
    assert!(answer.opened.is_none());
    texts(&answer.diagnostics)
}

fn said(words: &str) -> Vec<tfplugin::Diagnostic> {
    vec![tfplugin::Diagnostic {
        severity: tfplugin::diagnostic::Severity::Error as i32,
        summary: format!("cannot use {words}"),
        ..Default::default()
    }]
}

fn msgpack(bytes: &'static [u8]) -> DynamicValue {
    DynamicValue { msgpack: Bytes::from_static(bytes), json: Bytes::new() }
}

#[tokio::test]
async fn failed_open_quotes_nothing_of_its_response() {
    let failed = Fake {
        value: msgpack(b"\x81\xa1a\xa7hunter2"),
        diagnostics: said("hunter2 and lease"),
        ..simple()
    };
    expect![[r#"
        cannot use *** and ***: 
    "#]]
    .assert_eq(&open(failed).await);
    let unreadable = Fake {
        value: msgpack(b"\x81\xa1a\x81\xa7hunter2\xc0"),
        diagnostics: said("hunter2"),
        ..simple()
    };
    expect![[r#"
        Words of the provider left out: The provider example.com/tests/fake returned a message about plugin6.(*GRPCProvider).OpenEphemeralResource that is not shown: it may quote the opened value, which could not be decoded and so cannot be redacted. The provider's own log may contain more details.
    "#]].assert_eq(&open(unreadable).await);
    let status = Status::unknown("hunter2 is too long");
    expect![[r#"
        Plugin error: The provider example.com/tests/fake returned an unexpected error from plugin6.(*GRPCProvider).OpenEphemeralResource: (its message is not shown: it may quote an opened value that is not known)
    "#]].assert_eq(&open(Fake { status: Some(status), ..simple() }).await);
}

#[tokio::test]
async fn provider_is_silenced_only_if_its_secrets_cannot_be_learned() {
    let silenced = async |value: DynamicValue| {
        let fake = Fake { value, diagnostics: said("it"), ..simple() };
        let (provider, _folder) = attach_with(fake, Arc::new(Learner::default())).await;
        let request = OpenEphemeralRequest { type_name: "fake_thing".into(), config: null() };
        assert!(provider.open_ephemeral(request).await.opened.is_none());
        provider.listener.is_silenced()
    };
    assert!(!silenced(msgpack(b"\xc0")).await, "it opened nothing, and says why");
    assert!(!silenced(msgpack(b"\x81\xa1a\xa7hunter2")).await);
    assert!(silenced(msgpack(b"\xc1")).await);
}

#[tokio::test]
async fn keys_of_ephemeral_values_are_not_quoted() {
    let fake = Fake {
        value: msgpack(b"\x81\xa1a\x81\xa7hunter2\x90"),
        ..with_schema(schema::Block {
            attributes: vec![attribute("a", "[\"map\",\"string\"]")],
            ..Default::default()
        })
    };
    let (provider, _folder) = attach_with(fake, Arc::new(Learner::default())).await;
    let config = Value::null(Type::object([("a", Type::map(Type::String))]));
    let request = OpenEphemeralRequest { type_name: "fake_thing".into(), config };
    expect![[r#"
        Invalid provider response: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).OpenEphemeralResource with a value that cannot be understood: .a: string is required. This is a bug in the provider.
    "#]].assert_eq(&texts(&provider.open_ephemeral(request).await.diagnostics));
}

#[tokio::test]
async fn infinite_number_is_an_error_with_its_path() {
    let numbers = schema::Block {
        attributes: vec![attribute("a", "[\"list\",\"number\"]")],
        ..Default::default()
    };
    let infinite = b"\x81\xa1a\x92\x01\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00";
    let (provider, _folder) =
        attach(Fake { value: msgpack(infinite), ..with_schema(numbers) }).await;
    let request = ReadDataSourceRequest {
        type_name: "fake_thing".into(),
        config: Value::null(Type::object([("a", Type::list(Type::Number))])),
        provider_meta: None,
    };
    expect![[r#"
        Invalid provider response: The provider example.com/tests/fake answered plugin6.(*GRPCProvider).ReadDataSource with a value that cannot be understood: .a[1]: a finite number is required. This is a bug in the provider.
    "#]].assert_eq(&texts(&provider.read_data_source(request).await.diagnostics));
}
