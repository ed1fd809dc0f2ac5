//! Provisioner plugins: one process for each plugin that a run needs.
//!
//! **Invariant:** a plugin that runs when the user asks the run to stop is asked to stop, once; if the run is aborted,
//! its process is ended.

use std::{sync::Arc, time::Duration};

use provider::{ProviderDiagnostic, ProvisionRequest, Provisioner};
use values::{Str, Type, Value, ValueMap, convert};

use crate::{cancel::CancelLevel, provisioner::Output, schedule::Failed, walk::context::Walk};

/// The time that a plugin has for the answer to a request to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The outcome of one run of a plugin.
pub(super) struct PluginOutcome {
    pub(super) found: Vec<ProviderDiagnostic>,
    /// True if the user asked the run to stop meanwhile.
    pub(super) is_interrupted: bool,
}

impl Walk<'_> {
    /// Returns a provisioner plugin, started at its first use.
    ///
    /// # Errors
    /// Fails, after a single report, if the plugin cannot be started.
    async fn provisioner_plugin(&self, kind: &str) -> Result<Arc<dyn Provisioner>, Failed> {
        let started = self.pool.provisioner(kind);
        let start = || async {
            self.environment.providers.start_provisioner(kind).await.map_err(|diagnostic| {
                self.report(*diagnostic);
                Failed
            })
        };
        started.get_or_init(start).await.as_ref().map(Arc::clone).map_err(|it| *it)
    }

    /// Runs a plugin. `config` and `connection` may have marks.
    pub(super) async fn run_plugin(
        &self,
        kind: &str,
        output: Output,
        config: &Value,
        connection: Option<&Value>,
    ) -> Result<PluginOutcome, Failed> {
        let unusable = |what: &str| {
            let found = vec![ProviderDiagnostic::error("Invalid provisioner configuration", what)];
            Ok(PluginOutcome { found, is_interrupted: false })
        };
        if !config.is_wholly_known() || connection.is_some_and(|it| !it.is_wholly_known()) {
            return unusable("The configuration of the provisioner has parts that are not known.");
        }
        let provisioner = self.provisioner_plugin(kind).await?;
        let request = ProvisionRequest {
            config: config.without_all_marks(),
            connection: connection_map(connection),
        };
        let show = |text: &str| text.lines().for_each(|line| output.show(line));
        let cancel = &self.environment.cancel;
        let mut running = provisioner.provision(request, &show);
        tokio::select! {
            biased;
            found = &mut running => return Ok(PluginOutcome { found, is_interrupted: false }),
            () = cancel.reached(CancelLevel::Stopping) => {}
        }
        // A plugin that cannot stop continues its work.
        let _ = tokio::time::timeout(STOP_TIMEOUT, provisioner.stop()).await;
        let found = tokio::select! {
            biased;
            found = &mut running => found,
            () = cancel.reached(CancelLevel::Aborting) => {
                provisioner.close().await;
                Vec::new()
            }
        };
        Ok(PluginOutcome { found, is_interrupted: true })
    }

    /// Ends the processes of all provisioner plugins.
    pub(crate) async fn end_provisioners(&self) {
        for started in self.pool.take_provisioners() {
            if let Some(Ok(provisioner)) = started.get() {
                provisioner.close().await;
            }
        }
    }
}

/// The arguments of a connection as the map of strings that plugins get, as OpenTofu sends it: arguments that are not
/// set are null. Null without a connection.
fn connection_map(connection: Option<&Value>) -> Value {
    let Some(connection) = connection else { return Value::null(Type::map(Type::String)) };
    let plain = connection.without_all_marks();
    let text = |(name, it): (&Str, &Value)| {
        let text =
            convert::convert(it, &Type::String).unwrap_or_else(|_| Value::null(Type::String));
        (name.clone(), text)
    };
    let texts: ValueMap = plain.as_map().into_iter().flatten().map(text).collect();
    Value::map(Type::String, texts)
}
