//! Downloads to files, which continue after an interruption.

use std::io::SeekFrom;
use std::time::Duration;

use futures::future::BoxFuture;
use hyper::StatusCode;
use hyper::header::{CONTENT_RANGE, ETAG, HeaderMap, HeaderValue, LAST_MODIFIED};
use tokio::fs::File;
use tokio::io::{AsyncSeekExt, AsyncWriteExt};
use tokio::time::sleep;

use crate::client::{Client, RangeRequest, Request, Response};
use crate::error::{Error, ErrorKind};
use crate::url::Url;

/// The progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of bytes in the file.
    pub received: u64,
    /// The size of the whole file. `None` if the server did not announce it.
    pub total: Option<u64>,
}

/// The number of attempts for one file. Attempts that received something do not count as retries, and a server must
/// not keep a download going for ever.
const MAX_ATTEMPTS: u32 = 40;

/// The received part of a file.
struct ReceivedPart<'f> {
    file: &'f mut File,
    received: u64,
    /// Identifies the version of the resource. `None` if the server has no such header.
    validator: Option<HeaderValue>,
}

impl Client {
    /// Downloads to an empty file. If the connection fails, it continues where it stopped, provided that the server
    /// still has the same version of the file.
    ///
    /// # Errors
    /// Returns an [`Error`] for every status except success. The file then contains an unspecified part.
    pub fn download<'r>(
        &'r self,
        request: &'r Request,
        file: &'r mut File,
        on_progress: &'r mut (dyn FnMut(Progress) + Send),
    ) -> BoxFuture<'r, Result<(), Error>> {
        Box::pin(self.download_with_retries(request, file, on_progress))
    }

    async fn download_with_retries(
        &self,
        request: &Request,
        file: &mut File,
        on_progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), Error> {
        let mut part = ReceivedPart { file, received: 0, validator: None };
        let mut retries = 0;
        for attempt in 1.. {
            let before = part.received;
            let Err(error) = self.attempt(request, &mut part, on_progress).await else { break };
            if part.received > before {
                retries = 0;
            }
            match self.pause_after(request, &error, retries).filter(|_| attempt < MAX_ATTEMPTS) {
                Some(pause) => sleep(pause).await,
                None => return Err(error),
            }
            retries += 1;
        }
        Ok(())
    }

    fn pause_after(&self, request: &Request, error: &Error, retries: u32) -> Option<Duration> {
        let wish = match &error.kind {
            ErrorKind::Status { retry_after, .. } => *retry_after,
            _ => None,
        };
        self.retries(request).pause(retries, wish).filter(|_| error.kind.is_transient())
    }

    async fn attempt(
        &self,
        request: &Request,
        part: &mut ReceivedPart<'_>,
        on_progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), Error> {
        let mut response = self.follow(&part.rest_of(request)).await?;
        if response.status == StatusCode::RANGE_NOT_SATISFIABLE && part.received > 0 {
            part.restart().await.map_err(|kind| kind.at(&response.url))?;
            response = self.follow(request).await?;
        }
        part.begin(&response).await?;
        let url = response.url;
        let total = response.body.size().map(|it| it + part.received);
        let mut body = response.body.bounded(request.max_bytes.saturating_sub(part.received));
        while let Some(chunk) = body.chunk().await.map_err(|it| whole(it, request.max_bytes))? {
            part.file.write_all(&chunk).await.map_err(|it| unwritten(&it).at(&url))?;
            part.received += chunk.len() as u64;
            on_progress(Progress { received: part.received, total });
        }
        part.file.flush().await.map_err(|it| unwritten(&it).at(&url))
    }
}

impl ReceivedPart<'_> {
    /// Returns the request for the rest of the file. It is the whole file if there is no validator.
    fn rest_of(&self, request: &Request) -> Request {
        let validator = self.validator.clone().filter(|_| self.received > 0);
        let rest = validator.map(|validator| RangeRequest { offset: self.received, validator });
        Request { rest, ..request.clone() }
    }

    /// Prepares the file for the body of a response.
    async fn begin(&mut self, response: &Response) -> Result<(), Error> {
        let at = |kind: ErrorKind| kind.at(&response.url);
        match response.status {
            StatusCode::OK => self.restart().await.map_err(at)?,
            StatusCode::PARTIAL_CONTENT => self.check_range(&response.headers, &response.url)?,
            _ => return Err(response.status_error()),
        }
        self.validator = validator(&response.headers);
        Ok(())
    }

    fn check_range(&self, headers: &HeaderMap, url: &Url) -> Result<(), Error> {
        let range = headers.get(CONTENT_RANGE).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let begin = range.strip_prefix("bytes ").and_then(|it| it.split_once('-'));
        let begin = begin.and_then(|(begin, _)| begin.trim().parse().ok());
        match begin == Some(self.received) && self.received > 0 {
            true => Ok(()),
            false => {
                let what = "it answered with another part of the file than the requested one";
                Err(ErrorKind::Protocol(what.to_owned()).at(url))
            }
        }
    }

    async fn restart(&mut self) -> Result<(), ErrorKind> {
        if self.received > 0 {
            self.file.set_len(0).await.map_err(|it| unwritten(&it))?;
            self.file.seek(SeekFrom::Start(0)).await.map_err(|it| unwritten(&it))?;
        }
        (self.received, self.validator) = (0, None);
        Ok(())
    }
}

/// The header that identifies the version of a resource. A weak `ETag` does not: its bytes may differ.
fn validator(headers: &HeaderMap) -> Option<HeaderValue> {
    let etag = headers.get(ETAG).filter(|it| it.as_bytes().starts_with(b"\""));
    etag.or(headers.get(LAST_MODIFIED)).cloned()
}

/// Reports the bound of the request in place of that of its rest.
fn whole(mut error: Error, bound: u64) -> Error {
    if let ErrorKind::TooLarge { most } = &mut error.kind {
        *most = bound;
    }
    error
}

fn unwritten(error: &std::io::Error) -> ErrorKind {
    ErrorKind::Write(error.to_string())
}
