//! Every code block of the RFC as a fixture, from its text to what is applied. What static analysis alone says of them is
//! tested beside `project`.

mod rfc {
    mod checks;
    mod example;
    mod values;
    mod write_only;

    use std::fmt::Write;

    use db::Diagnostic;

    /// Severities and summaries, one a line.
    pub(crate) fn summaries(diagnostics: &[Diagnostic]) -> String {
        diagnostics.iter().fold(String::new(), |mut text, it| {
            let _ = writeln!(text, "{:?}: {}", it.severity, it.summary);
            text
        })
    }
}
