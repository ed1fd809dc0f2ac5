//! Tests of tokens, helpers, discovery and logins. Servers answer over loopback, without TLS.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread::JoinHandle;

use http_client::header::HeaderValue;
use http_client::{Client, ClientConfig};
use serde_json::{Map, Value, json};

use super::*;
use crate::blocking::run;
use crate::{CliConfig, ConfigEnvironment, Token};

fn host(text: &str) -> HostName {
    HostName::parse(text).expect("a name")
}

fn client() -> Client {
    Client::new(ClientConfig::from_environment(HeaderValue::from_static("Test/1"), &|_| None))
}

/// The credentials with the CLI configuration in a home directory and these variables.
fn credentials(home: &Path, variables: &[(&str, &str)]) -> HostCredentials {
    let environment = ConfigEnvironment {
        config_file: None,
        home: Some(home.to_owned()),
        xdg_config_home: None,
        variable: &|_| None,
    };
    let (config, problems) = CliConfig::load(&environment);
    assert_eq!(problems, []);
    let variables: Vec<_> =
        variables.iter().map(|(name, it)| ((*name).to_owned(), (*it).to_owned())).collect();
    HostCredentials::new(&config, &environment, &variables, Vec::new())
}

fn token(credentials: &HostCredentials, name: &str) -> Option<String> {
    let token = run(credentials.token(&host(name))).expect("no helper fails");
    token.map(|it| it.expose().to_owned())
}

#[test]
fn environment_variables_have_precedence_over_the_configuration() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let rc = "credentials \"a-b.example.com\" {\n  token = \"file\"\n}\n";
    std::fs::write(home.path().join(".tofurc"), rc).expect("writable");
    let of_file = credentials(home.path(), &[]);
    assert_eq!(token(&of_file, "A-B.example.com").as_deref(), Some("file"));
    assert_eq!(of_file.place(&host("a-b.example.com")), CredentialsPlace::OtherFile);
    let of_variable = credentials(home.path(), &[("TF_TOKEN_a__b_example_com", "variable")]);
    assert_eq!(token(&of_variable, "a-b.example.com").as_deref(), Some("variable"));
    assert_eq!(token(&of_variable, "other.example.com"), None);
    assert_eq!(of_variable.place(&host("other.example.com")), CredentialsPlace::Nowhere);
    assert!(!format!("{of_variable:?}").contains("\"variable\""));
}

#[test]
fn entries_of_other_hosts_stay_in_the_credentials_file() {
    let old = br#"{"z": 1.50, "credentials": {"Example.com:443": {"token": "a"}, "b.com": {"token": "<b>", "x": 1}}}"#;
    let new = HostCredentials::updated_file(old, &host("example.com"), Some(&Token::new("new")));
    let expected = "{\n  \"credentials\": {\n    \"b.com\": {\n      \"token\": \"\\u003cb\\u003e\",\n      \"x\": \
                    1\n    },\n    \"example.com\": {\n      \"token\": \"new\"\n    }\n  },\n  \"z\": 1.50\n}";
    assert_eq!(new.as_deref(), Ok(expected));
    let removed = HostCredentials::updated_file(expected.as_bytes(), &host("b.com"), None);
    assert!(removed.is_ok_and(|it| !it.contains("b.com") && it.contains("example.com")));
    for broken in ["[]", "{", "{\"credentials\": 1}"] {
        let error = HostCredentials::updated_file(broken.as_bytes(), &host("b.com"), None);
        assert!(error.is_err_and(|it| it.contains("not a JSON object")), "{broken}");
    }
}

#[test]
fn file_that_login_writes_differs_from_other_files() {
    let home = tempfile::tempdir().expect("a temporary directory");
    let directory = home.path().join(".terraform.d");
    std::fs::create_dir(&directory).expect("writable");
    let file = directory.join("credentials.tfrc.json");
    std::fs::write(&file, r#"{"credentials": {"a.com": {"token": "x"}}}"#).expect("writable");
    let stored = credentials(home.path(), &[]);
    assert_eq!(stored.place(&host("a.com")), CredentialsPlace::File);
    assert_eq!(stored.file(), Some(file.as_path()));
    assert_eq!(token(&stored, "a.com").as_deref(), Some("x"));
}

/// A home directory with a credentials helper that keeps tokens in files and quotes its input in errors.
fn home_with_helper() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary directory");
    let plugins = home.path().join(".terraform.d/plugins");
    std::fs::create_dir_all(&plugins).expect("writable");
    let script = "#!/bin/sh\ncd \"$1\" || exit 9\ncase \"$2\" in\n  get) cat \"$3\" 2>/dev/null || echo '{}' ;;\n  \
                  store) cat > \"$3\"; [ \"$3\" != bad.com ] || { echo \"no $(cat bad.com)\" >&2; exit 1; } ;;\n  \
                  forget) rm \"$3\" ;;\nesac\n";
    let program = plugins.join("terraform-credentials-files");
    std::fs::write(&program, script).expect("writable");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("is ours");
    std::fs::create_dir(home.path().join("vault")).expect("writable");
    let vault = home.path().join("vault");
    let rc = format!("credentials_helper \"files\" {{\n  args = [{vault:?}]\n}}\n");
    std::fs::write(home.path().join(".tofurc"), rc).expect("writable");
    home
}

#[test]
fn credentials_helper_stores_returns_and_forgets_tokens() {
    let home = home_with_helper();
    let stored = credentials(home.path(), &[]);
    let name = host("a.com");
    assert_eq!((stored.place(&name), stored.helper_name()), (CredentialsPlace::Helper, "files"));
    assert_eq!(token(&stored, "a.com"), None);
    run(stored.tell_helper(&name, Some(&Token::new("s3cret")))).expect("is stored");
    let file = home.path().join("vault/a.com");
    assert_eq!(std::fs::read_to_string(&file).expect("is there"), "{\"token\":\"s3cret\"}");
    assert_eq!(token(&stored, "a.com").as_deref(), Some("s3cret"));
    run(stored.tell_helper(&name, None)).expect("is removed");
    assert!(!file.exists());
    let error = run(stored.tell_helper(&host("bad.com"), Some(&Token::new("s3cret"))));
    let error = error.expect_err("the program fails");
    assert!(error.contains("no {\"token\":\"(token)\"}") && !error.contains("s3cret"), "{error}");
    let error = run(stored.tell_helper(&name, None)).expect_err("there is no such file");
    assert!(error.contains("a.com"), "{error}");
}

/// The services that the CLI configuration lists for a host.
fn services(text: &str) -> Services {
    let rc = format!("host \"h.example\" {{\n  services = {text}\n}}\n");
    let (config, problems) = CliConfig::parse(&rc, "rc", &|_| None);
    assert_eq!(problems, []);
    run(discover(&client(), &config.services, &host("h.example"), None)).expect("needs no request")
}

#[test]
fn services_come_from_the_configuration() {
    let found = services(r#"{ "tfe.v2" = "/api/v2/", "modules.v1" = "https://m.example/x/" }"#);
    let url = |id: &str| found.url(id).map(|it| it.to_string()).map_err(|it| it.to_string());
    assert_eq!(url("tfe.v2").as_deref(), Ok("https://h.example/api/v2/"));
    assert_eq!(url("modules.v1").as_deref(), Ok("https://m.example/x/"));
    assert!(url("modules.v2").is_err_and(|it| it.contains("does not support modules version 2")));
    assert!(url("login.v1").is_err_and(|it| it.contains("does not provide a login service")));
}

#[test]
fn description_of_the_login_is_checked() {
    for (text, expected) in [
        ("{ }", "lacks the property \\\"client\\\""),
        ("{ client = \"c\" }", "\\\"authz\\\""),
        ("{ client = \"c\", authz = \"/a\" }", "\\\"token\\\""),
        (
            "{ client = \"c\", authz = \"http://a.example/\", token = \"/t\" }",
            "must be an https: URL",
        ),
        ("{ client = \"c\", authz = \"/a\", token = \"/t\", ports = [80, 90] }", "1024 to 65535"),
        ("{ client = \"c\", authz = \"/a\", token = \"/t\", ports = [9000, 8000] }", "lower port"),
        ("{ client = \"c\", authz = \"https://u:p@a.example/\", token = \"/t\" }", "not permitted"),
        ("\"text\"", "must be an object"),
    ] {
        let found = services(&format!("{{ \"login.v1\" = {text} }}"));
        let error = OAuthClient::of(&found).expect_err(text).to_string();
        let expected = expected.replace("\\\"", "\"");
        assert!(error.contains(&expected), "{text}: {error}");
    }
}

fn query(url: &str) -> Map<String, Value> {
    let (_, query) = url.split_once('?').expect("a query");
    let pairs = query.split('&').filter_map(|it| it.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect()
}

fn login(grants: &str, token: &str) -> OAuthClient {
    let text = format!(
        "{{ \"login.v1\" = {{ client = \"cli\", authz = \"/authorize?x=1\", token = \"{token}\", ports = [10000, \
         10010], scopes = [\"a b\", \"c\"], grant_types = [\"{grants}\"] }} }}"
    );
    OAuthClient::of(&services(&text)).expect("a description")
}

#[test]
fn authorization_request_has_a_proof_key_and_recognizes_its_answer() {
    let client = login("authz_code", "/token");
    assert_eq!((client.ports.clone(), client.has_code_grant()), (10000..=10010, true));
    let pending = client.authorize(10003).expect("random numbers");
    assert!(
        pending.url.starts_with("https://h.example/authorize?x=1&client_id=cli&"),
        "{}",
        pending.url
    );
    let query = query(&pending.url);
    assert_eq!(query["redirect_uri"], "http%3A%2F%2Flocalhost%3A10003%2Flogin");
    assert_eq!(query["scope"], "a+b+c");
    assert_eq!(query["code_challenge_method"], "S256");
    let state = query["state"].as_str().expect("text");
    let other = client.authorize(10003).expect("random numbers");
    assert!(!other.url.contains(state), "states differ");
    let callback = |target: String| pending.callback(&target);
    let code = |it: &str| Callback::Code(it.to_owned());
    assert!(callback(format!("/login?code=a%2Fb&state={state}")) == code("a/b"));
    assert!(callback("/login?code=a&state=x".to_owned()) == Callback::Unrelated);
    assert!(callback(format!("/login?state={state}")) == Callback::Unrelated);
    let refused =
        callback(format!("/login?error=access_denied&error_description=no%0Away&state={state}"));
    let text = "the host refused the login: access_denied: noway".to_owned();
    assert!(refused == Callback::Refused(text));
}

/// Answers one request with a JSON object, and returns the request.
fn serve(status: &str, body: &Value) -> (String, JoinHandle<String>) {
    let body = body.to_string();
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/token", listener.local_addr().expect("an address"));
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut text = String::new();
        let mut buffer = [0; 4096];
        while !text.contains("grant_type=") {
            let length = stream.read(&mut buffer).expect("a request");
            text.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        stream.write_all(answer.as_bytes()).expect("open");
        text
    });
    (url, serving)
}

#[test]
fn code_is_exchanged_for_a_token() {
    let (url, serving) = serve("200 OK", &json!({ "access_token": "t0ken" }));
    let registration = login("authz_code", &url);
    let pending = registration.authorize(10000).expect("random numbers");
    let token = run(pending.request_token(&client(), &registration, "c/1")).expect("a token");
    assert_eq!(token.expose(), "t0ken");
    let request = serving.join().expect("a request");
    assert!(request.starts_with("POST /token HTTP/1.1\r\n"), "{request}");
    let (_, body) = request.rsplit_once("\r\n").expect("a body");
    assert!(body.starts_with("client_id=cli&code=c%2F1&code_verifier="), "{body}");
    assert!(body.ends_with(
        "&grant_type=authorization_code&redirect_uri=http%3A%2F%2Flocalhost%3A10000%2Flogin"
    ));
}

#[test]
fn refused_token_request_does_not_show_its_secrets() {
    let body = json!({ "error": "invalid_grant", "error_description": "no user with s3cret!" });
    let (url, serving) = serve("400 Bad Request", &body);
    let registration = login("password", &url);
    assert!(registration.has_password_grant() && !registration.has_code_grant());
    let outcome = run(request_token_by_password(&client(), &registration, "me", "s3cret"));
    let error = outcome.map(|_| ()).expect_err("is refused");
    let expected = "the server answered with the status 400 Bad Request: invalid_grant: no user with (secret)!";
    assert_eq!(error, expected);
    let request = serving.join().expect("a request");
    assert!(
        request
            .ends_with("client_id=cli&grant_type=password&password=s3cret&scope=a+b+c&username=me"),
        "{request}"
    );
}
