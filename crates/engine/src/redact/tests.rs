use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD, Engine as _};
use values::Mark;

use crate::redact::*;

fn knowing(secret: &str) -> Redactor {
    let redactor = Redactor::new();
    redactor.learn(&Value::string(secret).with_mark(Mark::Ephemeral));
    redactor
}

#[track_caller]
fn check(secret: &str, text: &str, expected: &str) {
    assert_eq!(knowing(secret).redact(text), expected);
}

#[test]
fn secret_is_redacted_in_json_url_and_hex_encodings() {
    let secret = "p\"ss<w&rd\\é 1";
    check(secret, &format!("a {secret} b"), "a (redacted) b");
    check(secret, r#"{"k":"p\"ss<w&rd\\é 1"}"#, r#"{"k":"(redacted)"}"#);
    check(secret, r#"{"k":"p\"ss\u003cw\u0026rd\\é 1"}"#, r#"{"k":"(redacted)"}"#);
    check(secret, r#""{\"k\":\"p\\\"ss<w&rd\\\\é 1\"}""#, r#""{\"k\":\"(redacted)\"}""#);
    check(secret, r#"{"k":"p\"ss\u003Cw&rd\\\u00e9 1"}"#, r#"{"k":"(redacted)"}"#);
    check(secret, r#"\\\"p\\\\\\\"ss\\\\u003cw&rd\\\\\\\\\u00E9 1\\\""#, r#"\\\"(redacted)\\\""#);
    check(secret, "?q=p%22ss%3Cw%26rd%5C%C3%A9+1&x", "?q=(redacted)&x");
    check(secret, "/p%22ss%3cw%26rd%5c%c3%a9%201/", "/(redacted)/");
    check("hunter2", "68756e74657232", "(redacted)");
    check("hunter2", "68756E74657232", "(redacted)");
}

#[test]
fn redactor_decodes_json_escapes() {
    check("a/b c/\n\td", r#"["a\/b c\/\n\td"]"#, r#"["(redacted)"]"#);
    check("smile 😀!", r#""smile \ud83d\ude00!""#, r#""(redacted)""#);
    check("ends in \\", r#"{"path":"ends in \\"}"#, r#"{"path":"(redacted)\"}"#);
    check(r"C:\newest", r#""C:\\newest""#, r#""(redacted)""#);
    check("newest", r"C:\newest", r"C:\(redacted)");
    check("secret", r"\\", r"\\");
    check("secret", r"\u12 \ud800 \u00", r"\u12 \ud800 \u00");
}

#[test]
fn secret_is_redacted_in_base64_at_every_alignment() {
    for prefix in ["", "a", "ab", "abc"] {
        for suffix in ["", "x", "xy"] {
            let text = BASE64_STANDARD.encode(format!("{prefix}correct horse{suffix}"));
            let shown = knowing("correct horse").redact(&text);
            assert!(shown.contains(REPLACEMENT), "{prefix}|{suffix}: {shown}");
        }
    }
}

#[test]
fn longest_of_many_overlapping_secrets_is_redacted() {
    let redactor = Redactor::new();
    for index in 0..200 {
        redactor.learn(&Value::string(format!("secret-number-{index}")).with_mark(Mark::Ephemeral));
    }
    redactor.learn(&Value::string("a secret-number-1 b").with_mark(Mark::Ephemeral));
    for index in 0..200 {
        assert_eq!(redactor.redact(&format!("<secret-number-{index}>")), "<(redacted)>", "{index}");
    }
    assert_eq!(redactor.redact("<a secret-number-1 b>"), "<(redacted)>");
}

#[test]
fn single_lines_of_a_secret_are_redacted() {
    check("first line\nsecond line", "said: second line", "said: (redacted)");
}

#[test]
fn short_secrets_are_reported_and_not_redacted() {
    assert_eq!(knowing("abc").redact("abcdef"), "abcdef");
    assert!(has_short_secret(&Value::string("abc").with_mark(Mark::Ephemeral)));
    assert!(has_short_secret(&Value::tuple(vec![Value::int(1234)]).with_mark(Mark::Sensitive)));
    assert!(!has_short_secret(&Value::string("abcdef").with_mark(Mark::Ephemeral)));
    assert!(!has_short_secret(&Value::string("abc")));
}

#[test]
fn only_redact_all_redacts_sensitive_values() {
    let redactor = Redactor::new();
    redactor.learn(&Value::string("eu-west-1").with_mark(Mark::Sensitive));
    assert_eq!(redactor.redact("in eu-west-1"), "in eu-west-1");
    assert_eq!(redactor.redact_all("in eu-west-1"), "in (redacted)");
}

#[test]
fn redactor_decodes_go_and_python_escapes() {
    check("a\u{1}b\u{7}c\u{b}d", r#""a\x01b\ac\vd""#, r#""(redacted)""#);
    check("smile 😀!", r#""smile \U0001f600!""#, r#""(redacted)""#);
    check("smile 😀!", r#""smile \u{1f600}!""#, r#""(redacted)""#);
    check("café creme", r"b'caf\xc3\xa9 creme'", "b'(redacted)'");
    check("café creme", r"caf\303\251 creme", "(redacted)");
    check("C:\\app\\vault", r#""C:\\app\\vault""#, r#""(redacted)""#);
    check("secret", r"\u{12 \U0001 \x1 \08 \u{110000000}", r"\u{12 \U0001 \x1 \08 \u{110000000}");
}

#[test]
fn redactor_decodes_html_entities() {
    check("p<a>ss&\"w'rd", "<b>p&lt;a&gt;ss&amp;&#34;w&#x27;rd</b>", "<b>(redacted)</b>");
    check("p<a>ss&\"w'rd", "p&lt;a&gt;ss&amp;&quot;w&apos;rd", "(redacted)");
    check("secret", "& &; &#; &#x; &#xffffffff; &copy", "& &; &#; &#x; &#xffffffff; &copy");
}

#[test]
fn redactor_decodes_lists_of_bytes() {
    check("hunter2", "[104 117 110 116 101 114 50]", "[(redacted)]");
    check("hunter2", "{0x68, 0x75, 0x6e, 0x74, 0x65, 0x72, 0x32}", "{(redacted)}");
    check("hunter2", "68:75:6e:74:65:72:32", "(redacted)");
    check("hunter2", "1 2 104 117 110 116 101 114 50 3", "1 2 (redacted)3");
    check("hunter2", "[104 117 110 116 101 114 51]", "[104 117 110 116 101 114 51]");
    check("hunter2", "[104 117 110 116 101]", "[104 117 110 116 101]");
}

#[test]
fn redactor_decodes_json_in_base64() {
    let secret = "p\"ss<w&rd";
    let json = BASE64_STANDARD.encode(r#"{"k":"p\"ss\u003cw\u0026rd"}"#);
    for prefix in ["", "x/", "a_b", "key=", "Basic "] {
        let shown = knowing(secret).redact(&format!("{prefix}{json} end"));
        assert!(shown.contains(REPLACEMENT) && shown.ends_with("ifQ== end"), "{shown}");
        // The prefix and the JSON around the secret remain.
        assert!(shown.len() < prefix.len() + REPLACEMENT.len() + 20, "{shown}");
    }
    let twice = BASE64_STANDARD.encode(BASE64_STANDARD.encode("correct horse battery"));
    assert!(knowing("correct horse battery").redact(&twice).contains(REPLACEMENT));
}

#[test]
fn redactor_finds_numbers_in_exponent_notation() {
    for text in ["1.23456789e+11", "1.23456789E11", "1.23456789e+011", "123456789000"] {
        let shown = knowing("123456789000").redact(text);
        assert_eq!(shown.contains(REPLACEMENT), text != "1.23456789e+011", "{text}");
    }
    check("0.00000123456", "at 1.23456e-06!", "at (redacted)!");
    check("-123456.5", "-1.234565e+05", "-(redacted)");
    check("000000", "0e+00 000000", "0e+00 (redacted)");
}

#[test]
fn typed_secret_is_redacted_raw_and_normalized() {
    let redactor = Redactor::new();
    redactor.learn_text("cafe\u{301} noir");
    assert_eq!(redactor.redact("cafe\u{301} noir, caf\u{e9} noir"), "(redacted), (redacted)");
}

#[test]
fn strings_inside_private_bytes_are_redacted() {
    let redactor = Redactor::new();
    let inner = BASE64_STANDARD.encode(r#"{"lease":"lease-4711","serial":12345678}"#);
    redactor.learn_private(format!(r#"{{"framework":"{inner}","short":"no"}}"#).as_bytes());
    redactor.learn_private(b"plain bytes");
    assert_eq!(
        redactor.redact("lease-4711 12345678 plain bytes no"),
        "(redacted) (redacted) (redacted) no"
    );
}

#[test]
fn strings_under_repeated_keys_and_in_deep_lists_are_redacted() {
    let redactor = Redactor::new();
    let (open, close) = ("[".repeat(200), "]".repeat(200));
    let json = format!(r#"{{"a":"first-secret","a":{open}"deep-secret\ud800"{close}}}"#);
    redactor.learn_private(json.as_bytes());
    assert_eq!(redactor.redact("first-secret"), "(redacted)");
    redactor.learn_private(format!(r#"{{"a":{open}"other-secret"{close}}}"#).as_bytes());
    assert_eq!(redactor.redact("other-secret"), "(redacted)");
}

#[test]
fn redactor_handles_truncated_escapes_without_a_panic() {
    let redactor = knowing("secret\\xc3");
    for text in [
        "secret\u{e9}",
        "secret\\xc3\u{a9}",
        "\\",
        "%",
        "&",
        "%4",
        "a%c3\u{e9}",
        "\\u",
        "\\x",
        "\\1",
    ] {
        let _ = redactor.redact(text);
    }
}

#[test]
fn overlapping_secrets_are_redacted_together() {
    let redactor = knowing("abc-def-ghi");
    redactor.learn_text("ghi-jkl");
    assert_eq!(redactor.redact("<abc-def-ghi-jkl>"), "<(redacted)>");
}

#[test]
fn overlapping_sensitive_and_ephemeral_secrets_are_redacted_together() {
    let redactor = knowing("horse-battery");
    redactor.learn(&Value::string("correct-horse-battery-staple").with_mark(Mark::Sensitive));
    let text = "A is correct-horse-battery-staple, B is horse-battery";
    assert_eq!(redactor.redact_all(text), "A is (redacted), B is (redacted)");
}

#[test]
fn strings_of_a_secret_json_document_are_redacted() {
    let secret = r#"{"user":"no","password":"pass\u0077ord-1","more":["{\"key\":\"key-4711\"}"]}"#;
    check(secret, "no password-1 key-4711", "no (redacted) (redacted)");
}

#[test]
fn parts_of_secret_json_and_urls_are_redacted() {
    let json = r#"{"user": "admin-user", "nested": [{"pin": 12345678, "inner": "{\"k\": \"deep-secret\"}"}]}"#;
    check(
        json,
        "admin-user 12345678 deep-secret nested",
        "(redacted) (redacted) (redacted) nested",
    );
    let url = "postgres://admin:p%40ss-word@host:5432/db?x=a@b";
    check(url, "p%40ss-word, p@ss-word, 5432", "(redacted), (redacted), 5432");
    check(url, "host:5432/db", "host:5432/db");
    check("https://host/path@x", "host/path@", "host/path@");
}

#[test]
fn keys_of_secret_maps_are_redacted_unless_they_are_names() {
    let json = r#"{"client_email": {"bob@home.example": 1, "tok-4711": "x"}, "key-471": 2}"#;
    check(
        json,
        "client_email bob@home.example tok-4711 key-471",
        "client_email (redacted) (redacted) key-471",
    );
    let redactor = Redactor::new();
    let map = [("bob@home".into(), Value::from("x")), ("bob@hom".into(), Value::from("y"))];
    redactor.learn(
        &Value::map(values::Type::String, map.into_iter().collect()).with_mark(Mark::Sensitive),
    );
    assert_eq!(redactor.redact_all("<bob@home> <bob@hom>"), "<(redacted)> <bob@hom>");
    let object = Value::object_from([("tim@home", Value::from("deep-secret"))]);
    redactor.learn(&object.with_mark(Mark::Sensitive));
    assert_eq!(redactor.redact_all("tim@home deep-secret"), "tim@home (redacted)");
}

#[test]
fn text_is_withheld_if_there_are_too_many_secrets() {
    let document = |length: usize| {
        let items: Vec<String> = (0..length / 20).map(|it| format!("secret-{it:011}")).collect();
        serde_json::to_string(&items).expect("JSON")
    };
    let redactor = Redactor::new();
    redactor.learn(&Value::string(document(1024)).with_mark(Mark::Sensitive));
    assert_eq!(redactor.redact_all("plain secret-00000000017"), "plain (redacted)");
    redactor.learn(&Value::string(document(8 * MAX_SECRETS)).with_mark(Mark::Sensitive));
    assert_eq!(redactor.redact_all("plain"), WITHHELD);
    assert_eq!(redactor.redact_all(""), "");
    assert_eq!(redactor.redact("plain"), "plain", "that is about ephemeral values");
    redactor.learn_private(document(8 * MAX_SECRETS).as_bytes());
    assert_eq!(redactor.redact("plain"), WITHHELD);
    redactor.forget();
    assert_eq!(redactor.redact_all("plain"), "plain");

    let mut finder = Finder::default();
    finder.add("a secret that is looked for");
    finder.add(&"secret ".repeat(MAX_SECRETS / 6));
    assert_eq!(finder.patterns.secrets.len(), 2, "what must not be kept is always looked for");
    let long = document(1 << 21);
    let mut finder = Finder::default();
    finder.add(&long);
    assert_eq!(finder.trace(&format!("<{long}>")), Trace::Whole);
    assert!(!finder.finds(&long[1..]));
}

#[test]
fn finder_matches_whole_secrets_only() {
    let mut finder = Finder::default();
    assert!(!finder.finds("anything"));
    finder.add("-----BEGIN KEY-----\nsecret line\n-----END KEY-----");
    finder.add(r#"{"engine": "postgresql"}"#);
    assert!(!finder.finds("-----BEGIN KEY-----\nanother line\n-----END KEY-----"));
    assert!(!finder.finds("postgresql"));
    assert!(finder.finds(r#"{"k": "-----BEGIN KEY-----\nsecret line\n-----END KEY-----"}"#));
    assert!(finder.is_in_bytes(b"\xff {\"engine\": \"postgresql\"} \xff"));
}

#[track_caller]
fn check_trace(secret: &str, text: &str, expected: Trace) {
    let mut finder = Finder::default();
    finder.add(secret);
    assert_eq!(finder.trace(text), expected, "{secret} in {text}");
}

#[test]
fn word_inside_a_longer_text_is_no_trace_of_a_secret() {
    for word in ["playground", "amazonaws", "us-east-1", "internationalization", "1234567890123456"]
    {
        for text in [format!("arn:{word}:1"), format!("{word}s"), format!("<{word} {word}>")] {
            check_trace(word, &text, Trace::None);
        }
        for text in [word.to_owned(), format!("<\"{word}\">"), BASE64_STANDARD.encode(word)] {
            check_trace(word, &text, Trace::Whole);
        }
    }
    let secret = "Battery-staple-17";
    check_trace(secret, "arn:1:Battery-staple-17/x", Trace::Part);
    check_trace(secret, "arn:1:xBattery-staple-17", Trace::None);
    check_trace(secret, "arn:1:Battery-staple-170", Trace::None);
    check_trace(secret, "two\\nBattery-staple-17", Trace::Part);
    check_trace(secret, "q=a%20Battery-staple%2D17", Trace::Part);
    check_trace(
        secret,
        &format!("Basic {}", BASE64_STANDARD.encode("u:Battery-staple-17")),
        Trace::Part,
    );
    check_trace(secret, &BASE64_STANDARD.encode("uBattery-staple-17"), Trace::None);
}

#[test]
fn finder_searches_each_string_of_json_bytes() {
    let mut finder = Finder::default();
    finder.add("playground");
    assert!(!finder.is_in_bytes(br#"{"arn":"arn:playground:1"}"#));
    assert!(finder.is_in_bytes(br#"{"name":["playground"]}"#));
    assert!(finder.is_in_bytes(br#"{"playground":1}"#));
    let inner = BASE64_STANDARD.encode(r#"{"k":"playground"}"#);
    assert!(finder.is_in_bytes(format!(r#"{{"k":"{inner}"}}"#).as_bytes()));
}

/// The name of an encoding, and the encoder.
type Encoder = (&'static str, fn(&str) -> String);

/// Single encodings, as programs write them.
const ENCODINGS: [Encoder; 17] = [
    ("raw", str::to_owned),
    ("json", json),
    ("json of Go", |text| go_json(&json(text))),
    ("json in ASCII", |text| ascii_json(&json(text))),
    ("json twice", |text| json(&json(text))),
    ("url", |text| percent(text, "%20", |byte| format!("%{byte:02X}"))),
    ("url in lower case", |text| percent(text, "%20", |byte| format!("%{byte:02x}"))),
    ("form", |text| percent(text, "+", |byte| format!("%{byte:02X}"))),
    ("entities", entities),
    ("bytes", |text| format!("{:?}", text.as_bytes())),
    ("hex", |text| text.bytes().map(|byte| format!("{byte:02x}")).collect()),
    ("upper hex", |text| text.bytes().map(|byte| format!("{byte:02X}")).collect()),
    ("base64", |text| BASE64_STANDARD.encode(text)),
    ("base64 at 1", |text| BASE64_STANDARD.encode(format!(":{text}"))),
    ("base64 at 2", |text| BASE64_STANDARD.encode(format!("::{text}"))),
    ("base64 for URLs", |text| BASE64_URL_SAFE.encode(text)),
    ("base64 for URLs, unpadded", |text| BASE64_URL_SAFE_NO_PAD.encode(format!(":{text}"))),
];

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

fn go_json(json: &str) -> String {
    let escapes = [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026"), ('\u{2028}', "\\u2028")];
    escapes.iter().fold(json.to_owned(), |json, (from, to)| json.replace(*from, to))
}

fn ascii_json(json: &str) -> String {
    let one = |character: char| match character.is_ascii() {
        true => character.to_string(),
        false => {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
    };
    json.chars().map(one).collect()
}

fn percent(text: &str, space: &str, encoded: fn(u8) -> String) -> String {
    let one = |byte: u8| match byte {
        b' ' => space.to_owned(),
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => encoded(byte),
    };
    text.bytes().map(one).collect()
}

fn entities(text: &str) -> String {
    let escapes = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&#34;"), ('\'', "&#39;")];
    escapes.iter().fold(text.to_owned(), |text, (from, to)| text.replace(*from, to))
}

fn random_secret(random: &mut fastrand::Rng) -> String {
    let others = [
        '\n', '\r', '\t', '"', '\'', '<', '>', '&', '+', '/', '=', '%', ' ', 'é', '😀', '\u{2028}',
    ];
    let mut secret: Vec<char> = (0..random.usize(8..24)).map(|_| random.alphanumeric()).collect();
    for _ in 0..random.usize(1..8) {
        let at = random.usize(0..=secret.len());
        secret.insert(at, others[random.usize(0..others.len())]);
    }
    if random.bool() {
        // At most one backslash: repeated quoting loses the number of consecutive backslashes.
        secret.insert(random.usize(1..secret.len()), '\\');
    }
    secret.into_iter().collect()
}

#[test]
fn secrets_are_redacted_behind_any_two_encodings() {
    const KEY: &str = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA+x/yz\nq9==\n-----END RSA PRIVATE KEY-----\n";
    let mut random = fastrand::Rng::with_seed(20);
    let mut secrets = vec![KEY.to_owned(), "p\"ss<w&rd\\é 1\n".to_owned()];
    secrets.extend((0..60).map(|_| random_secret(&mut random)));
    for secret in &secrets {
        let redactor = knowing(secret);
        for (first, inner) in ENCODINGS {
            for (second, outer) in ENCODINGS {
                let text = format!("[{}]", outer(&format!("<{}>", inner(&format!(".{secret}.")))));
                let shown = redactor.redact(&text);
                let left = shown.replace(REPLACEMENT, "");
                // Only the encoded borders remain.
                assert!(
                    shown.contains(REPLACEMENT) && left.len() <= 96,
                    "{first}, then {second}: {secret:?} in {text}: {shown}"
                );
            }
        }
    }
}

#[test]
fn redactor_stores_one_spelling_per_secret() {
    let secret = "0123456789".repeat(100);
    let redactor = knowing(&format!("-{secret}-"));
    let known = redactor.known();
    assert_eq!(known.ephemeral.spellings.length(), secret.len() + 2);
    assert_eq!(known.ephemeral.unescaped.length(), 0);
}
