//! Reads what a plugin prints after the handshake, which go-plugin sends over gRPC.

use tonic::transport::Channel;

use crate::{
    generated::plugin::{StdioData, grpc_stdio_client::GrpcStdioClient, stdio_data},
    logs::{Line, Listener},
    sink::{OutputChannel, PluginEvent},
};

/// Text without a newline is passed on when it is this long.
const LONGEST: usize = 64 << 10;

/// Reads the stream to its end.
///
/// Must be spawned: Go's server sends no headers before the first message, so the call itself does not return before
/// the plugin prints. And it must be read: a plugin that nobody reads blocks once the pipe behind it is full.
pub(crate) async fn read(channel: Channel, listener: Listener) {
    // Unavailable, Unimplemented and Canceled all mean that there is nothing to read.
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

/// The begin of a line whose end has not come: chunks are cut anywhere, and a secret that is cut in two is not seen by
/// a redactor.
struct Pending {
    channel: OutputChannel,
    bytes: Vec<u8>,
}

impl Pending {
    fn new(channel: OutputChannel) -> Self {
        Self { channel, bytes: Vec::new() }
    }

    fn extend(&mut self, data: &[u8], listener: &Listener) {
        for (index, part) in data.split(|byte| *byte == b'\n').enumerate() {
            if index > 0 {
                self.flush(listener);
            }
            self.bytes.extend_from_slice(part);
        }
        if self.bytes.len() >= LONGEST {
            self.flush(listener);
        }
    }

    fn flush(&mut self, listener: &Listener) {
        let bytes = std::mem::take(&mut self.bytes);
        if !bytes.is_empty() {
            let text = listener.clean(&Line::new(&bytes, 0));
            listener.event(PluginEvent::Output { channel: self.channel, text });
        }
    }
}
