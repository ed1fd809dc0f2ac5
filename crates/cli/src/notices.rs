//! The words for the steps of operations, and for their questions.

mod login;

use hir::item::Variable;
use operations::view::{LockFileChange, Notice, Question};
use packages::{MirrorEvent, SelectedBy};

use crate::ui::Ui;

/// Prints a step of an operation.
pub(crate) fn show(ui: &Ui, notice: &Notice<'_>) {
    match notice {
        Notice::AnswerAccepted if ui.prints_text() => ui.line(""),
        Notice::AnswerAccepted => {}
        Notice::EmptyDirectory => say(ui, EMPTY),
        Notice::InvalidConfiguration if ui.prints_text() => ui.print_error(INVALID),
        Notice::InvalidConfiguration => {}
        Notice::CopyingModule { source } => {
            say(ui, &format!("Copying configuration from {source:?}..."));
        }
        Notice::InitializingBackend => say(ui, "\nInitializing the backend..."),
        Notice::StateCopied { workspace, from, to } => {
            say(
                ui,
                &format!("Copied the state of the workspace {workspace:?} from {from} to {to}."),
            );
        }
        // The view shows them in the last line of the terminal.
        Notice::Downloads(_) => {}
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
        Notice::Login(step) => login::show(ui, step),
        Notice::Lock(event) => say(ui, &event.to_string()),
        Notice::ProvidersLocked { is_changed: false } => say_success(ui, LOCK_FILE_COMPLETE),
        Notice::ProvidersLocked { is_changed: true } => say_success(ui, LOCK_FILE_UPDATED),
        Notice::Mirror(event) => {
            let MirrorWords { text, message } = mirror_words(event);
            ui.message(&text, &message);
        }
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
    ui.message(text, &one_line(text));
}

/// Prints a text with the word "Success!" in color, or in JSON a message of one line.
fn say_success(ui: &Ui, text: &str) {
    ui.message(&render::success(text, &ui.out), &one_line(text));
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().filter(|it| *it != "-").collect();
    words.join(" ")
}

/// The text before an answer.
pub(crate) fn prompt(question: &Question<'_>) -> String {
    match question {
        Question::Variable(variable) => prompt_of_variable(variable),
        Question::Login(question) => login::prompt(question),
    }
}

/// The question: `var.x`, with `(ephemeral)` for an ephemeral variable as the ephemeral resources RFC requires,
/// and the description.
fn prompt_of_variable(variable: &Variable) -> String {
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

/// The words for a step of `providers mirror`: the text refers to the lines above it, a JSON message stands alone.
struct MirrorWords {
    text: String,
    message: String,
}

fn mirror_words(event: &MirrorEvent) -> MirrorWords {
    let both = |text: String| MirrorWords { text: format!("- {text}"), message: text };
    let part = |text: String, message: String| MirrorWords { text: format!("  - {text}"), message };
    match event {
        MirrorEvent::Builtin(it) => {
            both(format!("Skipping {} because it is built in to Mayfly", it.for_display()))
        }
        MirrorEvent::Bundled(it) => {
            both(format!("Skipping {} because it is bundled with Mayfly", it.for_display()))
        }
        MirrorEvent::Mirroring(it) => both(format!("Mirroring {}...", it.for_display())),
        MirrorEvent::Selected(it, version, by) => {
            let why = match by {
                SelectedBy::LockFile => "to match dependency lock file".to_owned(),
                SelectedBy::Constraints(constraints) => {
                    format!("to meet constraints {constraints}")
                }
                SelectedBy::Nothing => "with no constraints".to_owned(),
            };
            let message = format!("Selected {} v{version} {why}", it.for_display());
            part(format!("Selected v{version} {why}"), message)
        }
        MirrorEvent::Downloading(it, version, platform) => part(
            format!("Downloading package for {platform}..."),
            format!("Downloading {} v{version} package for {platform}...", it.for_display()),
        ),
        MirrorEvent::Authenticated(it, version, platform, evidence) => part(
            format!("Package authenticated: {evidence}"),
            format!(
                "Package {} v{version} for {platform} authenticated: {evidence}",
                it.for_display()
            ),
        ),
    }
}

const LOCK_FILE_COMPLETE: &str =
    "\nSuccess! Mayfly has validated the lock file and found no need for changes.";

const LOCK_FILE_UPDATED: &str = "
Success! Mayfly has updated the lock file.

Review the changes in .terraform.lock.hcl and then commit to your
version control system to retain the new checksums.
";

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
