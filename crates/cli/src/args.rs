//! The command line. It accepts the syntax of OpenTofu: `-flag`, `-flag=value`, `-flag value`, and each with two
//! dashes.

mod command;
mod deferred;
mod explain;
mod flags;
mod graph;
mod json;
mod login;
mod options;
#[cfg(test)]
mod parity;
mod parsing;
mod provider;
mod providers;
mod refresh;
mod shared;
mod state;
mod test;
mod workspace;

pub(crate) use deferred::Deferred;
pub(crate) use explain::ExplainArgs;
pub(crate) use graph::{GraphArgs, GraphType};
pub(crate) use json::JsonArgs;
pub(crate) use login::{LoginArgs, LogoutArgs};
pub(crate) use parsing::{command, is_group, normalize, parse, whole_command, with_help_last};
pub(crate) use provider::{ProviderCommand, ProviderNewArgs};
pub(crate) use providers::{
    ProvidersArgs, ProvidersCommand, ProvidersLockArgs, ProvidersSchemaArgs,
};
pub(crate) use refresh::RefreshArgs;
pub(crate) use shared::{
    DeprecationScope, LockArgs, SecretsArgs, StateArgs, TargetArgs, VarArgs, ViewArgs,
};
pub(crate) use state::{
    MvArgs, PushArgs, ReplaceProviderArgs, RmArgs, StateAdoptArgs, StateCommand, StateListArgs,
    StateShowArgs, TaintArgs,
};
pub(crate) use test::TestArgs;
pub(crate) use workspace::{
    WorkspaceCommand, WorkspaceDeleteArgs, WorkspaceNewArgs, WorkspaceSelectArgs,
};

use std::{ffi::OsString, num::NonZero, path::PathBuf};

use clap::{ArgAction, Args, Parser, Subcommand};
use engine::Operation;

use crate::completion::scripts::Shell;

/// An OpenTofu-compatible engine that never writes a secret down.
#[derive(Parser)]
#[command(name = "mayfly", bin_name = "mayfly", disable_version_flag = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Switch to another directory before executing the command.
    #[arg(long, value_name = "DIR", require_equals = true)]
    pub(crate) chdir: Option<PathBuf>,
    /// Print the version, like the version command.
    #[arg(long)]
    pub(crate) version: bool,
    /// Add completion of command lines to the start files of bash, zsh and fish.
    #[arg(long)]
    pub(crate) install_autocomplete: bool,
    /// Remove what -install-autocomplete added.
    #[arg(long)]
    pub(crate) uninstall_autocomplete: bool,
    /// The reason why the command line is refused, as a sentence.
    #[arg(skip)]
    pub(crate) refusal: Option<String>,
    /// The names of the command and of the given flags, without any value.
    #[arg(skip)]
    pub(crate) invocation: String,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Prepare the working directory: install modules and providers, and write the lock file.
    Init(Deferred<InitArgs>),
    /// Install modules, without providers and without the backend.
    Get(Deferred<GetArgs>),
    /// Check whether the configuration is valid.
    Validate(Deferred<ValidateArgs>),
    /// Rewrite configuration files in the canonical format.
    Fmt(Deferred<FmtArgs>),
    /// Show the changes that the configuration requires.
    Plan(Deferred<PlanArgs>),
    /// Show the plan, and plan again after every change of a file.
    Watch(Deferred<WatchArgs>),
    /// Create or update infrastructure.
    Apply(Deferred<ApplyArgs>),
    /// Destroy the objects that are in the state.
    Destroy(Deferred<ApplyArgs>),
    /// Update the state to match the existing objects. Same as "apply -refresh-only -auto-approve".
    Refresh(Deferred<RefreshArgs>),
    /// Run the test files of the configuration.
    Test(Deferred<TestArgs>),
    /// Evaluate expressions interactively.
    Console(Deferred<ConsoleArgs>),
    /// Import an existing object into the state.
    Import(Deferred<ImportArgs>),
    /// Show a state or a saved plan.
    Show(Deferred<ShowArgs>),
    /// Show output values of the root module.
    Output(Deferred<OutputArgs>),
    /// Mark an object as one to be replaced.
    Taint(Deferred<TaintArgs>),
    /// Remove the mark from a tainted object.
    Untaint(Deferred<TaintArgs>),
    /// Inspect and change the state.
    State {
        #[command(subcommand)]
        command: StateCommand,
    },
    /// List, select, create and delete workspaces.
    Workspace {
        #[command(subcommand)]
        command: WorkspaceCommand,
    },
    /// The old name of the command `workspace`.
    #[command(hide = true)]
    Env {
        #[command(subcommand)]
        command: WorkspaceCommand,
    },
    /// Show the providers that the configuration and the state require.
    Providers(ProvidersArgs),
    /// Create the crate of a provider.
    Provider {
        #[command(subcommand)]
        command: ProviderCommand,
    },
    /// Print the graph of an operation in the DOT language.
    Graph(Deferred<GraphArgs>),
    /// Obtain a token from a host with a browser, and store it.
    Login(Deferred<LoginArgs>),
    /// Remove the stored token of a host.
    Logout(Deferred<LogoutArgs>),
    /// Show information about the language.
    Metadata {
        #[command(subcommand)]
        command: MetadataCommand,
    },
    /// Explain why a plan changes something, or an error or a warning and how to resolve it.
    Explain(Deferred<ExplainArgs>),
    /// Print the version.
    Version(Deferred<VersionArgs>),
    /// Print the completion script for a shell.
    Completion(Deferred<CompletionArgs>),
    /// Run the language server on standard input and output.
    #[command(alias = "serve")]
    Lsp(Deferred<LspArgs>),
    /// Release the lock on the state that a crashed command left behind.
    ForceUnlock(Deferred<ForceUnlockArgs>),
    /// A command for Terraform Enterprise (v1), which no longer exists. This command is no longer supported.
    #[command(hide = true)]
    Push(Deferred<RemovedPushArgs>),
}

#[derive(Args)]
pub(crate) struct RemovedPushArgs {
    /// Ignored, except for -no-color and -help.
    #[arg(hide = true, allow_hyphen_values = true, trailing_var_arg = true)]
    pub(crate) ignored: Vec<OsString>,
}

impl RemovedPushArgs {
    /// The style of the output.
    pub(crate) fn view(&self) -> ViewArgs {
        ViewArgs { no_color: self.has("--no-color"), ..ViewArgs::default() }
    }

    /// Returns true if one of the ignored words is this flag.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.ignored.iter().any(|it| it == flag)
    }
}

#[derive(Args)]
pub(crate) struct CompletionArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// The flags that editors pass when they start a language server.
#[derive(clap::Args)]
pub(crate) struct LspArgs {
    /// Use standard input and output. This is the only transport.
    #[arg(long)]
    pub(crate) stdio: bool,
}

#[derive(Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Select the newest versions that the constraints allow.
    #[arg(long)]
    pub(crate) update: bool,
    /// The directory with test files, in addition to the working directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub(crate) test_directory: PathBuf,
}

#[derive(Subcommand)]
pub(crate) enum MetadataCommand {
    /// Print the signatures of all functions.
    Functions(Deferred<MetadataFunctionsArgs>),
}

/// The options of a plan or an apply.
#[derive(Args, Clone)]
pub(crate) struct OperationArgs {
    /// Maximum number of concurrent provider operations.
    #[arg(long, value_name = "N", default_value_t = shared::PARALLELISM, value_parser = shared::parallelism)]
    pub(crate) parallelism: NonZero<usize>,
    /// Read the current state of every object from its provider before planning.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) refresh: bool,
    /// Plan to destroy all objects.
    #[arg(long)]
    pub(crate) destroy: bool,
    /// Only update the state to match the existing objects.
    #[arg(long)]
    pub(crate) refresh_only: bool,
    /// Replace this instance even if no change requires it. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    /// Create objects again whose earlier creation was never confirmed by the provider. They may exist twice then.
    #[arg(long)]
    pub(crate) retry_uncertain: bool,
    #[command(flatten)]
    pub(crate) secrets: SecretsArgs,
    #[command(flatten)]
    pub(crate) targets: TargetArgs,
    /// Ask for the values of variables that have none.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// Show sensitive values in plans. Ephemeral values are never shown.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
}

#[derive(Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Select the newest versions that the constraints allow.
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// Look for providers and provisioners in this directory only. May be repeated. An empty value restores the usual
    /// directories of provisioners.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<OsString>,
    /// "readonly" refuses to change the lock file.
    #[arg(long, value_name = "MODE")]
    pub(crate) lockfile: Option<String>,
    /// Initialize the backend. If false, the backend settings of the last initialization stay.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) backend: bool,
    /// Same as -backend.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) cloud: bool,
    /// Copy this module into the working directory, which must be empty, and initialize it.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from_module: Option<String>,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Accepted for compatibility with scripts. Only a remote backend has another version.
    #[arg(long = "ignore-remote-version")]
    pub(crate) _ignore_remote_version: bool,
    /// An argument of the backend, NAME=VALUE, or a file with such arguments. May be repeated.
    #[arg(long, value_name = "ARGUMENT|FILE")]
    pub(crate) backend_config: Vec<String>,
    /// On a terminal, ask for variables that the module sources or the backend need.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// Install modules.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) get: bool,
    /// Use the backend of the configuration, and leave states in the previous place untouched.
    #[arg(long)]
    pub(crate) reconfigure: bool,
    /// Use the backend of the configuration, and copy the states there.
    #[arg(long)]
    pub(crate) migrate_state: bool,
    /// Same as -migrate-state, which never asks for confirmation.
    #[arg(long)]
    pub(crate) force_copy: bool,
    /// The directory with test files, in addition to the working directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub(crate) test_directory: PathBuf,
}

#[derive(Args)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// Leave out test files.
    #[arg(long)]
    pub(crate) no_tests: bool,
    /// The directory with test files, in addition to the working directory.
    #[arg(long, value_name = "DIR", default_value = "tests")]
    pub(crate) test_directory: PathBuf,
}

#[derive(Args)]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// List the files whose formatting changes.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) list: bool,
    /// Write the formatted text to the files.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) write: bool,
    /// Show the formatting changes as a diff.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Write nothing, and exit with status 3 if a file is not formatted.
    #[arg(long)]
    pub(crate) check: bool,
    /// Also process subdirectories.
    #[arg(long)]
    pub(crate) recursive: bool,
    /// Files and directories; "-" for standard input. Defaults to the working directory.
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    /// Save the plan to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write the plan to this file as an HTML page without external parts and without sensitive values.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show only the changes that the difference to this git revision causes, and list those pending anyway.
    #[arg(long, value_name = "REV")]
    pub(crate) since: Option<String>,
    /// Exit with status 2 if there are changes, or with -since, if the difference causes changes.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// Write the configuration of objects that "import" blocks import, and that have none, to this new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) generate_config_out: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
}

#[derive(Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    /// Do not ask for approval.
    #[arg(long)]
    pub(crate) auto_approve: bool,
    /// Do not fail if a destruction forgets objects that are not to be destroyed.
    #[arg(long)]
    pub(crate) suppress_forget_errors: bool,
    /// A plan saved with "plan -out".
    #[arg(value_name = "PLAN")]
    pub(crate) plan_file: Option<PathBuf>,
    /// True for the command `destroy`, false for `apply -destroy`, which does the same.
    #[arg(skip)]
    pub(crate) is_destroy: bool,
    /// True for the command `refresh`, which shows no plan.
    #[arg(skip)]
    pub(crate) is_refresh: bool,
}

impl ApplyArgs {
    /// The operation whose result counts the command prints at its end.
    pub(crate) fn operation_done(&self) -> Operation {
        if self.is_destroy { Operation::Destroy } else { Operation::Apply }
    }
}

#[derive(Args)]
pub(crate) struct ConsoleArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Lock the state while the console runs, so that no other process changes it.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) lock: bool,
    /// Time to keep retrying while another process holds the lock, such as 10s.
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub(crate) lock_timeout: String,
    /// Accepted for compatibility with scripts. The console never asks for variables; those without a value are
    /// unknown.
    #[arg(long = "input", default_value_t = true, action = ArgAction::Set)]
    pub(crate) _input: bool,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// Show sensitive values. Ephemeral values are in neither a state nor a plan.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
    /// Show the current state.
    #[arg(long, group = "target")]
    pub(crate) state: bool,
    /// Show this saved plan.
    #[arg(long, value_name = "FILE", group = "target")]
    pub(crate) plan: Option<PathBuf>,
    /// Write the saved plan to this file as an HTML page, instead of printing it.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print the configuration. Needs -json.
    #[arg(long, group = "target")]
    pub(crate) config: bool,
    /// Print the declarations of the module in this directory, which needs no initialization. Needs -json.
    #[arg(long, value_name = "DIR", group = "target")]
    pub(crate) module: Option<PathBuf>,
    /// A saved plan or a state file. Defaults to the current state.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// Print the value of a string, number or bool without quotes.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Show sensitive values in the list of all outputs.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// The name of one output.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) secrets: SecretsArgs,
    /// Maximum number of concurrent provider operations.
    #[arg(long, value_name = "N", default_value_t = shared::PARALLELISM, value_parser = shared::parallelism)]
    pub(crate) parallelism: NonZero<usize>,
    /// Ask for the values of variables that have none.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// The directory of the configuration. The state stays that of the working directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
    /// Accepted for compatibility with scripts. Only a remote backend has another version.
    #[arg(long = "ignore-remote-version")]
    pub(crate) _ignore_remote_version: bool,
    /// The address of the instance to import to. The configuration must have its resource block.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// The import ID of the object. See "Import" in the provider's documentation.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Args)]
pub(crate) struct MetadataFunctionsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Required: function signatures are only printed as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Default)]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Args)]
pub(crate) struct ForceUnlockArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Do not ask for confirmation.
    #[arg(long)]
    pub(crate) force: bool,
    /// The lock ID, as shown in the error about the lock.
    #[arg(value_name = "LOCK_ID")]
    pub(crate) id: String,
}

#[cfg(test)]
mod tests {
    use super::{
        flags::{NOT_SUPPORTED, REFUSED},
        *,
    };

    fn normalized(args: &[&str]) -> Vec<String> {
        normalize(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn help_marks_unsupported_flags() {
        for refused in REFUSED {
            for (name, flag) in refused
                .commands
                .iter()
                .flat_map(|it| refused.flags.iter().map(move |flag| (it, flag)))
            {
                let mut command = whole_command();
                let command = command.find_subcommand_mut(name).expect("there is such a command");
                let help = command
                    .render_help()
                    .to_string()
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                let entry = help.split(" --").find(|it| it.split([' ', '[']).next() == Some(flag));
                let entry = entry.unwrap_or_else(|| panic!("{name} has no flag {flag}"));
                assert!(entry.ends_with(NOT_SUPPORTED), "{name}: {entry}");
            }
        }
        let refusal = |args: &[&str]| {
            let args = std::iter::once("mayfly").chain(args.iter().copied()).map(str::to_owned);
            parse(&mut command(), &normalize(args)).expect("is understood").refusal
        };
        assert_eq!(refusal(&["plan", "-target", "a.b"]), None);
        assert_eq!(refusal(&["apply", "-refresh-only"]), None);
        assert!(
            refusal(&["watch", "-refresh-only"])
                .is_some_and(|it| it.contains("plan -refresh-only"))
        );
        assert!(refusal(&["watch", "-destroy"]).is_some());
        assert_eq!(refusal(&["plan", "-destroy", "-refresh-only=false"]), None);
    }

    #[test]
    fn invocation_contains_names_of_flags_and_no_values() {
        let invocation = |args: &[&str]| {
            let args = std::iter::once("mayfly").chain(args.iter().copied()).map(str::to_owned);
            parse(&mut command(), &normalize(args)).expect("is understood").invocation
        };
        assert_eq!(
            invocation(&[
                "-chdir=secret",
                "plan",
                "-var",
                "secret=-secret",
                "-out=secret",
                "-var=secret=b"
            ]),
            "plan -var -out"
        );
        assert_eq!(
            invocation(&["state", "list", "-id", "secret", "secret.secret"]),
            "state list -id"
        );
        assert_eq!(invocation(&["version"]), "version");
    }

    #[test]
    fn flags_may_have_one_or_two_dashes() {
        let args = normalized(&[
            "mayfly",
            "-chdir=x",
            "plan",
            "-var",
            "a=b",
            "--refresh=false",
            "-out",
            "f",
            "-",
        ]);
        assert_eq!(
            args,
            ["mayfly", "--chdir=x", "plan", "--var", "a=b", "--refresh=false", "--out", "f", "-"]
        );
    }

    #[test]
    fn flags_of_opentofu_are_accepted() {
        let cases: &[&[&str]] = &[
            &[
                "plan",
                "-detailed-exitcode",
                "-out=p",
                "-refresh=false",
                "-no-color",
                "-input=false",
            ],
            &["apply", "-auto-approve", "-var", "x=-1", "-var-file=f", "-parallelism=2", "-json"],
            &["apply", "plan.bin"],
            &["destroy", "-auto-approve=true", "-lock=0", "-no-color=false"],
            &["state", "list", "-state=f", "a.b"],
            &["providers", "schema", "-json"],
            &["output", "-raw", "x"],
            &["init", "-upgrade", "-plugin-dir=d"],
            &["import", "-var", "x=1", "-lock=false", "-input=false", "a.b[\"k\"]", "an-id"],
            &["state", "adopt", "a.b", "an-id"],
            &["state", "adopt", "-gone", "a.b"],
        ];
        for case in cases {
            let args = std::iter::once("mayfly").chain(case.iter().copied()).map(str::to_owned);
            let parsed = parse(&mut command(), &normalize(args));
            assert!(parsed.is_ok(), "{case:?}: {}", parsed.err().expect("checked"));
        }
    }
}
