use values::{Path, Type, Value};

use crate::fixture::{block, block_with, computed, optional, optional_computed, value};
use crate::objchange::{IgnoreChanges, ignore_changes};
use crate::schema::{Attribute, Block, Nesting};

fn schema() -> Block {
    block_with(
        [
            ("c", computed()),
            ("m", Attribute::optional(Type::map(Type::String))),
            ("o", optional()),
            ("oc", optional_computed()),
            ("s", Attribute::optional(Type::set(Type::Number))),
        ],
        [("b", Nesting::List, block([("o", optional()), ("p", optional())]))],
    )
}

#[track_caller]
fn check(ignored: &IgnoreChanges, prior: &str, config: &str, expected: &str) {
    let schema = schema();
    let of = |json| value(&schema, json);
    let result = ignore_changes(&of(prior), &of(config), Some(&schema), ignored);
    assert_eq!(result, of(expected), "{prior} {config}");
}

fn path(names: &[&str]) -> Path {
    names.iter().fold(Path::root(), |path, name| match name.parse::<i64>() {
        Ok(index) => path.index(Value::int(index)),
        Err(_) => match name.strip_prefix('@') {
            Some(key) => path.index(key.into()),
            None => path.attr(name),
        },
    })
}

#[test]
fn ignore_changes_all_keeps_the_prior_object_without_computed_values() {
    check(
        &IgnoreChanges::All,
        r#"{"c": "x", "o": "a", "oc": "p", "b": [{"o": "1"}]}"#,
        r#"{"o": "z", "b": []}"#,
        r#"{"o": "a", "oc": "p", "b": [{"o": "1"}]}"#,
    );
}

#[test]
fn ignore_changes_paths_keep_their_prior_value() {
    let cases: [(&[&[&str]], &str, &str, &str); 12] = [
        (
            &[&["o"]],
            r#"{"o": "a", "oc": "p"}"#,
            r#"{"o": "z", "oc": "q"}"#,
            r#"{"o": "a", "oc": "q"}"#,
        ),
        (&[&["o"]], "{}", r#"{"o": "z"}"#, "{}"),
        (&[&["b"]], r#"{"b": [{"o": "1"}]}"#, r#"{"b": []}"#, r#"{"b": [{"o": "1"}]}"#),
        (
            &[&["b", "0", "o"]],
            r#"{"b": [{"o": "1", "p": "1"}]}"#,
            r#"{"b": [{"o": "2", "p": "2"}]}"#,
            r#"{"b": [{"o": "1", "p": "2"}]}"#,
        ),
        // One of the objects lacks the element, so the path is skipped.
        (
            &[&["b", "1", "o"]],
            r#"{"b": [{"o": "1"}]}"#,
            r#"{"b": [{"o": "2"}, {"o": "3"}]}"#,
            r#"{"b": [{"o": "2"}, {"o": "3"}]}"#,
        ),
        // Keys of maps, including keys that one side lacks.
        (
            &[&["m", "@k"]],
            r#"{"m": {"k": "1"}}"#,
            r#"{"m": {"k": "2", "l": "3"}}"#,
            r#"{"m": {"k": "1", "l": "3"}}"#,
        ),
        (
            &[&["m", "@k"]],
            r#"{"m": {"l": "1"}}"#,
            r#"{"m": {"k": "2", "l": "3"}}"#,
            r#"{"m": {"l": "3"}}"#,
        ),
        (
            &[&["m", "@k"], &["m", "@l"]],
            r#"{"m": {"k": "1", "l": "1"}}"#,
            r#"{"m": {}}"#,
            r#"{"m": {"k": "1", "l": "1"}}"#,
        ),
        (&[&["m", "@k"]], "{}", r#"{"m": {"k": "2"}}"#, r#"{"m": {}}"#),
        (
            &[&["m"]],
            r#"{"m": {"k": "1"}}"#,
            r#"{"m": {"k": "2", "l": "3"}}"#,
            r#"{"m": {"k": "1"}}"#,
        ),
        (&[&["m", "@k"]], r#"{"m": {"k": "1"}}"#, r#"{"m": "?"}"#, r#"{"m": "?"}"#),
        // No path leads into a set.
        (&[&["s", "1"]], r#"{"s": [1, 2]}"#, r#"{"s": [1]}"#, r#"{"s": [1]}"#),
    ];
    for (paths, prior, config, expected) in cases {
        let ignored = IgnoreChanges::Paths(paths.iter().map(|names| path(names)).collect());
        let with_blocks = |json: &str| match json.contains("\"b\"") {
            true => json.to_owned(),
            false => json.replacen('{', r#"{"b": [], "#, 1).replace(", }", "}"),
        };
        check(&ignored, &with_blocks(prior), &with_blocks(config), &with_blocks(expected));
    }
}

#[test]
fn ignored_path_covers_its_inner_paths() {
    let block = IgnoreChanges::Paths(vec![path(&["b"]), path(&["b", "0", "o"])]);
    let (prior, config) = (r#"{"b": [{"o": "1", "p": "1"}]}"#, r#"{"b": [{"o": "2"}]}"#);
    check(&block, prior, config, prior);
    let (prior, config) =
        (r#"{"m": {"k": "1", "l": "1"}, "b": []}"#, r#"{"m": {"k": "2"}, "b": []}"#);
    for paths in [[path(&["m"]), path(&["m", "@k"])], [path(&["m", "@k"]), path(&["m"])]] {
        check(&IgnoreChanges::Paths(paths.to_vec()), prior, config, prior);
    }
}
