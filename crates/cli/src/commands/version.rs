//! The `version` command.

use packages::Platform;

use operations::session::Failure;

use crate::{args::VersionArgs, exit::Exit, session::CommandSession};

/// Runs `version`: prints the version, the platform and the versions of the locked providers.
pub(crate) fn run(session: &CommandSession, args: &VersionArgs) -> Result<Exit, Failure> {
    let locks = session.locks()?;
    let platform = Platform::current();
    session.ui.document(&args.json, || {
        let selections: serde_json::Map<String, serde_json::Value> = locks
            .providers
            .iter()
            .map(|(source, lock)| (source.to_string(), lock.version.to_string().into()))
            .collect();
        let document = serde_json::json!({
            "terraform_version": state::WRITTEN_VERSION,
            "mayfly_version": env!("CARGO_PKG_VERSION"),
            "platform": platform.to_string(),
            "provider_selections": selections,
        });
        serde_json::to_string_pretty(&document).unwrap_or_default()
    });
    if args.json.json {
        return Ok(Exit::Success);
    }
    session.ui.line(&format!(
        "Mayfly v{} (OpenTofu v{})",
        env!("CARGO_PKG_VERSION"),
        state::WRITTEN_VERSION
    ));
    session.ui.line(&format!("on {platform}"));
    for (source, lock) in &locks.providers {
        session.ui.line(&format!("+ provider {source} v{}", lock.version));
    }
    Ok(Exit::Success)
}
