//! Modules in buckets of S3 and Google Cloud Storage: over TLS from a server of the test, and from `moto_server`, which
//! verifies signatures.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use registry::{Server, answer, packed};

use crate::{
    bench::{Bench, Run},
    downloads::{authority, trusting},
    tofu::{Program, both_streams, programs, words},
};

const MODULE: &str = "output \"where\" {\n  value = path.module\n}\n";

/// The objects of the bucket `modules` by name.
type Objects = BTreeMap<String, Vec<u8>>;

fn objects() -> Objects {
    [
        ("net/dir/main.tf", MODULE.as_bytes().to_vec()),
        ("net/dir/sub/text", b"text".to_vec()),
        ("copy/main.tf", MODULE.as_bytes().to_vec()),
        ("copy/sub/text", b"text".to_vec()),
        ("net/1.0.zip", packed("vpc/main.tf", MODULE)),
    ]
    .map(|(name, content)| (name.to_owned(), content))
    .into()
}

/// Answers a request as S3 and Google Cloud Storage do.
fn cloud(objects: &Objects, request: &str, path: &str) -> Option<Vec<u8>> {
    let target = request.split(' ').nth(1)?;
    let prefix = target.split(['?', '&']).find_map(|it| it.strip_prefix("prefix="));
    let prefix = prefix.map(|it| it.replace("%2F", "/"));
    let below =
        |prefix: &str| objects.iter().filter(|it| it.0.starts_with(prefix)).collect::<Vec<_>>();
    match (path, prefix) {
        ("/modules", Some(prefix)) => {
            let entries = below(&prefix).into_iter().map(|(name, content)| {
                format!("<Contents><Key>{name}</Key><Size>{}</Size></Contents>", content.len())
            });
            let entries: String = entries.collect();
            let list = "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
            Some(answer(
                "application/xml",
                format!("{list}{entries}</ListBucketResult>").as_bytes(),
            ))
        }
        ("/storage/v1/b/modules/o", Some(prefix)) => {
            let items = below(&prefix).into_iter();
            let items: Vec<_> = items
                .map(|(name, content)| json!({"name": name, "size": content.len().to_string()}))
                .collect();
            Some(answer("application/json", json!({"items": items}).to_string().as_bytes()))
        }
        _ => {
            let name =
                path.strip_prefix("/modules/").or(path.strip_prefix("/storage/v1/b/modules/o/"))?;
            let content = objects.get(&name.replace("%2F", "/"))?;
            Some(answer("application/octet-stream", content))
        }
    }
}

fn call(bench: &Bench, source: &str) {
    bench.write(
        "main.tf",
        &format!(
            "module \"net\" {{\n  source = \"{source}\"\n}}\noutput \"where\" {{\n  value = module.net.where\n}}\n"
        ),
    );
}

/// A command whose credentials and endpoint are in the environment.
fn run(program: &Program, bench: &Bench, endpoint: &str, arguments: &[&str]) -> Run {
    trusting(bench, program.run(bench, ".", arguments.iter().copied()))
        .env("AWS_ACCESS_KEY_ID", "AKID")
        .env("AWS_SECRET_ACCESS_KEY", "s3cret")
        .env("AWS_SESSION_TOKEN", "t0ken")
        .env("AWS_ENDPOINT_URL", endpoint)
}

#[test]
fn modules_in_buckets_of_s3_are_installed_and_locked() {
    for program in programs() {
        for (source, directory) in [
            ("s3-eu-west-1.amazonaws.com/modules/net/1.0.zip//vpc", ".terraform/modules/net/vpc"),
            ("s3::https://modules.s3.eu-west-1.amazonaws.com/net/dir", ".terraform/modules/net"),
        ] {
            let bench = Bench::new();
            let content = objects();
            let server = Server::start_with(&authority(&bench), move |head, path| {
                cloud(&content, head, path)
            });
            let endpoint = format!("https://localhost:{}", server.port);
            call(&bench, source);
            run(&program, &bench, &endpoint, &["init"]).succeeds().lacks(&["s3cret", "t0ken"]);
            let heads = server.heads();
            let signed = "AWS4-HMAC-SHA256 Credential=AKID/";
            assert!(!heads.is_empty() && heads.iter().all(|it| it.contains(signed)), "{heads:?}");
            assert!(heads.iter().all(|it| it.contains("/eu-west-1/s3/")), "{heads:?}");
            assert!(heads.iter().all(|it| !it.contains("s3cret")), "{heads:?}");
            let planned = run(&program, &bench, &endpoint, &["plan"]).succeeds();
            planned.shows(&[directory]);
            if let Program::Mayfly = program {
                let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
                assert!(lock.contains("module \"s3::https://") && lock.contains("\"h1:"), "{lock}");
                std::fs::remove_dir_all(bench.path(".terraform")).expect("was there");
                run(&program, &bench, &endpoint, &["init", "-lockfile=readonly"]).succeeds();
            }
        }
    }
}

/// The package stays in its directory, because it has the same content.
#[test]
fn another_address_of_the_same_content_is_entered_into_the_manifest() {
    let bench = Bench::new();
    let content = objects();
    let server =
        Server::start_with(&authority(&bench), move |head, path| cloud(&content, head, path));
    let endpoint = format!("https://localhost:{}", server.port);
    for name in ["net/dir", "copy"] {
        call(&bench, &format!("s3::https://s3.amazonaws.com/modules/{name}"));
        run(&Program::Mayfly, &bench, &endpoint, &["init"]).succeeds();
        run(&Program::Mayfly, &bench, &endpoint, &["plan"]).succeeds();
    }
}

#[test]
fn changed_and_hostile_objects_are_errors_at_the_call() {
    let mut changed = objects();
    changed.insert("net/dir/sub/text".to_owned(), b"another".to_vec());
    let mut hostile = objects();
    hostile.insert("net/dir/../../../out".to_owned(), b"x".to_vec());
    let bench = Bench::new();
    let content = objects();
    let server =
        Server::start_with(&authority(&bench), move |head, path| cloud(&content, head, path));
    call(&bench, "s3::https://s3.eu-west-1.amazonaws.com/modules/net/dir");
    let first = format!("https://localhost:{}", server.port);
    run(&Program::Mayfly, &bench, &first, &["init"]).succeeds();
    for (content, expected) in [
        (changed, "does not match the lock file"),
        (hostile, "its object \"net/dir/../../../out\" cannot be a file"),
        (Objects::new(), "it has no objects below \"net/dir/\""),
    ] {
        std::fs::remove_dir_all(bench.path(".terraform")).expect("was there");
        let server =
            Server::start_with(&authority(&bench), move |head, path| cloud(&content, head, path));
        let endpoint = format!("https://localhost:{}", server.port);
        let (_, err) = both_streams(&run(&Program::Mayfly, &bench, &endpoint, &["init"]).fails());
        let err = words(&err.replace(['╷', '│', '╵'], ""));
        assert!(err.contains(expected) && err.contains("main.tf line 2"), "{expected}: {err}");
        assert!(!bench.path("out").exists() && !bench.path(".terraform/out").exists());
    }
}

#[test]
fn signature_and_token_stay_at_the_server_of_the_bucket() {
    let elsewhere = Bench::new();
    let other = Server::start_with(&authority(&elsewhere), |_, _| {
        Some(answer("application/zip", &packed("vpc/main.tf", MODULE)))
    });
    let bench = Bench::new();
    let target = other.port;
    let server = Server::start_with(&authority(&bench), move |_, _| {
        let moved = format!(
            "HTTP/1.1 307 Moved\r\nlocation: https://localhost:{target}/x.zip\r\nconnection: close\r\n\
             content-length: 0\r\n\r\n"
        );
        Some(moved.into_bytes())
    });
    let authorities = [bench.read("ca.pem"), elsewhere.read("ca.pem")].concat();
    bench.write("ca.pem", &String::from_utf8(authorities).expect("is text"));
    call(&bench, "s3::https://s3.amazonaws.com/modules/net/1.0.zip//vpc");
    let endpoint = format!("https://localhost:{}", server.port);
    run(&Program::Mayfly, &bench, &endpoint, &["init"]).succeeds();
    let heads = other.heads();
    assert_eq!(heads.len(), 1, "{heads:?}");
    assert!(!heads[0].contains("AKID") && !heads[0].contains("t0ken"), "{heads:?}");
    assert!(server.heads()[0].contains("x-amz-security-token: t0ken"));
}

#[test]
fn modules_in_buckets_of_google_are_installed_and_locked() {
    for program in programs() {
        // The storage of Google has no variable for another server than that of an emulator.
        if let Program::Tofu(_) = program {
            continue;
        }
        for (source, directory) in [
            ("www.googleapis.com/storage/v1/modules/net/1.0.zip//vpc", "modules/net/vpc"),
            ("gcs::https://www.googleapis.com/storage/v1/modules/net/dir", "modules/net"),
        ] {
            let bench = Bench::new();
            let content = objects();
            let server = Server::start_with(&authority(&bench), move |head, path| {
                cloud(&content, head, path)
            });
            call(&bench, source);
            let emulator = format!("https://localhost:{}", server.port);
            let run = |arguments: &[&str]| {
                let run = trusting(&bench, program.run(&bench, ".", arguments.iter().copied()));
                run.env("STORAGE_EMULATOR_HOST", &emulator)
                    .env("GOOGLE_OAUTH_ACCESS_TOKEN", "t0ken")
            };
            run(&["init"]).succeeds();
            run(&["plan"]).succeeds().shows(&[directory]);
            let heads = server.heads();
            assert!(heads.iter().all(|it| !it.contains("t0ken")), "{heads:?}");
            let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
            assert!(
                lock.contains("module \"gcs::https://www.googleapis.com/storage/v1/"),
                "{lock}"
            );
        }
    }
}

/// A running `moto_server`, which ends with the test.
struct Moto {
    process: Child,
    port: u16,
}

impl Moto {
    /// Starts the program that `MAYFLY_MOTO` names. `None` if the variable is not set.
    fn start() -> Option<Moto> {
        let Some(program) = std::env::var_os("MAYFLY_MOTO") else {
            let _ = writeln!(std::io::stderr(), "skipped: MAYFLY_MOTO is not set");
            return None;
        };
        let mut process = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            // The number of requests without a verified signature. `protect` ends them.
            .env("INITIAL_NO_AUTH_ACTION_COUNT", "1000")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("moto_server starts");
        let mut lines = BufReader::new(process.stderr.take().expect("is piped")).lines();
        let port = loop {
            let line = lines.next().expect("runs").expect("is text");
            if let Some((_, port)) = line.split_once("http://127.0.0.1:") {
                break port.trim().parse().expect("a port");
            }
        };
        // The server logs every request, and would wait if the log were not read.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Moto { process, port })
    }

    /// Sends a request for a service, and returns the answer.
    fn send(&self, method: &str, path: &str, service: &str, body: &[u8]) -> String {
        let kind = match service {
            "iam" => "application/x-www-form-urlencoded",
            _ => "application/octet-stream",
        };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("listens");
        let head = format!(
            "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nContent-Type: {kind}\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=nobody/20260101/us-east-1/{service}/aws4_request, SignedHeaders=host, Signature=0\r\n\
             Content-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).expect("is read");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("is text");
        assert!(answer.split(' ').nth(1).is_some_and(|it| it.starts_with('2')), "{path}: {answer}");
        answer
    }

    /// Creates a user with access to the bucket, and refuses all other requests from now on. Returns the keys.
    fn protect(&self) -> (String, String) {
        let ask = |form: &str| self.send("POST", "/", "iam", form.as_bytes());
        ask("Action=CreateUser&Version=2010-05-08&UserName=reader");
        let policy = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C\
                      %22Action%22%3A%22s3%3A%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D";
        ask(&format!(
            "Action=PutUserPolicy&Version=2010-05-08&UserName=reader&PolicyName=read&PolicyDocument={policy}"
        ));
        let made = ask("Action=CreateAccessKey&Version=2010-05-08&UserName=reader");
        let value = |name: &str| {
            let (_, rest) = made.split_once(&format!("<{name}>")).expect("was made");
            rest.split('<').next().unwrap_or_default().to_owned()
        };
        self.send("POST", "/moto-api/reset-auth", "s3", b"0");
        (value("AccessKeyId"), value("SecretAccessKey"))
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A command whose credentials are in the file of the user.
fn run_with_file(program: &Program, bench: &Bench, moto: &Moto, arguments: &[&str]) -> Run {
    let run = program.run(bench, ".", arguments.iter().copied());
    run.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", moto.port))
        .env("AWS_REGION", "us-east-1")
}

fn with_file(id: &str, secret: &str) -> Bench {
    let bench = Bench::new();
    let file = format!("[team]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\n");
    bench.write("../home/.aws/credentials", &file);
    bench
}

#[test]
fn archives_and_directories_come_from_moto() {
    let Some(moto) = Moto::start() else { return };
    moto.send("PUT", "/modules", "s3", b"");
    for (name, content) in objects() {
        moto.send("PUT", &format!("/modules/{name}"), "s3", &content);
    }
    moto.send("PUT", "/modules/odd%20name%2B/main.tf", "s3", MODULE.as_bytes());
    for program in programs() {
        let bench = with_file("AKID", "s3cret");
        for source in ["net/1.0.zip//vpc", "net/dir", "odd%20name+"] {
            let source = format!("s3::https://s3.amazonaws.com/modules/{source}?aws_profile=team");
            call(&bench, &source);
            run_with_file(&program, &bench, &moto, &["init"]).succeeds();
            let planned = run_with_file(&program, &bench, &moto, &["plan"]).succeeds();
            planned.shows(&[".terraform/modules/net"]);
        }
        call(&bench, "s3::https://s3.amazonaws.com/modules/net/2.0.zip?aws_profile=team");
        let missing = run_with_file(&program, &bench, &moto, &["init"]).fails();
        if let Program::Mayfly = program {
            missing.shows(&["main.tf line 2", "the server answered with the status 404 Not Found"]);
        }
    }
}

/// `moto_server` decodes paths and queries before it verifies them, and so refuses every request with an encoded
/// character, also those of AWS's own libraries. So the directory is a whole bucket.
#[test]
fn signatures_are_accepted_by_a_server_that_verifies_them() {
    let Some(moto) = Moto::start() else { return };
    moto.send("PUT", "/modules", "s3", b"");
    for (path, content) in
        [("main.tf", MODULE.as_bytes()), ("net/1.0.zip", &packed("vpc/main.tf", MODULE))]
    {
        moto.send("PUT", &format!("/modules/{path}"), "s3", content);
    }
    let (id, secret) = moto.protect();
    for program in programs() {
        let bench = with_file(&id, &secret);
        for source in ["?aws_profile=team", "net/1.0.zip//vpc?aws_profile=team"] {
            call(&bench, &format!("s3::https://s3.amazonaws.com/modules/{source}"));
            run_with_file(&program, &bench, &moto, &["init"]).succeeds().lacks(&[&secret]);
            let planned = run_with_file(&program, &bench, &moto, &["plan"]).succeeds();
            planned.shows(&[".terraform/modules/net"]);
        }
        // The keys may also be in the address, beside that of the server.
        let secret_in_address = secret.replace('+', "%2B");
        call(
            &bench,
            &format!(
                "s3::http://127.0.0.1:{}/modules/?region=us-east-1&aws_access_key_id={id}&aws_access_key_secret=\
                 {secret_in_address}",
                moto.port
            ),
        );
        run_with_file(&program, &bench, &moto, &["init"]).succeeds();
        call(&bench, "s3::https://s3.amazonaws.com/modules/net/1.0.zip");
        let wrong = run_with_file(&program, &bench, &moto, &["init"]);
        let wrong = wrong.env("AWS_ACCESS_KEY_ID", &id).env("AWS_SECRET_ACCESS_KEY", "wr0ng");
        let wrong = wrong.fails();
        wrong.lacks(&["wr0ng"]);
        if let Program::Mayfly = program {
            wrong.shows(&["the status 403", "the AWS credentials of the environment"]);
            let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
            assert!(!lock.contains(&id) && !lock.contains(&secret), "{lock}");
        }
    }
}
