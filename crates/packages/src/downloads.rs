//! The downloads that run, for a caller that shows their progress.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http_client::{Client, Error, Progress, Request};
use tokio::fs::File;

/// A download that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// The name of the package.
    pub name: String,
    /// The bytes in the file.
    pub received: u64,
    /// The size of the whole file. `None` if the server did not announce it.
    pub total: Option<u64>,
    /// Tells downloads of the same name apart.
    key: u64,
}

impl Download {
    /// A download that has received nothing.
    pub fn new(name: &str) -> Download {
        Download { name: name.to_owned(), received: 0, total: None, key: 0 }
    }
}

/// Gets the running downloads, in the order of their begins, after every change. Called by threads of the runtime.
pub type DownloadObserver = Box<dyn Fn(&[Download]) + Send + Sync>;

/// The downloads that run.
#[derive(Default)]
pub(crate) struct Downloads {
    observer: Option<DownloadObserver>,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    downloads: Vec<Download>,
    next_key: u64,
}

impl fmt::Debug for Downloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Downloads")
    }
}

impl Downloads {
    pub(crate) fn new(observer: DownloadObserver) -> Downloads {
        Downloads { observer: Some(observer), running: Mutex::default() }
    }

    /// Downloads a file with this name.
    pub(crate) async fn run(
        &self,
        client: &Client,
        name: &str,
        request: &Request,
        file: &mut File,
    ) -> Result<(), Error> {
        let entry = self.begin(name);
        let mut on_progress = |progress: Progress| entry.update(progress);
        client.download(request, file, &mut on_progress).await
    }

    fn begin(&self, name: &str) -> Entry<'_> {
        let mut running = self.lock();
        let key = running.next_key;
        running.next_key += 1;
        running.downloads.push(Download { key, ..Download::new(name) });
        self.report(&running);
        Entry { downloads: self, key }
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, running: &Running) {
        if let Some(observer) = &self.observer {
            observer(&running.downloads);
        }
    }
}

/// A download in the list. It leaves the list when it ends, also with an error or without an end.
struct Entry<'d> {
    downloads: &'d Downloads,
    key: u64,
}

impl Entry<'_> {
    fn update(&self, Progress { received, total }: Progress) {
        let mut running = self.downloads.lock();
        if let Some(download) = running.downloads.iter_mut().find(|it| it.key == self.key) {
            (download.received, download.total) = (received, total);
            self.downloads.report(&running);
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        let mut running = self.downloads.lock();
        running.downloads.retain(|it| it.key != self.key);
        self.downloads.report(&running);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn observer_gets_the_running_downloads_after_every_change() {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let list = Arc::clone(&seen);
        let downloads = Downloads::new(Box::new(move |running: &[Download]| {
            let shown = running.iter().map(|it| {
                let total = it.total.map_or("?".to_owned(), |it| it.to_string());
                format!("{} {}/{total}", it.name, it.received)
            });
            list.lock().expect("no panic").push(shown.collect::<Vec<_>>().join(" "));
        }));
        let first = downloads.begin("a");
        let second = downloads.begin("a");
        second.update(Progress { received: 2, total: Some(9) });
        drop(first);
        second.update(Progress { received: 5, total: Some(9) });
        drop(second);
        let expected = ["a 0/?", "a 0/? a 0/?", "a 0/? a 2/9", "a 2/9", "a 5/9", ""];
        assert_eq!(*seen.lock().expect("no panic"), expected);
    }
}
