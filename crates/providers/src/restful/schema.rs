//! The arguments that several types share, and their validators.

use std::collections::BTreeMap;

use http_client::Method;
use values::Value;

use super::{
    expression::{
        expand::validate_path,
        locator::{Locator, LocatorError},
    },
    request::settings::{Headers, Query},
};
use mayfly_sdk::{
    AttributeValue, Diagnostic, Model, Part,
    schema::{Attribute, string},
};

pub(super) const EPHEMERAL_BODY: &str = "ephemeral_body";

/// The most seconds between two requests of a poll loop: a year.
const LONGEST_DELAY: i64 = 366 * 24 * 3600;

/// Parameters of a query: lists of values by name. Null parts count as absent, and stay in states.
pub(super) type QueryArgument = BTreeMap<String, Option<Texts>>;

/// Headers by name. Null ones count as absent, and stay in states.
pub(super) type HeaderArgument = BTreeMap<String, Option<String>>;

/// Texts. Null ones count as absent, and stay in states.
pub(super) type Texts = Vec<Option<String>>;

/// The query of an argument.
pub(super) fn query_values(argument: Option<&QueryArgument>) -> Query {
    let entry =
        |(name, values): (&String, &Option<Texts>)| (name.clone(), text_values(values.as_ref()));
    argument.into_iter().flatten().map(entry).collect()
}

/// The headers of an argument.
pub(super) fn header_values(argument: Option<&HeaderArgument>) -> Headers {
    let entry = |(name, it): (&String, &Option<String>)| Some((name.clone(), it.clone()?));
    argument.into_iter().flatten().filter_map(entry).collect()
}

/// The texts of an argument.
pub(super) fn text_values(argument: Option<&Texts>) -> Vec<String> {
    argument.into_iter().flatten().flatten().cloned().collect()
}

/// A method of HTTP. Each attribute lists the ones that it permits.
#[derive(Clone)]
pub(super) struct Verb(pub(super) Method);

impl AttributeValue for Verb {
    fn attribute() -> Attribute {
        string()
    }

    fn decode(part: &Part<'_>) -> Result<Verb, Diagnostic> {
        let invalid = |_| part.error("Invalid Attribute Value", "must be a method of HTTP");
        Method::from_bytes(String::decode(part)?.as_bytes()).map(Verb).map_err(invalid)
    }

    fn encode(&self) -> Value {
        Value::string(self.0.as_str())
    }
}

/// The query and the headers of requests.
#[derive(Clone, Default, Model)]
pub(super) struct Arguments {
    /// Parameters of the query: lists of values by name.
    pub(super) query: Option<QueryArgument>,
    /// Headers by name.
    pub(super) header: Option<HeaderArgument>,
}

/// The wait for the end of the operation.
#[derive(Clone, Model)]
pub(super) struct Polling {
    #[flatten]
    pub(super) status: StatusArguments,
    /// The place of the URL to poll in the answer.
    #[attribute(check = check_locator)]
    pub(super) url_locator: Option<String>,
}

/// The arguments that prechecks and poll loops have in common.
#[derive(Clone, Model)]
pub(super) struct StatusArguments {
    /// The place of the status in an answer: code, header.NAME or body.PATH.
    #[attribute(check = check_locator)]
    pub(super) status_locator: String,
    /// The statuses, in upper or lower case.
    pub(super) status: Statuses,
    /// Headers by name.
    pub(super) header: Option<HeaderArgument>,
    /// The pause if the API names none; by default 10 seconds.
    #[attribute(between(0, LONGEST_DELAY))]
    pub(super) default_delay_sec: Option<i64>,
}

/// The statuses of an operation.
#[derive(Clone, Model)]
pub(super) struct Statuses {
    /// The status of an operation that has succeeded.
    pub(super) success: String,
    /// The statuses of an operation that has not ended.
    pub(super) pending: Option<Texts>,
}

/// A condition for a request to an object, which has a path: a lock or a status of the API.
#[derive(Clone, Model)]
#[model(exactly_one_of(mutex, api))]
pub(super) struct ObjectPrecheck {
    /// The name of a lock of this process.
    mutex: Option<String>,
    /// A status of the API to wait for.
    api: Option<ObjectStatus>,
}

#[derive(Clone, Model)]
pub(super) struct ObjectStatus {
    /// The path to ask; by default that of the resource.
    path: Option<String>,
    /// Parameters of the query: lists of values by name.
    query: Option<QueryArgument>,
    #[flatten]
    status: StatusArguments,
}

/// A condition for a request without an object: a lock or a status of the API.
#[derive(Clone, Model)]
#[model(exactly_one_of(mutex, api))]
pub(super) struct Precheck {
    /// The name of a lock of this process.
    mutex: Option<String>,
    /// A status of the API to wait for.
    api: Option<PathStatus>,
}

#[derive(Clone, Model)]
pub(super) struct PathStatus {
    /// The path to ask.
    path: String,
    /// Parameters of the query: lists of values by name.
    query: Option<QueryArgument>,
    #[flatten]
    status: StatusArguments,
}

/// A precheck of either type.
pub(super) struct Condition<'a> {
    pub(super) mutex: Option<&'a str>,
    pub(super) api: Option<ApiCondition<'a>>,
}

/// A status of the API to wait for.
pub(super) struct ApiCondition<'a> {
    /// The path to ask. `None` asks the path of the object.
    pub(super) path: Option<&'a str>,
    pub(super) query: Option<&'a QueryArgument>,
    pub(super) status: &'a StatusArguments,
}

impl<'a> From<&'a ObjectPrecheck> for Condition<'a> {
    fn from(precheck: &'a ObjectPrecheck) -> Condition<'a> {
        let api = precheck.api.as_ref().map(|it| ApiCondition {
            path: it.path.as_deref(),
            query: it.query.as_ref(),
            status: &it.status,
        });
        Condition { mutex: precheck.mutex.as_deref(), api }
    }
}

impl<'a> From<&'a Precheck> for Condition<'a> {
    fn from(precheck: &'a Precheck) -> Condition<'a> {
        let api = precheck.api.as_ref().map(|it| ApiCondition {
            path: Some(&it.path),
            query: it.query.as_ref(),
            status: &it.status,
        });
        Condition { mutex: precheck.mutex.as_deref(), api }
    }
}

/// The request of a destruction: the arguments that the resource and the operation have in common.
#[derive(Clone, Model)]
pub(super) struct DeleteArguments {
    /// By default the `id`.
    #[attribute(check = validate_path)]
    pub(super) delete_path: Option<String>,
    /// The body of the deletion.
    pub(super) delete_body: Value,
    #[flatten(prefix = "delete_")]
    pub(super) arguments: Arguments,
    /// Conditions for the request: each is a lock or a status of the API.
    pub(super) precheck_delete: Option<Vec<ObjectPrecheck>>,
    pub(super) poll_delete: Option<Polling>,
}

/// Checks a locator of an answer to the operation.
pub(super) fn check_locator(text: &str) -> Result<(), LocatorError> {
    Locator::parse(text).map(drop)
}
