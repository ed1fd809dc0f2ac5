//! `mayfly/fleet`: a provider with forty resource types and nested blocks, for `cargo xtask bench`.
//!
//! It keeps no objects: a created object is what was planned, and a refresh finds what the state has. The bench
//! therefore measures the engine, the protocol and the SDK. An example target, so that no build of the product
//! contains it.

use std::{future::ready, process::ExitCode, sync::Arc};

use mayfly_sdk::{
    Change, Definition, Diagnostic, Diagnostics, Existing, Object, Resource, Server, StepResult,
    schema::{Block, Nesting, Schema, boolean, number, string, typed},
};
use provider::BoxFuture;
use values::Type;

/// The provider's source address.
const SOURCE: &str = "registry.opentofu.org/mayfly/fleet";

/// The number of resource types.
const TYPES: usize = 40;

fn main() -> ExitCode {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let served = runtime
        .map_err(plugin::ServeError::Announce)
        .and_then(|runtime| runtime.block_on(plugin::serve(Arc::new(Server::new(Fleet)))));
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

struct Fleet;

impl Definition for Fleet {
    type Client = ();

    fn name(&self) -> &'static str {
        SOURCE
    }

    fn schema(&self) -> Schema {
        Schema::new(Block::new())
    }

    fn configure<'a>(
        &'a self,
        _: &'a Object,
        _: &'a str,
        _: &'a mut Diagnostics,
    ) -> BoxFuture<'a, Result<(), Diagnostic>> {
        Box::pin(ready(Ok(())))
    }

    fn resources(&self) -> Vec<Box<dyn Resource<()>>> {
        let kind = |index| -> Box<dyn Resource<()>> {
            // Leaked once per process: the SDK takes names of static lifetime.
            let name = Box::leak(format!("fleet_kind_{index:02}").into_boxed_str());
            Box::new(Kind { index, name })
        };
        (0..TYPES).map(kind).collect()
    }
}

/// A resource type. All types have the same core; the number of optional attributes differs.
struct Kind {
    index: usize,
    name: &'static str,
}

impl Resource<()> for Kind {
    fn type_name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> Schema {
        let source = Block::new().attribute("cidr", string().required());
        let rule = Block::new()
            .attribute("port", number().required())
            .attribute("protocol", string().optional().default_value("tcp"))
            .block("source", Nesting::List, source);
        let setting = Block::new()
            .attribute("key", string().required())
            .attribute("value", string().optional());
        let block = Block::new()
            .attribute("id", string().computed().keeps_state())
            .attribute("name", string().required())
            .attribute("summary", string().optional())
            .attribute("size", number().optional())
            .attribute("enabled", boolean().optional().default_value(true))
            .attribute("zones", typed(Type::list(Type::String)).optional())
            .attribute("labels", typed(Type::map(Type::String)).optional())
            .block("rule", Nesting::List, rule)
            .block("setting", Nesting::Set, setting);
        let options = (0..self.index % 8).map(|option| format!("option_{option}"));
        Schema::new(options.fold(block, |it, name| it.attribute(&name, string().optional())))
    }

    fn create<'a>(&'a self, (): &'a (), change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        change.state = change.planned.clone();
        let name = change.planned.string("name").unwrap_or_default();
        change.state.set("id", format!("{}/{name}", self.name).as_str());
        Box::pin(ready(Ok(())))
    }

    fn read<'a>(&'a self, (): &'a (), _: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(ready(Ok(())))
    }

    fn update<'a>(&'a self, (): &'a (), change: &'a mut Change) -> BoxFuture<'a, StepResult> {
        change.state = change.planned.clone();
        Box::pin(ready(Ok(())))
    }

    fn delete<'a>(&'a self, (): &'a (), _: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(ready(Ok(())))
    }
}
