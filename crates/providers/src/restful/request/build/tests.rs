//! Tests of the parts of one request.

use super::*;
use mayfly_sdk::Secret;

fn base(text: &str) -> BaseUrl {
    BaseUrl::parse(text).expect("a base URL")
}

fn pairs(pairs: &[(&str, &str)]) -> Headers {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn query(pairs: &[(&str, &[&str])]) -> Query {
    let values = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
    pairs.iter().map(|(name, all)| ((*name).to_owned(), values(all))).collect()
}

fn key(place: KeyPlace, name: &str, value: &str) -> ApiKey {
    ApiKey { name: name.to_owned(), place, value: Secret::new(value) }
}

fn built(call: &Call, keys: &[ApiKey]) -> Request {
    build(call, &base("https://h.example/v1/"), keys).expect("a request")
}

fn header<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    request.headers.get(name).map(|it| it.to_str().expect("text"))
}

#[test]
fn paths_are_joined_to_the_base_url() {
    for (path, expected) in [
        ("posts", "https://h.example/v1/posts?b=1&b=2+3"),
        ("/posts/1", "https://h.example/v1/posts/1?b=1&b=2+3"),
        ("posts?a=x%20y#z", "https://h.example/v1/posts?a=x%20y&b=1&b=2+3"),
        ("", "https://h.example/v1?b=1&b=2+3"),
        ("a b/\u{e9}{c}/%2F", "https://h.example/v1/a%20b/%C3%A9%7Bc%7D/%2F?b=1&b=2+3"),
        ("a:b", "https://h.example/v1/a:b?b=1&b=2+3"),
        ("https://other.example/x", "https://other.example/x?b=1&b=2+3"),
    ] {
        let call = Call { query: query(&[("b", &["1", "2 3"])]), ..Call::get(path) };
        assert_eq!(built(&call, &[]).url.expose(), expected);
    }
    for path in ["http://h.example/", "ftp://h.example/", "https://", "https://u:s3cret@h/"] {
        let error = build(&Call::get(path), &base("https://h"), &[]).expect_err(path);
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[test]
fn innermost_map_replaces_the_others() {
    let (outer, inner, empty) =
        (pairs(&[("a", "1"), ("b", "2")]), pairs(&[("c", "3")]), Headers::new());
    assert_eq!(innermost(&[Some(&outer), Some(&inner), None]), inner);
    assert_eq!(innermost(&[Some(&outer), Some(&empty), None]), outer);
    assert_eq!(innermost::<String>(&[None, Some(&empty)]), empty);
}

#[test]
fn body_has_a_type_and_safe_methods_have_no_body() {
    use DefaultContentType::{Always, Never, WithBody};
    let json = Some("application/json");
    for (method, rule, has_body, expected) in [
        (Method::POST, Always, false, json),
        (Method::DELETE, WithBody, false, None),
        (Method::DELETE, WithBody, true, json),
        (Method::GET, Never, true, None),
        (Method::OPTIONS, Always, true, json),
    ] {
        let body = has_body.then(|| Bytes::from_static(b"{}"));
        let is_sent = has_body && method == Method::DELETE;
        let request = built(&Call { method, body, content_type: rule, ..Call::get("x") }, &[]);
        assert_eq!(header(&request, "content-type"), expected);
        assert_eq!(header(&request, "accept"), expected);
        assert_eq!(!request.body.is_empty(), is_sent);
    }
}

#[test]
fn accept_header_follows_structured_types_only() {
    for (of_body, expected) in [
        (
            "application/merge-patch+json; charset=utf-8",
            Some("application/merge-patch+json; charset=utf-8"),
        ),
        ("text/xml", Some("text/xml")),
        ("application/octet-stream", None),
        ("image/json", None),
    ] {
        let headers = pairs(&[("Content-TYPE", of_body)]);
        let call = Call { headers, content_type: DefaultContentType::Always, ..Call::get("x") };
        let request = built(&call, &[]);
        assert_eq!(header(&request, "content-type"), Some(of_body));
        assert_eq!(header(&request, "accept"), expected);
    }
    let call = Call {
        headers: pairs(&[("content-type", "text/json"), ("accept", "*/*")]),
        ..Call::get("x")
    };
    assert_eq!(header(&built(&call, &[]), "accept"), Some("*/*"));
}

#[test]
fn request_wins_over_a_key_of_the_same_name() {
    let keys = [
        key(KeyPlace::Query, "q", "k"),
        key(KeyPlace::Header, "X-Key", "k"),
        key(KeyPlace::Cookie, "c", "k"),
        key(KeyPlace::Cookie, "d", "k"),
    ];
    let request = built(&Call::get("x"), &keys);
    assert_eq!(request.url.query(), Some("q=k"));
    assert_eq!(header(&request, "x-key"), Some("k"));
    assert_eq!(header(&request, "cookie"), Some("c=k; d=k"));
    assert!(request.headers["x-key"].is_sensitive() && request.headers["cookie"].is_sensitive());
    let headers = pairs(&[("x-KEY", "own"), ("cookie", "c=own")]);
    let call = Call { headers, query: query(&[("q", &["own"])]), ..Call::get("x") };
    let request = built(&call, &keys);
    assert_eq!(request.url.query(), Some("q=own"));
    assert_eq!(header(&request, "x-key"), Some("own"));
    assert_eq!(header(&request, "cookie"), Some("c=own; d=k"));
    assert_eq!(built(&Call::get("x?q=own"), &keys).url.query(), Some("q=own"));
}

#[test]
fn invalid_headers_and_keys_are_errors_without_values() {
    for (name, value) in
        [("x", "s3cret\r\ny: z"), ("x y", "s3cret"), ("Content-Length", "5"), ("te", "x")]
    {
        let call = Call { headers: pairs(&[(name, value)]), ..Call::get("x") };
        let error = build(&call, &base("http://h"), &[]).expect_err(name).to_string();
        assert!(error.contains(name) && !error.contains("s3cret"), "{error}");
    }
    for (place, value) in [(KeyPlace::Header, "s3cret\n"), (KeyPlace::Cookie, "s3cret; a=b")] {
        let keys = [key(place, "k", value)];
        let error =
            build(&Call::get("x"), &base("http://h"), &keys).expect_err("invalid").to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn form_is_encoded_from_an_object_of_strings() {
    let form = pairs(&[("content-type", FORM)]);
    let body = |headers: &Headers, json: &'static str| operation_body(headers, json.into());
    let encoded = body(&form, r#"{"b": "x y&z", "a": "\u00e9~"}"#).expect("a form");
    assert_eq!(encoded, "a=%C3%A9~&b=x+y%26z");
    let with_charset =
        pairs(&[("content-type", "application/x-www-form-urlencoded; charset=utf-8")]);
    assert_eq!(body(&with_charset, "[1]").expect("unchanged"), "[1]");
    assert_eq!(body(&form, "").expect("nothing"), "");
    for json in ["[1]", r#"{"a": 1}"#, "s3cret"] {
        assert_eq!(body(&form, json), Err(BuildError::Form));
    }
}

#[test]
fn forms_are_decoded() {
    assert_eq!(
        decode_form("a=1&b=x+y%26&a=2&&c"),
        query(&[("a", &["1", "2"]), ("b", &["x y&"]), ("c", &[""])])
    );
    assert_eq!(decode_form("%ff=%"), query(&[("\u{fffd}", &["%"])]));
}
