//! `mayfly/phrases`: a provider whose functions follow from its configuration, for the end-to-end tests.
//!
//! The schema has the function `shout`. Each key of `phrases` is another function, which joins the phrase and its
//! argument. An argument `bad …` is an error that quotes it. An example target, so that no build of the product
//! contains it.

use std::{collections::BTreeMap, future::ready, process::ExitCode, sync::Arc};

use mayfly_sdk::{
    Definition, Diagnostic, Diagnostics, Function, Object, Server,
    schema::{Block, Schema, typed},
};
use provider::{BoxFuture, FunctionFault, FunctionParameter, FunctionSignature};
use values::{Kind, Str, Type, Value};

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime
        .map_err(plugin::ServeError::Announce)
        .and_then(|runtime| runtime.block_on(plugin::serve(Arc::new(Server::new(Phrases)))));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

#[expect(clippy::print_stderr, reason = "a plugin that a person starts says so on stderr")]
fn fail(error: &plugin::ServeError) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

struct Phrases;

impl Definition for Phrases {
    /// The phrases, by the names of the functions.
    type Client = BTreeMap<Str, Str>;

    fn name(&self) -> &'static str {
        "registry.opentofu.org/mayfly/phrases"
    }

    fn schema(&self) -> Schema {
        let phrases = typed(Type::map(Type::String)).optional();
        Schema::new(Block::new().attribute("phrases", phrases))
    }

    fn configure<'a>(
        &'a self,
        config: &'a Object,
        _: &'a str,
        _: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<Self::Client, Diagnostic>> {
        let mut phrases = BTreeMap::new();
        if let Some(given) = config.value().get_attr("phrases")
            && let Kind::Map(given) = given.kind()
        {
            let known = given.iter().filter_map(|(name, it)| Some((name.clone(), it.as_str()?)));
            phrases.extend(known.map(|(name, it)| (name, Str::from(it))));
        }
        Box::pin(ready(Ok(phrases)))
    }

    fn functions(&self) -> Vec<Function> {
        let call: fn(&[Value]) -> Result<Value, FunctionFault> =
            |arguments| Ok(Value::string(argument(arguments)?.to_uppercase()));
        vec![Function { name: "shout", signature: signature(), call }]
    }

    fn configured_functions(&self, client: &Self::Client) -> BTreeMap<Str, FunctionSignature> {
        client.keys().map(|name| (name.clone(), signature())).collect()
    }

    fn call_configured(
        &self,
        client: &Self::Client,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, FunctionFault> {
        let phrase = client.get(name).map_or("", |it| &**it);
        Ok(Value::string(format!("{phrase}, {}", argument(arguments)?)))
    }
}

fn signature() -> FunctionSignature {
    let parameter = FunctionParameter {
        name: "text".into(),
        ty: Type::String,
        allow_null_value: false,
        allow_unknown_values: false,
        description: "".into(),
        description_kind: Default::default(),
    };
    FunctionSignature {
        parameters: vec![parameter],
        variadic: None,
        returns: Type::String,
        summary: "".into(),
        description: "".into(),
        description_kind: Default::default(),
        deprecation_message: "".into(),
    }
}

fn argument(arguments: &[Value]) -> Result<&str, FunctionFault> {
    let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
    match text.starts_with("bad") {
        true => Err(FunctionFault { argument: Some(0), message: format!("{text} is no text") }),
        false => Ok(text),
    }
}
