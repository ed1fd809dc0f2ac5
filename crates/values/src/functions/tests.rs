//! Tests of results and messages of every family, and of properties of all functions.

mod additions;
mod budgets;
#[cfg(feature = "mutation")]
mod mutations;
mod nulled;
mod properties;
mod results;
mod samples;
mod unknowns;

use expect_test::expect_file;

use super::{FunctionEnv, FunctionError, RenderError, all, lookup};
use crate::{Value, json};

/// An environment with one file, one template engine and a fixed time.
struct World;

impl FunctionEnv for World {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "hello.txt" => Ok(b"hello\n".to_vec()),
            "binary" => Ok(vec![0xff, 0xfe]),
            _ => Err(format!("no file exists at {path:?}")),
        }
    }

    fn file_exists(&self, path: &str) -> Result<bool, String> {
        Ok(matches!(path, "hello.txt" | "a.txt" | ".hidden" | "d/b.txt" | "d/e/c.md"))
    }

    fn list_directory(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        let entries: &[(&str, bool)] = match path {
            "." => &[(".hidden", false), ("a.txt", false), ("d", true), ("hello.txt", false)],
            "d" => &[("b.txt", false), ("e", true)],
            "d/e" => &[("c.md", false)],
            _ => return Err(format!("no directory exists at {path:?}")),
        };
        Ok(entries.iter().map(|(name, is_directory)| ((*name).to_owned(), *is_directory)).collect())
    }

    fn base_directory(&self) -> Option<String> {
        Some("/here".to_owned())
    }

    fn home_directory(&self) -> Option<String> {
        Some("/home/me".to_owned())
    }

    fn plan_time(&self) -> Option<String> {
        Some("2024-05-01T09:00:00Z".to_owned())
    }

    fn salt(&self) -> Option<[u8; 16]> {
        Some(*b"\x10\x41\x04\x10\x41\x04\x10\x41\x04\x10\x41\x04\x10\x41\x04\x10")
    }

    fn render_template(
        &self,
        _name: &str,
        text: &str,
        variables: &Value,
    ) -> Result<Value, RenderError> {
        if !variables.is_wholly_known() {
            return Ok(Value::dynamic());
        }
        Ok(Value::string(format!("{}{:?}", text.trim_end(), variables.without_all_marks())))
    }

    fn now(&self) -> Option<String> {
        Some("2024-05-01T10:00:00Z".to_owned())
    }

    fn uuid(&self) -> Option<String> {
        None
    }
}

fn call(name: &str, args: &[Value]) -> Result<Value, FunctionError> {
    lookup(name).unwrap_or_else(|| panic!("no function {name}")).call(args, &World)
}

fn from_json(text: &str) -> Value {
    json::decode_implied(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Renders the result of a call whose arguments are the elements of a JSON array.
fn show(name: &str, args: &str) -> String {
    let args = from_json(args);
    match call(name, args.as_slice().expect("an array of arguments")) {
        Ok(value) => format!("{value:?}"),
        Err(error) => match error.argument {
            Some(argument) => format!("error at {argument}: {}", error.message),
            None => format!("error: {}", error.message),
        },
    }
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(name, args, expected)| {
            let got = show(name, args);
            (got != *expected)
                .then(|| format!("{name}({args})\n  expected {expected}\n  got      {got}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks the list from which `cargo xtask codegen` generates the grammars that editors use to colour functions.
#[test]
fn grammar_lists_every_function() {
    let mut names: Vec<&str> = all().map(|function| function.name).collect();
    names.sort_unstable();
    expect_file!["../../../../grammar/words/functions.txt"].assert_eq(&(names.join("\n") + "\n"));
}
