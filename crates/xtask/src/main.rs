//! Commands for the development of this repository: generated code, repository rules, measurements.
//!
//! Start reading at [`main`]; each command is a module.
//!
//! **Invariant:** it depends on no crate of the product except `addr`; it starts the programs that it measures as
//! processes.
//! **Invariant:** a measurement with a wrong result is an error, never a figure.
//! **Absent on purpose:** code that the product needs.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a developer's tool works on files, looks at the clock and prints"
)]

mod bench;
mod codegen;
mod codegen_lexer;
mod codegen_pages;
mod codegen_proto;
mod codegen_syntax;
mod codegen_textmate;
mod contexts;
mod differential;
mod dist;
mod file_cycles;
mod function_order;
mod layering;
mod links;
mod modules;
mod parity;
mod prose;
mod prose_markdown;
mod supply_chain;
mod tidy;
mod torture;
mod training;
mod tuples;
mod words;

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  codegen [--check]   write the generated files again, or only see whether they are fresh
  layering            compare the crates' dependencies with the table, find cycles of files
  tidy                check the rules of the repository and the links of its pages
  supply-chain        check where dependencies come from, their licences, and that nothing is unsafe
  dist                build the executables as they are released, into target/dist
  function-order      write the linker script that places the functions together which commands execute
  bench [OPTIONS]     measure the executable, side by side with what is on the PATH (--help lists the options)
  modules [OPTIONS]   plan and apply the examples of public modules beside the reference, and say what differs
  parity [OPTIONS]    write the page that compares the commands and flags with those of OpenTofu
  torture [OPTIONS]   kill the executable at random moments, and look whether anything is lost
  differential [OPTIONS]
                      run random sequences under OpenTofu and under this executable, and compare \
                     (--help lists the options)";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&root(), &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    match *arguments {
        ["codegen"] => {
            for path in codegen::write(root)? {
                println!("wrote {}", path.display());
            }
            Ok(())
        }
        ["codegen", "--check"] => match codegen::stale(root)?.first() {
            Some((path, _)) => bail!("{} is stale: run `cargo xtask codegen`", path.display()),
            None => Ok(()),
        },
        ["layering"] => layering::check(root).and_then(|()| file_cycles::check(root)),
        ["supply-chain"] => supply_chain::check(root),
        ["tidy"] => tidy::check(root).and_then(|()| links::check(root)),
        ["dist"] => dist::run(root),
        ["function-order"] => function_order::run(root),
        ["bench", ref options @ ..] => bench::run(root, options),
        [bench::init::SERVE, authority] => bench::init::serve(authority, None),
        [bench::init::SERVE, authority, plugin] => bench::init::serve(authority, Some(plugin)),
        ["modules", ref options @ ..] => modules::run(root, options),
        ["parity", ref options @ ..] => parity::run(root, options),
        ["torture", ref options @ ..] => torture::run(root, options),
        ["differential", ref options @ ..] => differential::run(root, options),
        _ => bail!("{USAGE}"),
    }
}

/// Returns the workspace's folder.
fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}

/// Runs cargo and returns its standard output.
fn cargo(root: &Path, arguments: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(root).output();
    let output = output.context("failed to start cargo")?;
    if !output.status.success() {
        let what = arguments.join(" ");
        bail!("cargo {what} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}
