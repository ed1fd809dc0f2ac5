use std::io::{Cursor, Write};
use std::sync::Arc;

use addr::parse_resource_instance;
use expect_test::{Expect, expect};
use proptest::prelude::*;
use values::{Mark, Type, Value};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::EncodeError;
use crate::plan::archive::{self, Entry, Kind, NewEntry};
use crate::plan::file::{PlanFile, PlanFileError, TempKind};
use crate::plan::model::{Action, EphemeralPlan, Plan, ResourceChange};
use crate::plan::samples::{PROGRAM, change, file, plan, temp};
use crate::plan::{decode, encode};

fn first_change(plan: &mut Plan) -> &mut ResourceChange {
    Arc::make_mut(plan.resource_changes.first_mut().expect("has one"))
}

#[track_caller]
fn refused(bytes: &[u8], expected: Expect) {
    let error = PlanFile::read(bytes, PROGRAM).expect_err("not a plan");
    expected.assert_eq(&error.to_string());
}

/// Returns a plan file with edited entries.
fn edited(edit: impl FnOnce(&mut archive::Entries)) -> Vec<u8> {
    let mut entries = archive::unpack(&file().write().expect("a plan")).expect("a plan");
    edit(&mut entries);
    let entries = entries.iter().map(|(name, it)| NewEntry {
        name: name.clone(),
        kind: it.kind,
        content: &it.content,
    });
    archive::pack(entries).expect("safe names")
}

/// Creates a zip file without any of the writer's checks.
fn raw_zip(entries: &[(&str, &[u8], SimpleFileOptions)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content, options) in entries {
        zip.start_file(*name, *options).expect("in memory");
        zip.write_all(content).expect("in memory");
    }
    zip.finish().expect("in memory").into_inner()
}

fn private() -> SimpleFileOptions {
    SimpleFileOptions::default().unix_permissions(0o600)
}

#[test]
fn plan_file_round_trips() {
    let bytes = file().write().expect("a plan");
    assert_eq!(PlanFile::read(&bytes, PROGRAM).as_ref(), Ok(&file()));
    assert_eq!(file().write().expect("a plan"), bytes, "the same plan gives the same bytes");
}

#[test]
fn plan_file_has_the_documented_entries() {
    let entries = archive::unpack(&file().write().expect("a plan")).expect("a plan");
    let names: Vec<_> = entries.keys().map(String::as_str).collect();
    expect![[r#"
        .terraform.lock.hcl
        tfconfig/m-/main.tf
        tfconfig/m-a.b/main.tf
        tfconfig/modules.json
        tfplan
        tfstate
        tfstate-prev
        tmp/0123/bin/tool
        tmp/0123/latest
        tmp/4567/a.zip"#]]
    .assert_eq(&names.join("\n"));
}

#[test]
fn plan_file_stores_each_type_once() {
    let mut many = plan();
    let one = encode::encode(&many).expect("a plan").len();
    many.resource_changes.extend((0..10).map(|it| change(&format!("t.n[{it}]")).into()));
    let more = (encode::encode(&many).expect("a plan").len() - one) / 10;
    assert!(more < 260, "{more} bytes for each change");
}

#[test]
fn ephemeral_value_cannot_be_encoded_in_a_plan() {
    let secret = || Value::string("hunter2").with_mark(Mark::Ephemeral);
    let mut it = plan();
    it.variables.insert("v".into(), Value::tuple(vec![secret()]));
    expect!["var.v[0] is ephemeral, and ephemeral values are never saved"]
        .assert_eq(&encode::encode(&it).expect_err("ephemeral").to_string());
    let mut it = plan();
    first_change(&mut it).change.after = Value::object_from([("a", secret())]);
    expect![[r#"module.m["a.b"].t.n[0].a is ephemeral, and ephemeral values are never saved"#]]
        .assert_eq(&encode::encode(&it).expect_err("ephemeral").to_string());
    let mut it = plan();
    first_change(&mut it).addr = parse_resource_instance("ephemeral.t.n").expect("an address");
    assert!(matches!(encode::encode(&it), Err(EncodeError::EphemeralResource(_))));
}

#[test]
fn plan_that_opens_a_managed_resource_is_damaged() {
    let mut it = plan();
    it.ephemerals =
        vec![EphemeralPlan { addr: parse_resource_instance("t.n").expect("an address") }];
    let bytes = encode::encode(&it).expect("a plan");
    expect![[r#"the saved plan is damaged at "tfplan": it opens t.n, which is not ephemeral; make a new plan"#]]
        .assert_eq(&decode::decode(&bytes, PROGRAM).expect_err("damaged").to_string());
}

#[test]
fn plan_of_another_version_is_an_error() {
    let bytes = file().write().expect("a plan");
    let error = PlanFile::read(&bytes, "mayfly 0.2.0").expect_err("made by another");
    expect![
        "plan file was created by mayfly 0.1.0, but this is mayfly 0.2.0; plan files cannot be \
             transferred between different versions"
    ]
    .assert_eq(&error.to_string());
}

#[test]
fn invalid_plan_file_is_an_error() {
    refused(b"", expect!["the given file is not a valid plan file"]);
    refused(b"{\"version\": 4}", expect!["the given file is not a valid plan file"]);
    refused(
        b"PK\x03\x04",
        expect![
            "the saved plan is damaged: invalid Zip archive: Could not find EOCD; make a new plan"
        ],
    );
    refused(
        &raw_zip(&[("a", b"", private())]),
        expect![[
            r#"the saved plan is damaged at "tfplan": the entry is missing; make a new plan"#
        ]],
    );
    refused(
        &edited(|it| drop(it.remove("tfstate"))),
        expect![[
            r#"the saved plan is damaged at "tfstate": the entry is missing; make a new plan"#
        ]],
    );
    refused(
        &edited(|it| drop(it.insert("extra".into(), Entry { kind: Kind::File, content: vec![] }))),
        expect![[
            r#"the saved plan is damaged at "extra": a plan has no such entry; make a new plan"#
        ]],
    );
    refused(
        &edited(|it| {
            drop(it.insert("tfplan".into(), Entry { kind: Kind::File, content: vec![1] }))
        }),
        expect![[
            r#"the saved plan is damaged at "tfplan": failed to decode Protobuf message: invalid tag value: 0; make a new plan"#
        ]],
    );
    refused(
        &edited(|it| {
            drop(it.insert("tfstate".into(), Entry { kind: Kind::File, content: b"{}".to_vec() }))
        }),
        expect![[
            r#"the saved plan is damaged at "tfstate": Unsupported state file format: The state file does not have a "version" attribute, which is required to identify the format version.; make a new plan"#
        ]],
    );
    refused(
        &edited(|it| {
            drop(it.insert("tfplan".into(), Entry { kind: Kind::Executable, content: vec![] }))
        }),
        expect![[
            r#"the saved plan is damaged at "tfplan": the entry is not an ordinary file; make a new plan"#
        ]],
    );
    refused(
        &edited(|it| {
            drop(it.insert("tfconfig/m-c/x.tf".into(), Entry { kind: Kind::File, content: vec![] }))
        }),
        expect![[
            r#"the saved plan is damaged at "tfconfig/m-c/x.tf": it belongs to no module; make a new plan"#
        ]],
    );
    refused(
        &edited(|it| {
            drop(
                it.insert("tfconfig/m-/d/x.tf".into(), Entry { kind: Kind::File, content: vec![] }),
            )
        }),
        expect![[
            r#"the saved plan is damaged at "tfconfig/m-/d/x.tf": it belongs to no module; make a new plan"#
        ]],
    );
}

#[test]
fn plan_archive_with_foreign_features_is_refused() {
    let zip = |name, options| raw_zip(&[(name, b"x", options)]);
    refused(
        &zip("../a", private()),
        expect![[
            r#"the saved plan is damaged at "../a": the name leads elsewhere; make a new plan"#
        ]],
    );
    refused(
        &zip("/a", private()),
        expect![[
            r#"the saved plan is damaged at "/a": the name leads elsewhere; make a new plan"#
        ]],
    );
    refused(
        &zip("a\\..\\b", private()),
        expect![[
            r#"the saved plan is damaged at "a\\..\\b": the name leads elsewhere; make a new plan"#
        ]],
    );
    refused(
        &zip("C:/a", private()),
        expect![[
            r#"the saved plan is damaged at "C:/a": the name leads elsewhere; make a new plan"#
        ]],
    );
    refused(
        &zip("a/", private()),
        expect![[
            r#"the saved plan is damaged at "a/": the name leads elsewhere; make a new plan"#
        ]],
    );
    refused(
        &zip("a", private().unix_permissions(0o644)),
        expect![[
            r#"the saved plan is damaged at "a": the entry's mode is 100644; make a new plan"#
        ]],
    );
    let bomb = raw_zip(&[("a", &[0; 4096], private()), ("b", &[0; 4096], private())]);
    let unpacked = |limit| archive::unpack_within(&bomb, limit).map_err(|it| it.to_string());
    assert!(unpacked(8192).is_ok());
    expect![[r#"the saved plan is damaged at "b": the plan would unpack to more than its size allows; make a new plan"#]]
        .assert_eq(&unpacked(8191).expect_err("too big"));
    let with_junk = [b"PK\x03\x04 junk".as_slice(), &file().write().expect("a plan")].concat();
    assert!(PlanFile::read(&with_junk, PROGRAM).is_err());
}

#[test]
fn temporary_files_of_a_plan_stay_in_their_directories() {
    let link = |path: &str, target: &str| {
        let mut it = temp(path, false);
        it.kind = TempKind::Symlink { target: target.to_owned() };
        it
    };
    let refuses = |entries: Vec<_>| {
        let plan = PlanFile { temp: entries, ..file() };
        assert!(matches!(plan.write(), Err(EncodeError::Archive(_))), "{:?}", plan.temp);
    };
    refuses(vec![temp("at-the-top", false)]);
    refuses(vec![temp("h/a", false), temp("h/a", false)]);
    refuses(vec![temp("h/a", false), temp("h/a/b", false)]);
    refuses(vec![link("h/a", "../b")]);
    refuses(vec![link("h/d/a", "../../b")]);
    refuses(vec![link("h/a", "/etc/passwd")]);
    refuses(vec![link("h/a", "d/../../b")]);
    refuses(vec![link("h/a", "")]);
    refuses(vec![link("h/a", "d"), temp("h/a/b", false)]);
    let fine = vec![link("h/d/a", "../e"), temp("h/d/x:1", false), link("h/z", "d/x:1")];
    let plan = PlanFile { temp: fine, ..file() };
    assert_eq!(PlanFile::read(&plan.write().expect("fine"), PROGRAM), Ok(plan));
}

/// Returns a plan with one more temporary file, in which `from` is replaced by `to` everywhere.
#[track_caller]
fn attacked(kind: Kind, content: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let bytes = edited(|it| {
        drop(it.insert("tmp/hash/name".into(), Entry { kind, content: content.to_vec() }))
    });
    assert_eq!(PlanFile::read(&bytes, PROGRAM).map(|_| ()), Ok(()), "it is a plan before");
    let mut patched = Vec::new();
    let mut rest = bytes.as_slice();
    let mut count = 0;
    while let Some(at) = rest.windows(from.len()).position(|it| it == from) {
        patched.extend_from_slice(&rest[..at]);
        patched.extend_from_slice(to);
        rest = &rest[at + from.len()..];
        count += 1;
    }
    assert!(count > 0, "{from:?} is not there");
    patched.extend_from_slice(rest);
    patched
}

#[test]
fn modified_plan_file_is_refused() {
    let file = |to: &[u8]| attacked(Kind::File, b"x", b"tmp/hash/name", to);
    let says = |bytes: &[u8], words: &str| {
        let error = PlanFile::read(bytes, PROGRAM).map(|_| ()).expect_err(words).to_string();
        assert!(error.contains(words), "{error:?} does not say {words:?}");
    };
    // The path of a file.
    says(&file(b"tmp/../../name"[1..].as_ref()), "the name leads elsewhere");
    says(&file(b"/tmp/hash/nam"), "the name leads elsewhere");
    says(&file(b"tmp/hash\\name"), "the name leads elsewhere");
    says(&file(b"tmp/hash/./me"), "the name leads elsewhere");
    says(&file(b"tmp/hash//ame"), "the name leads elsewhere");
    says(&file(b"tmp/hash/na\x00e"), "the name leads elsewhere");
    says(&file(b"tmp/hash/na\x1be"), "the name leads elsewhere");
    says(&file(b"tmp/hash/n\xff\xfee"), "not UTF-8");
    says(&file(b"tmp/hash_name"), "it is in no module's directory");
    says(&file(b"other/as/name"), "a plan has no such entry");
    // The target of a link, and entries below a link.
    let link = |to: &[u8]| attacked(Kind::Symlink, b"inside-of-it", b"inside-of-it", to);
    let links = |target: &[u8]| {
        edited(|it| {
            drop(it.insert(
                "tmp/hash/link".into(),
                Entry { kind: Kind::Symlink, content: target.to_vec() },
            ))
        })
    };
    for target in [&b"/etc/passwd"[..], b"../other/file", b"a/../../../b", b"..", b"", b"a\\b"] {
        says(&links(target), "points outside of its module's directory");
    }
    // The checksum is that of the original link.
    says(&link(b"../../../../"), "damaged");
    let under = |it: &mut archive::Entries| {
        it.insert(
            "tmp/hash/link".into(),
            Entry { kind: Kind::Symlink, content: b"other".to_vec() },
        );
        it.insert("tmp/hash/link/file".into(), Entry { kind: Kind::File, content: Vec::new() });
    };
    says(&edited(under), "lies under something that is not a directory");
    // The file type: a pipe, a device, a directory or none. (Permission bits other than the executable bit are not
    // read.)
    let mode = |mode: u32| {
        let attributes = |mode: u32| (mode << 16).to_le_bytes();
        attacked(Kind::Executable, b"x", &attributes(0o100_700), &attributes(mode))
    };
    for (mode_bits, shown) in
        [(0o010_600, "10600"), (0o060_600, "60600"), (0o040_700, "40700"), (0, "mode is 0")]
    {
        says(&mode(mode_bits), shown);
    }
    // Bytes around and between the entries.
    says(&[&file(b"tmp/hash/name")[..], b"more"].concat(), "damaged");
    says(&[b"more", &file(b"tmp/hash/name")[..]].concat(), "not a valid plan file");
    let twice = |it: &mut archive::Entries| {
        it.insert("tmp/hash/aa".into(), Entry { kind: Kind::File, content: Vec::new() });
        it.insert("tmp/hash/ab".into(), Entry { kind: Kind::File, content: Vec::new() });
    };
    let twice = edited(twice);
    let text = twice.windows(11).map(|it| it == b"tmp/hash/ab").collect::<Vec<_>>();
    let mut same = twice;
    text.iter().enumerate().filter(|(_, is)| **is).for_each(|(at, _)| same[at + 10] = b'a');
    says(&same, "damaged");
}

/// Flipping a bit or cutting the file is an error, and never a panic.
#[test]
fn damaged_plan_is_an_error_without_a_panic() {
    let bytes = file().write().expect("a plan");
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert!(PlanFile::read(&flipped, PROGRAM).is_err(), "flipped at {at}");
        assert!(PlanFile::read(&bytes[..at], PROGRAM).is_err(), "cut at {at}");
    }
    let plain = encode::encode(&plan()).expect("a plan");
    for at in 0..plain.len() {
        let mut flipped = plain.clone();
        flipped[at] ^= 1 << (at % 8);
        let _ = decode::decode(&flipped, PROGRAM);
        let _ = decode::decode(&plain[..at], PROGRAM);
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::bool),
        any::<i64>().prop_map(Value::int),
        "[a-z<&é]{0,4}".prop_map(|it| Value::string(it.as_str())),
        Just(Value::null(Type::String)),
        Just(Value::null(Type::Dynamic)),
        Just(Value::unknown(Type::Number)),
        Just(Value::unknown(Type::String).refined_not_null()),
        Just(Value::dynamic()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let entries = prop::collection::btree_map("[a-c]", inner.clone(), 0..3);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::tuple),
            entries.prop_map(Value::object_from),
            prop::collection::vec(any::<i64>().prop_map(Value::int), 0..3)
                .prop_map(|it| Value::list(Type::Number, it)),
            prop::collection::vec("[a-c]".prop_map(|it| Value::string(it.as_str())), 0..3)
                .prop_map(|it| Value::set(Type::String, it)),
            inner.prop_map(|it| it.with_mark(Mark::Sensitive)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_round_trips_in_a_plan(before in any_value(), after in any_value()) {
        let mut it = plan();
        first_change(&mut it).change.before = before;
        first_change(&mut it).change.after = after;
        let back = decode::decode(&encode::encode(&it).expect("nothing ephemeral"), PROGRAM);
        let back = back.map_err(|it: PlanFileError| TestCaseError::fail(it.to_string()))?;
        let (ours, theirs) = (&it.resource_changes[0].change, &back.resource_changes[0].change);
        prop_assert!(ours.before.raw_equals(&theirs.before), "{:?} {:?}", ours.before, theirs.before);
        prop_assert!(ours.after.raw_equals(&theirs.after), "{:?} {:?}", ours.after, theirs.after);
        prop_assert!(it == back);
    }
}

#[test]
fn a_deposed_object_is_only_destroyed_or_forgotten() {
    let mut plan = plan();
    let deposed = plan.resource_changes.iter_mut().find(|it| it.deposed.is_some());
    Arc::make_mut(deposed.expect("has one")).change.action = Action::Update;
    let bytes = encode::encode(&plan).expect("encodes");
    let error = decode::decode(&bytes, PROGRAM).expect_err("is refused");
    expect![[r#"the saved plan is damaged at "tfplan": it has the action Update for a deposed object of t.x["k"]; make a new plan"#]].assert_eq(&error.to_string());
}
