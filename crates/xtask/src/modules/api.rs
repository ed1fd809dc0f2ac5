//! The local AWS API: a server on loopback that both executables are judged against, emptied in between.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};

/// How the server says where it listens.
const ADDRESS: &str = "http://127.0.0.1:";

/// A running `moto_server`, which ends with this.
pub(crate) struct Api {
    process: Child,
    port: u16,
}

impl Api {
    /// Starts the server on a free port.
    ///
    /// # Errors
    /// `moto_server` is not on the PATH, or does not start.
    pub(crate) fn start() -> Result<Api> {
        let mut process = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("moto_server does not start (pip install 'moto[server]')")?;
        let mut lines = BufReader::new(process.stderr.take().context("it has an output")?).lines();
        let port = loop {
            let line = lines.next().context("moto_server ended")??;
            if let Some((_, rest)) = line.split_once(ADDRESS) {
                break rest.trim().parse()?;
            }
        };
        // It logs every request; nobody reading would stop it.
        thread::spawn(move || lines.for_each(drop));
        Ok(Api { process, port })
    }

    /// The address that providers are given.
    pub(crate) fn endpoint(&self) -> String {
        format!("{ADDRESS}{}", self.port)
    }

    /// Forgets all objects, and begins the row of random identifiers again.
    ///
    /// # Errors
    /// The server does not answer.
    pub(crate) fn reset(&self) -> Result<()> {
        self.post("/moto-api/reset")?;
        self.post("/moto-api/seed?a=1")
    }

    fn post(&self, path: &str) -> Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        write!(stream, "POST {path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(answer.contains(" 200 "), "{path}: {answer}");
        Ok(())
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        // It has nothing to lose; a process that is gone already is none to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
