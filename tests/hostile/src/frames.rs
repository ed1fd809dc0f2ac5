//! What a client of the language server sends, byte for byte.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use addr::ProviderSource;
use db::MemorySystem;
use lsp::{Installation, Installed};
use project::Manifest;
use tokio::io::AsyncReadExt as _;
use values::Str;

/// More time than any bytes of this size need.
const PATIENCE: Duration = Duration::from_secs(30);

/// Nothing is installed.
struct Nothing;

impl Installation for Nothing {
    fn modules(&self, _: &Path) -> Manifest {
        Manifest::default()
    }

    fn schemas(
        &self,
        _: &Path,
        requirements: &BTreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)> {
        let missing = |it: &ProviderSource| (it.clone(), Installed::Missing("none".to_owned()));
        requirements.keys().map(missing).collect()
    }
}

/// Whatever a client sends before it hangs up: the server takes its leave, and all that it said is whole messages.
pub(crate) fn check_frames(bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime without drivers");
    let said = runtime.block_on(async {
        let (mut reader, output) = tokio::io::duplex(1 << 16);
        let system = MemorySystem::new();
        system.write("main.tf", "variable \"a\" {}\n");
        let served = lsp::serve(bytes, output, Arc::new(system), Arc::new(Nothing));
        let mut said = Vec::new();
        let both = async { tokio::join!(served, reader.read_to_end(&mut said)) };
        tokio::time::timeout(PATIENCE, both)
            .await
            .expect("the server takes its leave")
            .1
            .expect("whole");
        said
    });
    check_messages(&said);
}

fn check_messages(said: &[u8]) {
    let mut rest = said;
    while !rest.is_empty() {
        let end = rest.windows(4).position(|it| it == b"\r\n\r\n").expect("a head ends");
        let head = std::str::from_utf8(&rest[..end]).expect("a head is text");
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length: usize = length.and_then(|it| it.parse().ok()).expect("a head has a length");
        let body = rest.get(end + 4..end + 4 + length).expect("a message is whole");
        let message: serde_json::Value = serde_json::from_slice(body).expect("a message is JSON");
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        rest = &rest[end + 4 + length..];
    }
}
