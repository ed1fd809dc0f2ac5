//! `playground_write_only_in_set`: a type that a core must refuse when it is used.

use std::future::ready;

use provider::BoxFuture;

use super::client::Client;
use mayfly_sdk::erased::{Change, Existing, Resource, StepResult};
use mayfly_sdk::{
    Diagnostic,
    schema::{Block, Nesting, Schema, string},
};

pub(super) struct WriteOnlyInSet;

impl Resource<Client> for WriteOnlyInSet {
    fn type_name(&self) -> &'static str {
        "playground_write_only_in_set"
    }

    fn schema(&self) -> Schema {
        let member = Block::new()
            .attribute("name", string().required())
            .attribute("token_wo", string().optional().write_only());
        Schema::new(
            Block::new()
                .description("A write-only attribute in a set, which no core can check.")
                .attribute("id", string().computed().keeps_state())
                .block("member", Nesting::Set, member),
        )
    }

    fn create<'a>(&'a self, _: &'a Client, _: &'a mut Change) -> BoxFuture<'a, StepResult> {
        refuse()
    }

    fn read<'a>(&'a self, _: &'a Client, _: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(ready(Ok(())))
    }

    fn update<'a>(&'a self, _: &'a Client, _: &'a mut Change) -> BoxFuture<'a, StepResult> {
        refuse()
    }

    fn delete<'a>(&'a self, _: &'a Client, _: &'a mut Existing) -> BoxFuture<'a, StepResult> {
        Box::pin(ready(Ok(())))
    }
}

fn refuse<'a>() -> BoxFuture<'a, StepResult> {
    let detail = "A core should have refused this type: it cannot check that the write-only values \
                  stay out of state.";
    Box::pin(ready(Err(Diagnostic::error("Type cannot be used", detail))))
}
