//! Compares the page of commands and flags with the definition of the command line.

use sorted::TreeSet;

use super::whole_command;

const PAGE: &str = include_str!("../../../../docs/parity.md");

/// The rows about Mayfly, each the words of a command and a flag.
fn rows_of_page() -> TreeSet<String> {
    let rows = PAGE.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (name, mayfly) = match *cells.as_slice() {
            ["", command, _, mayfly, _, ""] => (command.to_owned(), mayfly),
            ["", command, flag, _, mayfly, _, ""] => (format!("{command} {flag}"), mayfly),
            _ => return None,
        };
        let name = name.replace('`', "");
        (mayfly == "yes").then(|| name.trim_start_matches("before the command ").to_owned())
    });
    rows.collect()
}

/// Adds the flags of a command, and the commands below it, as a row each.
fn add(command: &clap::Command, path: &str, rows: &mut TreeSet<String>) {
    let row = |word: &str| format!("{path} {word}").trim_start().to_owned();
    let flags = command.get_arguments().filter_map(clap::Arg::get_long);
    rows.extend(flags.filter(|it| *it != "help").map(|it| row(&format!("-{it}"))));
    for below in command.get_subcommands().filter(|it| it.get_name() != "help") {
        for name in std::iter::once(below.get_name()).chain(below.get_all_aliases()) {
            rows.insert(row(name));
            add(below, &row(name), rows);
        }
    }
}

#[test]
fn page_lists_the_commands_and_flags_of_mayfly() {
    let mut defined = TreeSet::new();
    add(&whole_command(), "", &mut defined);
    let listed = rows_of_page();
    assert!(listed.len() > 300, "the page has rows");
    let missing: Vec<&String> = defined.difference(&listed).collect();
    let wrong: Vec<&String> = listed.difference(&defined).collect();
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "run `cargo xtask parity`:\nmissing: {missing:?}\nwrong: {wrong:?}"
    );
}
