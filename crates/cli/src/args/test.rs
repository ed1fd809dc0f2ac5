//! The options of `test`.

use std::{num::NonZero, path::PathBuf};

use clap::Args;

use super::{
    SecretsArgs,
    json::JsonArgs,
    shared::{PARALLELISM, VarArgs, ViewArgs, parallelism},
};

#[derive(Args)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Run only this test file. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub(crate) filter: Vec<String>,
    /// The directory with test files, in addition to the working directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub(crate) test_directory: PathBuf,
    /// Show the plan or the state of each run.
    #[arg(long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// Also write a report in the JUnit format to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit_xml: Option<PathBuf>,
    /// Maximum number of concurrent provider operations.
    #[arg(long, value_name = "N", default_value_t = PARALLELISM, value_parser = parallelism)]
    pub(crate) parallelism: NonZero<usize>,
    #[command(flatten)]
    pub(crate) secrets: SecretsArgs,
}
