//! Tests of `mayfly/local`: `local_file` and `local_sensitive_file`, as resources and as data sources.

use std::{fs, os::unix::fs::PermissionsExt as _};

use expect_test::{Expect, expect};
use providers::local;

use crate::core::{Action, Core, assert_no_errors, said_of};

const PLAIN: &str = "local_file";
const SENSITIVE: &str = "local_sensitive_file";
const BOTH: [&str; 2] = [PLAIN, SENSITIVE];

/// The SHA-1 of `hello`.
const ID: &str = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d";

fn config(core: &Core, more: &str) -> String {
    format!(r#"{{"filename": {:?}, {more}}}"#, core.path("dir/file"))
}

#[tokio::test]
async fn local_file_is_written_replaced_and_removed() {
    let core = Core::of(local::provider()).await;
    let hello = config(&core, r#""content": "hello""#);
    for kind in BOTH {
        assert_no_errors(&core.validate(kind, &hello).await);
        let (action, created) = core.apply(kind, None, &hello).await;
        assert_eq!((action, created.text("id").as_str()), (Action::Create, ID));
        assert_eq!(fs::read_to_string(core.path("dir/file")).expect("is there"), "hello");
        let read = core.read(kind, &created).await.expect("is there");
        assert_eq!(read.value, created.value);
        let again = core.plan(kind, Some(&read), Some(&hello)).await;
        assert_eq!(again.planned_state.as_ref(), Some(&read.value), "the second plan is empty");
        for changed in [
            r#""content": "bye""#,
            r#""content_base64": "aGVsbG8=""#,
            r#""content": "hello", "file_permission": "0600""#,
            r#""content": "hello", "directory_permission": "0700", "file_permission": "0644""#,
        ] {
            let plan = core.plan(kind, Some(&read), Some(&config(&core, changed))).await;
            assert!(!plan.requires_replace.is_empty(), "{changed}");
            let planned = plan.planned_state.expect("is planned");
            assert!(planned.get_attr("content_sha512").is_some_and(|it| !it.is_known()));
        }
        core.delete(kind, &created).await;
        assert!(!core.path("dir/file").exists() && core.path("dir").exists());
        core.delete(kind, &created).await;
    }
}

#[tokio::test]
async fn every_content_argument_writes_the_same_file() {
    let core = Core::launched_from(env!("CARGO_BIN_EXE_terraform-provider-local")).await;
    fs::write(core.path("source"), "hello").expect("can be written");
    for (kind, way) in [
        (PLAIN, r#""content": "hello""#),
        (PLAIN, r#""content_base64": "aGVsbG8=""#),
        (PLAIN, r#""sensitive_content": "hello""#),
        (PLAIN, r#""source": "source""#),
        (SENSITIVE, r#""content": "hello""#),
        (SENSITIVE, r#""content_base64": "aGVsbG8=""#),
        (SENSITIVE, r#""source": "source""#),
    ] {
        // The path is relative to the working directory of the provider.
        let config = format!(r#"{{"filename": "copy", {way}}}"#);
        let (_, state) = core.apply(kind, None, &config).await;
        let hashes = ["id", "content_md5", "content_base64sha256"].map(|name| state.text(name));
        let sha256 = "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=";
        assert_eq!(hashes, [ID, "5d41402abc4b2a76b9719d911017c592", sha256], "{kind} {way}");
        assert_eq!(fs::read(core.path("copy")).expect("is there"), b"hello");
        core.delete(kind, &state).await;
    }
}

#[tokio::test]
async fn local_files_have_requested_permissions_and_sensitive_defaults() {
    let core = Core::of(local::provider()).await;
    let mode =
        |name: &str| fs::metadata(core.path(name)).expect("is there").permissions().mode() & 0o777;
    let (_, asked) = core
        .apply(
            PLAIN,
            None,
            &config(
                &core,
                r#""content": "x", "file_permission": "400", "directory_permission": "0700""#,
            ),
        )
        .await;
    assert_eq!((mode("dir"), mode("dir/file")), (0o700, 0o400));
    core.delete(PLAIN, &asked).await;
    let (_, narrow) = core.apply(SENSITIVE, None, &config(&core, r#""content": "x""#)).await;
    assert_eq!((mode("dir/file"), narrow.text("file_permission").as_str()), (0o700, "0700"));
    core.delete(SENSITIVE, &narrow).await;
    let (_, wide) = core.apply(PLAIN, None, &config(&core, r#""content": "x""#)).await;
    assert_eq!(wide.text("file_permission"), "0777");
    assert_eq!(wide.text("directory_permission"), "0777");
}

#[tokio::test]
async fn destroy_keeps_a_file_changed_by_others() {
    let core = Core::of(local::provider()).await;
    let (_, state) = core.apply(PLAIN, None, &config(&core, r#""content": "hello""#)).await;
    fs::write(core.path("dir/file"), "theirs").expect("can be written");
    assert!(core.read(PLAIN, &state).await.is_none(), "it is planned for creation again");
    core.delete(PLAIN, &state).await;
    assert_eq!(fs::read_to_string(core.path("dir/file")).expect("is there"), "theirs");
    fs::remove_file(core.path("dir/file")).expect("can be removed");
    fs::create_dir(core.path("dir/file")).expect("can be made");
    assert!(core.read(PLAIN, &state).await.is_none());
    fs::remove_dir_all(core.path("dir")).expect("can be removed");
    fs::write(core.path("dir"), "").expect("can be written");
    assert!(core.read(PLAIN, &state).await.is_none());
}

#[tokio::test]
async fn local_file_data_source_reads_text_and_bytes() {
    let core = Core::of(local::provider()).await;
    fs::create_dir(core.path("dir")).expect("can be made");
    for kind in BOTH {
        for (bytes, text, base64) in
            [(&b"hello"[..], "hello", "aGVsbG8="), (b"", "", ""), (b"a\xffb", "a\u{fffd}b", "Yf9i")]
        {
            fs::write(core.path("dir/file"), bytes).expect("can be written");
            let config = format!(r#"{{"filename": {:?}}}"#, core.path("dir/file"));
            assert_no_errors(&core.validate_data(kind, &config).await);
            let read = core.read_data(kind, &config).await;
            assert_no_errors(&read.diagnostics);
            let state = read.state.expect("is read");
            let attribute = |name: &str| state.get_attr(name).expect("is there");
            assert_eq!(attribute("content").as_str(), Some(text));
            assert_eq!(attribute("content_base64").as_str(), Some(base64));
            assert_eq!(attribute("id"), attribute("content_sha1"));
            assert!(state.is_wholly_known() && !attribute("content_base64sha512").is_null());
        }
    }
}

#[tokio::test]
async fn sensitive_attributes_of_local_files_are_in_the_schema() {
    let schemas = provider::Provider::schemas(&local::provider()).await.expect("has schemas");
    let sensitive = |block: &provider::Block| {
        let names = block.attributes().iter().filter(|(_, it)| it.sensitive);
        names.map(|(name, _)| name.to_string()).collect::<Vec<_>>()
    };
    let managed = |kind| sensitive(schemas.managed(kind).expect("is there").block());
    let data = |kind| sensitive(schemas.data(kind).expect("is there").block());
    assert_eq!(managed(PLAIN), ["sensitive_content"]);
    assert_eq!(managed(SENSITIVE), ["content", "content_base64"]);
    assert_eq!(data(PLAIN), Vec::<String>::new());
    assert_eq!(data(SENSITIVE), ["content", "content_base64"]);
}

#[track_caller]
fn assert_said(core: &Core, said: &str, expected: &Expect) {
    let folder = core.path("").to_string_lossy().into_owned();
    expected.assert_eq(&said.replace(&folder, "").replace("-secret-", "SHOWN"));
}

#[tokio::test]
async fn invalid_local_file_arguments_name_the_attribute_without_content() {
    let core = Core::of(local::provider()).await;
    for (more, expected) in [
        (
            r#""source": "s", "content": "-secret-""#,
            expect![
                ".content: Invalid Attribute Combination: Exactly one of content, content_base64, source must be set."
            ],
        ),
        (
            r#""file_permission": "0644""#,
            expect![
                ".content: Invalid Attribute Combination: Exactly one of content, content_base64, source must be set."
            ],
        ),
        (
            r#""content_base64": "-secret-""#,
            expect![".content_base64: Invalid Base64: content_base64 must be base64."],
        ),
        (
            r#""content": "-secret-", "directory_permission": "1777""#,
            expect![[
                r#".directory_permission: Invalid File Mode: directory_permission must be permissions in octal digits, such as "0644"."#
            ]],
        ),
    ] {
        let said = said_of(&core.validate(SENSITIVE, &config(&core, more)).await);
        assert_said(&core, &said, &expected);
    }
    let said = core.validate(PLAIN, &config(&core, r#""sensitive_content": "-secret-""#)).await;
    let expected = expect![
        "warning: .sensitive_content: Attribute Deprecated: Use the resource local_sensitive_file instead."
    ];
    assert_said(&core, &said_of(&said), &expected);
}

#[tokio::test]
async fn local_file_errors_name_the_attribute() {
    let core = Core::of(local::provider()).await;
    fs::write(core.path("dir"), "a file").expect("can be written");
    let copy =
        format!(r#"{{"filename": {:?}, "source": {:?}}}"#, core.path("f"), core.path("none"));
    let folder = format!(r#"{{"filename": {:?}, "source": {:?}}}"#, core.path("f"), core.path(""));
    for (config, expected) in [
        (
            config(&core, r#""content": "-secret-""#),
            expect![".filename: File Cannot Be Written: dir/file: Not a directory (os error 20)."],
        ),
        (
            copy,
            expect![
                ".source: Source Cannot Be Read: none: No such file or directory (os error 2)."
            ],
        ),
        (folder, expect![".source: Source Cannot Be Read: : is a directory."]),
    ] {
        let (_, applied) = core.change(SENSITIVE, None, Some(&config)).await;
        assert_said(&core, &said_of(&applied.diagnostics), &expected);
        assert!(applied.new_state.is_some_and(|it| it.is_null()), "there is nothing");
    }
    let missing = format!(r#"{{"filename": {:?}}}"#, core.path("none"));
    let expected =
        expect![".filename: File Cannot Be Read: none: No such file or directory (os error 2)."];
    let said = said_of(&core.read_data(PLAIN, &missing).await.diagnostics);
    assert_said(&core, &said, &expected);
}
