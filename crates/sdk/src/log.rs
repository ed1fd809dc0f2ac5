//! The log of a provider: lines on stderr in the format of hclog, which the core filters by its own level.

use std::io::Write as _;

use serde_json::json;

/// Writes a line of the level debug. It must not quote secrets. Nothing is written unless a variable of the
/// environment requests logs, so that a provider without a core stays quiet.
pub fn debug(module: &str, message: &str) {
    if ["TF_LOG", "TF_LOG_PROVIDER"].iter().any(|it| std::env::var_os(it).is_some()) {
        let line = json!({
            "@level": "debug",
            "@message": message,
            "@module": format!("provider.{module}"),
            "@timestamp": jiff::Timestamp::now().to_string(),
        });
        // A core that no longer listens is no reason to fail.
        let _ended = writeln!(std::io::stderr(), "{line}");
    }
}
