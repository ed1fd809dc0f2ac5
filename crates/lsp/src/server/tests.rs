//! Tests of messages that wait together, which a client cannot time.

use std::sync::mpsc::channel;

use db::MemorySystem;

use super::*;
use crate::installation::Nothing;

/// A request that reports when it is answered.
fn probe(path: &str, answered: Sender<()>) -> QueuedRequest {
    QueuedRequest {
        path: Some(path.to_owned()),
        needs: Needs::Configuration,
        interest: Arc::default(),
        reply: tokio::sync::oneshot::channel().0,
        compute: Box::new(move |_, _| {
            let _ = answered.send(());
            Ok(serde_json::Value::Null)
        }),
        attempts: 0,
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
    server.handle(Message::Request(probe("/home/main.tf", answered)));
    assert_eq!(server.deferred.len(), 1, "nobody knows who calls the module");
    server.handle(inbox.recv().expect("the scan ends"));
    server.retry_deferred();
    assert_eq!(server.deferred.len(), 1, "its schemas are being read");
    server.handle(inbox.recv().expect("the schemas are read"));
    server.retry_deferred();
    answers.recv().expect("it is answered");
}
