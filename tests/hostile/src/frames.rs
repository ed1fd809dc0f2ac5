//! Checks of arbitrary bytes from a client of the language server.

use std::{path::Path, sync::Arc, time::Duration};

use addr::ProviderSource;
use db::MemorySystem;
use lsp::{Installation, Installed};
use project::Manifest;
use serde_json::Value as Json;
use sorted::TreeMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use values::Str;

/// The maximal time for a conversation of this size.
const PATIENCE: Duration = Duration::from_secs(30);

/// An installation without modules and schemas.
struct Nothing;

impl Installation for Nothing {
    fn modules(&self, _: &Path) -> Manifest {
        Manifest::default()
    }

    fn schemas(
        &self,
        _: &Path,
        requirements: &TreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)> {
        let missing = |it: &ProviderSource| (it.clone(), Installed::Missing("none".to_owned()));
        requirements.keys().map(missing).collect()
    }
}

/// Checks that the server ends after arbitrary bytes and a closed connection, and that its output consists of
/// whole messages.
pub(crate) fn check_frames(bytes: &[u8]) {
    messages_after(&[bytes]);
}

/// The messages of a language server whose client sends `pieces` one after the other and closes the connection.
///
/// # Panics
/// If the server does not end, or its output is not a sequence of messages.
pub fn messages_after(pieces: &[&[u8]]) -> Vec<Json> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime without drivers");
    let said = runtime.block_on(async {
        let (mut reader, output) = tokio::io::duplex(1 << 16);
        let (mut writer, input) = tokio::io::duplex(1 << 16);
        let system = MemorySystem::new();
        system.write("main.tf", "variable \"a\" {}\n");
        let served = lsp::serve(input, output, Arc::new(system), Arc::new(Nothing));
        let sent = async move {
            for piece in pieces {
                // After an unreadable header the server closes the pipe.
                let _ = writer.write_all(piece).await;
                // Lets the server read the piece before the next one arrives.
                tokio::task::yield_now().await;
            }
        };
        let mut said = Vec::new();
        let all = async { tokio::join!(served, sent, reader.read_to_end(&mut said)) };
        tokio::time::timeout(PATIENCE, all)
            .await
            .expect("the server takes its leave")
            .2
            .expect("whole");
        said
    });
    parse_messages(&said)
}

fn parse_messages(said: &[u8]) -> Vec<Json> {
    let mut messages = Vec::new();
    let mut rest = said;
    while !rest.is_empty() {
        let end = rest.windows(4).position(|it| it == b"\r\n\r\n").expect("a head ends");
        let head = std::str::from_utf8(&rest[..end]).expect("a head is text");
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length: usize = length.and_then(|it| it.parse().ok()).expect("a head has a length");
        let body = rest.get(end + 4..end + 4 + length).expect("a message is whole");
        let message: Json = serde_json::from_slice(body).expect("a message is JSON");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        messages.push(message);
        rest = &rest[end + 4 + length..];
    }
    messages
}
