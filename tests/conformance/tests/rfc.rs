//! The examples of the ephemeral resources RFC, from the configuration to the applied result. The tests of
//! `project` cover their static analysis.

mod rfc {
    mod checks;
    mod example;
    mod values;
    mod write_only;

    use std::fmt::Write;

    use db::Diagnostic;

    /// Severities and summaries, one per line.
    pub(crate) fn summaries(diagnostics: &[Diagnostic]) -> String {
        diagnostics.iter().fold(String::new(), |mut text, it| {
            let _ = writeln!(text, "{:?}: {}", it.severity(), it.summary);
            text
        })
    }
}
