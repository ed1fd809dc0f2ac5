//! Prints the tree, the chunks and the errors of the text on standard input. With the argument `errors`, prints
//! only the errors.
#![expect(clippy::print_stdout, reason = "a tool for whoever works on the grammar")]

use std::io::Read as _;

fn main() {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("standard input can be read");
    let (text, undecodable) = syntax::decode(&bytes);
    let parse = syntax::parse_file(&text);
    if std::env::args().nth(1).as_deref() != Some("errors") {
        println!("{:#?}\nchunks: {:?}", parse.syntax(), syntax::split(&text));
    }
    for error in undecodable.iter().chain(parse.errors()) {
        println!(
            "{:?} {}: {}",
            error.range,
            error.summary,
            error.detail(|place| format!("{place:?}"))
        );
    }
}
