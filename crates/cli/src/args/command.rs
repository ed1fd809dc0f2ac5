//! The options that commands have in common.

use std::path::Path;

use super::{
    Command, Deferred, JsonArgs, MetadataCommand, OperationArgs, ProviderCommand, ProvidersArgs,
    ProvidersCommand, SecretsArgs, StateCommand, VarArgs, ViewArgs, WorkspaceCommand,
};
use crate::ui::JsonForm;

/// The options that a command has in common with others.
pub(crate) struct Common<'a> {
    /// The style of the output.
    pub(crate) view: ViewArgs,
    /// The values of variables that clap collected.
    vars: Option<&'a mut VarArgs>,
    /// True if stdout has JSON lines.
    pub(crate) json_lines: bool,
    /// The file of `-json-into`.
    pub(crate) json_into: Option<&'a Path>,
    /// The form of the JSON.
    pub(crate) json_form: JsonForm,
    /// True if it is an error that a provider repeats a write-only value.
    pub(crate) strict_secrets: bool,
}

impl<'a> Common<'a> {
    fn new(view: &ViewArgs) -> Common<'a> {
        Common {
            view: view.clone(),
            vars: None,
            json_lines: false,
            json_into: None,
            json_form: JsonForm::Lines,
            strict_secrets: false,
        }
    }

    fn with(view: &ViewArgs, vars: &'a mut VarArgs) -> Common<'a> {
        Common { vars: Some(vars), ..Common::new(view) }
    }

    /// The output has JSON lines.
    fn lines(self, json: &'a JsonArgs) -> Common<'a> {
        Common { json_lines: json.json, json_into: json.json_into.as_deref(), ..self }
    }

    fn operation(self, operation: &'a OperationArgs) -> Common<'a> {
        self.lines(&operation.json).secrets(operation.secrets)
    }

    fn secrets(self, secrets: SecretsArgs) -> Common<'a> {
        Common { strict_secrets: secrets.strict_secrets, ..self }
    }

    /// The result of the command may be written as JSON.
    fn document(self, json: &'a JsonArgs) -> Common<'a> {
        let json_into = json.json_into.as_deref();
        Common { json_into, json_form: JsonForm::Document, ..self }
    }
}

impl Command {
    /// Drops the values of variables that clap collected. They are read in command line order from
    /// [`crate::arguments::ordered_flags`] instead.
    pub(crate) fn forget_values(&mut self) {
        if let Some(vars) = self.common().vars {
            vars.vars.clear();
        }
    }

    /// The options that the command has in common with others.
    pub(crate) fn common(&mut self) -> Common<'_> {
        match self {
            Command::Init(Deferred(it)) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Get(Deferred(it)) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Validate(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).document(&it.json)
            }
            Command::Fmt(Deferred(it)) => Common::new(&it.view),
            Command::Plan(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).operation(&it.operation)
            }
            Command::Watch(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).operation(&it.operation)
            }
            Command::Apply(Deferred(it)) | Command::Destroy(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).operation(&it.operation)
            }
            Command::Refresh(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json).secrets(it.secrets)
            }
            Command::Test(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json).secrets(it.secrets)
            }
            Command::Console(Deferred(it)) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Import(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json).secrets(it.secrets)
            }
            Command::Show(Deferred(it)) => Common::with(&it.view, &mut it.vars).document(&it.json),
            Command::Output(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).document(&it.json)
            }
            Command::Taint(Deferred(it)) | Command::Untaint(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            Command::State { command } => command.common(),
            Command::Workspace { command } | Command::Env { command } => command.common(),
            Command::Providers(ProvidersArgs { command: Some(command), .. }) => command.common(),
            Command::Providers(it) => Common::with(&it.view, &mut it.vars),
            Command::Provider { command: ProviderCommand::New(Deferred(it)) } => {
                Common::new(&it.view)
            }
            Command::Graph(Deferred(it)) => Common::with(&it.view, &mut it.vars),
            Command::Login(Deferred(it)) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Logout(Deferred(it)) => Common::new(&it.view).lines(&it.json),
            Command::Metadata { command: MetadataCommand::Functions(Deferred(it)) } => {
                Common::new(&it.view)
            }
            Command::Version(Deferred(it)) => Common::new(&it.view).document(&it.json),
            Command::Lsp(_) => Common::new(&ViewArgs::default()),
            Command::ForceUnlock(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            Command::Completion(Deferred(it)) => Common::new(&it.view),
            Command::Push(Deferred(it)) => Common::new(&it.view()),
            Command::Explain(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).document(&it.json).secrets(it.secrets)
            }
        }
    }
}

impl ProvidersCommand {
    fn common(&mut self) -> Common<'_> {
        match self {
            ProvidersCommand::Schema(Deferred(it)) => Common::with(&it.view, &mut it.vars),
            ProvidersCommand::Lock(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            ProvidersCommand::Mirror(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
        }
    }
}

impl StateCommand {
    fn common(&mut self) -> Common<'_> {
        match self {
            StateCommand::List(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            StateCommand::Show(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            StateCommand::Mv(Deferred(it)) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            StateCommand::Rm(Deferred(it)) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            StateCommand::Pull(Deferred(it)) => Common::with(&it.view, &mut it.vars),
            StateCommand::Push(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            StateCommand::ReplaceProvider(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            StateCommand::Adopt(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
        }
    }
}

impl WorkspaceCommand {
    fn common(&mut self) -> Common<'_> {
        match self {
            WorkspaceCommand::List(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            WorkspaceCommand::Select(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            WorkspaceCommand::New(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            WorkspaceCommand::Delete(Deferred(it)) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            WorkspaceCommand::Show(Deferred(it)) => Common::with(&it.view, &mut it.vars),
        }
    }
}
