//! Tests of `mayfly/archive`: `archive_file` as a resource and as a data source.

use std::{fs, io::Read as _, path::Path};

use expect_test::{Expect, expect};
use providers::archive;

use crate::core::{Action, Core, State, assert_no_errors, said_of};

const TYPE: &str = "archive_file";

/// The computed attributes.
const OUTPUTS: [&str; 8] = [
    "id",
    "output_size",
    "output_md5",
    "output_sha",
    "output_sha256",
    "output_sha512",
    "output_base64sha256",
    "output_base64sha512",
];

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("has one")).expect("can be made");
    fs::write(path, text).expect("can be written");
}

/// Returns a core with two files in `src/`.
async fn core() -> Core {
    let core = Core::of(archive::provider()).await;
    write(&core.path("src/a.txt"), "a");
    write(&core.path("src/b.log"), "b");
    core
}

/// A configuration for a zip file of the directory, with more attributes.
fn config(core: &Core, more: &str) -> String {
    let (source, output) = (core.path("src"), core.path("out/dir/all.zip"));
    format!(r#"{{"type": "zip", "source_dir": {source:?}, "output_path": {output:?}{more}}}"#)
}

/// Plans after a refresh, as a core does.
async fn planned(core: &Core, state: &State, config: &str) -> (Action, Vec<String>) {
    let read = core.read(TYPE, state).await.expect("is there");
    let plan = core.plan(TYPE, Some(&read), Some(config)).await;
    assert_no_errors(&plan.diagnostics);
    let value = plan.planned_state.expect("is planned");
    let unknown =
        OUTPUTS.iter().filter(|name| value.get_attr(name).is_some_and(|it| !it.is_known()));
    let unknown = unknown.map(ToString::to_string).collect();
    let action = match plan.requires_replace.is_empty() {
        true if value == read.value => Action::Nothing,
        true => Action::Update,
        false => Action::Replace,
    };
    (action, unknown)
}

/// Checks the digests against those of the file, computed independently.
fn assert_is_of_file(core: &Core, state: &State) {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use sha2::{Digest as _, Sha256};
    let bytes = fs::read(core.path("out/dir/all.zip")).expect("can be read");
    assert_eq!(state.text("output_base64sha256"), STANDARD.encode(Sha256::digest(&bytes)));
    assert_eq!(state.text("id"), state.text("output_sha"));
    let size = state.value.get_attr("output_size").expect("is there");
    assert_eq!(size.as_number().and_then(values::Number::to_i64), i64::try_from(bytes.len()).ok());
}

fn names(archive: &Path) -> Vec<String> {
    let file = fs::File::open(archive).expect("is there");
    let mut zip = zip::ZipArchive::new(file).expect("is a zip");
    let names = (0..zip.len()).map(|index| {
        let mut file = zip.by_index(index).expect("is there");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("is text");
        format!("{}={text}", file.name().expect("is UTF-8"))
    });
    names.collect()
}

#[tokio::test]
async fn archive_file_changes_with_its_files() {
    let core = core().await;
    let plain = config(&core, "");
    assert_no_errors(&core.validate(TYPE, &plain).await);
    let (action, created) = core.apply(TYPE, None, &plain).await;
    assert_eq!(action, Action::Create);
    assert_is_of_file(&core, &created);
    assert_eq!(planned(&core, &created, &plain).await, (Action::Nothing, vec![]));

    let all: Vec<String> = OUTPUTS.iter().map(ToString::to_string).collect();
    write(&core.path("src/a.txt"), "changed");
    assert_eq!(planned(&core, &created, &plain).await, (Action::Update, all.clone()));
    let (_, changed) = core.apply(TYPE, Some(&created), &plain).await;
    assert_is_of_file(&core, &changed);
    assert_ne!(changed.text("id"), created.text("id"));
    assert_eq!(planned(&core, &changed, &plain).await, (Action::Nothing, vec![]));

    let less = config(&core, r#", "excludes": ["*.log"]"#);
    assert_eq!(planned(&core, &changed, &less).await, (Action::Update, all.clone()));
    let (_, smaller) = core.apply(TYPE, Some(&changed), &less).await;
    assert_eq!(names(&core.path("out/dir/all.zip")), ["a.txt=changed"]);

    write(&core.path("out/dir/all.zip"), "of somebody else");
    assert_eq!(planned(&core, &smaller, &less).await, (Action::Update, all.clone()));
    fs::remove_dir_all(core.path("src")).expect("can be removed");
    assert_eq!(planned(&core, &smaller, &less).await, (Action::Update, all));
    fs::remove_file(core.path("out/dir/all.zip")).expect("can be removed");
    assert!(core.read(TYPE, &smaller).await.is_none(), "it is planned for creation again");
}

#[tokio::test]
async fn changed_archive_path_replaces_and_destroy_keeps_the_file() {
    let core = core().await;
    let (_, state) = core.apply(TYPE, None, &config(&core, "")).await;
    let elsewhere = config(&core, "").replace("all.zip", "other.zip");
    assert_eq!(planned(&core, &state, &elsewhere).await.0, Action::Replace);
    core.delete(TYPE, &state).await;
    assert_eq!(names(&core.path("out/dir/all.zip")), ["a.txt=a", "b.log=b"]);
}

#[tokio::test]
async fn archive_data_source_and_resource_write_equal_files() {
    let core = Core::launched_from(env!("CARGO_BIN_EXE_terraform-provider-archive")).await;
    write(&core.path("src/a.txt"), "a");
    for (kind, content) in [
        ("zip", r#""source_file": "src/a.txt""#),
        ("tar.gz", r#""source_content": "a", "source_content_filename": "a.txt""#),
        ("tar.gz", r#""source": [{"content": "a", "filename": "a.txt"}]"#),
        ("zip", r#""source_dir": "src", "output_file_mode": "0600""#),
    ] {
        // Both paths are relative to the working directory of the provider, and the archive is inside of the
        // packed directory.
        let config = format!(r#"{{"type": "{kind}", "output_path": "src/out", {content}}}"#);
        assert_no_errors(&core.validate_data(TYPE, &config).await);
        let read = core.read_data(TYPE, &config).await;
        assert_no_errors(&read.diagnostics);
        let read = read.state.expect("is read");
        let (_, created) = core.apply(TYPE, None, &config).await;
        assert_eq!(created.value, read, "{config}");
        let again = core.read_data(TYPE, &config).await;
        assert_eq!(again.state.as_ref(), Some(&read), "{config}");
    }
    assert_eq!(names(&core.path("src/out")), ["a.txt=a"]);
}

/// Checks the errors for a configuration, from validation or else from reading and creating.
#[track_caller]
fn assert_said(core: &Core, said: &str, expected: &Expect) {
    let folder = core.path("").to_string_lossy().into_owned();
    expected.assert_eq(&said.replace(&folder, "").replace("-secret-", "SHOWN"));
}

#[tokio::test]
async fn invalid_archive_arguments_name_the_attribute() {
    let core = core().await;
    let text = r#""source_content": "-secret-", "source_content_filename": "f""#;
    let invalid = |members: &str| format!(r#"{{"output_path": "o", {members}}}"#);
    for (members, expected) in [
        (
            format!(r#""type": "rar", {text}"#),
            expect![".type: Invalid Attribute Value Match: type must be one of: zip, tar.gz."],
        ),
        (
            format!(r#""type": "zip", "output_file_mode": "rw", {text}"#),
            expect![[
                r#".output_file_mode: Invalid File Mode: output_file_mode must be permissions in octal digits, such as "0644"."#
            ]],
        ),
        (
            r#""type": "zip", "source": [{"content": "-secret-", "filename": "/f"}]"#.to_owned(),
            expect![[
                r#".source: Invalid File Name: The file name "/f" leads out of the archive."#
            ]],
        ),
        (
            format!(r#""type": "zip", "source_file": "f", {text}"#),
            expect![
                ".source_file: Invalid Attribute Combination: Exactly one of source, \
                 source_content, source_file, source_dir must be given; source_content and source_file are."
            ],
        ),
    ] {
        let config = invalid(&members);
        let said = said_of(&core.validate(TYPE, &config).await);
        assert_eq!(said, said_of(&core.validate_data(TYPE, &config).await));
        assert_said(&core, &said, &expected);
    }
}

#[tokio::test]
async fn archive_write_errors_name_the_attribute() {
    let core = core().await;
    write(&core.path("file"), "");
    let path = |name: &str| core.path(name);
    for (content, output, expected) in [
        (
            format!(r#""source_dir": {:?}"#, path("none")),
            path("o"),
            expect![
                ".source_dir: Source Cannot Be Archived: none: No such file or directory (os error 2)."
            ],
        ),
        (
            format!(r#""source_dir": {:?}, "excludes": ["**"]"#, path("src")),
            path("o"),
            expect![
                ".source_dir: Source Cannot Be Archived: src: the archive has not been created as it would be empty."
            ],
        ),
        (
            format!(r#""source_file": {:?}"#, path("src")),
            path("o"),
            expect![".source_file: Source Cannot Be Archived: src: it is not a regular file."],
        ),
        (
            r#""source_content": "-secret-", "source_content_filename": "f""#.to_owned(),
            path("src"),
            expect![".output_path: Archive Cannot Be Written: src: is a directory."],
        ),
        (
            r#""source_content": "-secret-", "source_content_filename": "f""#.to_owned(),
            path("file/below"),
            expect![
                ".output_path: Archive Cannot Be Written: file/below: Not a directory (os error 20)."
            ],
        ),
    ] {
        let config = format!(r#"{{"type": "zip", "output_path": {output:?}, {content}}}"#);
        assert_no_errors(&core.validate_data(TYPE, &config).await);
        assert_said(&core, &said_of(&core.read_data(TYPE, &config).await.diagnostics), &expected);
        let (_, applied) = core.change(TYPE, None, Some(&config)).await;
        assert_said(&core, &said_of(&applied.diagnostics), &expected);
        assert!(applied.new_state.is_some_and(|it| it.is_null()), "there is nothing");
    }
}
