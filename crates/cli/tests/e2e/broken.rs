//! Compares the first syntax error of randomly broken texts with the real `terraform`, where it is installed.
//! Summary and place must be the same.
//!
//! Each text is a sample in which one token is removed, doubled, swapped with its neighbor, replaced, or has
//! another one inserted before it. All texts are in one directory, so that a single process reads them.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _, process::Command};

use crate::bench::Bench;

/// The number of broken texts. `MAYFLY_BROKEN_TEXTS` sets another one.
const TEXTS: usize = 400;

/// The tokens to insert.
const TOKENS: &[&str] = &[
    "{", "}", "[", "]", "(", ")", "=", ",", ".", ":", "?", "...", "\"", "${", "%{", "\n", "x", "1",
    "+", "&&", "!", "=>", "'", ";", "@", "::", "*", "for", "in", "if", "<<EOT\n", "#", "/*", "==",
    "~}",
];

/// The samples. They are short, so that a change is likely to cause an error.
const SOURCES: &[&str] = &[
    "resource \"terraform_data\" \"a\" {\n  count = 2\n  input = { a = 1, b = [1, 2], \"c\" = null \
     }\n  lifecycle {\n    ignore_changes = [input]\n  }\n}\n",
    "locals {\n  a = var.x ? f(1, 2...) : !local.b\n  b = [for k, v in var.m : \"${k}-${v}\" if v \
     != null]\n  c = { for v in var.l : v => v.x... }\n}\n",
    "locals {\n  t = \"a ${ var.x } b %{ if var.y }yes%{ else }no%{ endif } c\"\n  h = <<-EOT\n    \
     one ${var.z}\n    two\n  EOT\n  n = -1 + 2 * 3 % 4 >= 5 && true || false\n}\n",
    "variable \"x\" {\n  type = object({\n    a = string\n    b = optional(number, 5)\n  })\n  \
     default = {\n    a = \"x\"\n  }\n}\n\noutput \"o\" {\n  value = var.x[\"a\"][0].b[*].c.*.d\n}\n",
    "# A comment.\nmodule \"m\" {\n  source = \"./m\" // another\n  list   = [\n    1,\n    /* \
     inside */ 2,\n  ]\n  nested = { a = { b = provider::x::f(1) } }\n}\nlocals { one = 1 }\n",
    "locals {\n  s = \"%{ for k, v in var.m ~}\\n${k} = \\\"${v}\\\"\\n%{ endfor ~}\"\n  l = \"%{ \
     for x in [1, 2] }${x}%{ endfor }\"\n  e = \"$${a} %%{b} \\u00e9 \\t\"\n}\n",
];

fn broken(random: &mut fastrand::Rng) -> String {
    let source = SOURCES[random.usize(..SOURCES.len())];
    let tree = syntax::parse_file(source).syntax();
    let tokens = tree.descendants_with_tokens().filter_map(|it| it.into_token());
    let mut tokens: Vec<String> = tokens.map(|it| it.text().to_owned()).collect();
    let at = random.usize(..tokens.len() - 1);
    let another = TOKENS[random.usize(..TOKENS.len())].to_owned();
    match random.usize(..5) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at].clone()),
        2 => tokens.swap(at, at + 1),
        3 => tokens[at] = another,
        _ => tokens.insert(at, another),
    }
    tokens.concat()
}

/// A summary and the byte range of the error.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Place {
    summary: String,
    start: u64,
    end: u64,
}

fn ours(text: &str) -> Option<Place> {
    let parse = syntax::parse_file(text);
    let first = parse.errors().first()?;
    let (start, end) = (u32::from(first.range.start()).into(), u32::from(first.range.end()).into());
    // Terraform shows an empty range as one byte.
    let end = if start == end { end + 1 } else { end };
    Some(Place { summary: first.summary.clone().into_owned(), start, end })
}

/// The errors that `terraform` reports, by file in the order of the text.
fn theirs(bench: &Bench) -> BTreeMap<String, Vec<Place>> {
    let run = bench.program("terraform", ".", ["validate", "-json"]).env("CHECKPOINT_DISABLE", "1");
    let said = run.end().json();
    let mut by_file: BTreeMap<String, Vec<Place>> = BTreeMap::new();
    for it in said["diagnostics"].as_array().expect("a list") {
        let byte = |end: &str| it["range"][end]["byte"].as_u64().expect("a number");
        let Some(file) = it["range"]["filename"].as_str() else { continue };
        let summary = it["summary"].as_str().expect("a text").to_owned();
        let place = Place { summary, start: byte("start"), end: byte("end") };
        by_file.entry(file.to_owned()).or_default().push(place);
    }
    by_file
}

/// The result of comparing the first error of a file with Terraform's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Comparison {
    /// It is Terraform's first error.
    First,
    /// Terraform also reports it, but first reports an invalid token further down. Mayfly reports errors in the
    /// order of the text.
    InTheTextsOrder,
    /// Terraform's message or place is misleading: `/* x`, `**`, an interpolation that spans lines, or a missing
    /// bracket after an index.
    SaidBetter,
    /// A heredoc or an expression without an end. Mayfly ends it where a block begins at the left margin, and
    /// reads the rest.
    CutAtABlock,
    /// None of these.
    Different,
}

use Comparison::{CutAtABlock, Different, First, InTheTextsOrder, SaidBetter};

fn compare(ours: &Place, theirs: &[Place], text: &str) -> Comparison {
    const OF_TOKENS: [&str; 3] =
        ["Invalid character", "Invalid multi-line string", "Unsupported operator"];
    const BETTER: [&str; 3] = [
        "Unterminated comment",
        "Missing close bracket on index",
        "Missing close bracket on splat index",
    ];
    let Some(first) = theirs.first() else { return Different };
    let is_power =
        ours.summary == "Unsupported operator" && text[ours.start as usize..].starts_with('*');
    // In `a.*.`, Terraform points to the star instead of the place of the missing name.
    let is_after_star = ours.summary == "Invalid attribute name"
        && first.summary == ours.summary
        && text[first.start as usize..].starts_with("*.");
    let is_at_opening = ours.summary == "Extra characters after interpolation expression"
        && text[ours.start as usize..].starts_with("${");
    let is_cut = ours.summary == "Unterminated template string" && text.contains("<<")
        || ours.summary == "Missing expression" && ours.start < first.start;
    if ours == first {
        First
    } else if OF_TOKENS.contains(&&*first.summary)
        && first.start > ours.start
        && theirs.contains(ours)
    {
        InTheTextsOrder
    } else if BETTER.contains(&&*ours.summary) || is_power || is_after_star || is_at_opening {
        SaidBetter
    } else if is_cut {
        CutAtABlock
    } else {
        Different
    }
}

#[test]
fn first_syntax_error_matches_terraform() {
    if Command::new("terraform").arg("version").output().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: terraform is not on PATH");
        return;
    }
    let count = std::env::var("MAYFLY_BROKEN_TEXTS").ok().and_then(|it| it.parse().ok());
    let bench = Bench::new();
    let mut random = fastrand::Rng::with_seed(7);
    let mut texts = BTreeMap::new();
    for number in 0..count.unwrap_or(TEXTS) {
        let text = broken(&mut random);
        if ours(&text).is_some() {
            bench.write(&format!("t{number:05}.tf"), &text);
            texts.insert(format!("t{number:05}.tf"), text);
        }
    }
    let theirs = theirs(&bench);
    let (mut counts, mut different) = (BTreeMap::new(), String::new());
    for (file, text) in &texts {
        let ours = ours(text).expect("it is broken");
        let theirs = theirs.get(file).map(Vec::as_slice).unwrap_or_default();
        let comparison = compare(&ours, theirs, text);
        *counts.entry(comparison).or_insert(0) += 1;
        if comparison == Different {
            let _ =
                writeln!(different, "== {file}\nmayfly: {ours:?}\nterraform: {theirs:?}\n{text}");
        }
    }
    let _ = writeln!(std::io::stderr(), "first syntax errors compared: {counts:?}");
    assert!(different.is_empty(), "{counts:?}\n{different}");
    let same = counts[&First] + counts.get(&InTheTextsOrder).unwrap_or(&0);
    assert!(same * 10 > texts.len() * 9, "{counts:?}");
}

/// A file that cannot be read does not count as missing.
#[test]
fn unreadable_workspace_file_and_journal_are_errors() {
    let bench = Bench::with_main("resource \"terraform_data\" \"r\" {}\n");
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    // Reading a directory as a file fails for every user, even root.
    std::fs::create_dir_all(bench.path(".terraform/environment")).expect("can be made");
    for command in [&["plan"][..], &["state", "list"], &["apply", "-auto-approve"]] {
        let ended = bench.mayfly(".", command).fails();
        ended.shows(&["Error: Failed to read the selected workspace", "environment"]);
    }
    bench.mayfly(".", ["plan"]).env("TF_WORKSPACE", "default").succeeds();
    std::fs::remove_dir(bench.path(".terraform/environment")).expect("can be removed");
    let journal = "terraform.tfstate.watch-1";
    std::fs::create_dir(bench.path(journal)).expect("can be made");
    let ended = bench.mayfly(".", ["plan"]).succeeds();
    ended.shows(&["Warning: Failed to read the journal of a watcher"]);
    assert!(bench.path(journal).exists(), "what it says is not lost");
}
