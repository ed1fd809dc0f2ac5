//! Tests of messages that wait together, which a client cannot time.

use std::sync::mpsc::channel;

use db::MemorySystem;

use super::*;
use crate::installation::Nothing;

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
