//! The ways in which the plugin misbehaves. Each deviates from the [good](crate::good) provider at one call. If
//! the call is about an object, it deviates only for the object named `new`.

use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
};

use values::{Type, Value};

use crate::{
    good::{
        self, COMPUTED, Call, OPTIONAL, REQUIRED, SENSITIVE, TOKEN, WRITE_ONLY, attribute, block,
        data, diagnostic, dynamic, empty, raw, schema, thing, token, with,
    },
    matrix::{self, OLD},
    serve::{BENCH, Reply, end},
    wire::Message,
};

/// Runs before the handshake line.
pub(crate) fn begin(way: &str) {
    if way == "floods stderr while it works" {
        // Writes until the process ends, because the core keeps reading.
        std::thread::spawn(|| {
            let line = [b"x".repeat(997), b"\n".to_vec()].concat().repeat(64);
            while std::io::stderr().write_all(&line).is_ok() {}
        });
    }
}

/// Runs after the handshake line.
pub(crate) fn started(way: &str) {
    match way {
        "closes stdout" => {
            let nothing = std::fs::File::open("/dev/null").expect("it is there");
            rustix::stdio::dup2_stdout(nothing).expect("can be replaced");
        }
        "logs escapes" => {
            let _ = std::io::stderr().write_all(b"\x1b]0;owned\x07 \x1b[2J logged\n");
        }
        _ => {}
    }
}

/// The next message of the plugin's output stream. `None` at its end.
pub(crate) fn printed(way: &str) -> Option<Message> {
    match way {
        "floods stdout" => Some(Message::new().number(1, 1).bytes(2, &b"flood ".repeat(170))),
        "prints megabytes at once" => {
            Some(Message::new().number(1, 1).bytes(2, &vec![b'x'; 8 << 20]))
        }
        _ => None,
    }
}

/// True if the plugin has stopped answering permanently.
static SILENT: AtomicBool = AtomicBool::new(false);

/// The reply to a call.
pub(crate) fn reply(way: &str, call: &Call<'_>) -> Reply {
    if let Some(way) = way.strip_prefix(OLD) {
        let departed = dies(way, call).or_else(|| matrix::reply(way, call));
        return match (departed, call.method) {
            (Some(reply), _) => reply,
            (None, "GetProviderSchema") => Reply::Message(good::old_schemas()),
            (None, "Shutdown") => end(),
            (None, _) => good(call),
        };
    }
    if way == "answers nothing from the change on" {
        SILENT.fetch_or(call.method == "ApplyResourceChange" && is_met(call), Ordering::SeqCst);
    }
    if SILENT.load(Ordering::SeqCst) {
        return Reply::Never;
    }
    match call.method {
        "Shutdown" if way.starts_with("does not end") => return Reply::Never,
        "Shutdown" => end(),
        "Check" => return Reply::Message(Message::new().number(1, 1)),
        _ => {}
    }
    let broken = dies(way, call).or_else(|| breaks_grpc(way, call));
    if let Some(reply) = broken.or_else(|| matrix::reply(way, call)) {
        return reply;
    }
    let departed = match call.method {
        "GetProviderSchema" => schemas(way),
        "ReadDataSource" => read(way, call),
        "OpenEphemeralResource" | "RenewEphemeralResource" | "CloseEphemeralResource" => {
            return ephemeral(way, call).unwrap_or_else(|| good(call));
        }
        "CallFunction" | "GetFunctions" => functions(way, call),
        "PlanResourceChange" => planned(way, call),
        "ApplyResourceChange" => applied(way, call),
        _ => other(way, call),
    };
    departed.map_or_else(|| good(call), Reply::Message)
}

fn good(call: &Call<'_>) -> Reply {
    match good::answer(call) {
        Some(message) => Reply::Message(message),
        None => Reply::Status(12, "unknown service or method".to_owned()),
    }
}

/// Handles ways such as `dies before ReadResource`.
#[expect(clippy::zombie_processes, reason = "a child that nobody waits for is what it leaves")]
fn dies(way: &str, call: &Call<'_>) -> Option<Reply> {
    let (how, method) = way.rsplit_once(' ')?;
    if method != call.method || !is_met(call) {
        return None;
    }
    let answer = good::answer(call).unwrap_or_default();
    Some(match how {
        "dies before" => Reply::Exit,
        "dies while" => Reply::PartThenExit(answer),
        "dies after" => Reply::MessageThenExit(answer),
        how if how.ends_with("never answers") => Reply::Never,
        "does not implement" => Reply::Status(12, String::new()),
        "passes on that there is no such call in" => {
            Reply::Status(12, "unknown method Put for service shop.Shop".to_owned())
        }
        "panics in" => {
            let _ = std::io::stderr().write_all(
                b"panic: runtime error: invalid memory address or nil pointer dereference\n\ngoroutine 41 [running]:\n\
                  example.com/bad.(*provider).Create(0x0)\n\t/src/bad/provider.go:42 +0x1d\n",
            );
            Reply::Exit
        }
        "leaves a child in" => {
            let child = std::process::Command::new("sleep").arg("300").spawn();
            child.expect("there is a sleep");
            Reply::Exit
        }
        _ => return None,
    })
}

/// Returns true if a way applies to a call. Calls about the objects `kept`, `other` and `gone` are answered
/// correctly.
fn is_met(call: &Call<'_>) -> bool {
    match call.method {
        "PlanResourceChange" | "ApplyResourceChange" => {
            !matches!(&*call.name(), "kept" | "other" | "gone")
        }
        _ => true,
    }
}

/// Faults below the level of messages, at the call for the schemas.
fn breaks_grpc(way: &str, call: &Call<'_>) -> Option<Reply> {
    if call.method != "GetProviderSchema" {
        return None;
    }
    let claims = |length: u32| [&[0][..], &length.to_be_bytes(), b"abc"].concat();
    Some(match way {
        "answers with a page of HTML" => Reply::Http(404, "text/html"),
        "answers another type of content" => Reply::Http(200, "text/html"),
        "ends its answer without a status" => Reply::Frames(vec![0; 5], None),
        "ends in the middle of a message" => Reply::Frames(claims(100), Some(0)),
        "claims a message of 4 GiB" => Reply::Frames(claims(u32::MAX), Some(0)),
        "sends 300 MB" => Reply::Frames(claims(300 << 20), Some(0)),
        "sends a compressed message" => Reply::Frames(vec![1, 0, 0, 0, 3, 1, 2, 3], Some(0)),
        "sends no message" => Reply::Frames(Vec::new(), Some(0)),
        "sends no protocol buffer" => Reply::Frames(vec![0, 0, 0, 0, 3, 0xff, 0xff, 0xff], Some(0)),
        "sends a field of another type" => Reply::Message(Message::new().number(2, 1)),
        "fails with an endless text" => Reply::Status(2, "much ".repeat(2000)),
        "fails with terminal escapes" => Reply::Status(2, "%1b[2J%1b]0;owned%07 gone".to_owned()),
        "fails with a secret" => Reply::Status(2, "the password is hunter2".to_owned()),
        "fails with a code that is none" => Reply::Status(99, "what".to_owned()),
        "says that it is not configured" => Reply::Status(14, "not yet".to_owned()),
        _ => return None,
    })
}

/// Invalid schemas.
fn schemas(way: &str) -> Option<Message> {
    let optional = |name: &str, ty: &str| attribute(name, ty, &[OPTIONAL]);
    let of = |attributes: &[Message]| Some(good::schemas(&schema(&block(attributes))));
    if let Some(way) = way.strip_prefix("the second time, ") {
        return if is_again() { other_schemas(way) } else { None };
    }
    if let Some(way) = way.strip_prefix("once its schemas are cached, ") {
        return other_schemas(way);
    }
    match way {
        "is built anew meanwhile" => {
            let plugin = bench().join("plugin/terraform-provider-bad");
            let file = std::fs::File::options().append(true).open(plugin);
            file.and_then(|mut it| it.write_all(b"# anew\n")).expect("is ours");
            None
        }
        "says an error instead of schemas" => {
            let said = diagnostic(1, "No schemas today", "Come back with hunter2.");
            Some(Message::new().message(4, &said))
        }
        "has no type for an attribute" => of(&[optional("a", "")]),
        "has a type that is no JSON" => of(&[optional("a", "[\"list\",")]),
        "has a type that there is not" => of(&[optional("a", "\"text\"")]),
        "has a type nested 10,000 deep" => {
            let ty = format!("{}\"string\"{}", "[\"list\",".repeat(10_000), "]".repeat(10_000));
            of(&[optional("a", &ty)])
        }
        "has two attributes of one name" => of(&[
            attribute("a", "\"string\"", &[OPTIONAL, WRITE_ONLY]),
            optional("a", "\"string\""),
        ]),
        "has an attribute and a block of one name" => {
            let nested = Message::new().text(1, "a").message(2, &Message::new()).number(3, 2);
            let it = block(&[optional("a", "\"string\"")]).message(3, &nested);
            Some(good::schemas(&schema(&it)))
        }
        "has two blocks of one name" => {
            let nested = |it: Message| Message::new().text(1, "b").message(2, &it).number(3, 2);
            let (one, two) = (block(&[optional("a", "\"string\"")]), block(&[]));
            let it = block(&[]).message(3, &nested(one)).message(3, &nested(two));
            Some(good::schemas(&schema(&it)))
        }
        "has blocks nested 10,000 deep" => {
            let nest = |inner: &Message| {
                let nested = Message::new().text(1, "b").message(2, inner).number(3, 1);
                Message::new().message(3, &nested)
            };
            let deep = (0..10_000).fold(Message::new(), |inner, _| nest(&inner));
            Some(good::schemas(&schema(&deep)))
        }
        "has an attribute that is required and computed" => {
            of(&[attribute("a", "\"string\"", &[REQUIRED, COMPUTED])])
        }
        "has an attribute without a name" => of(&[optional("", "\"string\"")]),
        "has a name that is no UTF-8" => {
            of(&[Message::new().bytes(1, &[0xff, 0xfe]).text(2, "\"string\"").number(OPTIONAL, 1)])
        }
        "has a block of no known nesting" => {
            let nested = Message::new().text(1, "b").message(2, &Message::new()).number(3, 77);
            Some(good::schemas(&schema(&block(&[]).message(3, &nested))))
        }
        "has a negative version" => {
            Some(good::schemas(&Message::new().number(1, u64::MAX).message(2, &block(&[]))))
        }
        "has a function that returns nothing" => {
            Some(good::schemas(&schema(&block(&good::thing_attributes()))).entry(
                7,
                "f",
                &Message::new(),
            ))
        }
        "has no schemas at all" => Some(Message::new()),
        _ => None,
    }
}

fn bench() -> std::path::PathBuf {
    std::env::var_os(BENCH).unwrap_or_default().into()
}

/// Returns true if an earlier process of the test was asked for the schemas.
fn is_again() -> bool {
    let calls = std::fs::read_to_string(bench().join("calls")).unwrap_or_default();
    calls.lines().any(|it| it == "GetProviderSchema")
}

/// Schemas that differ from those of the first process.
fn other_schemas(way: &str) -> Option<Message> {
    let mut attributes = good::thing_attributes();
    let (index, attribute) = match way {
        "has an ordinary attribute for a write-only one" => {
            (4, attribute("secret", "\"string\"", &[OPTIONAL]))
        }
        "has a sensitive attribute for an ordinary one" => {
            (2, attribute("note", "\"string\"", &[OPTIONAL, COMPUTED, SENSITIVE]))
        }
        "has an attribute of another type" => (3, attribute("size", "\"string\"", &[OPTIONAL])),
        "requires what was optional" => (3, attribute("size", "\"number\"", &[REQUIRED])),
        "wants to be configured" => {
            let thing = schema(&block(&attributes));
            return Some(good::schemas_with(&[REQUIRED], &thing));
        }
        "has one attribute less" => (3, attribute("length", "\"number\"", &[OPTIONAL])),
        "has other words" => {
            (2, attribute("note", "\"string\"", &[OPTIONAL, COMPUTED]).text(3, "Anew."))
        }
        _ => return None,
    };
    attributes[index] = attribute;
    Some(good::schemas(&schema(&block(&attributes))))
}

/// An object of a data source in MessagePack, in which `changes` replace some attributes.
fn data_object(changes: &[(&str, &[u8])]) -> Vec<u8> {
    let mut object = vec![0x84];
    for name in ["name", "number", "map", "any"] {
        object.push(0xa0 | name.len() as u8);
        object.extend_from_slice(name.as_bytes());
        let changed = changes.iter().find(|(it, _)| *it == name).map(|(_, bytes)| *bytes);
        object.extend_from_slice(changed.unwrap_or(if name == "name" {
            b"\xa3new"
        } else {
            b"\xc0"
        }));
    }
    object
}

/// The encoding of a value of dynamic type.
fn of_type(ty: &str, value: &[u8]) -> Vec<u8> {
    let length = (ty.len() as u32).to_be_bytes();
    [&[0x92, 0xc6][..], &length, ty.as_bytes(), value].concat()
}

/// Invalid objects of a data source.
fn read(way: &str, call: &Call<'_>) -> Option<Message> {
    let with_bytes = |name: &str, bytes: &[u8]| Some(data_object(&[(name, bytes)]));
    let deep = |ty: &str, value: &[u8]| with_bytes("any", &of_type(ty, value));
    let bytes = match way {
        "answers a byte that is never used" => Some(vec![0xc1]),
        "claims 4 billion entries" => with_bytes("map", b"\xdf\xff\xff\xff\xff"),
        "claims a list of 4 billion" => deep("[\"list\",\"bool\"]", b"\xdd\xff\xff\xff\xff"),
        "claims a text of 4 GiB" => with_bytes("name", b"\xdb\xff\xff\xff\xffab"),
        "claims bytes of 4 GiB" => with_bytes("name", b"\xc6\xff\xff\xff\xffab"),
        "nests values 10,000 deep" => {
            let ty = format!("{}\"bool\"{}", "[\"list\",".repeat(10_000), "]".repeat(10_000));
            deep(&ty, &[vec![0x91; 10_000], vec![0xc3]].concat())
        }
        "nests dynamic values 10,000 deep" => {
            with_bytes("any", &[b"\x92\xc4\x09\"dynamic\"".repeat(10_000), vec![0xc0]].concat())
        }
        "adds bytes after the value" => Some([data_object(&[]), b"more".to_vec()].concat()),
        "uses an extension that there is not" => with_bytes("name", &[0xd4, 0x55, 0]),
        "damages what it says of an unknown value" => {
            with_bytes("name", &[0xc7, 3, 0x0c, 0x82, 1, 0xff])
        }
        "answers text that is no UTF-8" => with_bytes("name", b"\xa3\xff\xfe\xfd"),
        "repeats a key" => with_bytes("map", b"\x82\xa1k\xa1a\xa1k\xa1b"),
        "answers a number that is none" => {
            with_bytes("number", &[0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0])
        }
        "answers infinity" => with_bytes("number", &[0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]),
        "answers a number of a billion digits" => with_bytes("number", b"\xab1e999999999"),
        "answers a number close to zero" => with_bytes("number", b"\xac1e-999999999"),
        "answers a list for a text" => with_bytes("name", b"\x91\xc0"),
        "leaves an attribute out" => Some(b"\x81\xa4name\xa3new".to_vec()),
        "repeats an attribute" => {
            Some(b"\x84\xa4name\xa3new\xa4name\xa3new\xa4name\xa3new\xa4name\xa3new".to_vec())
        }
        "adds an attribute" => {
            Some(b"\x85\xa4name\xa3new\xa4more\xc0\xa3map\xc0\xa3any\xc0\xa6number\xc0".to_vec())
        }
        "answers a value of a type that is none" => deep("[\"list\"]", b"\xc0"),
        "answers a value of a type that is no text" => with_bytes("any", b"\x92\x01\xc0"),
        "answers an element too many" => deep("[\"tuple\",[\"bool\"]]", b"\x92\xc3\xc3"),
        _ => None,
    };
    if let Some(bytes) = bytes {
        return Some(Message::new().message(1, &raw(&bytes)));
    }
    let value = |value: Value| Some(Message::new().message(1, &dynamic(&value, &data())));
    let config = call.value(2, &data());
    match way {
        "answers JSON that is damaged" => {
            Some(Message::new().message(1, &Message::new().text(2, "{\"name\": \"new\"")))
        }
        "answers no value" => Some(Message::new()),
        "reads null" => value(Value::null(data())),
        "reads an unknown value" => {
            value(with(&config, &[("number", Value::unknown(Type::Number))]))
        }
        "reads something else than was asked for" => {
            value(with(&config, &[("name", Value::string("else"))]))
        }
        "defers a read" => good::answer(call).map(|it| it.message(3, &Message::new().number(1, 1))),
        _ => said(way, 2),
    }
}

/// Harmful diagnostics. `field` is their field number in the answer.
fn said(way: &str, field: u64) -> Option<Message> {
    let error = |summary: &str, detail: &str| {
        Some(Message::new().message(field, &diagnostic(1, summary, detail)))
    };
    let at = |steps: &[Message]| {
        let path = steps.iter().fold(Message::new(), |path, step| path.message(1, step));
        Some(
            Message::new()
                .message(field, &diagnostic(1, "It is wrong", "There.").message(4, &path)),
        )
    };
    match way {
        "says 100,000 things" => {
            let one = diagnostic(1, "It is wrong", "And wrong again.");
            Some((0..100_000).fold(Message::new(), |message, _| message.message(field, &one)))
        }
        "says 20 MB" => error("It is wrong", &"very ".repeat(4 << 20)),
        "says escapes" => error("It is \x1b[2J wrong", "\x1b]0;owned\x07 \u{202e}gnorw\rover"),
        "says a secret" => error("It is hunter2", "The password hunter2 is wrong."),
        "says nothing" => error("", ""),
        "says it in no UTF-8" => {
            let it = Message::new().number(1, 1).bytes(2, &[0xff, 0xfe]).text(3, "There.");
            Some(Message::new().message(field, &it))
        }
        "says it of an attribute that is not there" => {
            at(&[Message::new().text(1, "nowhere"), Message::new().number(3, u64::MAX)])
        }
        "says it of a secret key" => {
            at(&[Message::new().text(1, "map"), Message::new().text(2, "hunter2")])
        }
        "says it of a path 10,000 deep" => at(&vec![Message::new().text(1, "name"); 10_000]),
        "says it with a severity that is none" => {
            Some(Message::new().message(field, &diagnostic(9, "It is wrong", "There.")))
        }
        _ => None,
    }
}

fn ephemeral(way: &str, call: &Call<'_>) -> Option<Reply> {
    let config = call.value(2, &token());
    let opened = |result: Value| {
        let it =
            Message::new().message(3, &dynamic(&result, &token())).bytes(4, b"the-lease-of-it");
        Some(Reply::Message(it))
    };
    let good = || with(&config, &[("value", Value::string(TOKEN))]);
    let renew_at = |seconds: i64| Message::new().number(1, seconds.cast_unsigned());
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let soon = now.as_secs().cast_signed();
    let with_renewal = |seconds: i64| {
        good::answer(call).map(|it| Reply::Message(it.message(2, &renew_at(seconds))))
    };
    match (way, call.method) {
        ("opens null", "OpenEphemeralResource") => opened(Value::null(token())),
        ("opens an unknown value", "OpenEphemeralResource") => {
            opened(with(&config, &[("value", Value::unknown(Type::String))]))
        }
        ("opens something else than was asked for", "OpenEphemeralResource") => {
            opened(with(&good(), &[("name", Value::string("else"))]))
        }
        ("opens what cannot be read", "OpenEphemeralResource") => {
            let it = Message::new().message(3, &raw(&[0xc1])).bytes(4, b"the-lease-of-it");
            Some(Reply::Message(it.message(1, &diagnostic(2, "Take care", TOKEN))))
        }
        ("fails to open and says the secret", "OpenEphemeralResource") => {
            Some(Reply::Status(2, format!("cannot use {TOKEN}")))
        }
        ("defers an open", "OpenEphemeralResource") => {
            good::answer(call).map(|it| Reply::Message(it.message(5, &Message::new().number(1, 1))))
        }
        ("opens 100 MB of private data", "OpenEphemeralResource") => {
            let it = Message::new().message(3, &dynamic(&good(), &token()));
            Some(Reply::Message(it.bytes(4, &b"private ".repeat(100 << 17))))
        }
        ("opens a value of 16 MB", "OpenEphemeralResource") => {
            opened(with(&config, &[("value", Value::string("secret! ".repeat(16 << 17)))]))
        }
        ("is to be renewed at a time that is none", "OpenEphemeralResource") => {
            with_renewal(i64::MAX)
        }
        ("is to be renewed in the past", _) if call.method != "CloseEphemeralResource" => {
            with_renewal(1)
        }
        ("renews backwards", "OpenEphemeralResource") => with_renewal(soon + 1),
        ("renews backwards", "RenewEphemeralResource") => with_renewal(-1000),
        ("fails to renew", "OpenEphemeralResource") => with_renewal(soon),
        ("fails to renew", "RenewEphemeralResource") => {
            let said = diagnostic(1, "Cannot renew", &format!("The token {TOKEN} is gone."));
            Some(Reply::Message(Message::new().message(1, &said)))
        }
        ("never renews", "OpenEphemeralResource") => with_renewal(soon),
        ("never renews", "RenewEphemeralResource") => Some(Reply::Never),
        ("fails to close and says the secret", "CloseEphemeralResource") => {
            let said = diagnostic(1, "Cannot close", &format!("The token {TOKEN} stays."));
            Some(Reply::Message(Message::new().message(1, &said)))
        }
        _ => None,
    }
}

fn functions(way: &str, call: &Call<'_>) -> Option<Message> {
    let result = |value: &Message| Some(Message::new().message(1, value));
    match (way, call.method) {
        ("returns another type", "CallFunction") => result(&raw(&[0x91, 0xc3])),
        ("returns an unknown value", "CallFunction") => {
            result(&dynamic(&Value::unknown(Type::String), &Type::String))
        }
        ("returns nothing", "CallFunction") => Some(Message::new()),
        ("fails at an argument that there is not", "CallFunction") => {
            let fault = Message::new().text(1, "wrong: hunter2").number(2, 77);
            Some(Message::new().message(2, &fault))
        }
        ("lists a function that is none", "GetFunctions") => {
            Some(Message::new().entry(1, "whisper", &Message::new()))
        }
        _ => None,
    }
}

fn planned(way: &str, call: &Call<'_>) -> Option<Message> {
    if !is_met(call) {
        return None;
    }
    let state = good::planned_state(call);
    let value =
        |value: Value| Some(Message::new().message(1, &dynamic(&value, &thing())).bytes(3, b"{}"));
    match way {
        "plans something else than was asked for" => {
            value(with(&state, &[("size", Value::int(99))]))
        }
        "plans null" => value(Value::null(thing())),
        "plans the write-only value" => {
            let secret = call.value(4, &thing()).get_attr("secret")?;
            value(with(&state, &[("secret", secret)]))
        }
        "repeats the write-only value elsewhere in its plan" => {
            let secret = call.value(4, &thing()).get_attr("secret")?;
            value(with(&state, &[("note", secret)]))
        }
        "plans no value" => Some(Message::new()),
        "defers a plan" => good::answer(call).map(|it| it.message(6, &Message::new().number(1, 1))),
        "plans another identity" => {
            let it = Message::new().message(1, &dynamic(&state, &thing()));
            Some(it.message(7, &Message::new().message(1, &raw(&[0x91, 0xc3]))))
        }
        "wants to replace for a path that is not there" => {
            let path = Message::new().message(1, &Message::new().text(1, "nowhere"));
            good::answer(call).map(|it| it.message(2, &path))
        }
        "plans 100 MB of private data" => {
            let it = Message::new().message(1, &dynamic(&state, &thing()));
            Some(it.bytes(3, &b"private ".repeat(100 << 17)))
        }
        _ => said(way.strip_prefix("planning, it ").unwrap_or_default(), 4),
    }
}

fn applied(way: &str, call: &Call<'_>) -> Option<Message> {
    if way == "keeps what was to go" && call.value(3, &thing()).is_null() {
        return Some(Message::new().message(1, &dynamic(&call.value(2, &thing()), &thing())));
    }
    if !is_met(call) {
        return None;
    }
    if way.contains("renew") {
        // Long enough for a renewal to become due.
        std::thread::sleep(std::time::Duration::from_millis(1500));
    }
    let made = good::made(call);
    let value =
        |value: Value| Some(Message::new().message(1, &dynamic(&value, &thing())).bytes(2, b"{}"));
    match way {
        "makes something else than was planned" => {
            value(with(&made, &[("name", Value::string("else"))]))
        }
        "makes null" => value(Value::null(thing())),
        "makes an unknown value" => value(with(&made, &[("id", Value::unknown(Type::String))])),
        "makes no value" => Some(Message::new()),
        "makes what cannot be read" => Some(Message::new().message(1, &raw(&[0xc1]))),
        "makes the write-only value" => {
            let secret = call.value(4, &thing()).get_attr("secret")?;
            value(with(&made, &[("secret", secret)]))
        }
        "repeats the write-only value elsewhere" => {
            let secret = call.value(4, &thing()).get_attr("secret")?;
            value(with(&made, &[("note", secret)]))
        }
        "makes an infinite number" => {
            let mut bytes =
                b"\x85\xa2id\xa1i\xa4name\xa3new\xa4note\xa1n\xa6secret\xc0\xa4size".to_vec();
            bytes.extend([0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0]);
            Some(Message::new().message(1, &raw(&bytes)))
        }
        "makes another identity" => {
            let it = Message::new().message(1, &dynamic(&made, &thing()));
            Some(it.message(5, &Message::new().message(1, &raw(&[0x91, 0xc3]))))
        }
        "fails after it made half" => {
            let half = with(&made, &[("note", Value::null(Type::String))]);
            let said = diagnostic(1, "Only half", "The rest failed.");
            Some(Message::new().message(1, &dynamic(&half, &thing())).message(3, &said))
        }
        "makes 100 MB of private data" => {
            let it = Message::new().message(1, &dynamic(&made, &thing()));
            Some(it.bytes(2, &b"private ".repeat(100 << 17)))
        }
        _ => None,
    }
}

fn other(way: &str, call: &Call<'_>) -> Option<Message> {
    let state = |field: u64| call.value(field, &thing());
    let value = |value: Value| Some(Message::new().message(1, &dynamic(&value, &thing())));
    let told = || with(&empty(&thing()), &[("secret", Value::string("surprise"))]);
    match (way, call.method) {
        ("imports another type", "ImportResourceState") => {
            let it = Message::new()
                .text(1, "bad_other")
                .message(2, &dynamic(&empty(&thing()), &thing()));
            Some(Message::new().message(1, &it))
        }
        ("imports nothing", "ImportResourceState") => Some(Message::new()),
        ("imports the write-only value", "ImportResourceState") => {
            let it = Message::new().text(1, "bad_thing").message(2, &dynamic(&told(), &thing()));
            Some(Message::new().message(1, &it))
        }
        ("moves to the write-only value", "MoveResourceState")
        | ("upgrades to the write-only value", "UpgradeResourceState") => value(told()),
        ("moves to what cannot be read", "MoveResourceState") => {
            Some(Message::new().message(1, &raw(&[0xc1])))
        }
        ("moves to another identity", "MoveResourceState") => {
            let it = Message::new().message(1, &dynamic(&empty(&thing()), &thing()));
            Some(it.message(4, &Message::new().message(1, &raw(&[0x91, 0xc3]))))
        }
        ("moves to no identity", "MoveResourceState") => value(empty(&thing())),
        ("upgrades to another identity", "UpgradeResourceIdentity") => {
            let it = Message::new().message(1, &raw(&[0x91, 0xc3]));
            Some(Message::new().message(1, &it))
        }
        ("upgrades to no identity", "UpgradeResourceIdentity") => Some(Message::new()),
        ("reads an unknown object", "ReadResource") => {
            value(with(&state(2), &[("note", Value::unknown(Type::String))]))
        }
        ("reads no object", "ReadResource") => Some(Message::new()),
        ("defers a refresh", "ReadResource") => {
            good::answer(call).map(|it| it.message(4, &Message::new().number(1, 1)))
        }
        ("reads the write-only value", "ReadResource") => {
            value(with(&state(2), &[("secret", Value::string("surprise"))]))
        }
        ("upgrades to what cannot be read", "UpgradeResourceState") => {
            Some(Message::new().message(1, &raw(&[0x91, 0xc3])))
        }
        ("upgrades to null", "UpgradeResourceState") => value(Value::null(thing())),
        ("fails to stop", "StopProvider") => Some(Message::new().text(1, "cannot stop: hunter2")),
        (_, "ValidateResourceConfig") => said(way.strip_prefix("validating, it ")?, 1),
        _ => None,
    }
}
