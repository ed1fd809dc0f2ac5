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

/// The request that creates the DNS zone of the modules' authors, in which many examples make records.
const ZONE: &str = "<CreateHostedZoneRequest xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\">\
    <Name>terraform-aws-modules.modules.tf</Name><CallerReference>examples</CallerReference></CreateHostedZoneRequest>";

/// Names the service and the region of a request; the server checks no signature.
const TO_ROUTE53: &str = "Content-Type: application/xml\r\nAuthorization: AWS4-HMAC-SHA256 \
    Credential=nobody/20260101/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=0\r\n";

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

    /// Forgets all objects but one DNS zone, and begins the row of random identifiers again.
    ///
    /// # Errors
    /// The server does not answer.
    pub(crate) fn reset(&self) -> Result<()> {
        self.post("/moto-api/reset", "", "")?;
        self.post("/moto-api/seed?a=1", "", "")?;
        self.post("/2013-04-01/hostedzone", TO_ROUTE53, ZONE)
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> Result<()> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.0\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let status = answer.split(' ').nth(1).unwrap_or_default();
        ensure!(status.starts_with('2'), "{path}: {answer}");
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
