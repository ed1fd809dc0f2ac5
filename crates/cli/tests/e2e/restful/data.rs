//! The data source `restful_resource`, and the settings of the provider.

use serde_json::json;

use super::{
    restful_server::{MutualTls, Pem, RestfulServer},
    with_each_program,
};

const DATA: &str = "data.restful_resource.it";
const POST: &str = "resource \"restful_resource\" \"post\" {\n  path = \"posts\"\n  read_path = \
                    \"$(path)/$(body.id)\"\n  body = { foo = \"bar\", obj = { a = 1, b = 2 } }\n}\n";

fn data(id: &str, more: &str) -> String {
    format!("data \"restful_resource\" \"it\" {{\n  id = {id}\n{more}}}\n")
}

#[test]
fn data_source_reads_parts_of_an_answer() {
    with_each_program(|it| {
        let expected = json!({ "foo": "bar", "id": 1, "obj": { "a": 1, "b": 2 } });
        let of_post = "restful_resource.post.id";
        it.apply(&(POST.to_owned() + &data(of_post, "")));
        assert_eq!(it.attribute(DATA, "output"), expected);
        it.apply(&(POST.to_owned() + &data(of_post, "  output_attrs = [\"obj.a\"]\n")));
        assert_eq!(it.attribute(DATA, "output"), json!({ "obj": { "a": 1 } }));
        it.apply(
            &(POST.to_owned() + &data("\"/posts\"", "  selector = \"#(foo==\\\"bar\\\")\"\n")),
        );
        assert_eq!(it.attribute(DATA, "output"), expected);
        it.apply(&(POST.to_owned() + &data(of_post, "  use_sensitive_output = true\n")));
        assert_eq!(it.attribute(DATA, "sensitive_output"), expected);
        assert_eq!(it.attribute(DATA, "output"), json!(null));
        assert_eq!(it.attribute(DATA, "use_sensitive_output"), true);
    });
}

#[test]
fn absent_data_can_be_accepted() {
    with_each_program(|it| {
        for text in [
            data("\"/notexist\"", "  allow_not_exist = true\n"),
            data("\"/posts\"", "  allow_not_exist = true\n  selector = \"#(foo==\\\"none\\\")\"\n"),
        ] {
            it.apply(&text);
            assert_eq!(it.attribute(DATA, "output"), json!(null));
        }
        it.apply_fails(&data("\"/notexist\"", "")).shows(&["Read API returns 404"]);
        let unselected = data("\"/posts\"", "  selector = \"#(foo==\\\"none\\\")\"\n");
        it.apply_fails(&unselected).shows(&["Invalid `selector`"]);
    });
}

#[test]
fn data_source_reads_by_other_methods() {
    with_each_program(|it| {
        it.apply(&data("\"/posts\"", "  method = \"POST\"\n  body = { q = 1 }\n"));
        assert_eq!(it.attribute(DATA, "output")["q"], 1);
        let text = data("\"/posts\"", "  body = { q = 1 }\n");
        it.apply_fails(&text).shows(&["`body` is only applicable when `method` is set to `POST`"]);
    });
}

#[test]
fn provider_authenticates_with_keys_tokens_and_oauth2() {
    with_each_program(|it| {
        for (security, name, expected) in [
            (
                "http = { basic = { username = \"u\", password = \"p\" } }",
                "authorization",
                "Basic dTpw",
            ),
            ("http = { token = { token = \"t\", scheme = \"Key\" } }", "authorization", "Key t"),
            ("apikey = [{ name = \"x-key\", in = \"header\", value = \"k\" }]", "key", "k"),
            ("apikey = [{ name = \"k\", in = \"query\", value = \"v\" }]", "query", "k=v"),
            ("apikey = [{ name = \"k\", in = \"cookie\", value = \"v\" }]", "cookie", "k=v"),
            (
                "oauth2 = { client_credentials = { token_url = \"SERVER/token/header\", client_id = \"id\", \
                 client_secret = \"s3cret\" } }",
                "authorization",
                "Bearer t",
            ),
            (
                "oauth2 = { password = { token_url = \"SERVER/token/params\", username = \"user\", password = \
                 \"passw0rd\", client_id = \"id\", client_secret = \"s3cret\", in = \"params\" } }",
                "authorization",
                "Bearer t",
            ),
        ] {
            let settings = format!("  security = {{\n    {security}\n  }}\n");
            it.write_with(&settings, &data("\"/secure\"", ""));
            it.apply_written(&[]);
            let seen = it.attribute(DATA, "output");
            let seen = seen[name].as_str().unwrap_or_default();
            assert!(seen.starts_with(expected), "{security}: {seen}");
        }
    });
}

#[test]
fn provider_keeps_cookies_and_repeats_requests() {
    with_each_program(|it| {
        let settings = "  client = {\n    cookie_enabled = true\n    retry = {\n      status_codes = [503]\n      \
                        wait_in_sec = 0\n    }\n  }\n";
        let text = "data \"restful_resource\" \"first\" {\n  id = \"/cookie/set\"\n}\n".to_owned()
            + &data("\"/cookie/show\"", "  depends_on = [data.restful_resource.first]\n")
            + "data \"restful_resource\" \"flaky\" {\n  id = \"/flaky/2/0\"\n}\n";
        it.write_with(settings, &text);
        it.apply_written(&[]);
        assert_eq!(it.attribute(DATA, "output")["cookie"], "session=s1");
        assert!(it.api.count("GET /flaky/2/0") > 2);
    });
}

#[test]
fn provider_has_client_certificates() {
    with_each_program(|it| {
        let tls = MutualTls::new("e2e");
        let server = it.api.runtime.block_on(RestfulServer::start_with_tls(&tls));
        let Pem { certificate, key } = &tls.client;
        let heredoc = |text: &str| format!("<<-PEM\n{text}PEM\n");
        let settings = format!(
            "  client = {{\n    root_ca_certificates = [{}    ]\n    certificates = [{{\n      certificate = {}      \
             key = {}    }}]\n  }}\n",
            heredoc(&tls.authority),
            heredoc(certificate),
            heredoc(key)
        );
        let text = data("\"/posts\"", "");
        let whole = |settings: &str| {
            it.write_with(settings, &text);
            let plain = String::from_utf8(it.bench.read("main.tf")).expect("is UTF-8");
            it.bench.write("main.tf", &plain.replace(&it.api.server.url, &server.url));
        };
        whole(&settings);
        it.apply_written(&[]);
        assert_eq!(it.attribute(DATA, "output"), json!([]));
        whole("  client = {\n    tls_insecure_skip_verify = true\n  }\n");
        it.run(&["plan"]).fails().shows(&["Read API cannot be called"]);
    });
}

#[test]
fn invalid_settings_are_errors_with_their_places() {
    with_each_program(|it| {
        for (settings, expected) in [
            ("  create_method = \"GET\"\n", "create_method must be one of"),
            ("  security = {\n    http = {}\n  }\n", "Exactly one of basic, token must be set"),
            (
                "  security = {\n    http = { token = { token = \"t\" } }\n    apikey = [{ name = \"a\", in = \
                 \"header\", value = \"b\" }]\n  }\n",
                "Only one of",
            ),
            ("  client = {\n    certificates = [{ key = \"k\" }]\n  }\n", "exactly one of"),
            (
                "  client = {\n    retry = { status_codes = [503], count = -1 }\n  }\n",
                "must be a whole number",
            ),
        ] {
            it.write_with(settings, &data("\"/posts\"", ""));
            it.initialize();
            let ended = it.run(&["plan"]).fails();
            ended.shows(&["main.tf line "]);
            ended.shows(&[expected]);
        }
    });
}

#[test]
fn log_has_no_credentials_and_no_bodies() {
    with_each_program(|it| {
        let settings = "  security = {\n    http = { token = { token = \"t0ken-canary\" } }\n  }\n  query = { key = \
                        [\"query-canary\"] }\n  header = { x = \"header-canary\" }\n";
        let post = POST.replace("\"bar\"", "\"body-canary\"");
        it.write_with(settings, &post);
        it.initialize();
        let run = it.run(&["apply", "-auto-approve"]).env("TF_LOG_PROVIDER", "TRACE");
        let log = it.bench.path("log.txt");
        run.env("TF_LOG_PATH", &log).succeeds();
        let log = std::fs::read_to_string(log).expect("the log is there");
        assert!(log.contains("POST http") && log.contains("?key=…: 201"), "{log}");
        for canary in ["t0ken-canary", "query-canary", "header-canary"] {
            assert!(!log.contains(canary), "{canary} is in:\n{log}");
        }
    });
}
