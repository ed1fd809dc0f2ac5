//! Prints the tree, the chunks and the errors of the text on standard input.
#![expect(clippy::print_stdout, reason = "a tool for whoever works on the grammar")]

use std::io::Read as _;

fn main() {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("standard input can be read");
    let (text, error) = syntax::decode(&bytes);
    let parse = syntax::parse_file(&text);
    println!("{:#?}", parse.syntax());
    println!("chunks: {:?}", syntax::split(&text));
    for error in error.iter().chain(parse.errors()) {
        println!(
            "{:?} {}: {}",
            error.range,
            error.summary,
            error.detail(|place| format!("{place:?}"))
        );
    }
}
