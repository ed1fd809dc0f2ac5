//! Uploads with the protocol of `scp`.
//!
//! It needs the program `scp` on the machine and no subsystem, so it works with servers without SFTP, as OpenTofu
//! does. The machine's `scp` answers each header and each file with a status byte:
//!
//! ```text
//!   C0644 5 name   ◄── 0     the header of a file, then its bytes and a zero   ◄── 0
//!   D0755 0 name   ◄── 0     the beginning of a directory
//!   E              ◄── 0     its end
//! ```

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use engine::{Permissions, Platform, Source};
use provider::BoxFuture;
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf, client::Msg};
use tokio::{
    fs,
    io::{AsyncRead, AsyncReadExt as _},
};

use crate::machine::SshMachine;

/// The bytes that are read from a file at once.
const CHUNK: usize = 32 << 10;

/// The longest message of the machine's `scp` that is kept, in bytes.
const LONGEST_MESSAGE: usize = 4 << 10;

/// Uploads a file or a directory.
pub(crate) async fn upload(
    machine: &SshMachine,
    channel: Channel<Msg>,
    platform: Platform,
    source: Source<'_>,
    destination: &str,
) -> Result<(), String> {
    let (parent, name) = divided(destination);
    let command = match source {
        Source::Text { .. } | Source::File(_) => sink("scp -d -t", parent, platform),
        Source::Directory { contents_only: true, .. } => {
            sink("scp -r -d -t", destination, platform)
        }
        Source::Directory { contents_only: false, .. } => sink("scp -r -t", destination, platform),
    };
    let (reader, writer) = channel.split();
    let mut scp = Scp { machine, reader, writer, heard: Heard::default() };
    scp.exec(&command).await?;
    let sent = match source {
        Source::Text { text, permissions } => {
            scp.file(OsStr::new(name), permissions, text.len() as u64, text).await
        }
        Source::File(path) => scp.local_file(OsStr::new(name), path).await,
        Source::Directory { path, contents_only } => scp.tree(path, contents_only).await,
    };
    scp.finish(sent).await
}

/// Divides a destination into its directory and its last part. The last part of `/a/` is `a`.
fn divided(destination: &str) -> (&str, &str) {
    let is_end = |it: char| it == '/';
    match destination.trim_end_matches(is_end).rsplit_once('/') {
        Some((parent, name)) => (if parent.is_empty() { "/" } else { parent }, name),
        None => (".", destination.trim_end_matches(is_end)),
    }
}

fn sink(scp: &str, directory: &str, platform: Platform) -> String {
    // A name that begins with a hyphen is no option.
    let directory = &match directory.starts_with('-') {
        true => format!("./{directory}"),
        false => directory.to_owned(),
    };
    let quoted = match platform {
        Platform::Unix => engine::quoted_for_shell(directory),
        // A quotation mark cannot be part of a path of Windows.
        Platform::Windows => format!("\"{}\"", directory.replace('"', "")),
    };
    format!("{scp} {quoted}")
}

/// The conversation with the machine's `scp`.
struct Scp<'a> {
    machine: &'a SshMachine,
    reader: ChannelReadHalf,
    writer: ChannelWriteHalf<Msg>,
    heard: Heard,
}

/// The messages of the machine so far.
#[derive(Default)]
struct Heard {
    /// Answers that were not looked at yet.
    received: Vec<u8>,
    /// The beginning of the standard error.
    error: Vec<u8>,
    /// The exit status.
    status: Option<u32>,
    /// True if the channel has ended.
    has_ended: bool,
}

impl Heard {
    /// Keeps what a message says, as far as there is room. `None` is the end of the channel.
    fn keep(&mut self, message: Option<ChannelMsg>) {
        let add = |text: &mut Vec<u8>, data: &[u8]| {
            let room = LONGEST_MESSAGE.saturating_sub(text.len());
            text.extend_from_slice(&data[..data.len().min(room)]);
        };
        match message {
            Some(ChannelMsg::Data { data }) => add(&mut self.received, &data),
            Some(ChannelMsg::ExtendedData { data, .. }) => add(&mut self.error, &data),
            Some(ChannelMsg::ExitStatus { exit_status }) => self.status = Some(exit_status),
            Some(ChannelMsg::Failure) => {
                add(&mut self.error, b"the machine refused to run scp");
                self.has_ended = true;
            }
            Some(ChannelMsg::Close) | None => self.has_ended = true,
            Some(_) => {}
        }
    }

    /// True if the machine's `scp` has ended.
    fn is_over(&self) -> bool {
        self.has_ended || self.status.is_some()
    }
}

impl Scp<'_> {
    async fn exec(&mut self, command: &str) -> Result<(), String> {
        let sent = self.writer.exec(true, command).await;
        sent.map_err(|error| self.machine.reason(&error))?;
        self.answer().await
    }

    /// Takes the next message of the machine.
    async fn receive(&mut self) {
        let message = self.reader.wait().await;
        self.heard.keep(message);
    }

    /// Waits for the status of the last step.
    async fn answer(&mut self) -> Result<(), String> {
        while self.heard.received.is_empty() && !self.heard.is_over() {
            self.receive().await;
        }
        match self.heard.received.first() {
            Some(0) => {
                self.heard.received.remove(0);
                Ok(())
            }
            Some(_) => Err(self.message().await),
            None => Err(String::new()),
        }
    }

    /// Reads the message after a status that is not zero. Some versions begin it with the name of the program.
    async fn message(&mut self) -> String {
        while !self.heard.received.contains(&b'\n') && !self.heard.is_over() {
            let length = self.heard.received.len();
            self.receive().await;
            if self.heard.received.len() == length && length >= LONGEST_MESSAGE {
                break;
            }
        }
        let text = self.heard.received.get(1..).unwrap_or_default();
        let line = text.split(|it| *it == b'\n').next().unwrap_or_default();
        String::from_utf8_lossy(line).trim().to_owned()
    }

    async fn send(&mut self, bytes: Vec<u8>) -> Result<(), String> {
        let Scp { machine, reader, writer, heard } = self;
        let sending = writer.data_bytes(bytes);
        tokio::pin!(sending);
        // The machine must be listened to, because its `scp` may end before it has read everything.
        loop {
            let message = tokio::select! {
                sent = &mut sending => {
                    return sent.map_err(|error| machine.reason(&error));
                }
                message = reader.wait() => message,
            };
            heard.keep(message);
            if heard.has_ended {
                return Err(String::new());
            }
        }
    }

    async fn header(&mut self, start: &str, name: &OsStr) -> Result<(), String> {
        let name = name.as_bytes();
        if name.is_empty() || name.contains(&b'\n') || name.contains(&0) || name.contains(&b'/') {
            let name = String::from_utf8_lossy(name);
            return Err(format!("{name:?} is not the name of a file that scp can write"));
        }
        self.send([start.as_bytes(), b" ", name, b"\n"].concat()).await?;
        self.answer().await
    }

    /// Sends a file of a known size.
    async fn file(
        &mut self,
        name: &OsStr,
        permissions: Permissions,
        size: u64,
        mut content: impl AsyncRead + Unpin + Send,
    ) -> Result<(), String> {
        let mode = match permissions {
            Permissions::Readable => "0644",
            Permissions::OwnExecutable => "0700",
        };
        self.header(&format!("C{mode} {size}"), name).await?;
        let mut rest = size;
        while rest > 0 {
            let mut chunk = vec![0; CHUNK.min(usize::try_from(rest).unwrap_or(CHUNK))];
            let read = content.read(&mut chunk).await.map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the file became shorter while it was read".to_owned());
            }
            chunk.truncate(read);
            rest -= read as u64;
            self.send(chunk).await?;
        }
        self.send(vec![0]).await?;
        self.answer().await
    }

    async fn local_file(&mut self, name: &OsStr, path: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let opening = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            let file = db::system::open_regular(&opening)?;
            let size = file.metadata()?.len();
            Ok((file, size))
        });
        let (file, size) = opened.await.map_err(|error| error.to_string())?.map_err(failed)?;
        self.file(name, Permissions::Readable, size, fs::File::from_std(file)).await
    }

    /// Sends a directory.
    async fn tree(&mut self, path: &Path, contents_only: bool) -> Result<(), String> {
        let mut parents = Vec::new();
        if contents_only {
            return self.entries(path, &mut parents).await;
        }
        // The name of `.` and of a link is not in the path itself.
        let name = match path.file_name() {
            Some(name) => name.to_owned(),
            None => real(path).await?.file_name().unwrap_or_default().to_owned(),
        };
        self.directory(&name, path, &mut parents).await
    }

    async fn directory(
        &mut self,
        name: &OsStr,
        path: &Path,
        parents: &mut Vec<PathBuf>,
    ) -> Result<(), String> {
        self.header("D0755 0", name).await?;
        self.entries(path, parents).await?;
        self.send(b"E\n".to_vec()).await?;
        self.answer().await
    }

    /// Sends the entries of a directory, in the order of their names. Links are followed.
    fn entries<'a>(
        &'a mut self,
        path: &'a Path,
        parents: &'a mut Vec<PathBuf>,
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let real = real(path).await?;
            if parents.contains(&real) {
                let path = path.display();
                return Err(format!("{path} is a link to a directory that contains it"));
            }
            parents.push(real);
            for (name, is_directory) in listed(path).await? {
                let path = path.join(&name);
                match is_directory {
                    true => self.directory(&name, &path, parents).await?,
                    false => self.local_file(&name, &path).await?,
                }
            }
            parents.pop();
            Ok(())
        })
    }

    /// Ends the conversation. The exit status decides, and the first error is reported.
    async fn finish(mut self, sent: Result<(), String>) -> Result<(), String> {
        // A failed step leaves the machine's `scp` waiting; the end of its input ends it.
        let _ = self.writer.eof().await;
        while !self.heard.is_over() {
            self.receive().await;
        }
        let _ = self.writer.close().await;
        let said = String::from_utf8_lossy(&self.heard.error).trim().to_owned();
        let described = |error: String| if error.is_empty() { said.clone() } else { error };
        match (sent, self.heard.status) {
            (_, Some(127)) => Err("scp could not be started. The machine needs the program scp \
                                   (of the package openssh-client or openssh-clients)"
                .to_owned()),
            (Ok(()), Some(0)) => Ok(()),
            (Err(error), Some(status)) => match described(error) {
                error if error.is_empty() => Err(format!("scp ended with status {status}")),
                error => Err(error),
            },
            (Ok(()), Some(status)) => Err(format!("scp ended with status {status}: {said}")),
            (Err(error), None) if !described(error.clone()).is_empty() => Err(described(error)),
            (_, None) => Err(self.machine.reason(&russh::Error::Disconnect)),
        }
    }
}

async fn real(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path).await.map_err(|error| format!("{}: {error}", path.display()))
}

/// The names in a directory, sorted, and which of them are directories.
async fn listed(path: &Path) -> Result<Vec<(std::ffi::OsString, bool)>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut reading = fs::read_dir(path).await.map_err(failed)?;
    let mut entries = Vec::new();
    while let Some(entry) = reading.next_entry().await.map_err(failed)? {
        let metadata = fs::metadata(entry.path()).await;
        let metadata = metadata.map_err(|error| format!("{}: {error}", entry.path().display()))?;
        entries.push((entry.file_name(), metadata.is_dir()));
    }
    entries.sort();
    Ok(entries)
}
