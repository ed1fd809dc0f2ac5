//! Message parts that many calls share, and answers that report a failed call.

use std::time::SystemTime;

use bytes::Bytes;
use prost_types::Timestamp;
use provider::{Private, ProviderDiagnostic, RawState, Schema};
use values::{Str, Type, Value};

use crate::{
    diagnostics, dynamic_value,
    generated::tfplugin::{self, DynamicValue, ResourceIdentityData},
};

/// The diagnostics of a call that the implementation or a malformed request made fail.
pub(super) type Failure = Vec<ProviderDiagnostic>;

/// An answer message that can consist of diagnostics only.
pub(super) trait Answer: Default {
    fn saying(diagnostics: Failure) -> Self;
}

macro_rules! answers {
    ($($name:ident)*) => {
        $(impl Answer for tfplugin::$name {
            fn saying(diagnostics: Failure) -> Self {
                Self { diagnostics: diagnostics::write_all(diagnostics), ..Self::default() }
            }
        })*
    };
}

answers! {
    ValidateProviderConfigResponse UpgradeResourceStateResponse ReadResourceResponse PlanResourceChangeResponse
    ApplyResourceChangeResponse ImportResourceStateResponse MoveResourceStateResponse ReadDataSourceResponse
    OpenEphemeralResourceResponse RenewEphemeralResourceResponse GetFunctionsResponse
    GetResourceIdentitySchemasResponse UpgradeResourceIdentityResponse
}

macro_rules! bare_answers {
    ($($name:ident)*) => {
        $(impl Answer for tfplugin::$name {
            fn saying(diagnostics: Failure) -> Self {
                Self { diagnostics: diagnostics::write_all(diagnostics) }
            }
        })*
    };
}

bare_answers! { ValidateConfigResponse ConfigureProviderResponse CloseEphemeralResourceResponse }

pub(super) fn settle<T: Answer>(result: Result<T, Failure>) -> T {
    result.unwrap_or_else(T::saying)
}

pub(super) fn read(message: Option<&DynamicValue>, ty: &Type) -> Result<Value, Failure> {
    dynamic_value::decode(message, ty).map_err(|error| {
        let detail = format!("A value of the request does not fit the schema: {error}.");
        vec![ProviderDiagnostic::error("Invalid request", detail)]
    })
}

/// Encodes a value of an answer. A missing value is encoded as null, not left out.
pub(super) fn write(
    about: &About,
    value: Option<&Value>,
    ty: &Type,
) -> Result<Option<DynamicValue>, Failure> {
    let null = Value::null(ty.clone());
    let message = dynamic_value::encode(value.unwrap_or(&null), ty);
    message.map(Some).map_err(|error| about.unwritable(error.without_keys(ty)))
}

/// The call and the resource type of an answer, for its errors. The type name shows the provider.
pub(super) struct About {
    call: &'static str,
    type_name: String,
}

impl About {
    pub(super) fn new(call: &'static str, type_name: &str) -> Self {
        Self { call, type_name: type_name.to_owned() }
    }

    fn unwritable(&self, error: values::CodecError) -> Failure {
        let Self { call, type_name } = self;
        let detail = format!(
            "The result of {call} for {type_name:?} does not fit the provider's own schema, which \
             is a bug in the provider: {error}."
        );
        vec![ProviderDiagnostic::error("Invalid result", detail)]
    }
}

pub(super) fn read_identity(
    message: Option<ResourceIdentityData>,
    schema: Option<&Schema>,
) -> Result<Option<Value>, Failure> {
    let (Some(data), Some(schema)) = (message.and_then(|it| it.identity_data), schema) else {
        return Ok(None);
    };
    let value = read(Some(&data), schema.implied_type())?;
    Ok((!value.is_null()).then_some(value))
}

pub(super) fn write_identity(
    about: &About,
    value: Option<&Value>,
    schema: Option<&Schema>,
) -> Result<Option<ResourceIdentityData>, Failure> {
    let (Some(value), Some(schema)) = (value, schema) else { return Ok(None) };
    let ty = schema.implied_type();
    let message = dynamic_value::encode_identity(value, ty);
    message.map(Some).map_err(|error| about.unwritable(error.without_keys(ty)))
}

pub(super) fn raw_state(message: Option<tfplugin::RawState>) -> RawState {
    match message {
        Some(it) if !it.json.is_empty() => RawState::Json((&it.json[..]).into()),
        it => {
            let flatmap = it.map(|it| it.flatmap).unwrap_or_default();
            RawState::Flatmap(
                flatmap
                    .into_iter()
                    .map(|(key, value)| (Str::on_heap(&key), Str::on_heap(&value)))
                    .collect(),
            )
        }
    }
}

pub(super) fn private(bytes: &Bytes) -> Private {
    Private::new(&bytes[..])
}

pub(super) fn bytes(private: &Private) -> Bytes {
    Bytes::copy_from_slice(private.as_bytes())
}

pub(super) fn timestamp(at: Option<SystemTime>) -> Option<Timestamp> {
    at.map(Timestamp::from)
}
