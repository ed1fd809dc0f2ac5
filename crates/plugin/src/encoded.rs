//! Calls of a provider whose messages are bytes for the gRPC library, so that its code is compiled once, not once for
//! each of the forty kinds of messages. Each message is copied once more, from its encoding into the buffer of the
//! connection.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf, BufMut, Bytes};
use prost::Message;
use provider::BoxFuture;
use tonic::{
    Request, Response, Status,
    body::Body,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::http,
    server::{Grpc, NamedService, UnaryService},
};

use crate::wire::LARGEST_MESSAGE;

/// An encoded message. It does not implement `Debug`, because messages carry secrets.
pub(crate) struct EncodedMessage(Bytes);

/// The codec of messages that are encoded already.
pub(crate) struct EncodedMessages;

impl Codec for EncodedMessages {
    type Encode = EncodedMessage;
    type Decode = EncodedMessage;
    type Encoder = EncodedMessages;
    type Decoder = EncodedMessages;

    fn encoder(&mut self) -> EncodedMessages {
        EncodedMessages
    }

    fn decoder(&mut self) -> EncodedMessages {
        EncodedMessages
    }
}

impl Encoder for EncodedMessages {
    type Item = EncodedMessage;
    type Error = Status;

    fn encode(
        &mut self,
        message: EncodedMessage,
        buffer: &mut EncodeBuf<'_>,
    ) -> Result<(), Status> {
        buffer.put(message.0);
        Ok(())
    }
}

impl Decoder for EncodedMessages {
    type Item = EncodedMessage;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<EncodedMessage>, Status> {
        Ok(Some(EncodedMessage(buffer.copy_to_bytes(buffer.remaining()))))
    }
}

/// Encodes a message.
pub(crate) fn encoded(message: &impl Message) -> EncodedMessage {
    EncodedMessage(message.encode_to_vec().into())
}

/// Decodes a message. Fields of bytes share the memory of `message`.
///
/// # Errors
///
/// Returns the status "internal", as gRPC demands, if the bytes are not such a message.
pub(crate) fn decoded<M: Message + Default>(message: EncodedMessage) -> Result<M, Status> {
    M::decode(message.0).map_err(|error| Status::internal(error.to_string()))
}

/// The encoded answer to a call.
pub(crate) type Answering = BoxFuture<'static, Result<EncodedMessage, Status>>;

/// Answers one call, whose encoded request it gets.
pub(crate) type Respond = Box<dyn FnOnce(EncodedMessage) -> Answering + Send>;

/// The calls of a service: returns what answers the call with this name, or `None` if there is no such call.
pub(crate) type Calls = Arc<dyn Fn(&str) -> Option<Respond> + Send + Sync>;

/// Defines the gRPC service of one version of the protocol.
macro_rules! services {
    ($($service:ident $name:literal;)*) => {
        $(
            /// The gRPC service of this version of the protocol.
            #[derive(Clone)]
            pub(crate) struct $service(pub(crate) Calls);

            impl NamedService for $service {
                const NAME: &'static str = $name;
            }

            impl tower::Service<http::Request<Body>> for $service {
                type Response = http::Response<Body>;
                type Error = Infallible;
                type Future = BoxFuture<'static, Result<http::Response<Body>, Infallible>>;

                fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
                    Poll::Ready(Ok(()))
                }

                fn call(&mut self, request: http::Request<Body>) -> Self::Future {
                    let name = request.uri().path().strip_prefix(concat!("/", $name, "/"));
                    Box::pin(respond(name.and_then(|it| (self.0)(it)), request))
                }
            }
        )*
    };
}

services! {
    V5 "tfplugin5.Provider";
    V6 "tfplugin6.Provider";
}

/// A call that has arrived; `None` after its only message.
struct Arrived(Option<Respond>);

impl UnaryService<EncodedMessage> for Arrived {
    type Response = EncodedMessage;
    type Future = BoxFuture<'static, Result<Response<EncodedMessage>, Status>>;

    fn call(&mut self, request: Request<EncodedMessage>) -> Self::Future {
        let answer = self.0.take().map(|respond| respond(request.into_inner()));
        Box::pin(async {
            let answer = answer.ok_or_else(|| Status::internal("a second message in a call"))?;
            answer.await.map(Response::new)
        })
    }
}

/// Answers a call, or refuses one that does not exist without reading its request.
async fn respond(
    call: Option<Respond>,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, Infallible> {
    let Some(call) = call else { return Ok(Status::unimplemented("").into_http()) };
    let mut grpc = Grpc::new(EncodedMessages)
        .max_decoding_message_size(LARGEST_MESSAGE)
        .max_encoding_message_size(LARGEST_MESSAGE);
    Ok(grpc.unary(Arrived(Some(call)), request).await)
}
