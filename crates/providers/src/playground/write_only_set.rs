//! `playground_write_only_in_set`: a type that a core must refuse when it is used.

use mayfly_sdk::{Call, Diagnostic, Model, Resource, Secret, Set};

use super::client::Client;

pub(super) struct WriteOnlyInSetType;

/// A write-only attribute in a set, which no core can check.
#[derive(Model)]
pub(super) struct WriteOnlyInSet {
    #[attribute(computed, keeps_state)]
    id: Option<String>,
    #[block]
    member: Set<Member>,
}

#[derive(Model)]
struct Member {
    name: String,
    #[attribute(write_only)]
    token_wo: Option<Secret>,
}

impl Resource<Client> for WriteOnlyInSetType {
    type Model = WriteOnlyInSet;

    fn type_name(&self) -> &'static str {
        "playground_write_only_in_set"
    }

    async fn create(
        &self,
        _: &Client,
        _: WriteOnlyInSet,
        _: &mut Call,
    ) -> Result<WriteOnlyInSet, Diagnostic> {
        Err(refused())
    }

    async fn read(
        &self,
        _: &Client,
        state: WriteOnlyInSet,
        _: &mut Call,
    ) -> Result<Option<WriteOnlyInSet>, Diagnostic> {
        Ok(Some(state))
    }

    async fn update(
        &self,
        _: &Client,
        _: WriteOnlyInSet,
        _: WriteOnlyInSet,
        _: &mut Call,
    ) -> Result<WriteOnlyInSet, Diagnostic> {
        Err(refused())
    }

    async fn delete(&self, _: &Client, _: WriteOnlyInSet, _: &mut Call) -> Result<(), Diagnostic> {
        Ok(())
    }
}

fn refused() -> Diagnostic {
    let detail = "A core should have refused this type: it cannot check that the write-only values \
                  stay out of state.";
    Diagnostic::error("Type cannot be used", detail)
}
