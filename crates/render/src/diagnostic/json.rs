//! Diagnostics as JSON, in OpenTofu's format.

use db::{Diagnostic, Difference, Location, Severity, Sources};
use serde_json::{Value as Json, json};

use crate::{
    diagnostic::excerpt::{Files, Lines, Position},
    json,
};

/// One diagnostic in OpenTofu's format, with the additional fields `id` and `related`.
pub fn diagnostic_json(diagnostic: &Diagnostic, sources: &Sources) -> Json {
    described(diagnostic, &Files::new(sources))
}

fn described(diagnostic: &Diagnostic, files: &Files<'_>) -> Json {
    let severity = match diagnostic.severity() {
        Severity::Error => "error",
        Severity::Warning | Severity::Hint => "warning",
    };
    let related = diagnostic
        .related
        .iter()
        .map(|it| json!({"message": it.message, "range": range(&it.location, files)}));
    let related: Vec<Json> = related.collect();
    json::object([
        ("severity", Some(severity.into())),
        ("summary", Some((&*diagnostic.summary).into())),
        ("detail", Some(diagnostic.detail.as_str().into())),
        ("address", diagnostic.address.as_deref().map(Json::from)),
        ("range", diagnostic.location.as_ref().map(|it| range(it, files))),
        ("snippet", snippet(diagnostic, files)),
        ("difference", diagnostic.difference.as_ref().and_then(|it| difference(it))),
        ("id", Some(diagnostic.id().code().into())),
        ("related", (!related.is_empty()).then_some(Json::Array(related))),
    ])
}

/// The document of `validate -json`.
pub fn validate_json(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let shown: Vec<_> = diagnostics.iter().filter(|it| it.severity() != Severity::Hint).collect();
    let errors = shown.iter().filter(|it| it.is_error()).count();
    let files = Files::new(sources);
    let document = json!({
        "format_version": "1.0",
        "valid": errors == 0,
        "error_count": errors,
        "warning_count": shown.len() - errors,
        "diagnostics": shown.iter().map(|it| described(it, &files)).collect::<Vec<_>>(),
    });
    json::pretty(&document)
}

fn range(location: &Location, files: &Files<'_>) -> Json {
    let position = |it: Position| json!({"line": it.line, "column": it.column, "byte": it.byte});
    let (start, end) = files.positions(location);
    json!({"filename": &*location.path, "start": position(start), "end": position(end)})
}

fn snippet(diagnostic: &Diagnostic, files: &Files<'_>) -> Option<Json> {
    let excerpt = files.excerpt(diagnostic, Lines::AsInTheReference)?;
    let values: Vec<Json> = diagnostic.values.iter().filter_map(|it| statement(it)).collect();
    Some(json!({
        "context": diagnostic.context,
        "code": excerpt.code,
        "start_line": excerpt.start_line,
        "highlight_start_offset": excerpt.start,
        "highlight_end_offset": excerpt.end,
        "values": values,
    }))
}

/// The two sides of a comparison in the form of a change. `None` if a side is no JSON.
fn difference(difference: &Difference) -> Option<Json> {
    let side = |text: &str| serde_json::from_str::<Json>(text).ok();
    Some(json::object([
        ("before", Some(side(&difference.left)?)),
        ("after", Some(side(&difference.right)?)),
        ("after_unknown", Some(false.into())),
        ("before_sensitive", Some(false.into())),
        ("after_sensitive", Some(false.into())),
    ]))
}

/// Splits `var.x is 5` into the traversal and the statement. `None` if the text has another form.
fn statement(value: &str) -> Option<Json> {
    let at = [" is ", " has ", " will be "].iter().filter_map(|it| value.find(it)).min()?;
    Some(json!({"traversal": &value[..at], "statement": &value[at + 1..]}))
}
