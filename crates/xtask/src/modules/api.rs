//! The local AWS API: a server on loopback that both executables use. It is reset before each executable runs.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};

/// The text before the port in the server's output.
const ADDRESS: &str = "http://127.0.0.1:";

/// The request that creates the DNS zone of the modules' authors, in which many examples create records.
const ZONE: &str = "<CreateHostedZoneRequest xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\">\
    <Name>terraform-aws-modules.modules.tf</Name><CallerReference>examples</CallerReference></CreateHostedZoneRequest>";

/// The headers that name the service and the region of a request; the server checks no signature.
const TO_ROUTE53: &str = "Content-Type: application/xml\r\nAuthorization: AWS4-HMAC-SHA256 \
    Credential=nobody/20260101/us-east-1/route53/aws4_request, SignedHeaders=host, Signature=0\r\n";

/// A running `moto_server`, which is killed on drop.
pub(crate) struct Api {
    process: Child,
    port: u16,
}

impl Api {
    /// Starts the server on a free port.
    ///
    /// # Errors
    /// Returns an error if `moto_server` is not on the PATH, or does not start.
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
        // The server logs every request, and would block if the log were not read.
        thread::spawn(move || lines.for_each(drop));
        Ok(Api { process, port })
    }

    /// Returns the address for the providers.
    pub(crate) fn endpoint(&self) -> String {
        format!("{ADDRESS}{}", self.port)
    }

    /// Removes all objects except one DNS zone, and restarts the sequence of random identifiers.
    ///
    /// # Errors
    /// Returns an error if the server does not respond.
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
        // The server holds nothing worth keeping, and it may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
