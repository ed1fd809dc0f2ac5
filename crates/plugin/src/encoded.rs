//! Calls of a provider whose messages are bytes for the gRPC library, so that its code is compiled once, not once for
//! each of the fifty kinds of messages.

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

/// The codec of messages that are encoded already.
pub(crate) struct EncodedMessages;

impl Codec for EncodedMessages {
    type Encode = Bytes;
    type Decode = Bytes;
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
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for EncodedMessages {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// Encodes a message.
pub(crate) fn encoded(message: &impl Message) -> Bytes {
    message.encode_to_vec().into()
}

/// Decodes a message. Fields of bytes share the memory of `bytes`.
///
/// # Errors
///
/// Returns the status "internal", as gRPC demands, if the bytes are not such a message.
pub(crate) fn decoded<M: Message + Default>(bytes: Bytes) -> Result<M, Status> {
    M::decode(bytes).map_err(|error| Status::internal(error.to_string()))
}

/// The encoded answer to a call.
pub(crate) type Answering = BoxFuture<'static, Result<Bytes, Status>>;

/// Answers a call with this name and this encoded request.
pub(crate) type Answer = Arc<dyn Fn(&str, Bytes) -> Answering + Send + Sync>;

/// Defines the gRPC service of one version of the protocol.
macro_rules! services {
    ($($service:ident $name:literal;)*) => {
        $(
            /// The gRPC service of this version of the protocol.
            #[derive(Clone)]
            pub(crate) struct $service(pub(crate) Answer);

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
                    Box::pin(respond(Arc::clone(&self.0), request))
                }
            }
        )*
    };
}

services! {
    V5 "tfplugin5.Provider";
    V6 "tfplugin6.Provider";
}

/// A call that has arrived.
struct Call {
    answer: Answer,
    path: String,
}

impl UnaryService<Bytes> for Call {
    type Response = Bytes;
    type Future = BoxFuture<'static, Result<Response<Bytes>, Status>>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        let answer = (self.answer)(name, request.into_inner());
        Box::pin(async { answer.await.map(Response::new) })
    }
}

async fn respond(
    answer: Answer,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, Infallible> {
    let call = Call { answer, path: request.uri().path().to_owned() };
    let mut grpc = Grpc::new(EncodedMessages)
        .max_decoding_message_size(LARGEST_MESSAGE)
        .max_encoding_message_size(LARGEST_MESSAGE);
    Ok(grpc.unary(call, request).await)
}
