//! The routes of the server.

use std::convert::Infallible;

use futures::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};
use hyper::{Method, Response};
use providers::restful::request::build::{FORM, decode_form, encode_form};
use providers::restful::request::settings::Query;
use serde_json::{Map, Value, json};

use super::{Received, State};

/// An answer whose body can be endless.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// An answer with a text.
pub(super) fn plain(status: u16, text: &str) -> Answer {
    with_headers(status, &[], text.as_bytes().to_vec())
}

fn json(status: u16, value: &Value) -> Answer {
    with_headers(status, &[("content-type", "application/json")], value.to_string().into_bytes())
}

fn with_headers(status: u16, headers: &[(&str, &str)], body: Vec<u8>) -> Answer {
    let mut builder = Response::builder().status(status);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(Full::new(Bytes::from(body)).boxed()).expect("a valid answer")
}

impl Received {
    fn header(&self, name: impl hyper::header::AsHeaderName) -> &str {
        self.head.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default()
    }

    fn parameter(&self, name: &str) -> String {
        let query = decode_form(self.head.uri.query().unwrap_or_default());
        query.get(name).and_then(|it| it.first()).cloned().unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    fn echo(&self) -> Answer {
        with_headers(200, &[("content-type", "application/json")], self.body.to_vec())
    }
}

/// Chooses the route of a request.
pub(super) fn answer(request: &Received, state: &mut State) -> Answer {
    let path = request.head.uri.path();
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["posts"] => posts(request, state),
        ["posts", id] => post(request, state, id),
        ["store", ..] => store(request, state, path),
        ["ret-string"] => ret_string(request, state),
        ["ret-string", _] => store(request, state, path),
        ["ret-url"] => ret_url(request, state),
        ["template", ..] if request.head.method == Method::GET => {
            json(200, state.objects.get(path).unwrap_or(&json!([])))
        }
        ["template", ..] => {
            state.objects.insert(path.to_owned(), request.json()["properties"].clone());
            plain(200, "")
        }
        ["empty"] | ["sleep", _] => plain(200, ""),
        ["build-id"] => json(200, &json!({ "id": 1 })),
        ["bar", _] => json(200, &json!({ "status": "OK" })),
        ["demand", name] => demand(request, state, name),
        ["lease" | "updateLease" | "unlease"] => {
            with_headers(200, &[("expiry", "1")], br#"{"foo":"bar"}"#.to_vec())
        }
        ["echoing", _] if request.head.method == Method::GET => match state.objects.get(path) {
            Some(Value::Object(object)) => {
                let mut echo = object.clone();
                echo.insert("copy".to_owned(), Value::Object(object.clone()));
                json(200, &Value::Object(echo))
            }
            _ => plain(404, ""),
        },
        ["echoing", _] => store(request, state, path),
        ["credentials"] => {
            json(200, &json!({ "username": "app", "password": "correct-horse-battery" }))
        }
        ["lro", _] => long_running(request, state, path),
        ["lro-status", name] => status_of(state, name),
        ["token", place] => token(request, state, place),
        ["flaky", times, seconds] => flaky(state, path, times, seconds),
        ["cut", ..] if request.head.method == Method::GET => store(request, state, path),
        ["cut", ..] => {
            state.objects.insert(path.to_owned(), request.json());
            // The connection ends before the announced length.
            let answer = Response::builder().header("content-length", "100");
            answer.body(Full::new(Bytes::from_static(b"{}")).boxed()).expect("a valid answer")
        }
        ["deep", ..] if request.head.method == Method::GET => {
            plain(200, &format!("{{\"d\":{}1{}}}", "[".repeat(140), "]".repeat(140)))
        }
        ["deep", ..] => store(request, state, path),
        ["text"] => plain(200, "<html>"),
        ["quoting", ..] if request.head.method == Method::PUT => store(request, state, path),
        ["quoting", ..] => {
            let object = state.objects.get(path).cloned().unwrap_or_default();
            let reads = state.remaining.entry(path.to_owned()).or_default();
            *reads += 1;
            if *reads == 1 { json(200, &object) } else { json(500, &json!({ "about": object })) }
        }
        ["refuse"] => {
            let body = json!({ "refused": request.json(), "with": seen(request) });
            json(422, &body)
        }
        ["hostile", kind] => hostile(request, kind),
        _ => inspect(request, &parts),
    }
}

/// Echoes the body, and answers a read with the last one.
fn demand(request: &Received, state: &mut State, name: &str) -> Answer {
    if request.header("type") != name || request.parameter("type") != name {
        return plain(400, "the header or the query parameter `type` is missing");
    }
    if request.head.method == Method::GET {
        return json(200, state.objects.get("/demand").unwrap_or(&json!({})));
    }
    if !request.body.is_empty() {
        state.objects.insert("/demand".to_owned(), request.json());
    }
    request.echo()
}

/// The routes that answer with parts of the request.
fn inspect(request: &Received, parts: &[&str]) -> Answer {
    match parts {
        ["secure"] => json(200, &seen(request)),
        ["cookie", "set"] => {
            with_headers(200, &[("set-cookie", "session=s1; Path=/cookie")], Vec::new())
        }
        ["cookie", "show"] => json(200, &seen(request)),
        ["redirect", code] => {
            let code = code.parse().unwrap_or(302);
            with_headers(code, &[("location", request.parameter("to").as_str())], Vec::new())
        }
        ["form"] if request.header(CONTENT_TYPE) == FORM => {
            json(200, &json!(decode_form(&String::from_utf8_lossy(&request.body))))
        }
        _ => json(404, &json!({})),
    }
}

/// The parts of a request that carry credentials.
fn seen(request: &Received) -> Value {
    json!({
        "authorization": request.header(AUTHORIZATION),
        "cookie": request.header(COOKIE),
        "key": request.header("x-key"),
        "query": request.head.uri.query().unwrap_or_default(),
    })
}

fn posts(request: &Received, state: &mut State) -> Answer {
    match request.head.method {
        Method::GET => json(200, &state.posts.values().cloned().collect()),
        Method::POST if !is_json(request) => json(415, &json!({})),
        Method::POST => {
            let Value::Object(mut post) = request.json() else { return json(400, &json!({})) };
            let wished = post.get("id").map(id_text).filter(|it| !state.posts.contains_key(it));
            let id = wished.unwrap_or_else(|| {
                loop {
                    state.last_id += 1;
                    let id = state.last_id.to_string();
                    if !state.posts.contains_key(&id) {
                        post.insert("id".to_owned(), json!(state.last_id));
                        return id;
                    }
                }
            });
            let post = Value::Object(post);
            state.posts.insert(id, post.clone());
            json(201, &post)
        }
        _ => json(404, &json!({})),
    }
}

fn id_text(id: &Value) -> String {
    id.as_str().map_or_else(|| id.to_string(), str::to_owned)
}

fn is_json(request: &Received) -> bool {
    request.header(CONTENT_TYPE).starts_with("application/json")
}

fn post(request: &Received, state: &mut State, id: &str) -> Answer {
    let Some(old) = state.posts.get(id).cloned() else { return json(404, &json!({})) };
    let method = &request.head.method;
    if [Method::PUT, Method::PATCH].contains(method) {
        if !is_json(request) {
            return json(415, &json!({}));
        }
        let Value::Object(given) = request.json() else { return json(400, &json!({})) };
        let mut new = if method == Method::PUT {
            Map::new()
        } else {
            old.as_object().cloned().unwrap_or_default()
        };
        new.extend(given);
        new.insert("id".to_owned(), old["id"].clone());
        state.posts.insert(id.to_owned(), Value::Object(new));
    }
    match *method {
        Method::GET | Method::PUT | Method::PATCH => json(200, &state.posts[id]),
        Method::DELETE => {
            state.posts.remove(id);
            json(200, &json!({}))
        }
        _ => json(404, &json!({})),
    }
}

fn store(request: &Received, state: &mut State, path: &str) -> Answer {
    match request.head.method {
        Method::GET => match state.objects.get(path) {
            Some(object) => json(200, object),
            None => plain(404, ""),
        },
        Method::PUT => {
            state.objects.insert(path.to_owned(), request.json());
            plain(200, "")
        }
        Method::PATCH => {
            merge(state.objects.entry(path.to_owned()).or_insert(Value::Null), request.json());
            plain(200, "")
        }
        Method::DELETE => {
            state.objects.remove(path);
            plain(200, "")
        }
        _ => plain(405, ""),
    }
}

/// Applies a merge patch (RFC 7386).
fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Value::Object(object) = target else { return };
    for (name, value) in patch {
        match value.is_null() {
            true => drop(object.remove(&name)),
            false => merge(object.entry(name).or_insert(Value::Null), value),
        }
    }
}

fn ret_string(request: &Received, state: &mut State) -> Answer {
    state.objects.insert("/ret-string/foo".to_owned(), request.json());
    json(200, &json!("foo"))
}

fn ret_url(request: &Received, state: &mut State) -> Answer {
    state.last_id += 1;
    let path = format!("/store/{}", state.last_id);
    let answer = json!({ "self": format!("{}{path}", request.origin) });
    state.objects.insert(path, request.json());
    json(201, &answer)
}

/// The number of answers that are pending.
const PENDING: u64 = 2;

fn long_running(request: &Received, state: &mut State, path: &str) -> Answer {
    let name = path.trim_start_matches("/lro/");
    match request.head.method {
        Method::PUT => {
            state.objects.insert(path.to_owned(), request.json());
            state.remaining.insert(name.to_owned(), PENDING);
            let url = format!("{}/lro-status/{name}", request.origin);
            with_headers(
                201,
                &[("azure-asyncoperation", url.as_str()), ("retry-after", "0")],
                b"{}".to_vec(),
            )
        }
        Method::DELETE => {
            state.remaining.insert(path.to_owned(), PENDING);
            with_headers(202, &[("retry-after", "0")], Vec::new())
        }
        _ => match (state.objects.get(path), state.remaining.get(path).copied()) {
            (None, _) => plain(404, ""),
            (Some(object), None) => json(200, object),
            (Some(_), Some(0)) => {
                state.objects.remove(path);
                state.remaining.remove(path);
                plain(404, "")
            }
            (Some(_), Some(left)) => {
                state.remaining.insert(path.to_owned(), left - 1);
                with_headers(202, &[("retry-after", "0")], Vec::new())
            }
        },
    }
}

fn status_of(state: &mut State, name: &str) -> Answer {
    let Some(left) = state.remaining.get_mut(name) else { return plain(404, "") };
    let status = if *left == 0 { "Succeeded" } else { "InProgress" };
    *left = left.saturating_sub(1);
    let body = json!({ "status": status }).to_string().into_bytes();
    with_headers(200, &[("retry-after", "0.01")], body)
}

/// Accepts the client `id` with the secret `s3cret`, the user `user` with `passw0rd` and the last refresh
/// token that it gave, at first `r0`. The parameter `audience` chooses the type of the token.
fn token(request: &Received, state: &mut State, place: &str) -> Answer {
    let form = decode_form(&String::from_utf8_lossy(&request.body));
    let field = |name: &str| form.get(name).and_then(|it| it.first()).cloned().unwrap_or_default();
    let is_registered = match place {
        // "id:s3cret" in Base64.
        "header" => {
            request.header(AUTHORIZATION) == "Basic aWQ6czNjcmV0" && field("client_id").is_empty()
        }
        _ => field("client_id") == "id" && field("client_secret") == "s3cret",
    };
    if !is_registered {
        return json(401, &json!({ "error": "invalid_client" }));
    }
    let is_granted = match field("grant_type").as_str() {
        "client_credentials" => true,
        "password" => field("username") == "user" && field("password") == "passw0rd",
        "refresh_token" => field("refresh_token") == format!("r{}", state.tokens),
        _ => false,
    };
    if !is_granted {
        let description = format!("refused {}", field("password"));
        return json(400, &json!({ "error": "invalid_grant", "error_description": description }));
    }
    let answer = issued(state, &field);
    let content_type = match request.head.uri.query() {
        Some("form") => FORM,
        Some("text") => "text/plain; charset=utf-8",
        _ => return json(200, &Value::Object(answer)),
    };
    let text = |it: Value| it.as_str().map(|it| vec![it.to_owned()]);
    let fields = answer.into_iter().filter_map(|(name, value)| Some((name, text(value)?)));
    let form = encode_form(&fields.collect::<Query>());
    with_headers(200, &[("content-type", content_type)], form.into_bytes())
}

fn issued(state: &mut State, field: &dyn Fn(&str) -> String) -> Map<String, Value> {
    state.tokens += 1;
    let number = state.tokens;
    let mut answer = Map::new();
    let mut add = |name: &str, value: String| drop(answer.insert(name.to_owned(), json!(value)));
    add("access_token", format!("t{number}"));
    // A lifetime of 11 s is one second more than the margin of clients.
    add("expires_in", "11".to_owned());
    add("scope", field("scope"));
    if field("grant_type") != "client_credentials" {
        add("refresh_token", format!("r{number}"));
    }
    if !field("audience").is_empty() {
        add("token_type", field("audience"));
    }
    answer
}

fn flaky(state: &mut State, path: &str, times: &str, seconds: &str) -> Answer {
    let times = times.parse().unwrap_or_default();
    let left = state.remaining.entry(path.to_owned()).or_insert(times);
    match *left {
        0 => json(200, &json!({})),
        _ => {
            *left -= 1;
            with_headers(503, &[("retry-after", seconds)], Vec::new())
        }
    }
}

fn hostile(request: &Received, kind: &str) -> Answer {
    match kind {
        "bytes" => with_headers(500, &[], b"\xff\xfe\x1b[31m\0text".to_vec()),
        "loop" => {
            let to = format!("{}/hostile/loop", request.origin);
            with_headers(307, &[("location", to.as_str())], Vec::new())
        }
        "headers" => with_headers(200, &[("x-long", "x".repeat(1 << 20).as_str())], Vec::new()),
        "endless" => Response::new(endless()),
        // The announcement alone must be enough for the client.
        "announced" => {
            let answer = Response::builder().header("content-length", 1_u64 << 40);
            answer.body(endless()).expect("a valid answer")
        }
        _ => plain(404, ""),
    }
}

fn endless() -> BoxBody<Bytes, Infallible> {
    let chunk = || Ok(Frame::data(Bytes::from_static(&[b'x'; 1 << 16])));
    StreamBody::new(stream::repeat_with(chunk)).boxed()
}
