//! Tests of ephemeral resources, functions, and the end of a provider.

use std::time::{Duration, SystemTime};

use provider::{
    CallFunctionRequest, CloseEphemeralRequest, ConfigureRequest, OpenEphemeralRequest, Provider,
    RenewEphemeralRequest,
};
use values::{Type, Value};

use super::{
    configured, said_of, shown,
    thing::{Config, Things},
};
use crate::{ConfigureCall, Definition, Diagnostic, MaybeUnknown, Model, Server, Types};

fn open_request(name: &str) -> OpenEphemeralRequest {
    let config =
        Value::object_from([("name", Value::string(name)), ("token", Value::null(Type::String))]);
    OpenEphemeralRequest { type_name: "test_thing".into(), config }
}

fn seconds(time: Option<SystemTime>) -> Option<u64> {
    Some(time?.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs())
}

#[tokio::test]
async fn an_ephemeral_resource_is_opened_renewed_and_closed_with_its_private_state() {
    let server = configured().await;
    let opened = server.open_ephemeral(open_request("n")).await.opened.expect("opens");
    assert_eq!(shown(&opened.result), r#"{name="n", token="t-1"}"#);
    assert_eq!(seconds(opened.renew_at), Some(100));
    let type_name: values::Str = "test_thing".into();
    let renew = |private| RenewEphemeralRequest { type_name: type_name.clone(), private };
    let renewed = server.renew_ephemeral(renew(opened.private)).await;
    assert_eq!(seconds(renewed.renew_at), Some(200));
    let failed = server.renew_ephemeral(renew(renewed.private)).await;
    assert_eq!(
        (said_of(&failed.diagnostics), failed.renew_at),
        ("Renewed too often".to_owned(), None)
    );
    let request = CloseEphemeralRequest { type_name, private: failed.private };
    assert_eq!(said_of(&server.close_ephemeral(request).await), "warning: closed after 2");
}

#[tokio::test]
async fn stop_ends_running_calls_but_not_later_ones() {
    let server = configured().await;
    let stopped = async {
        tokio::task::yield_now().await;
        server.stop().await
    };
    let (endless, stopped) = tokio::join!(server.open_ephemeral(open_request("endless")), stopped);
    assert_eq!(stopped, Ok(()));
    assert_eq!(said_of(&endless.diagnostics), "Stopped");
    assert!(server.open_ephemeral(open_request("n")).await.opened.is_some());
    let later = tokio::time::timeout(
        Duration::from_millis(5),
        server.open_ephemeral(open_request("endless")),
    );
    assert!(later.await.is_err(), "an earlier stop does not count");
}

#[tokio::test]
async fn function_requires_its_number_of_arguments() {
    let server = configured().await;
    let request = |name: &str, arguments| CallFunctionRequest { name: name.into(), arguments };
    let answer = server.call_function(request("answer", vec![])).await;
    assert_eq!(answer.map_err(|it| it.message), Ok(Value::int(42)));
    let fault = server.call_function(request("answer", vec![Value::int(1)])).await;
    assert_eq!(
        fault.map_err(|it| it.message),
        Err("\"answer\" takes 0 arguments, not 1".to_owned())
    );
    let fault = server.call_function(request("other", vec![])).await;
    assert_eq!(fault.map_err(|it| it.message), Err("there is no function \"other\"".to_owned()));
}

#[tokio::test]
async fn configured_provider_offers_more_functions() {
    let request = |name: &str| CallFunctionRequest { name: name.into(), arguments: Vec::new() };
    let names = async |server: &Server<Things>| {
        let offered = server.functions().await.expect("it answers");
        offered.into_iter().map(|(name, it)| format!("{name}: {}", it.returns)).collect::<Vec<_>>()
    };
    let before = Server::new(Things);
    assert_eq!(names(&before).await, ["answer: number"]);
    let fault = before.call_function(request("t")).await;
    assert_eq!(fault.map_err(|it| it.message), Err("there is no function \"t\"".to_owned()));
    let server = configured().await;
    assert_eq!(names(&server).await, ["answer: number", "t: string"]);
    let answer = server.call_function(request("t")).await;
    assert_eq!(answer.map_err(|it| it.message), Ok(Value::string("t of t")));
    let answer = server.call_function(request("answer")).await;
    assert_eq!(answer.map_err(|it| it.message), Ok(Value::int(42)));
    let schemas = server.schemas().await.expect("it answers");
    assert_eq!(schemas.functions.len(), 1, "the schema has only what needs no configuration");
}

#[tokio::test]
async fn second_configuration_replaces_the_first() {
    let server = configured().await;
    let config = Value::object_from([("prefix", Value::string("u"))]);
    let said = server.configure(ConfigureRequest { core_version: "1.13.0".into(), config }).await;
    assert_eq!(said_of(&said), "");
    let offered = server.functions().await.expect("it answers");
    assert!(offered.contains_key("u") && !offered.contains_key("t"));
}

/// A provider whose client tells whether its configuration is known.
struct Patient;

impl Definition for Patient {
    type Config = MaybeUnknown<Config>;
    type Client = bool;

    fn source(&self) -> &'static str {
        "patient"
    }

    async fn configure(
        &self,
        config: MaybeUnknown<Config>,
        _: &mut ConfigureCall,
    ) -> Result<bool, Diagnostic> {
        Ok(!config.is_unknown())
    }

    fn types(&self, _: &mut Types<bool>) {}
}

#[tokio::test]
async fn configuration_with_an_unknown_part_is_unknown_as_a_whole() {
    let configure = |prefix| {
        let config = Value::object_from([("prefix", prefix)]);
        ConfigureRequest { core_version: "1.13.0".into(), config }
    };
    for (prefix, is_known) in [(Value::string("p"), true), (Value::unknown(Type::String), false)] {
        let server = Server::new(Patient);
        assert_eq!(said_of(&server.configure(configure(prefix)).await), "");
        assert_eq!(server.client().as_deref(), Some(&is_known));
    }
    let said = Server::new(Patient).configure(configure(Value::null(Type::String))).await;
    assert_eq!(said_of(&said), ".prefix: Missing Value");
    let said = Server::new(Things).configure(configure(Value::unknown(Type::String))).await;
    assert_eq!(said_of(&said), ".prefix: Value Not Known Yet");
    assert_eq!(shown(&MaybeUnknown::<Config>::Unknown.encode()), "{prefix=?}");
}
