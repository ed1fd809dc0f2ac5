//! Reads a plugin's output after the handshake, which go-plugin sends over gRPC.

use tonic::transport::Channel;

use crate::{
    generated::plugin::{StdioData, grpc_stdio_client::GrpcStdioClient, stdio_data},
    logs::{LONGEST_READ, Line, Listener},
    sink::{OutputChannel, PluginEvent},
};

/// Reads the stream to its end.
///
/// Must be spawned: Go's server sends no headers before the first message, so the call does not return before the
/// plugin prints. Must not be left out: a plugin whose output is not read blocks once the pipe is full.
pub(crate) async fn read(channel: Channel, listener: Listener) {
    // `Unavailable`, `Unimplemented` and `Canceled` all mean that there is nothing to read.
    let Ok(response) = GrpcStdioClient::new(channel).stream_stdio(()).await else { return };
    let mut stream = response.into_inner();
    let mut streams = [Pending::new(OutputChannel::Stdout), Pending::new(OutputChannel::Stderr)];
    while let Ok(Some(StdioData { channel, data })) = stream.message().await {
        let index = usize::from(channel == stdio_data::Channel::Stderr as i32);
        streams[index].extend(&data, &listener);
    }
    for mut pending in streams {
        pending.flush(&listener);
    }
}

/// The start of a line that is not complete. Chunks can end anywhere, and a redactor does not recognize a secret
/// that is split between two of them. Bytes beyond the limit for a line are counted and dropped.
struct Pending {
    channel: OutputChannel,
    bytes: Vec<u8>,
    dropped: usize,
}

impl Pending {
    fn new(channel: OutputChannel) -> Self {
        Self { channel, bytes: Vec::new(), dropped: 0 }
    }

    fn extend(&mut self, data: &[u8], listener: &Listener) {
        for (index, part) in data.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                self.flush(listener);
            }
            let kept = part.len().min(LONGEST_READ - self.bytes.len());
            self.bytes.extend_from_slice(&part[..kept]);
            self.dropped += part.len() - kept;
        }
    }

    fn flush(&mut self, listener: &Listener) {
        let bytes = std::mem::take(&mut self.bytes);
        let dropped = std::mem::take(&mut self.dropped);
        if !bytes.is_empty() {
            let text = listener.clean(&Line::new(&bytes, dropped));
            listener.event(PluginEvent::Output { channel: self.channel, text });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn chunks_of_stdio_do_not_tear_secrets() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = {
            let heard = Arc::clone(&heard);
            move |_: &str, event: PluginEvent| {
                if let PluginEvent::Output { text, .. } = event {
                    heard.lock().expect("not poisoned").push(text);
                }
            }
        };
        let redact = |text: &str| text.replace("hunter2", "***");
        let listener = Listener::new("p", Arc::new(sink), Arc::new(redact));
        let mut pending = Pending::new(OutputChannel::Stdout);
        for length in [64 << 10, LONGEST_READ] {
            pending.extend(format!("{}hunt", "x".repeat(length - 4)).as_bytes(), &listener);
            pending.extend(b"er2\n", &listener);
        }
        let heard = heard.lock().expect("not poisoned");
        assert_eq!(heard.len(), 2);
        assert!(heard.iter().all(|text| !text.contains("hunt") && !text.contains("er2")));
        assert!(heard[1].ends_with(" bytes left out)"));
    }
}
