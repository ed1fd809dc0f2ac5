use std::sync::Arc;

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance, parse_resource_instance};
use expect_test::{Expect, expect};
use values::Path;

use super::*;
use crate::{DeposedKey, InstanceEntry, Object, StateFile, Status};

const OPENTOFU: &str = include_str!("../../tests/data/opentofu-1.12.6.json");

fn address(text: &str) -> ResourceInstance {
    parse_resource_instance(text).expect("an address")
}

fn provider() -> ProviderConfigRef {
    ProviderConfigRef::parse(r#"provider["registry.opentofu.org/mayfly/playground"].eu"#)
        .expect("a provider")
}

fn begin() -> Record {
    Record::Begin(Begin {
        lineage: "l".into(),
        serial: 3,
        digest: Some("abc".into()),
        operation: "apply".into(),
        workspace: "default".into(),
        time: "2026-01-02T03:04:05Z".into(),
        program: "mayfly 0.1.0".into(),
        is_rest: false,
    })
}

fn intent(number: u64, at: &str, action: IntentAction) -> Record {
    Record::Intent(Intent {
        number,
        object: address(at).into(),
        action,
        provider: provider(),
        named: Some("name=blue".into()),
        time: "2026-01-02T03:04:05Z".into(),
    })
}

/// The intent for a deposed object instead of the current one.
fn deposed(record: Record, key: DeposedKey) -> Record {
    let Record::Intent(mut intent) = record else { panic!("no intent") };
    intent.object.deposed = Some(key);
    Record::Intent(intent)
}

fn object(json: &str) -> Object {
    Object { private: Arc::from(&b"\n{}"[..]), ..Object::from_json(0, Arc::from(json)) }
}

fn instance(at: &str, answers: Option<u64>, json: &str) -> Record {
    let mut state = State::default();
    state.set_current(&address(at), &provider(), Arc::new(object(json)));
    Record::Instance(Changed::of(&state, &address(at), answers))
}

fn gone(at: &str, answers: u64) -> Record {
    Record::Instance(Changed::of(&State::default(), &address(at), Some(answers)))
}

fn opening(number: u64, at: &str) -> Record {
    Record::Opening(Opening {
        number,
        address: address(at),
        provider: ProviderSource::default_for("random"),
        time: "2026-01-02T03:04:05Z".into(),
    })
}

fn folding(digest: &str) -> Record {
    Record::Folding { serial: 4, digest: digest.into() }
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut entry = Vec::new();
    for record in records {
        record.write(&mut entry).expect("nothing ephemeral");
    }
    entry
}

fn journal(records: &[Record]) -> Journal {
    let all: Vec<Record> = std::iter::once(begin()).chain(records.iter().cloned()).collect();
    Journal::read(&[written(&all)]).expect("reads").expect("has begun")
}

#[track_caller]
fn fails(entries: &[&str], expected: Expect) {
    let entries: Vec<Vec<u8>> = entries.iter().map(|it| it.as_bytes().to_vec()).collect();
    expected.assert_eq(&Journal::read(&entries).expect_err("no journal").to_string());
}

#[test]
fn journal_record_round_trips_on_one_line() {
    let mut state = State::default();
    let at = address(r#"module.m["a\nb"].test_thing.x[1]"#);
    let full = Object {
        sensitive_paths: vec![Path::root().attr("a")],
        status: Status::Tainted,
        create_before_destroy: true,
        ..object("{\"a\":\"\\u003c\\n\\u003e\",\"b\":1.50}")
    };
    state.set_current(&at, &provider(), Arc::new(full));
    let key = DeposedKey::from_random(7);
    state.set_deposed(&at, key, &provider(), Arc::new(object("{}")));
    let records = [
        begin(),
        intent(1, "test_thing.a", IntentAction::Create),
        intent(2, "test_thing.b[\"k\"]", IntentAction::Delete),
        deposed(intent(3, "test_thing.b[\"k\"]", IntentAction::Delete), key),
        Record::Instance(Changed::of(&state, &at, Some(1))),
        gone("test_thing.b[\"k\"]", 2),
        Record::Unchanged { answers: 9 },
        opening(4, "ephemeral.random_password.p"),
        Record::Closed { number: 4 },
        folding("def"),
    ];
    let entry = written(&records);
    expect![[r#"
        {"begin":{"format":1,"lineage":"l","serial":3,"digest":"abc","operation":"apply","workspace":"default","time":"2026-01-02T03:04:05Z","program":"mayfly 0.1.0"}}
        {"intent":{"number":1,"address":"test_thing.a","action":"create","provider":"provider[\"registry.opentofu.org/mayfly/playground\"].eu","named":"name=blue","time":"2026-01-02T03:04:05Z"}}
        {"intent":{"number":2,"address":"test_thing.b[\"k\"]","action":"delete","provider":"provider[\"registry.opentofu.org/mayfly/playground\"].eu","named":"name=blue","time":"2026-01-02T03:04:05Z"}}
        {"intent":{"number":3,"address":"test_thing.b[\"k\"]","deposed":"00000007","action":"delete","provider":"provider[\"registry.opentofu.org/mayfly/playground\"].eu","named":"name=blue","time":"2026-01-02T03:04:05Z"}}
        {"instance":{"address":"module.m[\"a\\nb\"].test_thing.x[1]","answers":1,"resource":{"module":"module.m[\"a\\nb\"]","mode":"managed","type":"test_thing","name":"x","provider":"provider[\"registry.opentofu.org/mayfly/playground\"].eu","instances":[{"index_key":1,"status":"tainted","schema_version":0,"attributes":{"a":"\u003c\n\u003e","b":1.50},"sensitive_attributes":[[{"type":"get_attr","value":"a"}]],"private":"Cnt9","create_before_destroy":true},{"index_key":1,"deposed":"00000007","schema_version":0,"attributes":{},"sensitive_attributes":[],"private":"Cnt9"}]}}}
        {"instance":{"address":"test_thing.b[\"k\"]","answers":2}}
        {"unchanged":{"answers":9}}
        {"opening":{"number":4,"address":"ephemeral.random_password.p","provider":"registry.opentofu.org/hashicorp/random","time":"2026-01-02T03:04:05Z"}}
        {"closed":{"number":4}}
        {"folding":{"serial":4,"digest":"def"}}
    "#]]
    .assert_eq(&String::from_utf8(entry.clone()).expect("is text"));
    let read = Journal::read(&[entry]).expect("reads").expect("has begun");
    assert_eq!(read.records(), &records[1..]);
    assert_eq!(Record::Begin(read.begin), records[0]);
}

#[test]
fn journal_round_trips_all_instances_of_a_state() {
    let file = StateFile::read(OPENTOFU.as_bytes()).expect("a state");
    let changes: Vec<Record> = file
        .state
        .instances()
        .map(|it| Record::Instance(Changed::of(&file.state, &it.address, None)))
        .collect();
    let mut state = State::default();
    let read = journal(&changes);
    assert_eq!(replay(&mut state, read.records()), changes.len());
    assert!(state.instances().eq(file.state.instances()));
    assert_eq!(replay(&mut state, read.records()), 0, "the state has it all");
}

#[test]
fn records_after_the_last_state_write_are_missing_from_it() {
    let records = [
        instance("test_thing.a", None, "{\"id\":\"1\"}"),
        folding("one"),
        instance("test_thing.b", None, "{\"id\":\"2\"}"),
        folding("two"),
        instance("test_thing.c", None, "{\"id\":\"3\"}"),
    ];
    let journal = journal(&records);
    let lacks = |digest: Option<&str>| journal.since(digest).map(<[Record]>::len);
    assert_eq!(lacks(Some("abc")), Some(5), "as it was at the beginning");
    assert_eq!(lacks(Some("one")), Some(3));
    assert_eq!(lacks(Some("two")), Some(1));
    assert_eq!(lacks(Some("another")), None);
    assert_eq!(lacks(None), None, "there was a state");
}

#[test]
fn last_record_of_an_instance_wins() {
    let mut state = State::default();
    state.set_current(&address("test_thing.old"), &provider(), Arc::new(object("{}")));
    let records = [
        instance("test_thing.a", Some(1), "{\"id\":\"1\"}"),
        instance("test_thing.a", None, "{\"id\":\"2\"}"),
        gone("test_thing.old", 2),
        gone("test_thing.never", 3),
    ];
    assert_eq!(replay(&mut state, &records), 2);
    let ids: Vec<String> = state
        .instances()
        .map(|InstanceEntry { address, instance, .. }| {
            format!("{address} {:?}", instance.current.as_ref().map(|it| it.attributes.clone()))
        })
        .collect();
    assert_eq!(ids.len(), 1);
    let current = state.current(&address("test_thing.a")).expect("is there");
    assert_eq!(current.attributes, crate::Attributes::Json("{\"id\":\"2\"}".into()));
}

#[test]
fn creation_is_uncertain_until_answered() {
    let names = |records: &[Record]| -> Vec<(u64, String)> {
        let journal = journal(records);
        journal.uncertain().iter().map(|it| (it.number, it.object.to_string())).collect()
    };
    let create = |number| intent(number, "test_thing.a", IntentAction::Create);
    let a = || "test_thing.a".to_owned();
    assert_eq!(names(&[create(1)]), [(1, a())]);
    assert_eq!(names(&[create(1), instance("test_thing.a", Some(1), "{}")]), []);
    assert_eq!(names(&[create(1), Record::Unchanged { answers: 1 }]), []);
    assert_eq!(names(&[intent(1, "test_thing.a", IntentAction::Update)]), [], "it is known");
    // A second attempt without a result does not settle the first one.
    let again = [create(1), create(2), Record::Unchanged { answers: 2 }];
    assert_eq!(names(&again), [(1, a())]);
    let done = [create(1), create(2), instance("test_thing.a", Some(2), "{}")];
    assert_eq!(names(&done), []);
    // A record of the object that is to be replaced is no answer.
    assert_eq!(names(&[create(1), instance("test_thing.a", None, "{}")]), [(1, a())]);
}

#[test]
fn ephemeral_without_a_close_record_is_open() {
    let journal = journal(&[
        opening(1, "ephemeral.random_password.a"),
        opening(2, "ephemeral.random_password.b"),
        Record::Closed { number: 1 },
    ]);
    let open: Vec<String> = journal.left_open().iter().map(|it| it.address.to_string()).collect();
    assert_eq!(open, ["ephemeral.random_password.b"]);
}

#[test]
fn invalid_journal_is_an_error_without_a_quotation() {
    fails(
        &["{\"begin\":{\"format\":2,\"other\":true}}"],
        expect!["it has format 2, and this version of Mayfly knows format 1 only"],
    );
    fails(&["{\"unchanged\":{\"answers\":1}}"], expect!["it does not begin as a journal does"]);
    let begin = String::from_utf8(written(&[begin()])).expect("is text");
    fails(
        &[&begin, "{\"instance\":{\"address\":\"hush\",\"resource\":\"hush\"}}"],
        expect![
            "record 1 cannot be understood: Invalid address: Resource specification must include a \
             resource type and name."
        ],
    );
    fails(
        &[&begin, "{\"secret\":\"hush\"}"],
        expect!["record 1 cannot be understood: it goes wrong at byte 9"],
    );
    let invalid = |action: &str, key: &str| {
        format!(
            r#"{{"intent":{{"number":1,"address":"a.b","deposed":"{key}","action":"{action}","provider":"","time":""}}}}"#
        )
    };
    fails(
        &[&begin, &invalid("delete", "hush")],
        expect!["record 1 cannot be understood: its deposed key is invalid"],
    );
    fails(
        &[&begin, &invalid("create", "00000007")],
        expect!["record 1 cannot be understood: it creates a deposed object"],
    );
    assert_eq!(Journal::read(&[]), Ok(None));
}
