//! The local server of the tests of the provider `restful`, for other processes.
//!
//! It prints one line of JSON: its URLs, and the certificates of the one with TLS. Then it answers each line of its
//! input, such as `GET /posts`, with the numbers of those requests without and with TLS. It ends with its input.

#[path = "../tests/restful_server/mod.rs"]
mod restful_server;

use std::io::{self, BufRead, Write};

use restful_server::{MutualTls, Pem, RestfulServer};
use serde_json::json;

fn main() -> io::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let tls = MutualTls::new("restful-server");
    let (plain, secured) = runtime.block_on(async {
        tokio::join!(RestfulServer::start(), RestfulServer::start_with_tls(&tls))
    });
    let Pem { certificate, key } = &tls.client;
    let line = json!({
        "url": plain.url,
        "tls_url": secured.url,
        "authority": tls.authority,
        "client_certificate": certificate,
        "client_key": key,
    });
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    for request in io::stdin().lock().lines() {
        let request = request?;
        writeln!(output, "{} {}", plain.count(&request), secured.count(&request))?;
        output.flush()?;
    }
    Ok(())
}
