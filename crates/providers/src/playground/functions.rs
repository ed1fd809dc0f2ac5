//! The functions of the provider.

use mayfly_sdk::{Function, FunctionError, Model};

use super::names;

/// The parts of an ARN.
#[derive(Model)]
#[model(plain)]
struct Arn {
    service: String,
    resource: String,
}

/// The function `parse_arn`.
pub(super) fn parse_arn() -> Function {
    let parse = |arn: String| {
        let parts = names::parse_arn(&arn);
        let (service, resource) =
            parts.ok_or_else(|| FunctionError::argument(0, "this is no ARN of the playground"))?;
        Ok(Arn { service: service.to_owned(), resource: resource.to_owned() })
    };
    Function::new("parse_arn", parse)
        .summary("Parts of an ARN")
        .description("Takes an ARN of the playground apart.")
        .parameter("arn", "An ARN of the playground.")
}
