//! A provisioner plugin for tests: logs its calls, prints its arguments and its connection, waits, or fails.

use std::{sync::Arc, time::Duration};

use provider::{Attribute, Block, BoxFuture, ProviderDiagnostic, ProvisionRequest, Provisioner};
use sorted::SortedMap;
use tokio::sync::Notify;
use values::{Path, Str, Type, Value};

#[derive(Default)]
struct Echo {
    stopped: Notify,
}

/// Writes a log line. The first word is the level, as in the logs of old plugins.
#[expect(clippy::print_stderr, reason = "stderr is a plugin's log")]
fn log(call: &str, text: &str) {
    eprintln!("[INFO] {call} {text}");
}

fn schema() -> Block {
    let attributes = [
        ("text", Attribute::required(Type::String)),
        ("fails", Attribute::optional(Type::Bool)),
        ("waits", Attribute::optional(Type::Bool)),
    ];
    let attributes = attributes.into_iter().map(|(name, it)| (Str::from(name), it)).collect();
    Block::new(attributes, SortedMap::new())
}

impl Echo {
    async fn run(
        &self,
        request: ProvisionRequest,
        output: &(dyn Fn(&str) + Send + Sync),
    ) -> Vec<ProviderDiagnostic> {
        let is =
            |name: &str| request.config.get_attr(name).and_then(|it| it.as_bool()).unwrap_or(false);
        let text = request.config.get_attr("text");
        let text = text.as_ref().and_then(Value::as_str).unwrap_or_default();
        log("provision", text);
        output(&format!("text: {text}\nsecond line"));
        for (name, value) in request.connection.as_map().into_iter().flatten() {
            output(&format!("connection {name}: {}", value.as_str().unwrap_or_default()));
        }
        if is("waits") {
            output("waiting");
            let is_stopped = tokio::time::timeout(Duration::from_secs(60), self.stopped.notified());
            let why =
                if is_stopped.await.is_ok() { "It was stopped." } else { "It waited too long." };
            return vec![ProviderDiagnostic::error("Echo did not end", why)];
        }
        match is("fails") {
            true => vec![ProviderDiagnostic::error("Echo failed", format!("As told by {text}."))],
            false => Vec::new(),
        }
    }
}

impl Provisioner for Echo {
    fn schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Vec<ProviderDiagnostic>>> {
        Box::pin(async { Ok(Arc::new(schema())) })
    }

    fn validate(&self, config: Value) -> BoxFuture<'_, Vec<ProviderDiagnostic>> {
        let text = config.get_attr("text").filter(Value::is_known);
        let text = text.as_ref().and_then(Value::as_str).unwrap_or("unknown");
        log("validate", text);
        let invalid = ProviderDiagnostic::error("Echo is invalid", "The text is bad.");
        let found = (text == "bad").then(|| invalid.at(Path::default().attr("text")));
        Box::pin(async move { found.into_iter().collect() })
    }

    fn provision<'a>(
        &'a self,
        request: ProvisionRequest,
        output: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Vec<ProviderDiagnostic>> {
        Box::pin(self.run(request, output))
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), String>> {
        self.stopped.notify_one();
        Box::pin(async { Ok(()) })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), plugin::ServeError> {
    plugin::serve_provisioner(Arc::new(Echo::default())).await
}
