//! Bodies of answers: streams of chunks with a bound on their size and on the time that they take.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout};

use crate::client::Timeouts;
use crate::error::{Error, ErrorKind, cause};
use crate::url::Url;

/// The body of an answer, as the server sent it: compressed bodies stay compressed.
pub struct Body {
    incoming: Incoming,
    url: Url,
    most: u64,
    timeouts: Timeouts,
    received: u64,
    /// The time that the reader waited for the server.
    waited: Duration,
}

impl Body {
    pub(crate) fn new(incoming: Incoming, url: Url, most: u64, timeouts: Timeouts) -> Body {
        Body { incoming, url, most, timeouts, received: 0, waited: Duration::ZERO }
    }

    /// The size that the server announced. `None` if it announced none.
    pub fn size(&self) -> Option<u64> {
        self.incoming.size_hint().exact()
    }

    /// Lowers the bound on the size.
    pub(crate) fn bounded(mut self, most: u64) -> Body {
        self.most = self.most.min(most);
        self
    }

    /// Returns the next chunk. `None` at the end of the body.
    ///
    /// # Errors
    /// Returns an [`Error`] if the body is too large or too slow, or if the connection ends before it does.
    pub fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        Box::pin(async { self.next().await.map_err(|kind| kind.at(&self.url)) })
    }

    /// Reads the rest of the body.
    ///
    /// # Errors
    /// Returns the same errors as [`Body::chunk`].
    pub fn bytes(mut self) -> BoxFuture<'static, Result<Bytes, Error>> {
        Box::pin(async move {
            let mut all = BytesMut::new();
            while let Some(chunk) = self.chunk().await? {
                all.extend_from_slice(&chunk);
            }
            Ok(all.freeze())
        })
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ErrorKind> {
        let announced = self.incoming.size_hint().lower();
        if announced > self.most.saturating_sub(self.received) {
            return Err(ErrorKind::TooLarge { most: self.most });
        }
        loop {
            let begin = Instant::now();
            let frame = timeout(self.patience(), self.incoming.frame()).await;
            self.waited += begin.elapsed();
            let received = self.received;
            let Ok(frame) = frame else { return Err(ErrorKind::Slow { received }) };
            let Some(frame) = frame else { return Ok(None) };
            let frame =
                frame.map_err(|error| ErrorKind::Truncated { received, cause: cause(&error) })?;
            // Trailers have no meaning here.
            let Ok(chunk) = frame.into_data() else { continue };
            self.received += chunk.len() as u64;
            match self.received > self.most {
                true => return Err(ErrorKind::TooLarge { most: self.most }),
                false => return Ok(Some(chunk)),
            }
        }
    }

    /// The longest wait for the next chunk. It ends early if the server was too slow on average, so that single
    /// bytes with long pauses between them do not keep a transfer alive.
    fn patience(&self) -> Duration {
        let earned = Duration::from_secs(self.received / self.timeouts.slowest.max(1));
        let left = (self.timeouts.idle + earned).saturating_sub(self.waited);
        left.min(self.timeouts.idle)
    }
}
