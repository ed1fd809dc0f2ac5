//! A provider with one resource type whose objects are what was planned, for tests of models.

use std::marker::PhantomData;

use provider::{
    ConfigureRequest, PlanResourceChangeRequest, PlanResourceChangeResponse, Private, Provider,
    ValidateRequest, objchange::proposed_new,
};
use values::Value;

use super::{said_of, value};
use crate::{
    Call, ConfigureCall, Definition, Diagnostic, Model, Object, Resource, Server, Types, Unknowns,
};

/// The provider and its type `test_echo`, whose objects are described by `M`.
pub(super) struct Echo<M>(PhantomData<fn() -> M>);

impl<M: Model + 'static> Echo<M> {
    pub(super) async fn server() -> Server<Echo<M>> {
        let server = Server::new(Echo(PhantomData));
        let config = Value::empty_object();
        let said = server.configure(ConfigureRequest { core_version: "1.13.0".into(), config });
        assert_eq!(said_of(&said.await), "");
        server
    }

    pub(super) fn value(text: &str) -> Value {
        value(&M::schema().to_provider(), text)
    }

    /// Validates a configuration, which is JSON.
    pub(super) async fn validate(config: &str) -> String {
        let request =
            ValidateRequest { type_name: "test_echo".into(), config: Echo::<M>::value(config) };
        said_of(&Echo::<M>::server().await.validate_resource_config(request).await)
    }

    pub(super) async fn plan(prior: &str, config: &str) -> PlanResourceChangeResponse {
        let schema = M::schema().to_provider();
        let (prior, config) = (value(&schema, prior), value(&schema, config));
        let request = PlanResourceChangeRequest {
            type_name: "test_echo".into(),
            proposed_new_state: proposed_new(schema.block(), &prior, &config),
            prior_state: prior,
            config,
            prior_private: Private::default(),
            provider_meta: None,
            prior_identity: None,
        };
        Echo::<M>::server().await.plan_resource_change(request).await
    }

    /// Reads a value, which is JSON, as `M`, and returns it or the diagnostic.
    pub(super) fn read(text: &str, unknowns: Unknowns) -> Result<M, Diagnostic> {
        M::decode(&Object::new(Echo::<M>::value(text)), unknowns)
    }
}

impl<M: Model + 'static> Definition for Echo<M> {
    type Config = ();
    type Client = ();

    fn source(&self) -> &'static str {
        "echo"
    }

    async fn configure(&self, (): (), _: &mut ConfigureCall) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn types(&self, types: &mut Types<()>) {
        types.resource(Echo::<M>(PhantomData));
    }
}

impl<M: Model + 'static> Resource<()> for Echo<M> {
    type Model = M;

    fn type_name(&self) -> &'static str {
        "test_echo"
    }

    async fn create(&self, (): &(), planned: M, _: &mut Call) -> Result<M, Diagnostic> {
        Ok(planned)
    }

    async fn read(&self, (): &(), state: M, _: &mut Call) -> Result<Option<M>, Diagnostic> {
        Ok(Some(state))
    }

    async fn delete(&self, (): &(), _: M, _: &mut Call) -> Result<(), Diagnostic> {
        Ok(())
    }
}
