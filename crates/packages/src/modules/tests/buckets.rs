//! Tests of packages in buckets, on a server of plain HTTP that speaks as S3 and as Google Cloud Storage do.

use sorted::TreeMap;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::super::fetch::{Tools, fetch};
use super::*;

/// The objects of the bucket `modules` by name.
type Objects = TreeMap<String, Vec<u8>>;

/// A service for the rest of the process.
struct Service {
    url: String,
    /// The heads of all requests.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Service {
    fn start(objects: Objects) -> Service {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.expect("a connection"));
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    stream.read_line(&mut head).expect("a line");
                }
                let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().expect("no panic").push(head);
                let (status, body) = match answer(&objects, &target) {
                    Some(body) => ("200 OK", body),
                    None => ("404 Not Found", Vec::new()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                stream.get_mut().write_all(&[head.as_bytes(), &body].concat()).expect("open");
            }
        });
        Service { url, heads }
    }
}

fn answer(objects: &Objects, target: &str) -> Option<Vec<u8>> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let decode =
        |it: &str| percent_encoding::percent_decode_str(it).decode_utf8_lossy().into_owned();
    let prefix = query.split('&').find_map(|it| it.strip_prefix("prefix=")).map(decode);
    let below = |prefix: &str| {
        let found = objects.iter().filter(|it| it.0.starts_with(prefix));
        found.map(|(name, content)| (name.clone(), content.len())).collect::<Vec<_>>()
    };
    match (path, prefix) {
        ("/modules", Some(prefix)) => {
            let entries = below(&prefix).into_iter().map(|(name, size)| {
                format!("<Contents><Key>{name}</Key><Size>{size}</Size></Contents>")
            });
            let entries: String = entries.collect();
            Some(format!("<ListBucketResult>{entries}</ListBucketResult>").into_bytes())
        }
        ("/storage/v1/b/modules/o", Some(prefix)) => {
            let items = below(&prefix).into_iter();
            let items: Vec<_> = items
                .map(|(name, size)| serde_json::json!({"name": name, "size": size.to_string()}))
                .collect();
            Some(serde_json::json!({"items": items}).to_string().into_bytes())
        }
        _ => {
            let name =
                path.strip_prefix("/modules/").or(path.strip_prefix("/storage/v1/b/modules/o/"))?;
            objects.get(&decode(name)).cloned()
        }
    }
}

fn objects(list: &[(&str, &str)]) -> Objects {
    let mut objects: Objects =
        list.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("vpc/main.tf", SimpleFileOptions::default()).expect("in memory");
    zip.write_all(b"# zipped\n").expect("in memory");
    let zip = zip.finish().expect("in memory").into_inner();
    objects.insert("net/1.0.zip".to_owned(), zip.clone());
    objects.insert("net/plain".to_owned(), zip);
    objects
}

/// Fetches a package from a service with these objects, and describes its files, or the error. `URL` in the source is
/// the URL of the service, which is the endpoint of both clouds, too.
fn fetched(source: &str, list: &[(&str, &str)]) -> (String, Vec<String>) {
    let service = Service::start(objects(list));
    let package = ModuleSource::parse(&source.replace("URL", &service.url)).expect(source).package;
    let variable = |name: &str| {
        let value = match name {
            "AWS_ACCESS_KEY_ID" => "id",
            "AWS_SECRET_ACCESS_KEY" => "s3cret",
            "AWS_ENDPOINT_URL" | "STORAGE_EMULATOR_HOST" => &*service.url,
            _ => return None,
        };
        Some(value.to_owned())
    };
    let network = network_in("http://127.0.0.1:1/", &variable);
    let git = Git { program: "git".into(), withheld: Vec::new() };
    let root = tempfile::tempdir().expect("a directory");
    let target = root.path().join("package");
    fs::create_dir(&target).expect("can be made");
    let tools = Tools { git: &git, network: &network, data_dir: root.path() };
    let found = match run(fetch(&package, None, tools, &target)) {
        Ok(_) => files(&target).replace('\n', " ").trim().to_owned(),
        Err(error) => error.to_string().replace(&service.url, "URL"),
    };
    assert!(!root.path().join("out").exists(), "{source} was written outside");
    let heads = std::mem::take(&mut *service.heads.lock().expect("no panic"));
    (found, heads)
}

/// Two modules, and entries that are no files of a package.
const LIST: [(&str, &str); 6] = [
    ("net/dir/main.tf", "# one\n"),
    ("net/dir/sub/a b.tf", "# two\n"),
    ("net/dir/sub/", ""),
    ("net/dir/.git/config", "none"),
    ("net/dir2/main.tf", "# another\n"),
    ("net/odd/é.tf", "# three\n"),
];

const GOOGLE: &str = "gcs::https://www.googleapis.com/storage/v1/modules";

#[test]
fn archives_and_directories_are_fetched() {
    for (source, expected) in [
        ("s3::https://s3.eu-west-1.amazonaws.com/modules/net/1.0.zip", "vpc/main.tf"),
        (
            "s3::https://modules.s3.eu-west-1.amazonaws.com/net/plain?archive=zip&version=x",
            "vpc/main.tf",
        ),
        ("s3::URL/modules/net/1.0.zip?region=r", "vpc/main.tf"),
        ("s3::URL/modules/net/dir", "main.tf sub/a b.tf"),
        ("s3::URL/modules/net/dir/", "main.tf sub/a b.tf"),
        ("s3::URL/modules/net/odd", "é.tf"),
        ("s3::URL/modules/net/dir?archive=false", "main.tf sub/a b.tf"),
        (&format!("{GOOGLE}/net/1.0.zip#7"), "vpc/main.tf"),
        (&format!("{GOOGLE}/net/dir"), "main.tf sub/a b.tf"),
    ] {
        let (found, heads) = fetched(source, &LIST);
        assert_eq!(found, expected, "{source}");
        let is_s3 = source.starts_with("s3::");
        assert!(
            heads.iter().all(|it| it.contains("authorization: AWS4-HMAC") == is_s3),
            "{heads:?}"
        );
        assert!(heads.iter().all(|it| !it.contains("s3cret")), "{heads:?}");
    }
}

#[test]
fn missing_and_unusable_objects_are_errors() {
    for (source, expected) in [
        ("s3::URL/modules/net/2.0.zip", "the server answered with the status 404 Not Found"),
        ("s3::URL/modules/none", "it has no objects below \"none/\"; add \"?archive=zip\""),
        (
            "s3::URL/modules/net/dir?version=1",
            "a version selects an archive, and the address names none",
        ),
        ("s3::URL/modules/net/plain?archive=tar.gz", "invalid gzip header"),
        ("s3::URL/modules/net/1.0.tar.xz", "cannot be unpacked"),
        ("s3::URL/modules", "its path must have the form BUCKET/KEY"),
        ("s3::URL/modules/net/1.0.zip?endpoint=x", "the parameter \"endpoint\" is not understood"),
        (
            "gcs::https://www.googleapis.com/storage/v1/modules/net/1.0.zip?version=1",
            "the parameter \"version\"",
        ),
        (
            "gcs::https://www.googleapis.com/modules/net/1.0.zip",
            "it must have the form \"gcs::https://www",
        ),
        ("s3://modules/net/1.0.zip", "write \"s3::https://s3.REGION.amazonaws.com/BUCKET/KEY\""),
        (
            "gs://modules/net/1.0.zip",
            "write \"gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT\"",
        ),
    ] {
        let (error, _) = fetched(source, &LIST);
        assert!(error.contains(expected), "{source}: {error}");
    }
}

#[test]
fn names_of_objects_that_lead_out_are_refused() {
    let long = "x".repeat(300);
    for (name, expected) in [
        ("net/bad/../../../out", "its object \"net/bad/../../../out\" cannot be a file"),
        ("net/bad//out", "its object \"net/bad//out\" cannot be a file"),
        ("net/bad/./out", "cannot be a file"),
        ("net/bad/a\\out", "cannot be a file"),
        ("net/bad/a\nb", "cannot be a file"),
        (&*format!("net/bad/{long}"), "cannot be a file: File name too long"),
    ] {
        for source in ["s3::URL/modules/net/bad", &format!("{GOOGLE}/net/bad")] {
            let (error, _) = fetched(source, &[(name, "x")]);
            assert!(error.contains(expected), "{name:?}: {error}");
        }
    }
    let (error, _) =
        fetched("s3::URL/modules/net/bad", &[("net/bad/a", "x"), ("net/bad/a/b", "x")]);
    assert!(error.contains("cannot be a file"), "{error}");
}

#[test]
fn keys_in_the_address_are_neither_locked_nor_mixed_up() {
    let service = Service::start(objects(&LIST));
    let mut bench = Bench::new();
    let source = |secret: &str| {
        let keys = format!("aws_access_key_id=id&aws_access_key_secret={secret}");
        bench.package(&format!("s3::{}/modules/net/dir?region=r&{keys}", service.url))
    };
    let (package, other) = (source("s3cret"), source("0ther"));
    let error = bench.install(&[&package, &other]).expect_err("clashes");
    assert!(error.contains("the same address with other parameters"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
    assert_eq!(bench.install(&[&package]).expect("is installed"), ["Fetching call0"]);
    let lock = bench.locks.to_text();
    assert!(lock.contains("/modules/net/dir?region=r\" {"), "{lock}");
    assert!(!lock.contains("s3cret") && !lock.contains("=id"), "{lock}");
    // An object that changes later is another package.
    let mut changed = LIST;
    changed[0].1 = "# changed\n";
    let replaced = Service::start(objects(&changed));
    let lock = lock.replace(&service.url, &replaced.url);
    bench.locks = Locks::parse(&lock).expect("a lock file");
    let package = bench.package(&format!("s3::{}/modules/net/dir?region=r", replaced.url));
    fs::remove_dir_all(bench.path("modules")).expect("was there");
    let error = bench.install(&[&package]).expect_err("has changed");
    assert!(error.contains("and the lock file has h1:"), "{error}");
}

#[test]
fn registry_may_name_buckets_of_aws_but_no_other_server() {
    let document = http_client::Url::parse("https://registry.example/").expect("a URL");
    for (location, is_allowed) in [
        ("s3::https://s3.amazonaws.com/b/k.zip", true),
        ("b.s3.eu-west-1.amazonaws.com/k.zip", true),
        ("s3::https://s3.evil.example/b/k.zip", false),
        ("s3::https://evilamazonaws.com/b/k.zip", false),
        ("s3::http://s3.amazonaws.com/b/k.zip", false),
        ("gcs::https://www.googleapis.com/storage/v1/b/k.zip", true),
        ("hg::https://example.com/r", true),
        ("hg::/srv/r", false),
        ("hg::file:///srv/r", false),
    ] {
        let found = super::super::registry::indirect(location, &document);
        assert_eq!(found.is_ok(), is_allowed, "{location}");
    }
}
