//! The options that commands have in common.

use std::path::Path;

use super::{
    Command, JsonArgs, MetadataCommand, OperationArgs, ProviderCommand, ProvidersArgs,
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
            Command::Init(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Get(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Validate(it) => Common::with(&it.view, &mut it.vars).document(&it.json),
            Command::Fmt(it) => Common::new(&it.view),
            Command::Plan(it) => Common::with(&it.view, &mut it.vars).operation(&it.operation),
            Command::Watch(it) => Common::with(&it.view, &mut it.vars).operation(&it.operation),
            Command::Apply(it) | Command::Destroy(it) => {
                Common::with(&it.view, &mut it.vars).operation(&it.operation)
            }
            Command::Refresh(it) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json).secrets(it.secrets)
            }
            Command::Test(it) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json).secrets(it.secrets)
            }
            Command::Console(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Import(it) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json).secrets(it.secrets)
            }
            Command::Show(it) => Common::with(&it.view, &mut it.vars).document(&it.json),
            Command::Output(it) => Common::with(&it.view, &mut it.vars).document(&it.json),
            Command::Taint(it) | Command::Untaint(it) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            Command::State { command } => command.common(),
            Command::Workspace { command } | Command::Env { command } => command.common(),
            Command::Providers(ProvidersArgs { command: Some(command), .. }) => command.common(),
            Command::Providers(it) => Common::with(&it.view, &mut it.vars),
            Command::Provider { command: ProviderCommand::New(it) } => Common::new(&it.view),
            Command::Graph(it) => Common::with(&it.view, &mut it.vars),
            Command::Login(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Logout(it) => Common::new(&it.view).lines(&it.json),
            Command::Metadata { command: MetadataCommand::Functions(it) } => Common::new(&it.view),
            Command::Version(it) => Common::new(&it.view).document(&it.json),
            Command::Lsp(_) => Common::new(&ViewArgs::default()),
            Command::ForceUnlock(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            Command::Completion(it) => Common::new(&it.view),
            Command::Push(it) => Common::new(&it.view()),
            Command::Explain(it) => {
                Common::with(&it.view, &mut it.vars).document(&it.json).secrets(it.secrets)
            }
        }
    }
}

impl ProvidersCommand {
    fn common(&mut self) -> Common<'_> {
        match self {
            ProvidersCommand::Schema(it) => Common::with(&it.view, &mut it.vars),
            ProvidersCommand::Lock(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            ProvidersCommand::Mirror(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
        }
    }
}

impl StateCommand {
    fn common(&mut self) -> Common<'_> {
        match self {
            StateCommand::List(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            StateCommand::Show(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            StateCommand::Mv(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            StateCommand::Rm(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            StateCommand::Pull(it) => Common::with(&it.view, &mut it.vars),
            StateCommand::Push(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            StateCommand::ReplaceProvider(it) => {
                Common::with(&it.view, &mut it.vars).lines(&it.json)
            }
            StateCommand::Adopt(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
        }
    }
}

impl WorkspaceCommand {
    fn common(&mut self) -> Common<'_> {
        match self {
            WorkspaceCommand::List(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            WorkspaceCommand::Select(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            WorkspaceCommand::New(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            WorkspaceCommand::Delete(it) => Common::with(&it.view, &mut it.vars).lines(&it.json),
            WorkspaceCommand::Show(it) => Common::with(&it.view, &mut it.vars),
        }
    }
}
