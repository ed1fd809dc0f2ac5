//! The services of a plugin: each call goes to the service that its path names.
//!
//! tonic's router would do it with a web framework, whose other half is unused.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use futures::future::BoxFuture;
use tonic::{Status, body::Body, codegen::http, server::NamedService};

type Answer = BoxFuture<'static, Result<http::Response<Body>, Infallible>>;
type Answering = Arc<dyn Fn(http::Request<Body>) -> Answer + Send + Sync>;

/// The services of a plugin.
#[derive(Clone, Default)]
pub(super) struct Services(Vec<(&'static str, Answering)>);

impl Services {
    /// Adds a service.
    pub(super) fn with<S>(mut self, service: S) -> Services
    where
        S: tower::Service<
                http::Request<Body>,
                Response = http::Response<Body>,
                Error = Infallible,
                Future = Answer,
            >,
        S: NamedService + Clone + Send + Sync + 'static,
    {
        // Services of gRPC are always ready.
        self.0.push((S::NAME, Arc::new(move |request| service.clone().call(request))));
        self
    }

    /// Returns the service that answers calls with this path. `None` if it names no service of this plugin.
    fn find(&self, path: &str) -> Option<&Answering> {
        let (name, _) = path.strip_prefix('/')?.split_once('/')?;
        self.0.iter().find(|(known, _)| *known == name).map(|(_, answering)| answering)
    }
}

impl tower::Service<http::Request<Body>> for Services {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Answer {
        match self.find(request.uri().path()) {
            Some(answering) => answering(request),
            None => Box::pin(async { Ok(Status::unimplemented("").into_http()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use tower::Service as _;

    use super::*;

    #[derive(Clone)]
    struct Named;

    impl NamedService for Named {
        const NAME: &'static str = "some.Service";
    }

    impl tower::Service<http::Request<Body>> for Named {
        type Response = http::Response<Body>;
        type Error = Infallible;
        type Future = Answer;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: http::Request<Body>) -> Answer {
            Box::pin(async { Ok(Status::ok("").into_http()) })
        }
    }

    #[tokio::test]
    async fn path_names_the_service_of_a_call() {
        let mut services = Services::default().with(Named);
        for (path, status) in [
            ("/some.Service/Call", "0"),
            ("/some.Service/", "0"),
            ("/some.Service", "12"),
            ("/some.Services/Call", "12"),
            ("/other/some.Service/Call", "12"),
            ("/", "12"),
        ] {
            let request = http::Request::builder().uri(path).body(Body::empty());
            let Ok(answer) = services.call(request.expect("is a request")).await;
            assert_eq!(answer.headers()["grpc-status"], status, "{path}");
        }
    }
}
