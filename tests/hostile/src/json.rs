//! Checks of texts in the JSON syntax, without analysis.

use serde_json::Value;
use syntax::{
    TextRange, TextSize,
    json::{JsonKind, JsonValue, parse_json},
};

const PATH: &str = "main.tf.json";
const AHEAD: &str = " \n\n";
/// The errors of `serde_json` about limits that the parser under test does not have.
const LIMITS: [&str; 4] =
    ["number out of range", "surrogate", "end of hex escape", "recursion limit"];

/// Checks a text: `serde_json` reads the same value; each problem has a place in the text; and blank lines ahead
/// move every place and change nothing else.
pub(crate) fn check_json_syntax(bytes: &[u8]) {
    let (text, _) = syntax::decode(bytes);
    check_value(&text);
    let problems = problems(&text);
    for (range, words) in &problems {
        let range = usize::from(range.start())..usize::from(range.end());
        assert!(text.get(range.clone()).is_some(), "{range:?} is not within {text:?}");
        assert!(!words.is_empty(), "{text:?}");
    }
    if text.starts_with('\u{feff}') {
        return;
    }
    let by = TextSize::of(AHEAD);
    let moved = self::problems(&format!("{AHEAD}{text}"));
    let moved: Vec<_> = moved
        .into_iter()
        .map(|(range, words)| (range.checked_sub(by).unwrap_or_default(), words))
        .collect();
    // In an empty text, a problem is at the start of the text.
    if !text.trim().is_empty() {
        assert_eq!(moved, problems, "with something ahead of {text:?}");
    }
}

fn problems(text: &str) -> Vec<(TextRange, String)> {
    let problems = hir::lower::lower_text(text, PATH).problems.into_iter();
    problems.map(|it| (it.range, format!("{}: {}", it.summary, it.detail))).collect()
}

fn check_value(text: &str) {
    let ours = parse_json(text);
    match (serde_json::from_str::<Value>(text), &ours.error) {
        (Ok(theirs), None) => {
            let ours = ours.root.expect("a text without faults has a value");
            assert!(is_same(&ours, &theirs), "{ours:?} is not {theirs:?}, of {text:?}");
        }
        (Ok(_), Some(error)) => {
            assert!(error.summary.contains("deeply"), "{error:?} of {text:?}");
        }
        (Err(theirs), None) => {
            let theirs = theirs.to_string();
            assert!(LIMITS.iter().any(|it| theirs.contains(it)), "{theirs} of {text:?}");
        }
        (Err(_), Some(_)) => {}
    }
}

fn is_same(ours: &JsonValue, theirs: &Value) -> bool {
    match (&ours.kind, theirs) {
        (JsonKind::Null, Value::Null) => true,
        (JsonKind::Bool(ours), Value::Bool(theirs)) => ours == theirs,
        (JsonKind::Number(ours), Value::Number(theirs)) => {
            ours.parse::<f64>().ok() == theirs.to_string().parse::<f64>().ok()
        }
        (JsonKind::String(ours), Value::String(theirs)) => ours.text == *theirs,
        (JsonKind::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| is_same(a, b))
        }
        // `serde_json` keeps the last of several members with the same name.
        (JsonKind::Object(ours), Value::Object(theirs)) => {
            ours.iter().all(|it| theirs.contains_key(&it.name.text))
                && theirs.iter().all(|(name, value)| {
                    let last = ours.iter().rev().find(|it| it.name.text == *name);
                    last.is_some_and(|it| is_same(&it.value, value))
                })
        }
        _ => false,
    }
}
