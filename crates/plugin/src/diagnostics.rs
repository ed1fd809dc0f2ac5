//! Conversion of diagnostics and attribute paths from and to messages.

use provider::{ProviderDiagnostic, Severity};
use values::{Kind, Path, Step, Str, Value};

use crate::{
    generated::tfplugin::{self, attribute_path, diagnostic},
    logs::cut,
    sink::Redact,
};

/// The number of errors, and of warnings, that are passed on from one answer.
const MOST: usize = 100;
const LONGEST_SUMMARY: usize = 1000;
const LONGEST_DETAIL: usize = 16 << 10;
/// The number of steps of a path that are read. No schema nests deeper, and each step is resolved in the
/// configuration.
const LONGEST_PATH: usize = 256;

/// Reads the diagnostics in an answer to `call` and redacts them. An unknown severity counts as an error.
pub(crate) fn read_all(
    messages: Vec<tfplugin::Diagnostic>,
    redact: &dyn Redact,
    provider: &str,
    call: &str,
) -> Vec<ProviderDiagnostic> {
    let mut diagnostics = Vec::new();
    let (mut errors, mut warnings) = (0, 0);
    for message in messages {
        let count = if severity(&message) == Severity::Error { &mut errors } else { &mut warnings };
        *count += 1;
        if *count <= MOST {
            diagnostics.push(read(message, redact, provider, call));
        }
    }
    for (count, severity) in [(errors, Severity::Error), (warnings, Severity::Warning)] {
        if count > MOST {
            let what = if severity == Severity::Error { "errors" } else { "warnings" };
            let detail = format!(
                "The provider {provider} answered {call} with {count} {what}, of which the first {MOST} are shown."
            );
            let summary = "More was said than is shown";
            let rest =
                ProviderDiagnostic { severity, ..ProviderDiagnostic::error(summary, detail) };
            diagnostics.push(rest);
        }
    }
    diagnostics
}

fn severity(message: &tfplugin::Diagnostic) -> Severity {
    match message.severity() {
        diagnostic::Severity::Warning => Severity::Warning,
        diagnostic::Severity::Error | diagnostic::Severity::Invalid => Severity::Error,
    }
}

fn read(
    message: tfplugin::Diagnostic,
    redact: &dyn Redact,
    provider: &str,
    call: &str,
) -> ProviderDiagnostic {
    let severity = severity(&message);
    let (mut summary, mut detail) =
        (redact.redact(&message.summary), redact.redact(&message.detail));
    if summary.trim().is_empty() && detail.trim().is_empty() {
        let what = if severity == Severity::Error { "an error" } else { "a warning" };
        summary = format!("Provider gave {what} without words");
        detail = format!(
            "The provider {provider} answered {call} with {what} that has no message. This is a \
             bug in the provider."
        );
    }
    ProviderDiagnostic {
        severity,
        summary: cut(summary, LONGEST_SUMMARY),
        detail: cut(detail, LONGEST_DETAIL),
        path: message
            .attribute
            .filter(|it| !it.steps.is_empty())
            .map(|it| redacted(read_path(it), redact)),
    }
}

/// Returns the path up to the first step whose key holds a secret. Paths are shown to the user.
fn redacted(path: Path, redact: &dyn Redact) -> Path {
    let clean = |step: &&Step| match step {
        Step::Attr(name) => redact.redact(name) == **name,
        Step::Index(key) => key.as_str().is_none_or(|key| redact.redact(key) == key),
    };
    path.steps().iter().take_while(clean).cloned().collect()
}

/// Reads a path. Steps without a selector are dropped.
pub(crate) fn read_path(message: tfplugin::AttributePath) -> Path {
    use attribute_path::step::Selector;
    let steps = message.steps.into_iter().take(LONGEST_PATH).filter_map(|step| {
        Some(match step.selector? {
            Selector::AttributeName(name) => Step::Attr(Str::on_heap(&name)),
            Selector::ElementKeyString(key) => Step::Index(Value::string(key)),
            Selector::ElementKeyInt(index) => Step::Index(Value::int(index)),
        })
    });
    steps.collect()
}

/// Converts diagnostics to messages.
pub(crate) fn write_all(diagnostics: Vec<ProviderDiagnostic>) -> Vec<tfplugin::Diagnostic> {
    diagnostics.into_iter().map(write).collect()
}

fn write(it: ProviderDiagnostic) -> tfplugin::Diagnostic {
    let severity = match it.severity {
        Severity::Error => diagnostic::Severity::Error,
        Severity::Warning => diagnostic::Severity::Warning,
    };
    tfplugin::Diagnostic {
        severity: severity as i32,
        summary: it.summary,
        detail: it.detail,
        attribute: it.path.as_ref().map(write_path),
    }
}

/// Converts a path to a message, up to the first step that the protocol cannot represent: an element of a set.
pub(crate) fn write_path(path: &Path) -> tfplugin::AttributePath {
    tfplugin::AttributePath { steps: path.steps().iter().map_while(write_step).collect() }
}

fn write_step(step: &Step) -> Option<attribute_path::Step> {
    use attribute_path::step::Selector;
    let selector = match step {
        Step::Attr(name) => Selector::AttributeName(name.to_string()),
        Step::Index(key) => match key.kind() {
            Kind::String(key) => Selector::ElementKeyString(key.to_string()),
            Kind::Number(index) => Selector::ElementKeyInt(index.to_i64()?),
            _ => return None,
        },
    };
    Some(attribute_path::Step { selector: Some(selector) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attribute_paths_round_trip_up_to_a_set_element() {
        let path = Path::root().attr("a").index(Value::int(3)).index(Value::string("k")).attr("b");
        assert_eq!(read_path(write_path(&path)), path);
        let set = Path::root().attr("s").index(Value::empty_object()).attr("b");
        assert_eq!(read_path(write_path(&set)), Path::root().attr("s"));
    }

    #[test]
    fn diagnostic_texts_and_keys_are_redacted() {
        let message = tfplugin::Diagnostic {
            severity: 7,
            summary: "got hunter2".into(),
            detail: "hunter2!".into(),
            attribute: Some(write_path(
                &Path::root().attr("a").index(Value::string("hunter2")).attr("b"),
            )),
        };
        let read = read(message, &|text: &str| text.replace("hunter2", "***"), "p", "Call");
        assert_eq!(read.severity, Severity::Error);
        assert_eq!((&*read.summary, &*read.detail), ("got ***", "***!"));
        assert_eq!(read.path, Some(Path::root().attr("a")));
    }
}
