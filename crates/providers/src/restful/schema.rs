//! The parts of schemas that several types share, and their validators.

use std::collections::BTreeMap;

use http_client::Method;
use values::{Path, Type, Value};

use super::{
    document::attributes::Filter,
    expression::{expand::validate_path, locator::Locator},
    request::settings::{Headers, Query},
};
use mayfly_sdk::{
    AttributeValue, Diagnostic, Diagnostics, Object, Part,
    schema::{Attribute, Block, ObjectNesting, boolean, nested, number, string, typed},
    validate::{OneOf, Validator, WholeBetween, exactly_one_of},
};

pub(super) const OUTPUT: &str = "output";
pub(super) const SENSITIVE_OUTPUT: &str = "sensitive_output";
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

/// An optional attribute of dynamic type.
pub(super) fn dynamic() -> Attribute {
    typed(Type::Dynamic).optional()
}

/// An optional nested object.
pub(super) fn nested_one<const N: usize>(attributes: [(&'static str, Attribute); N]) -> Attribute {
    nested(ObjectNesting::Single, attributes).optional()
}

/// Parameters of a query: lists of values by name.
pub(super) fn query() -> Attribute {
    let text = "Parameters of the query: lists of values by name.";
    typed(Type::map(Type::list(Type::String))).optional().description(text)
}

/// Headers by name.
pub(super) fn headers() -> Attribute {
    typed(Type::map(Type::String)).optional().description("Headers by name.")
}

/// A method from a list.
pub(super) fn method(permitted: &'static [&'static str]) -> Attribute {
    string().optional().validator(OneOf(permitted))
}

/// A path with expressions such as `$(body.id)`.
pub(super) fn path_expression() -> Attribute {
    expression_of_path(string().optional())
}

/// Adds the check of expressions to an attribute with a path.
pub(super) fn expression_of_path(path: Attribute) -> Attribute {
    path.validator(IsPathExpression)
}

/// A body without a place in plans and states.
pub(super) fn ephemeral_body() -> Attribute {
    let text = "The part of the body that is never stored; it is merged into `body` in requests.";
    dynamic().write_only().description(text)
}

/// Adds the attributes for an answer: `output`, `sensitive_output`, and those that choose its parts.
pub(super) fn with_output(block: Block, use_sensitive: Attribute) -> Block {
    let attrs = "The parts of the answer that `output` keeps; by default all.";
    let use_sensitive =
        use_sensitive.description("Store the answer in `sensitive_output` in place of `output`.");
    let output = |text| typed(Type::Dynamic).computed().description(text);
    block
        .attribute(
            "output_attrs",
            typed(Type::set(Type::String)).optional().validator(AreOutputPaths).description(attrs),
        )
        .attribute("use_sensitive_output", use_sensitive)
        .attribute(OUTPUT, output("The answer of the API."))
        .attribute(
            SENSITIVE_OUTPUT,
            output("The answer of the API, if `use_sensitive_output` is true.").sensitive(),
        )
}

/// An optional boolean attribute.
pub(super) fn flag() -> Attribute {
    boolean().optional()
}

/// A list of prechecks. If the type has no path of its own, the path of an API precheck is required.
pub(super) fn prechecks(has_path: bool) -> Attribute {
    let path = string().description("The path to ask; by default that of the resource.");
    let [locator, status, header, delay] = waiting();
    let api = nested_one([
        locator,
        status,
        header,
        delay,
        ("path", if has_path { path.optional() } else { path.required() }),
        ("query", query()),
    ]);
    let mutex = string().optional().description("The name of a lock of this process.");
    let api = api.description("A status of the API to wait for.");
    nested(ObjectNesting::List, [("mutex", mutex), ("api", api)])
        .optional()
        .description("Conditions for the request: each is a lock or a status of the API.")
}

/// The rules of a poll loop.
pub(super) fn polling() -> Attribute {
    let [locator, status, header, delay] = waiting();
    let url = string().optional().validator(IsLocator);
    nested_one([
        locator,
        status,
        header,
        delay,
        ("url_locator", url.description("The place of the URL to poll in the answer.")),
    ])
    .description("How to wait for the end of the operation.")
}

/// The attributes that prechecks and poll loops have in common.
fn waiting() -> [(&'static str, Attribute); 4] {
    let status = nested(
        ObjectNesting::Single,
        [("success", string().required()), ("pending", typed(Type::list(Type::String)).optional())],
    );
    let locator = "The place of the status in an answer: code, header.NAME or body.PATH.";
    let delay = number().optional().validator(WholeBetween(0, LONGEST_DELAY));
    [
        ("status_locator", string().required().validator(IsLocator).description(locator)),
        ("status", status.required().description("The statuses, in upper or lower case.")),
        ("header", headers()),
        (
            "default_delay_sec",
            delay.description("The pause if the API names none; by default 10 seconds."),
        ),
    ]
}

/// Checks that each precheck is a lock or a status.
pub(super) fn validate_prechecks(config: &Object, name: &str, diagnostics: &mut Diagnostics) {
    for (_, precheck) in config.objects(name) {
        exactly_one_of(&precheck, &["mutex", "api"], diagnostics);
    }
}

/// Reads the value of [`query`]. Null and unknown parts are left out.
pub(super) fn query_of(value: &Value) -> Query {
    let texts = |list: &Value| {
        list.elements().filter_map(|(_, it)| it.as_str().map(str::to_owned)).collect()
    };
    let entry = |(name, list): (Value, &Value)| Some((name.as_str()?.to_owned(), texts(list)));
    value.elements().filter_map(entry).collect()
}

/// Reads the value of [`headers`]. Null and unknown parts are left out.
pub(super) fn headers_of(value: &Value) -> Headers {
    let entry =
        |(name, it): (Value, &Value)| Some((name.as_str()?.to_owned(), it.as_str()?.to_owned()));
    value.elements().filter_map(entry).collect::<BTreeMap<_, _>>()
}

struct IsPathExpression;

impl Validator for IsPathExpression {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if let Err(error) = validate_path(value.as_str().unwrap_or_default()) {
            diagnostics.error_at(path.clone(), "Invalid Path Expression", error.to_string());
        }
    }
}

struct IsLocator;

impl Validator for IsLocator {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if let Err(error) = Locator::parse(value.as_str().unwrap_or_default()) {
            diagnostics.error_at(path.clone(), "Invalid Locator", error.to_string());
        }
    }
}

/// A validator for `output_attrs`.
struct AreOutputPaths;

impl Validator for AreOutputPaths {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        let paths = value.elements().filter_map(|(_, it)| it.as_str());
        if let Err(error) = Filter::parse(paths) {
            diagnostics.error_at(path.clone(), "Invalid Output Attributes", error.to_string());
        }
    }
}
