//! Tests of packages that a registry or a web page names, on a server of plain HTTP.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;

use addr::{Version, VersionConstraint};
use sorted::TreeMap;

use super::super::fetch::{Fetched, Tools, fetch};
use super::super::install::ModuleSelection;
use super::*;
use crate::locks::ModuleLock;

const MODULE: &str = "registry.test/acme/net/aws";

/// Serves pages by path, without their queries, for the rest of the process. `URL` in an answer becomes the URL of the
/// server, which is returned.
fn serve(pages: &[(&str, Vec<u8>)]) -> String {
    let pages: TreeMap<String, Vec<u8>> =
        pages.iter().map(|(path, answer)| ((*path).to_owned(), answer.clone())).collect();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let own = url.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let mut line = String::new();
            stream.read_line(&mut line).expect("a request");
            let path = line.split([' ', '?']).nth(1).unwrap_or_default().to_owned();
            while line != "\r\n" {
                line.clear();
                stream.read_line(&mut line).expect("a header");
            }
            let missing = b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n".to_vec();
            let answer = pages.get(&path).cloned().unwrap_or(missing);
            let answer = match String::from_utf8(answer) {
                Ok(text) => text.replace("URL", &own).into_bytes(),
                Err(error) => error.into_bytes(),
            };
            stream.get_mut().write_all(&answer).expect("open");
        }
    });
    url
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn ok(body: &[u8]) -> Vec<u8> {
    answer("200 OK", "", body)
}

/// An archive with two directories, of which one has a module.
fn archive() -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["net-1a2b/main.tf", "net-1a2b/sub/main.tf", "docs.md"] {
        zip.start_file(name, SimpleFileOptions::default()).expect("in memory");
        zip.write_all(b"# module\n").expect("in memory");
    }
    zip.finish().expect("in memory").into_inner()
}

fn named(location: &str) -> Vec<u8> {
    answer("204 No Content", &format!("x-terraform-get: {location}\r\n"), b"")
}

/// Fetches a package, and describes its files and the directory of the module, or the error.
fn fetched(source: &str, pages: &[(&str, Vec<u8>)]) -> String {
    let url = serve(pages);
    let package = ModuleSource::parse(&source.replace("URL", &url)).expect("a source").package;
    let git = Git { program: "git".into(), withheld: Vec::new() };
    let network = network_with(&format!("{url}/v1/"));
    let target = tempfile::tempdir().expect("a directory");
    let tools = Tools { git: &git, network: &network, data_dir: target.path() };
    let package = match source.starts_with(MODULE) {
        true => package.with_version(&Version::parse("1.2.0").expect("a version")),
        false => package,
    };
    match run(fetch(&package, None, tools, target.path())) {
        Ok(Fetched { subdirectory, .. }) => {
            format!("{subdirectory:?}: {}", files(target.path()).replace('\n', " ").trim())
        }
        Err(error) => error.to_string().replace(&url, "URL"),
    }
}

const WHOLE: &str = "docs.md net-1a2b/main.tf net-1a2b/sub/main.tf";
const DOWNLOAD: &str = "/v1/acme/net/aws/1.2.0/download";

#[test]
fn registry_names_the_package_in_a_header_or_in_its_answer() {
    for (told, directory) in [
        (named("URL/files/net.zip"), ""),
        (named("URL/files/net.zip//net-1a2b/sub"), "net-1a2b/sub"),
        (named("URL/files/other//*?archive=zip"), "net-1a2b"),
        (named("/files/net.zip//n*1*b"), "net-1a2b"),
        (ok(b"{\"location\": \"../../../../../files/net.zip//net-1a2b\"}"), "net-1a2b"),
        (answer("200 OK", "x-terraform-get: URL/files/net.zip\r\n", b"{\"location\": \"\"}"), ""),
        // A package of the registry itself is an archive whatever its name is.
        (ok(b"{\"location\": \"/files/other\", \"use_registry_credentials\": false}"), ""),
        (named("URL/page//sub"), "net-1a2b/sub"),
    ] {
        let page = answer(
            "200 OK",
            "",
            b"<meta name=\"terraform-get\" content=\"./files/net.zip//net-1a2b\">",
        );
        let pages = [
            (DOWNLOAD, told),
            ("/files/net.zip", ok(&archive())),
            ("/files/other", ok(&archive())),
            ("/page", page),
        ];
        assert_eq!(fetched(MODULE, &pages), format!("{directory:?}: {WHOLE}"));
    }
}

#[test]
fn wrong_answers_of_a_registry_are_refused() {
    for (told, expected) in [
        (named(""), "it did not return a location"),
        (ok(b"7"), "is not understood in line 1"),
        (ok(b"{\"location\": 1}"), "is not understood in line 1"),
        (named("/etc/passwd//etc"), "the status 404"),
        (named("file:///etc"), "it refers to file:///etc"),
        (named("git::file:///etc"), "it refers to git::file:///etc"),
        (named("acme/other/aws"), "it refers to registry.opentofu.org/acme/other/aws"),
        (named("nonsense"), "is neither a path"),
        (named("URL/files/net.zip//no*"), "matches nothing in the package"),
        (named("URL/files/net.zip//../x"), "leads out of the package"),
        // A lock file must not get such text.
        (named("URL/files/net.zip//a\" hashes"), "has no usable name"),
        (named("URL/files/net.zip//${x}"), "has no usable name"),
        (named("URL/files/text?archive=zip"), "invalid Zip archive"),
        (named("URL/files/text"), "the page there names no package"),
        (named("s3::https://s3.example/b/k.zip"), "only a configuration may name another server"),
        (named("svn::https://svn.example/b"), "by \"svn\""),
        (
            ok(b"{\"location\": \"/files/text\", \"use_registry_credentials\": true}"),
            "neither a .zip nor",
        ),
        (named("URL/loop"), "it leads through more than 10 places"),
        (answer("401 No", "", b""), "requires authentication credentials"),
    ] {
        let pages = [
            (DOWNLOAD, told),
            ("/files/net.zip", ok(&archive())),
            ("/files/text", ok(b"text")),
            ("/loop", answer("200 OK", "x-terraform-get: URL/loop\r\n", b"")),
        ];
        let error = fetched(MODULE, &pages);
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let error = fetched(MODULE, &[]);
    let expected = "the registry has no version 1.2.0 of registry.test/acme/net/aws; \"mayfly init -upgrade\" \
                    selects another one";
    assert_eq!(error, expected);
}

#[test]
fn page_names_the_package() {
    let header = answer("200 OK", "x-terraform-get: ./net.zip//net-1a2b\r\n", b"");
    let pages = [("/m/net", header), ("/m/net.zip", ok(&archive()))];
    assert_eq!(fetched("URL/m/net", &pages), format!("\"net-1a2b\": {WHOLE}"));
}

/// Selects a version among those of the registry and the locked ones.
fn selected(constraint: &str, locked: &[&str], upgrade: bool) -> String {
    let versions =
        b"{\"modules\": [{\"versions\": [{\"version\": \"1.0.0\"}, {\"version\": \"1.10.0\"}, \
        {\"version\": \"1.9.1\"}, {\"version\": \"2.0.0-beta1\"}, {\"version\": \"x\"}]}]}";
    let url = serve(&[("/v1/acme/net/aws/versions", ok(versions))]);
    let network = network_with(&format!("{url}/v1"));
    let lock = ModuleLock {
        directory: Some("net".to_owned()),
        subdirectory: String::new(),
        revision: None,
        hashes: sorted::TreeSet::new(),
    };
    let modules = locked.iter().map(|it| (format!("{MODULE}?version={it}"), lock.clone()));
    let locks = Locks { modules: modules.collect(), ..Locks::default() };
    let git = Git { program: "git".into(), withheld: Vec::new() };
    let target = Path::new("modules");
    let readonly = false;
    let request =
        ModuleRequest { target, locks: &locks, upgrade, readonly, git: &git, network: &network };
    let module = ModuleSource::parse(MODULE).expect("a source").package;
    let constraint = VersionConstraint::parse(constraint).expect("a constraint");
    let selections =
        run(ModuleInstaller::new(request).select(&[ModuleSelection { module, constraint }]));
    match selections.into_iter().next().expect("one result") {
        Ok(version) => version.to_string(),
        Err(error) => error,
    }
}

#[test]
fn newest_allowed_version_is_selected_unless_one_is_locked() {
    assert_eq!(selected(">= 0", &[], false), "1.10.0");
    assert_eq!(selected("~> 1.9.0", &[], false), "1.9.1");
    assert_eq!(selected("2.0.0-beta1", &[], false), "2.0.0-beta1");
    assert_eq!(selected(">= 0", &["1.0.0", "0.9.0"], false), "1.0.0");
    assert_eq!(selected(">= 1.9", &["1.0.0"], false), "1.10.0");
    assert_eq!(selected(">= 0", &["1.0.0"], true), "1.10.0");
    let error = selected("> 3", &[], false);
    assert!(
        error.ends_with("meets the constraint \"> 3.0.0\"; the newest one is 2.0.0-beta1"),
        "{error}"
    );
}
