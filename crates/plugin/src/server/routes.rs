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
    use crate::encoded::V6;

    #[tokio::test]
    async fn path_names_the_service_of_a_call() {
        let mut services = Services::default().with(V6(Arc::new(|_| None)));
        for (path, is_known) in [
            ("/tfplugin6.Provider/Call", true),
            ("/tfplugin6.Provider/", true),
            ("/tfplugin6.Provider", false),
            ("/tfplugin6.Providers/Call", false),
            ("/other/tfplugin6.Provider/Call", false),
            ("/", false),
        ] {
            assert_eq!(services.find(path).is_some(), is_known, "{path}");
        }
        let request = http::Request::builder().uri("/other/Call").body(Body::empty());
        let Ok(answer) = services.call(request.expect("is a request")).await;
        assert_eq!(answer.headers()["grpc-status"], "12", "unimplemented");
    }
}
