//! Modules of a git repository over HTTPS, which `git http-backend` serves and a registry names.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use registry::{Server, answer};

use crate::{
    bench::Bench,
    downloads::{authority, trusting},
};

/// Creates a bare repository with a tagged module. Returns the directory above it.
pub(super) fn repositories(bench: &Bench) -> PathBuf {
    let work = bench.path("../source");
    std::fs::create_dir_all(work.join("vpc")).expect("can be made");
    let module = "output \"where\" {\n  value = path.module\n}\n";
    std::fs::write(work.join("vpc/main.tf"), module).expect("can be written");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=n@example.com"]).args(arguments);
        assert!(command.current_dir(&work).status().expect("git runs").success());
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "-A"]);
    git(&["commit", "--quiet", "-m", "m"]);
    git(&["tag", "v1.0.0"]);
    let root = bench.path("../repositories");
    std::fs::create_dir_all(&root).expect("can be made");
    git(&["clone", "--quiet", "--bare", ".", root.join("net.git").to_str().expect("text")]);
    root
}

/// Replaces the text of the module, and moves the tag.
pub(super) fn commit(bench: &Bench, root: &Path, text: &str) {
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=n", "-c", "user.email=n@example.com"]).args(arguments);
        assert!(command.current_dir(bench.path("../source")).status().expect("git runs").success());
    };
    std::fs::write(bench.path("../source/vpc/main.tf"), text).expect("can be written");
    git(&["commit", "--quiet", "-am", "n"]);
    git(&["tag", "--force", "v1.0.0"]);
    let bare = root.join("net.git");
    git(&["push", "--quiet", "--force", bare.to_str().expect("text"), "main", "v1.0.0"]);
}

/// Answers a request as a web server that runs `git http-backend` does.
fn backend(root: &Path, request: &str) -> Option<Vec<u8>> {
    let (head, body) = request.split_once("\r\n\r\n")?;
    let mut words = head.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let header = |name: &str| {
        let prefix = format!("{name}: ");
        let found = head.lines().find(|it| it.to_lowercase().starts_with(&prefix));
        found.map(|it| it[prefix.len()..].to_owned()).unwrap_or_default()
    };
    let mut command = Command::new("git");
    command
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", method)
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(body.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?.stdout;
    let end = output.windows(4).position(|it| it == b"\r\n\r\n")?;
    let (headers, content) = (String::from_utf8_lossy(&output[..end]), &output[end + 4..]);
    let status = headers.lines().find_map(|it| it.strip_prefix("Status: ")).unwrap_or("200 OK");
    let others = headers.lines().filter(|it| !it.starts_with("Status: "));
    let others: String = others.map(|it| format!("{it}\r\n")).collect();
    let length = content.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{others}connection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    Some([head.as_bytes(), content].concat())
}

#[test]
fn repository_over_https_is_fetched_at_the_revision_that_the_lock_file_has() {
    let bench = Bench::new();
    let root = repositories(&bench);
    let repositories = root.clone();
    // The port stands in a header, because it changes the length of a body.
    let named = "HTTP/1.1 204 No Content\r\nx-terraform-get: \
                 git::https://localhost:PORT/net.git//vpc?ref=v1.0.0\r\nconnection: \
                 close\r\ncontent-length: 0\r\n\r\n";
    let server = Server::start_with(&authority(&bench), move |request, path| match path {
        "/.well-known/terraform.json" => {
            Some(answer("application/json", b"{\"modules.v1\": \"/v1/modules/\"}"))
        }
        "/v1/modules/acme/net/aws/versions" => {
            let versions = b"{\"modules\": [{\"versions\": [{\"version\": \"1.0.0\"}]}]}";
            Some(answer("application/json", versions))
        }
        "/v1/modules/acme/net/aws/1.0.0/download" => Some(named.as_bytes().to_vec()),
        _ => backend(&repositories, request),
    });
    let source = format!("localhost:{}/acme/net/aws", server.port);
    bench.write(
        "main.tf",
        &format!(
            "module \"net\" {{\n  source = \"{source}\"\n}}\noutput \"where\" {{\n  value = module.net.where\n}}\n"
        ),
    );
    let run = |arguments: &[&str]| {
        let run = trusting(&bench, bench.mayfly(".", arguments));
        run.env("GIT_SSL_CAINFO", bench.path("ca.pem"))
    };
    run(&["init"]).succeeds();
    run(&["plan"]).succeeds().shows(&[".terraform/modules/net/vpc"]);
    let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
    assert!(lock.contains("subdirectory = \"vpc\"\n  revision     = \""), "{lock}");
    // The tag moves, and a new machine still gets the locked revision.
    commit(&bench, &root, "# another\n");
    std::fs::remove_dir_all(bench.path(".terraform")).expect("was there");
    run(&["init"]).succeeds();
    run(&["plan"]).succeeds().shows(&[".terraform/modules/net/vpc"]);
    run(&["init", "-upgrade"]).succeeds();
    run(&["plan"]).fails();
}
