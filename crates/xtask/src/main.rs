//! Chores of this repository: `cargo xtask codegen` writes every generated file again.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a developer's tool works on files and prints"
)]

mod codegen_proto;
mod codegen_syntax;

use std::path::Path;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match std::env::args().nth(1).as_deref() {
        Some("codegen") => {
            for path in codegen_proto::run(&root)?.into_iter().chain(codegen_syntax::run(&root)?) {
                println!("wrote {}", path.display());
            }
            Ok(())
        }
        _ => bail!("usage: cargo xtask codegen"),
    }
}
