//! `login` and `logout`, against a server of the test, compared with the real `tofu` where it is available.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use registry::{Pages, Server, answer};

use crate::{
    bench::{Bench, Ended, Run},
    downloads::{authority, trusting},
    tofu::{Program, programs, words},
};

const TOKEN: &str = "t0ken-0f-the-host";

const DISCOVERY: &str = r#"{
  "login.v1": {"client": "cli", "authz": "/authorize", "token": "/token", "ports": [12000, 12999]}
}"#;

/// A host that issues tokens, and the home of a user.
struct Place {
    bench: Bench,
    server: Server,
}

impl Place {
    fn new(discovery: &str) -> Place {
        let bench = Bench::new();
        let json = |text: &str| answer("application/json", text.as_bytes());
        let pages = Pages::from([
            ("/.well-known/terraform.json".to_owned(), json(discovery)),
            ("/token".to_owned(), json(&format!("{{\"access_token\": \"{TOKEN}\"}}"))),
            ("/api/v2/ping".to_owned(), json("{}")),
            (
                "/api/v2/account/details".to_owned(),
                answer(
                    "application/vnd.api+json",
                    br#"{"data": {"id": "u", "type": "users", "attributes": {"username": "me"}}}"#,
                ),
            ),
        ]);
        let server = Server::start(&authority(&bench), pages);
        fs::create_dir(bench.path("bin")).expect("can be made");
        let place = Place { bench, server };
        let url = place.url_file();
        place.script(
            "bin/xdg-open",
            &format!("printf '%s' \"$1\" > {url:?}.new\nmv {url:?}.new {url:?}\n"),
        );
        place
    }

    fn script(&self, name: &str, text: &str) {
        self.bench.write(name, &format!("#!/bin/sh\n{text}"));
        let path = self.bench.path(name);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("can be set");
    }

    fn host(&self) -> String {
        format!("localhost:{}", self.server.port)
    }

    /// The file to which the browser writes the page that it opens.
    fn url_file(&self) -> PathBuf {
        self.bench.path("url")
    }

    fn stored(&self) -> PathBuf {
        self.bench.root().join("home/.terraform.d/credentials.tfrc.json")
    }

    fn run(&self, program: &Program, arguments: &[&str], input: &str) -> Run {
        let bin = self.bench.path("bin").display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        let run = program.run(&self.bench, ".", arguments.iter().copied()).input(input);
        trusting(&self.bench, run.env("PATH", format!("{bin}:{path}")))
    }

    /// Follows the login page in the browser: waits for it, and brings the answer of the host to the program.
    fn browse(&self, answer: &'static str) -> JoinHandle<String> {
        let file = self.url_file();
        thread::spawn(move || {
            let begin = Instant::now();
            while !file.exists() && begin.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(5));
            }
            let url = fs::read_to_string(&file).expect("a page is open");
            fs::remove_file(&file).expect("is there");
            let value = |name: &str| {
                let (_, rest) = url.split_once(&format!("{name}=")).expect("is in the query");
                rest.split('&').next().unwrap_or_default().to_owned()
            };
            let port = value("redirect_uri").split("%3A").last().expect("a port")[..5].to_owned();
            let get = |query: &str| {
                let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("listens");
                write!(stream, "GET /login?{query} HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    .expect("open");
                let mut text = [0; 4096];
                let length = stream.read(&mut text).expect("an answer");
                String::from_utf8_lossy(&text[..length]).into_owned()
            };
            // Another page of the browser must not end the login.
            assert!(get("code=x&state=other").starts_with("HTTP/1.1 400"));
            get(&format!("{answer}&state={}", value("state")))
        })
    }
}

#[track_caller]
fn assert_no_secret(ended: &Ended) {
    ended.lacks(&[TOKEN, "c0de", "passw0rd"]);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("is there").permissions().mode() & 0o777
}

const LOGIN: &str = "\
    Mayfly will request an API token for HOST using OAuth. This will work only if you are able to use a \
    web browser on this computer to complete a login process. If not, you must obtain an API token by \
    another means and configure it in the CLI configuration manually. If login is successful, Mayfly \
    will store the token in plain text in the following file for use by subsequent commands: FILE Do you \
    want to proceed? Only 'yes' will be accepted to confirm. Enter a value: Mayfly must now open a web \
    browser to the login page for HOST. If a browser does not open this automatically, open the \
    following URL to proceed: URL Mayfly will now wait for the host to signal that login was successful. \
    --------------------------------------------------------------------------------- Success! Mayfly \
    has obtained and saved an API token. The new API token will be used for any future Mayfly command \
    that must make authenticated requests to HOST.";

const STORED: &str = r#"{
  "credentials": {
    "b.example": {
      "token": "theirs"
    },
    "HOST": {
      "token": "TOKEN"
    }
  }
}"#;

#[test]
fn login_stores_a_token_and_logout_removes_it() {
    for program in programs() {
        let place = Place::new(DISCOVERY);
        let file = place.stored();
        fs::create_dir_all(file.parent().expect("in home")).expect("can be made");
        let other = "{\"credentials\": {\"b.example\": {\"token\": \"theirs\"}}}";
        fs::write(&file, other).expect("can be written");
        let browsing = place.browse("code=c0de");
        let log = place.bench.path("trace.log");
        let run = place.run(&program, &["login", &place.host()], "yes\n");
        let ended = match program {
            Program::Mayfly => run.env("TF_LOG", "TRACE").env("TF_LOG_PATH", &log).succeeds(),
            Program::Tofu(_) => run.succeeds(),
        };
        assert!(browsing.join().expect("no panic").starts_with("HTTP/1.1 200"));
        assert_no_secret(&ended);
        let url =
            ended.out.split_whitespace().find(|it| it.contains("/authorize?")).expect("is shown");
        let shown = words(&ended.out).replace(&words(url), "URL").replace(&place.host(), "HOST");
        let shown = shown.replace(&file.display().to_string(), "FILE");
        assert_eq!(shown, LOGIN, "{}", program.name());
        let expected = STORED.replace("HOST", &place.host()).replace("TOKEN", TOKEN);
        assert_eq!(fs::read_to_string(&file).expect("is there"), expected, "{}", program.name());
        assert_eq!(mode(&file), 0o600);
        let heads = place.server.heads();
        let exchange = heads.iter().find(|it| it.starts_with("POST /token ")).expect("was sent");
        assert!(exchange.contains("client_id=cli&code=c0de&code_verifier="), "{exchange}");
        if matches!(program, Program::Mayfly) {
            let log = fs::read_to_string(&log).expect("is kept");
            assert!(!log.contains(TOKEN) && !log.contains("c0de"), "{log}");
        }
        let ended = place.run(&program, &["logout", &place.host()], "").succeeds();
        let shown = words(&ended.out).replace(&file.display().to_string(), "FILE");
        let host = place.host();
        assert_eq!(
            shown,
            format!(
                "Removing the stored credentials for {host} from the following file: FILE Success! Mayfly has removed \
                 the stored API token for {host}."
            )
        );
        let left = fs::read_to_string(&file).expect("is there");
        assert!(left.contains("theirs") && !left.contains(TOKEN), "{left}");
        place.run(&program, &["logout", &host], "").succeeds().shows(&["are stored."]);
    }
}

#[test]
fn refused_login_is_an_error_and_stores_nothing() {
    let place = Place::new(DISCOVERY);
    let browsing = place.browse("error=access_denied&error_description=not+today");
    let browser = place.bench.path("bin/xdg-open").display().to_string();
    let run = place.run(&Program::Mayfly, &["login", &place.host()], "yes\n");
    let ended = run.env("BROWSER", format!("/nowhere:{browser} %s")).fails();
    ended.shows(&["Failed to obtain auth token", "access_denied: not today"]);
    assert!(browsing.join().expect("no panic").contains("The host refused the login"));
    assert!(!place.stored().exists());
}

#[test]
fn login_that_cannot_begin_is_refused() {
    for program in programs() {
        let place = Place::new("{\"login.v2\": {}, \"modules.v1\": \"/x/\"}");
        let host = place.host();
        for (arguments, input, expected) in [
            (vec!["login", "-input=false", &host], "yes\n", "Login is an interactive command"),
            (vec!["login", "-json", &host], "yes\n", "Login is an interactive command"),
            (vec!["login", "https://a.example"], "yes\n", "Invalid hostname"),
            (vec!["logout", "a..example"], "", "Invalid hostname"),
            (vec!["login", &host], "yes\n", "Host does not support OpenTofu tokens API"),
        ] {
            let ended = place.run(&program, &arguments, input).fails();
            let shown = format!("{}{}", ended.out, ended.err);
            assert!(shown.contains(expected), "{} {arguments:?}: {shown}", program.name());
        }
        place.bench.write(
            "../home/.tofurc",
            &format!("credentials {host:?} {{\n  token = \"mine\"\n}}\n"),
        );
        for command in ["login", "logout"] {
            let ended = place.run(&program, &[command, &host], "yes\n").fails();
            ended.shows(&[&format!("Credentials for {host} are manually configured")]);
        }
        let place = Place::new(DISCOVERY);
        let ended = place.run(&program, &["login", &place.host()], "no\n").fails();
        ended.shows(&["Login cancelled"]);
        assert!(!place.stored().exists());
    }
}

/// Writes a CLI configuration with the services of a host. `PORT` is the port of the server.
fn configure(place: &Place, host: &str, services: &str) -> PathBuf {
    let services = services.replace("PORT", &place.server.port.to_string());
    place.bench.write("../rc", &format!("host {host:?} {{\n  services = {services}\n}}\n"));
    place.bench.root().join("rc")
}

#[test]
fn password_is_exchanged_for_a_token() {
    // OpenTofu reads all of a pipe for its first question.
    let place = Place::new("{}");
    let services = "{ \"login.v1\" = { client = \"cli\", grant_types = [\"password\"], token = \
                    \"https://localhost:PORT/token\" } }";
    let rc = configure(&place, "app.terraform.io", services);
    let run = place.run(&Program::Mayfly, &["login", "app.terraform.io"], "yes\nme\npassw0rd\n");
    let ended = run.env("TF_CLI_CONFIG_FILE", rc).succeeds();
    assert_no_secret(&ended);
    ended.shows(&["Username for app.terraform.io:", "Success! Logged in to"]);
    let heads = place.server.heads();
    assert!(heads[0].contains("grant_type=password&password=passw0rd"), "{heads:?}");
    assert!(fs::read_to_string(place.stored()).expect("is there").contains(TOKEN));
}

#[test]
fn token_of_a_page_is_checked_and_stored() {
    // OpenTofu reads all of a pipe for its first question.
    let place = Place::new("{}");
    let rc =
        configure(&place, "tfe.example", "{ \"tfe.v2\" = \"https://localhost:PORT/api/v2/\" }");
    let run = place.run(&Program::Mayfly, &["login", "tfe.example"], &format!("yes\n{TOKEN}\n"));
    let ended = run.env("TF_CLI_CONFIG_FILE", rc).succeeds();
    ended.shows(&["Retrieved token for user me", "Logged in to the cloud backend (tfe.example)"]);
    assert_no_secret(&ended);
    let opened = fs::read_to_string(place.url_file()).expect("a page is open");
    assert_eq!(opened, "https://localhost/app/settings/tokens?source=terraform-login");
    assert!(fs::read_to_string(place.stored()).expect("is there").contains(TOKEN));
}

#[test]
fn credentials_helper_stores_the_token() {
    for program in programs() {
        let place = Place::new(DISCOVERY);
        let vault = place.bench.path("vault");
        let script = format!(
            "case \"$1\" in\n  get) echo '{{}}' ;;\n  store) cat > {vault:?} ;;\n  forget) echo gone > \
             {vault:?} ;;\nesac\n"
        );
        place.script("../home/.terraform.d/plugins/terraform-credentials-vault", &script);
        place.bench.write("../home/.tofurc", "credentials_helper \"vault\" {\n}\n");
        let browsing = place.browse("code=c0de");
        let ended = place.run(&program, &["login", &place.host()], "yes\n").succeeds();
        drop(browsing.join());
        ended.shows(&["in the configured\n\"vault\" credentials helper"]);
        assert_no_secret(&ended);
        let stored = fs::read_to_string(&vault).expect("is there");
        assert_eq!(stored.trim(), format!("{{\"token\":\"{TOKEN}\"}}"));
        place.run(&program, &["logout", &place.host()], "").succeeds();
        assert_eq!(fs::read_to_string(&vault).expect("is there"), "gone\n");
        assert!(!place.stored().exists());
    }
}
