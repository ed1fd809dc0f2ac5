//! The words for the steps of operations, and for their questions.

use hir::item::Variable;
use operations::view::{LockFileChange, Notice};

use crate::ui::Ui;

/// Prints a step of an operation.
pub(crate) fn show(ui: &Ui, notice: &Notice<'_>) {
    match notice {
        Notice::AnswerAccepted if ui.prints_text() => ui.line(""),
        Notice::AnswerAccepted => {}
        Notice::EmptyDirectory => say(ui, EMPTY),
        Notice::InvalidConfiguration if ui.prints_text() => ui.print_error(INVALID),
        Notice::InvalidConfiguration => {}
        Notice::InitializingBackend => say(ui, "\nInitializing the backend..."),
        Notice::StateCopied { workspace, from, to } => {
            say(
                ui,
                &format!("Copied the state of the workspace {workspace:?} from {from} to {to}."),
            );
        }
        Notice::InitializingModules { upgrade } => {
            let doing = if *upgrade { "Upgrading" } else { "Initializing" };
            say(ui, &format!("{doing} modules..."));
        }
        Notice::DownloadingModule { package, call, again } => {
            let again = match again {
                false => "",
                true => " again: the installed package does not match the lock file",
            };
            say(ui, &format!("Downloading {package} for {call}{again}..."));
        }
        Notice::ModuleInstalled { call, directory } => ui.message(
            &format!("- {call} in {directory}"),
            &format!("installing {call} in {directory}"),
        ),
        Notice::ModuleUpgraded { address, before, after } => {
            say(ui, &format!("Upgraded {address} from {before} to {after}"));
        }
        Notice::InitializingProviders => say(ui, "\nInitializing provider plugins..."),
        Notice::Provider(event) => say(ui, &event.to_string()),
        Notice::LockFile(change) => say(
            ui,
            match change {
                LockFileChange::CreatedForModules => LOCKED,
                LockFileChange::Created => PROVIDERS_LOCKED,
                LockFileChange::Modules => MODULES_RELOCKED,
                LockFileChange::Providers => PROVIDERS_RELOCKED,
            },
        ),
        Notice::Initialized => {
            say(ui, SUCCESS);
            if !ui.is_automation {
                say(ui, NEXT_STEPS);
            }
        }
        Notice::SavingTempFiles { count, mebibytes } => {
            let files = if *count == 1 { "file" } else { "files" };
            ui.announce(&format!(
                "\nSaving {count} temporary {files} with the plan ({mebibytes} MiB)...\n"
            ));
        }
    }
}

/// Prints a text, or in JSON a message of one line.
fn say(ui: &Ui, text: &str) {
    let words: Vec<&str> = text.split_whitespace().filter(|it| *it != "-").collect();
    ui.message(text, &words.join(" "));
}

/// The question: `var.x`, with `(ephemeral)` for an ephemeral variable as the ephemeral resources RFC requires,
/// and the description.
pub(crate) fn prompt(variable: &Variable) -> String {
    let ephemeral = if variable.ephemeral { " (ephemeral)" } else { "" };
    let mut text = format!("var.{}{ephemeral}\n", variable.name);
    if let Some(description) = &variable.description {
        for line in description.lines() {
            text.push_str(&format!("  {line}\n"));
        }
        text.push('\n');
    }
    text.push_str("  Enter a value: ");
    text
}

const EMPTY: &str = "\
Mayfly initialized in an empty directory!

The directory has no Mayfly configuration files. You may begin working
with Mayfly immediately by creating Mayfly configuration files.";

const INVALID: &str = "
Mayfly encountered problems during initialization, including problems
with the configuration, described below.

The Mayfly configuration must be valid before initialization so that
Mayfly can determine which modules and providers need to be installed.
";

const SUCCESS: &str = "
Mayfly has been successfully initialized!";

const NEXT_STEPS: &str = "
You may now begin working with Mayfly. Try running \"mayfly plan\" to see
any changes that are required for your infrastructure. All Mayfly commands
should now work.

If you ever set or change modules or backend configuration for Mayfly,
rerun this command to reinitialize your working directory. If you forget, other
commands will detect it and remind you to do so if necessary.";

const PROVIDERS_LOCKED: &str = "
Mayfly has created a lock file .terraform.lock.hcl to record the provider
selections it made above. Include this file in your version control repository
so that Mayfly can guarantee to make the same selections by default when
you run \"mayfly init\" in the future.";

const LOCKED: &str = "
Mayfly has created a lock file .terraform.lock.hcl to record the selections it
made above. Include this file in your version control repository so that Mayfly
can guarantee to make the same selections by default when you run \"mayfly init\"
in the future.";

const PROVIDERS_RELOCKED: &str = "
Mayfly has made some changes to the provider dependency selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.";

/// The message for changed module packages. Its wording differs from the message about provider selections, which
/// users and scripts search for.
const MODULES_RELOCKED: &str = "
Mayfly has made some changes to the module package selections recorded
in the .terraform.lock.hcl file. Review those changes and commit them to your
version control system if they represent changes you intended to make.";
