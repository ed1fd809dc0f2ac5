//! Values of root variables: environment, files, command line, questions (`reference`: surface 2.1).
//!
//! **Invariant:** no message here quotes a value: it may be a secret.

use std::path::{Path, PathBuf};

use db::{Diagnostic, Location, SourceText, Sources, System};
use engine::{Redactor, ValueSource, VariableValues};
use hir::{Module, eval, item::Variable, lower, variables_file};
use project::Project;
use values::{Type, Value};

use crate::{
    session::{Failure, Session},
    ui::AskError,
};

/// `-var` and `-var-file` in the order of the command line, where the later one wins.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum VarFlag {
    /// `NAME=VALUE`
    Value(String),
    /// A file.
    File(PathBuf),
}

/// Finds the flags in a normalized command line; clap keeps the order of each, not across the two.
pub(crate) fn ordered_flags(args: &[String]) -> Vec<VarFlag> {
    let mut flags = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let flag = match arg.split_once('=') {
            Some(("--var", value)) => Some(VarFlag::Value(value.to_owned())),
            Some(("--var-file", value)) => Some(VarFlag::File(value.into())),
            _ if arg == "--var" => args.next().map(|value| VarFlag::Value(value.clone())),
            _ if arg == "--var-file" => args.next().map(|value| VarFlag::File(value.into())),
            _ => None,
        };
        flags.extend(flag);
    }
    flags
}

/// Collects values from everywhere but questions, and what is to be warned of.
pub(crate) fn collect(
    session: &Session,
    module: &Module,
    flags: &[VarFlag],
) -> Result<(VariableValues, Vec<Diagnostic>), Failure> {
    let mut collect =
        Collect { session, module, values: VariableValues::new(), diagnostics: Vec::new() };
    collect.environment();
    collect.automatic_files();
    for flag in flags {
        match flag {
            VarFlag::Value(text) => collect.flag(text),
            VarFlag::File(path) => collect.file(path),
        }
    }
    let Collect { values, diagnostics, .. } = collect;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(diagnostics, sources(session, flags)));
    }
    Ok((values, diagnostics))
}

/// What was typed for ephemeral variables outside of files, as it was typed.
#[derive(Clone, Default)]
pub(crate) struct Typed {
    texts: Vec<String>,
    values: Vec<Value>,
}

impl Typed {
    /// What environment and command line give. Declarations are enough for that: no schema is needed.
    pub(crate) fn find(system: &dyn System, project: &Project, flags: &[VarFlag]) -> Typed {
        let mut typed = Typed::default();
        let variables = hir::symbols::names_of_kind(
            project.db(),
            project.root(),
            hir::symbols::NameKind::Variable,
        );
        for (_, key) in variables {
            let item = hir::names::item(project.db(), key);
            let Some(variable) = item.kind.as_variable().filter(|it| it.ephemeral) else {
                continue;
            };
            let from_environment = system.variable(&format!("TF_VAR_{}", variable.name));
            from_environment.iter().for_each(|text| typed.add(variable, text));
            let given = flags.iter().filter_map(|flag| match flag {
                VarFlag::Value(text) => text.split_once('='),
                VarFlag::File(_) => None,
            });
            for (_, text) in given.filter(|(name, _)| name.trim() == &*variable.name) {
                typed.add(variable, text);
            }
        }
        typed
    }

    fn add(&mut self, variable: &Variable, text: &str) {
        self.texts.push(text.to_owned());
        self.values.extend(text_value(variable, text));
    }

    /// Teaches the redactor what was typed, before anybody who may know it says something.
    pub(crate) fn teach(&self, redactor: &Redactor) {
        self.texts.iter().for_each(|text| redactor.learn_text(text));
        self.values.iter().for_each(|value| redactor.learn_whole(value));
    }
}

/// Asks for the variables that have neither value nor default.
pub(crate) fn ask(
    session: &Session,
    module: &Module,
    values: &mut VariableValues,
    typed: &mut Typed,
) -> Result<(), Failure> {
    for (name, entry) in &module.variables {
        let variable = entry.variable();
        if variable.default.is_some() || values.contains(name) {
            continue;
        }
        let answer = match session
            .ui
            .ask(&prompt(variable), variable.sensitive || variable.ephemeral)
        {
            Ok(answer) => answer,
            // Without anybody to ask, the engine says what is missing.
            Err(AskError::NoInput) => return Ok(()),
            Err(AskError::Ended) => {
                return Err(Diagnostic::error(
                        "prompt-ended",
                        "Error asking for input",
                        format!(
                            "No value was given for var.{name}. Give it with -var '{name}=...', in a .tfvars file, or in TF_VAR_{name}."
                        ),
                    )
                    .into());
            }
        };
        if variable.ephemeral {
            typed.add(variable, &answer);
            typed.teach(&session.redactor);
        }
        let value = text_value(variable, &answer).map_err(|detail| {
            Diagnostic::error(
                "invalid-variable-value",
                "Invalid value for input variable",
                format!("The value for var.{name} {detail}"),
            )
        })?;
        values.set(name.clone(), value, ValueSource::Prompt);
        session.ui.line("");
    }
    Ok(())
}

/// `var.x (ephemeral)`, its description, and the question (RFC, "Variables").
fn prompt(variable: &Variable) -> String {
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

struct Collect<'a> {
    session: &'a Session,
    module: &'a Module,
    values: VariableValues,
    diagnostics: Vec<Diagnostic>,
}

impl Collect<'_> {
    fn environment(&mut self) {
        for (name, text) in self.session.system.variables("TF_VAR_") {
            let name = name.strip_prefix("TF_VAR_").unwrap_or(&name);
            // Variables of the environment that the module does not have are for other modules.
            let Some(entry) = self.module.variables.get(name) else { continue };
            match text_value(entry.variable(), &text) {
                Ok(value) => self.values.set(name, value, ValueSource::Environment),
                Err(detail) => self.error(
                    "invalid-variable-value",
                    "Invalid value for input variable",
                    format!("The environment variable TF_VAR_{name} {detail}"),
                ),
            }
        }
    }

    fn automatic_files(&mut self) {
        let mut names: Vec<String> = Vec::new();
        if let Ok(entries) = self.session.system.list_directory(Path::new(".")) {
            let files =
                entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.name);
            names.extend(files.filter(|name| {
                name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json")
            }));
        }
        for name in ["terraform.tfvars", "terraform.tfvars.json"] {
            if self.session.system.is_file(Path::new(name)) {
                self.file(Path::new(name));
            }
        }
        names.sort();
        for name in names {
            self.file(Path::new(&name));
        }
    }

    fn flag(&mut self, text: &str) {
        let given = text.split_once('=').filter(|(name, value)| {
            // A token without its name may be a word with the equals signs of base64 behind it.
            let is_padding = !self.module.variables.contains_key(name.trim())
                && value.bytes().all(|byte| byte == b'=');
            addr::is_identifier(name.trim()) && !is_padding
        });
        let Some((name, value)) = given else {
            return self.error(
                "invalid-var-option", "Invalid -var option",
                "A -var option is NAME=VALUE: the name of the variable, an equals sign, and its value.".to_owned(),
            );
        };
        let name = name.trim();
        let Some(entry) = self.module.variables.get(name) else {
            return self.error(
                "undeclared-variable", "Value for undeclared variable",
                format!(
                    "A variable named \"{name}\" was assigned on the command line, but the root module does not declare a variable of that name. To \
                     use this value, add a \"variable\" block to the configuration."
                ),
            );
        };
        match text_value(entry.variable(), value) {
            Ok(value) => self.values.set(name, value, ValueSource::CommandLine),
            Err(detail) => self.error(
                "invalid-variable-value",
                "Invalid value for input variable",
                format!("The value of -var={name} {detail}"),
            ),
        }
    }

    fn file(&mut self, path: &Path) {
        let shown = path.display().to_string();
        let bytes = match self.session.system.read_file(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                return self.error(
                    "invalid-variables-file",
                    "Failed to read variables file",
                    format!("Given variables file {shown} cannot be read: {error}."),
                );
            }
        };
        match shown.ends_with(".json") {
            true => self.json_file(&shown, &bytes),
            false => self.native_file(&shown, &bytes),
        }
    }

    fn json_file(&mut self, shown: &str, bytes: &[u8]) {
        match values::json::decode_implied(bytes) {
            Ok(value) if value.as_map().is_some() => {
                for (name, value) in value.as_map().into_iter().flatten() {
                    self.set_from_file(name, value.clone(), shown, None);
                }
            }
            Ok(_) => self.error(
                "invalid-variables-file",
                "Invalid variables file",
                format!("{shown} must hold one JSON object: names and values."),
            ),
            Err(_) => self.error(
                "invalid-variables-file",
                "Invalid variables file",
                format!("{shown} is not valid JSON."),
            ),
        }
    }

    fn native_file(&mut self, shown: &str, bytes: &[u8]) {
        let file = variables_file::read(shown, bytes);
        self.diagnostics.extend(file.problems);
        for given in file.given {
            self.set_from_file(&given.name, given.value, shown, Some(given.location));
        }
    }

    fn set_from_file(&mut self, name: &str, value: Value, shown: &str, location: Option<Location>) {
        if !self.module.variables.contains_key(name) {
            self.diagnostics.push(variables_file::undeclared(name, shown));
            return;
        }
        self.values.set(name, value, ValueSource::File(location));
    }

    fn error(&mut self, id: &'static str, summary: &str, detail: String) {
        self.diagnostics.push(Diagnostic::error(id, summary, detail));
    }
}

/// The value that a text from outside of any file means: as it is for primitive types, an expression for others.
fn text_value(variable: &Variable, text: &str) -> Result<Value, String> {
    let literal = match &variable.ty.ty {
        ty if ty.is_primitive() => true,
        Type::Dynamic => !variable.ty.written,
        _ => false,
    };
    if literal {
        return Ok(Value::string(text));
    }
    let (exprs, root, problems) = lower::lower_expression(text);
    let constant = eval::constant(&exprs, root);
    if !problems.is_empty() || !constant.diagnostics.is_empty() {
        // Neither what was typed nor the parser's words about it are quoted.
        return Err(format!(
            "is not valid as an expression of type {}: write it as in a .tfvars file, in quotes for the shell, such as '[\"a\", \"b\"]'.",
            variable.ty.ty.friendly_name()
        ));
    }
    Ok(constant.value)
}

pub(crate) fn sources(session: &Session, flags: &[VarFlag]) -> Sources {
    Sources { files: file_sources(session, flags).into() }
}

/// The texts of variables files, so that lines can be counted; none of them is shown.
pub(crate) fn file_sources(session: &Session, flags: &[VarFlag]) -> Vec<SourceText> {
    let mut paths: Vec<PathBuf> = vec![PathBuf::from("terraform.tfvars")];
    paths.extend(flags.iter().filter_map(|flag| match flag {
        VarFlag::File(path) => Some(path.clone()),
        VarFlag::Value(_) => None,
    }));
    if let Ok(entries) = session.system.list_directory(Path::new(".")) {
        paths.extend(
            entries
                .into_iter()
                .map(|entry| PathBuf::from(entry.name))
                .filter(|name| name.to_string_lossy().ends_with(".auto.tfvars")),
        );
    }
    let files = paths.into_iter().filter_map(|path| {
        let text = String::from_utf8(session.system.read_file(&path).ok()?).ok()?;
        Some(SourceText {
            path: path.to_string_lossy().as_ref().into(),
            blocks: [masked(&text).into()].into(),
            may_hold_secrets: true,
        })
    });
    files.collect()
}

/// `text` with a star for each byte that does not end a line.
fn masked(text: &str) -> String {
    let star = |c: char| if c == '\n' { "\n".to_owned() } else { "*".repeat(c.len_utf8()) };
    text.chars().map(star).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_variables_file_only_the_lines_are_kept() {
        assert_eq!(masked("a = \"\u{e9}\"\n\tb\n"), "********\n**\n");
    }

    #[test]
    fn flags_keep_their_order() {
        let args: Vec<String> = [
            "mayfly",
            "plan",
            "--var",
            "a=1",
            "--var-file=f",
            "--var=b=x=y",
            "--out",
            "--var-file",
        ]
        .map(str::to_owned)
        .into();
        let flags = ordered_flags(&args);
        assert!(
            flags
                == [
                    VarFlag::Value("a=1".into()),
                    VarFlag::File("f".into()),
                    VarFlag::Value("b=x=y".into())
                ]
        );
    }
}
