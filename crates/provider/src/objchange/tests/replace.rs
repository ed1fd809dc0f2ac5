use values::{Path, Value};

use crate::fixture::{block, block_with, optional, value, write_only};
use crate::objchange::replace_paths;
use crate::schema::Nesting;

#[test]
fn only_changed_paths_require_replacement() {
    let schema = block_with(
        [("o", optional()), ("w", write_only())],
        [("b", Nesting::List, block([("o", optional())]))],
    );
    let prior = value(&schema, r#"{"o": "a", "b": [{"o": "1"}]}"#);
    let planned = value(&schema, r#"{"o": "a", "b": [{"o": "?"}, {"o": "2"}]}"#);
    let at = |index| Path::root().attr("b").index(Value::int(index)).attr("o");
    let (o, w) = (Path::root().attr("o"), Path::root().attr("w"));
    let found = replace_paths(&schema, &prior, &planned, &[o, at(0), at(1), at(2), w.clone()]);
    assert_eq!(found.changed, [at(0), at(1), w.clone()]);
    assert_eq!(found.nonexistent, [at(2)]);
    assert!(found.has_write_only);
    let nothing = Value::null(schema.implied_type().clone());
    assert_eq!(replace_paths(&schema, &nothing, &planned, &[w]).changed, []);
}
