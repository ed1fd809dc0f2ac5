//! `mayfly/fleet`: a provider with forty resource types and nested blocks, for `cargo xtask bench`.
//!
//! It keeps no objects: a created object is what was planned, and a refresh finds what the state has. The bench
//! therefore measures the engine, the protocol and the SDK. An example target, so that no build of the product
//! contains it.

use std::{collections::BTreeMap, process::ExitCode};

use mayfly_sdk::{
    Call, ConfigureCall, Definition, Diagnostic, Model, Object, Resource, Set, Types,
    schema::{Schema, string},
};

/// The number of resource types.
const TYPES: usize = 40;

fn main() -> ExitCode {
    mayfly_sdk::main(Fleet)
}

struct Fleet;

impl Definition for Fleet {
    type Config = ();
    type Client = ();

    fn source(&self) -> &'static str {
        "registry.opentofu.org/mayfly/fleet"
    }

    async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        for index in 0..TYPES {
            // Leaked once per process: the SDK takes names of static lifetime.
            let name = Box::leak(format!("fleet_kind_{index:02}").into_boxed_str());
            types.resource(Kind { index, name });
        }
    }
}

/// The attributes that all types have.
#[derive(Model)]
struct Core {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    name: String,
    summary: Option<String>,
    size: Option<i64>,
    #[attribute(default = true)]
    enabled: bool,
    zones: Option<Vec<String>>,
    labels: Option<BTreeMap<String, String>>,
    #[block]
    rule: Vec<Rule>,
    #[block]
    setting: Set<Setting>,
}

#[derive(Model)]
struct Rule {
    port: i64,
    #[attribute(default = "tcp")]
    protocol: String,
    #[block]
    source: Vec<Source>,
}

#[derive(Model)]
struct Source {
    cidr: String,
}

#[derive(Model)]
struct Setting {
    key: String,
    value: Option<String>,
}

/// A resource type. The number of optional attributes differs, so the objects have no struct.
struct Kind {
    index: usize,
    name: &'static str,
}

impl Resource<()> for Kind {
    type Model = Object;

    fn type_name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> Schema {
        let options = (0..self.index % 8).map(|option| format!("option_{option}"));
        Core::schema().map_block(|block| {
            options.fold(block, |it, name| it.attribute(&name, string().optional()))
        })
    }

    async fn create(
        &self,
        (): &(),
        mut planned: Object,
        _: &mut Call,
    ) -> Result<Object, Diagnostic> {
        let name = planned.string(Core::NAME).unwrap_or_default();
        planned.set(Core::ID, format!("{}/{name}", self.name));
        Ok(planned)
    }

    async fn read(
        &self,
        (): &(),
        state: Object,
        _: &mut Call,
    ) -> Result<Option<Object>, Diagnostic> {
        Ok(Some(state))
    }

    async fn update(
        &self,
        (): &(),
        _: Object,
        planned: Object,
        _: &mut Call,
    ) -> Result<Object, Diagnostic> {
        Ok(planned)
    }

    async fn delete(&self, (): &(), _: Object, _: &mut Call) -> Result<(), Diagnostic> {
        Ok(())
    }
}
