//! Tests of messages that wait together, which a client cannot time.

use std::sync::mpsc::channel;

use db::MemorySystem;
use project::Manifest;

use super::*;
use crate::installation::Installed;

/// An installation without modules and schemas.
struct Nothing;

impl Installation for Nothing {
    fn modules(&self, _: &Path) -> Manifest {
        Manifest::new()
    }

    fn schemas(
        &self,
        _: &Path,
        requirements: &BTreeMap<ProviderSource, Vec<values::Str>>,
    ) -> Vec<(ProviderSource, Installed)> {
        let missing = |source: &ProviderSource| {
            (source.clone(), Installed::Missing("It is not there.".to_owned()))
        };
        requirements.keys().map(missing).collect()
    }
}

/// A request that reports when it is answered.
struct Probe {
    path: String,
    answered: Sender<()>,
}

impl QueuedRequest for Probe {
    fn path(&self) -> Option<&str> {
        Some(&self.path)
    }

    fn needs(&self) -> Needs {
        Needs::Configuration
    }

    fn answer(self: Box<Self>, _: Snapshot, _: Option<Target>) -> Option<Box<dyn QueuedRequest>> {
        let _ = self.answered.send(());
        None
    }

    fn outdated(self: Box<Self>) -> Option<Box<dyn QueuedRequest>> {
        Some(self)
    }
}

#[test]
fn request_after_open_waits_for_schemas() {
    let text = "resource \"test_thing\" \"a\" {}\n";
    let system = MemorySystem::new();
    system.write("/home/main.tf", text);
    let (messages, inbox) = channel();
    let outgoing = tokio::sync::mpsc::unbounded_channel().0;
    let (system, installation) = (Arc::new(system), Arc::new(Nothing));
    let mut server = Server::new(system, installation, messages, outgoing);
    server.folders = vec!["/home".to_owned()];
    let uri: Uri = "file:///home/main.tf".parse().expect("is a URI");
    server.handle(Message::Open(TextDocumentItem::new(uri, "terraform".into(), 1, text.into())));
    let (answered, answers) = channel();
    server.handle(Message::Request(Box::new(Probe { path: "/home/main.tf".to_owned(), answered })));
    assert_eq!(server.deferred.len(), 1, "nobody knows who calls the module");
    server.handle(inbox.recv().expect("the scan ends"));
    server.retry_deferred();
    assert_eq!(server.deferred.len(), 1, "its schemas are being read");
    server.handle(inbox.recv().expect("the schemas are read"));
    server.retry_deferred();
    answers.recv().expect("it is answered");
}
