//! The values of root variables, from the environment, files, the command line and questions.
//!
//! **Invariant:** no message of this module quotes a value, because it may be a secret.

pub mod flag;
pub mod secrecy;

use std::{
    io,
    path::{Path, PathBuf},
};

use db::{Diagnostic, Directory, SourceText, Sources, Summary, System};
use engine::{Redactor, ValueSource, VariableValues};
use hir::{
    Entry, Module, eval,
    item::{ConstValue, Variable},
    lower, names,
    program::{Named, Program},
    symbols::{NameKind, names_of_kind},
    variables_file,
    workspace::StaticInputs,
};
use project::Project;
use sorted::{TreeMap, TreeSet};
use values::{Str, Type, Value};

use self::{
    flag::VarFlag,
    secrecy::{plain_variable, plain_variables},
};
use crate::{
    session::{Failure, Session},
    view::{Notice, Question, Unanswered},
};

/// Collects the values from all sources except questions. Returns the values and warnings.
pub fn collect(
    session: &Session,
    module: &Module,
    flags: &[VarFlag],
) -> Result<(VariableValues, Vec<Diagnostic>), Failure> {
    let mut collect = Collect::new(&*session.system, &module.variables);
    collect.all_sources(flags);
    let (values, diagnostics) = collect.end();
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(diagnostics, sources(session, flags)));
    }
    Ok((values, diagnostics))
}

/// Collects the values for a command that asks for missing ones later. If there are errors, missing values are
/// reported with them.
pub fn collect_all(
    system: &dyn System,
    program: &Program,
    flags: &[VarFlag],
) -> Result<(VariableValues, Vec<Diagnostic>), Failure> {
    let variables = &program.root().variables;
    let mut collect = Collect::new(system, variables);
    collect.all_sources(flags);
    let missing = variables.iter().filter(|(name, _)| !collect.found.contains_key(*name));
    let missing: Vec<&Entry> = missing.map(|(_, entry)| entry).collect();
    let (values, mut diagnostics) = collect.end();
    if diagnostics.iter().any(Diagnostic::is_error) {
        diagnostics.extend(missing.into_iter().filter_map(|it| engine::missing_value(program, it)));
        let files = program.sources.files.iter().cloned().chain(file_sources(system, flags));
        return Err(Failure::Diagnostics(diagnostics, Sources { files: files.collect() }));
    }
    Ok((values, diagnostics))
}

/// Collects the values for the runs of a test: from the environment, from the automatic files of the working
/// directory and then of the test directory, and from the flags. Values of undeclared variables are ignored, because
/// another module of the test may declare them.
pub fn collect_for_test(
    session: &Session,
    variables: &Named<Str>,
    flags: &[VarFlag],
    directory: &Path,
) -> (VariableValues, Vec<Diagnostic>) {
    let mut collect = Collect::new(&*session.system, variables);
    collect.environment();
    collect.automatic_files(Path::new("."));
    if session.system.is_directory(directory) {
        collect.automatic_files(directory);
    }
    collect.flags(flags);
    collect.undeclared.clear();
    collect.diagnostics.retain(|it| it.summary != Summary::UNDECLARED_VARIABLE);
    collect.end()
}

/// The masked texts of the variables files of a test, for diagnostics.
pub fn test_file_sources(
    session: &Session,
    flags: &[VarFlag],
    directory: &Path,
) -> Vec<SourceText> {
    let mut sources = file_sources(&*session.system, flags);
    let automatic = automatic_files(&*session.system, directory).unwrap_or_default();
    let masked_file = |path: &PathBuf| masked(path, session.system.read_file(path).ok()?);
    sources.extend(automatic.iter().filter_map(masked_file));
    sources
}

/// Errors of files and flags that set variables, regardless of the values. `validate` needs no values.
pub fn unreadable(session: &Session, module: &Module, flags: &[VarFlag]) -> Vec<Diagnostic> {
    let mut collect = Collect::new(&*session.system, &module.variables);
    collect.all_sources(flags);
    let mut diagnostics = collect.diagnostics;
    diagnostics.retain(|it| it.is_error() && it.summary != Summary::UNDECLARED_VARIABLE);
    diagnostics
}

/// The inputs of static evaluation for the root module `root`: the values of variables that are not secret, and
/// the directories. `system` has the variables files. Errors are ignored here; [`collect`] reports them.
pub fn static_inputs(
    session: &Session,
    system: &dyn System,
    db: &dyn hir::Db,
    root: Directory,
    flags: &[VarFlag],
) -> StaticInputs {
    let variables = plain_variables(db, root);
    let mut collect = Collect::new(system, &variables);
    collect.all_sources(flags);
    let (values, _) = collect.end();
    let values = values.iter().map(|(name, it)| (name.clone(), ConstValue(it.value.clone())));
    let directory = |path: PathBuf| path.to_string_lossy().as_ref().into();
    StaticInputs {
        variables: values.collect(),
        workspace: session.workspace(),
        current_directory: directory(session.system.current_directory()),
        base_directory: directory(session.system.base_directory()),
        home_directory: session.system.variable("HOME").map(Str::from),
        files: TreeMap::new(),
    }
}

/// The texts given for ephemeral variables outside of files, and their values.
#[derive(Clone, Default)]
pub struct EphemeralInputs {
    texts: Vec<String>,
    values: Vec<Value>,
}

impl EphemeralInputs {
    /// Finds the texts in the environment and on the command line. Needs only the declarations, no schemas.
    pub fn find(system: &dyn System, project: &Project, flags: &[VarFlag]) -> EphemeralInputs {
        let mut ephemeral_inputs = EphemeralInputs::default();
        let variables = names_of_kind(project.db(), project.root(), NameKind::Variable);
        for (_, key) in variables {
            let item = names::item(project.db(), key);
            let Some(variable) = item.kind.as_variable().filter(|it| it.ephemeral) else {
                continue;
            };
            let from_environment = system.variable(&format!("TF_VAR_{}", variable.name));
            from_environment.iter().for_each(|text| ephemeral_inputs.add(variable, text));
            let given = flags.iter().filter_map(|flag| match flag {
                VarFlag::Value(text) => text.split_once('='),
                VarFlag::File(_) => None,
            });
            for (_, text) in given.filter(|(name, _)| name.trim() == &*variable.name) {
                ephemeral_inputs.add(variable, text);
            }
        }
        ephemeral_inputs
    }

    fn add(&mut self, variable: &Variable, text: &str) {
        self.texts.push(text.to_owned());
        self.values.extend(text_value(variable, text));
    }

    /// Teaches the redactor the texts and values, before any process that may quote them starts.
    pub fn teach(&self, redactor: &Redactor) {
        self.texts.iter().for_each(|text| redactor.learn_text(text));
        self.values.iter().for_each(|value| redactor.learn_whole(value));
    }
}

/// Asks for the variables that have neither a value nor a default.
pub fn ask(
    session: &Session,
    module: &Module,
    values: &mut VariableValues,
    ephemeral_inputs: &mut EphemeralInputs,
) -> Result<(), Failure> {
    for (name, entry) in &module.variables {
        let variable = entry.variable();
        if variable.default.is_some() || values.contains(name) {
            continue;
        }
        let answer = match session.view.ask(&Question::Variable(variable)) {
            Ok(answer) => answer,
            // Without a terminal, the engine reports the missing values.
            Err(Unanswered::NoInput) => return Ok(()),
            Err(Unanswered::Ended) => return Err(unanswered(name).into()),
        };
        if variable.ephemeral {
            ephemeral_inputs.add(variable, &answer);
            ephemeral_inputs.teach(&session.redactor);
        }
        let value = text_value(variable, &answer)
            .map_err(|invalid| invalid.diagnostic(&format!("The value for var.{name}")))?;
        values.set(name.clone(), value, ValueSource::Prompt);
        session.view.notice(&Notice::AnswerAccepted);
    }
    Ok(())
}

/// Asks for a variable that static evaluation needs. The answer is returned as a flag. `None` if the module has no
/// variable of this name, or if it is secret.
pub fn ask_early(
    session: &Session,
    db: &dyn hir::Db,
    root: Directory,
    name: &Str,
) -> Result<Option<VarFlag>, Failure> {
    let declared = names::lookup(db, root, &names::ItemName::Variable(name.clone()));
    let Some((_, entry)) = declared.and_then(|key| plain_variable(db, key)) else {
        return Ok(None);
    };
    let answer =
        session.view.ask(&Question::Variable(entry.variable())).map_err(|_| unanswered(name))?;
    text_value(entry.variable(), &answer)
        .map_err(|invalid| invalid.diagnostic(&format!("The value for var.{name}")))?;
    session.view.notice(&Notice::AnswerAccepted);
    Ok(Some(VarFlag::Value(format!("{name}={answer}"))))
}

fn unanswered(name: &Str) -> Diagnostic {
    let detail = format!(
        "No value was given for var.{name}. Give it with -var '{name}=...', in a .tfvars file, or in TF_VAR_{name}."
    );
    Diagnostic::new(Summary::PROMPT_ENDED, detail)
}

/// Collects values from all sources, before they are converted to the types of the variables.
struct Collect<'a> {
    system: &'a dyn System,
    variables: &'a Named<Str>,
    found: TreeMap<Str, Found>,
    undeclared: Vec<Diagnostic>,
    diagnostics: Vec<Diagnostic>,
}

/// A value and its source.
enum Found {
    /// A text, which is parsed at the end, because a later source may replace it.
    Text(String, TextSource),
    Value(Value, ValueSource),
}

/// The source of a text.
#[derive(Clone, Copy)]
enum TextSource {
    CommandLine,
    Environment,
}

/// The number of undeclared variables in files that are reported one by one.
const UNDECLARED_SHOWN: usize = 2;

impl<'a> Collect<'a> {
    fn new(system: &'a dyn System, variables: &'a Named<Str>) -> Collect<'a> {
        Collect {
            system,
            variables,
            found: TreeMap::new(),
            undeclared: Vec::new(),
            diagnostics: Vec::new(),
        }
    }

    fn all_sources(&mut self, flags: &[VarFlag]) {
        self.environment();
        self.automatic_files(Path::new("."));
        self.flags(flags);
    }

    fn flags(&mut self, flags: &[VarFlag]) {
        for flag in flags {
            match flag {
                VarFlag::Value(text) => self.flag(text),
                VarFlag::File(path) => {
                    let read = self.system.read_file_or_pipe(path);
                    self.file(path, read);
                }
            }
        }
    }

    fn environment(&mut self) {
        for (name, text) in self.system.variables("TF_VAR_") {
            let name = name.strip_prefix("TF_VAR_").unwrap_or(&name);
            // An environment variable without a matching declaration may be meant for another module, so it is
            // ignored.
            if self.variables.contains_key(name) {
                self.found.insert(name.into(), Found::Text(text, TextSource::Environment));
            }
        }
    }

    fn automatic_files(&mut self, directory: &Path) {
        let names = match automatic_files(self.system, directory) {
            Ok(names) => names,
            Err(error) => {
                let detail = match directory == Path::new(".") {
                    true => format!("The working directory cannot be read: {error}."),
                    false => {
                        format!("The directory {} cannot be read: {error}.", directory.display())
                    }
                };
                self.error(Summary::UNREADABLE_DIRECTORY, detail);
                return;
            }
        };
        for name in names {
            let read = self.system.read_file(&name);
            self.file(&name, read);
        }
    }

    fn flag(&mut self, text: &str) {
        let Some((name, value)) = self.name_and_value(text) else { return };
        if self.variables.contains_key(name) {
            self.found.insert(name.into(), Found::Text(value.to_owned(), TextSource::CommandLine));
            return;
        }
        self.error(
            Summary::UNDECLARED_VARIABLE,
            format!(
                "A variable named \"{name}\" was assigned on the command line, but the root module \
                 does not declare a variable of that name. To use this value, add a \"variable\" \
                 block to the configuration."
            ),
        );
    }

    fn name_and_value<'t>(&mut self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let given = text.split_once('=').filter(|(name, value)| {
            // A token without a name may be a base64 text, whose padding is made of equals signs.
            let is_padding =
                !self.variables.contains_key(name.trim()) && value.bytes().all(|byte| byte == b'=');
            addr::is_identifier(name.trim()) && !is_padding
        });
        match given {
            Some((name, value)) if name.trim() == name => return Some((name, value)),
            Some((name, _)) => self.error(
                Summary::INVALID_VAR_OPTION,
                format!("There are spaces around the name in -var=\"{name}=...\". Write the name \
                         directly before the equals sign."),
            ),
            None => self.error(
                Summary::INVALID_VAR_OPTION,
                "A -var option is NAME=VALUE: the name of the variable, an equals sign, and its value.".to_owned(),
            ),
        }
        None
    }

    fn file(&mut self, path: &Path, read: io::Result<Vec<u8>>) {
        let shown = path.display().to_string();
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(error) => {
                return self.error(
                    Summary::UNREADABLE_VARIABLES_FILE,
                    format!("Given variables file {shown} cannot be read: {error}."),
                );
            }
        };
        let file = variables_file::read(&shown, &bytes);
        self.diagnostics.extend(file.problems);
        for assignment in file.assignments {
            if self.variables.contains_key(&assignment.name) {
                let source = ValueSource::File(Some(assignment.location));
                self.found.insert(assignment.name, Found::Value(assignment.value, source));
            } else {
                self.undeclared.push(variables_file::undeclared(&assignment.name, &shown));
            }
        }
    }

    /// Converts the values of all variables, after later sources have replaced earlier ones.
    fn end(mut self) -> (VariableValues, Vec<Diagnostic>) {
        let mut values = VariableValues::new();
        for (name, found) in std::mem::take(&mut self.found) {
            let Some(entry) = self.variables.get(&name) else { continue };
            match found {
                Found::Value(value, source) => values.set(name, value, source),
                Found::Text(text, source) => match text_value(entry.variable(), &text) {
                    Ok(value) => values.set(name, value, source.source()),
                    Err(invalid) => self.diagnostics.push(invalid.diagnostic(&source.shown(&name))),
                },
            }
        }
        self.report_undeclared();
        (values, self.diagnostics)
    }

    fn report_undeclared(&mut self) {
        let more = self.undeclared.len().saturating_sub(UNDECLARED_SHOWN);
        self.diagnostics.extend(self.undeclared.drain(..).take(UNDECLARED_SHOWN));
        if more > 0 {
            let variables = if more == 1 { "variable is" } else { "variables are" };
            let detail = format!(
                "In addition to the other warnings, {more} more {variables} given a value in a \
                 file, but not declared."
            );
            self.diagnostics.push(Diagnostic::new(Summary::UNDECLARED_VARIABLES, detail));
        }
    }

    fn error(&mut self, summary: Summary, detail: String) {
        self.diagnostics.push(Diagnostic::new(summary, detail));
    }
}

impl TextSource {
    fn source(self) -> ValueSource {
        match self {
            TextSource::CommandLine => ValueSource::CommandLine,
            TextSource::Environment => ValueSource::Environment,
        }
    }

    fn shown(self, name: &str) -> String {
        match self {
            TextSource::CommandLine => format!("The value of -var=\"{name}=...\""),
            TextSource::Environment => format!("The environment variable TF_VAR_{name}"),
        }
    }
}

/// The variables files of a directory that are loaded automatically. A later one overrides an earlier one.
pub fn automatic_files(system: &dyn System, directory: &Path) -> io::Result<Vec<PathBuf>> {
    let is_automatic =
        |name: &str| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
    let entries = system.list_directory(directory)?;
    let files = entries.into_iter().filter(|entry| !entry.is_directory).map(|entry| entry.name);
    let files: TreeSet<String> = files.collect();
    let named = ["terraform.tfvars", "terraform.tfvars.json"].map(str::to_owned);
    let named = named.into_iter().filter(|name| files.contains(name));
    let automatic = files.iter().filter(|name| is_automatic(name)).cloned();
    let path = |name: String| match directory == Path::new(".") {
        true => PathBuf::from(name),
        false => directory.join(name),
    };
    Ok(named.chain(automatic).map(path).collect())
}

/// The error for a text that cannot be parsed as a value. It contains neither the text nor the message of the
/// parser, because the text may be a secret.
struct InvalidText {
    summary: Summary,
    ty: String,
}

impl InvalidText {
    /// The diagnostic. `what` is the subject of its first sentence and names the source of the text.
    fn diagnostic(&self, what: &str) -> Diagnostic {
        let detail = format!(
            "{what} is not valid as an expression of type {}: write it as in a .tfvars file, in \
             quotes for the shell, such as '[\"a\", \"b\"]'.",
            self.ty
        );
        Diagnostic::new(self.summary.clone(), detail)
    }
}

/// Parses a text from outside of a file. For a primitive type it is the value itself, otherwise an expression.
fn text_value(variable: &Variable, text: &str) -> Result<Value, InvalidText> {
    let literal = match &variable.ty.ty {
        ty if ty.is_primitive() => true,
        Type::Dynamic => !variable.ty.written,
        _ => false,
    };
    if literal {
        return Ok(Value::string(text));
    }
    let lower::StandaloneExpression { exprs, root, problems, .. } = lower::lower_expression(text);
    let invalid = |summary: &str| {
        let summary = Summary::variable_value_fault(summary);
        Err(InvalidText { summary, ty: variable.ty.ty.friendly_name() })
    };
    match problems.first() {
        Some(problem) if problem.id() == lower::SYNTAX_ERROR => return invalid(&problem.summary),
        Some(_) => return invalid(&Summary::VARIABLES_NOT_ALLOWED),
        None => {}
    }
    let constant = eval::constant(&exprs, root);
    match constant.diagnostics.first() {
        Some(problem) => invalid(&problem.summary),
        None => Ok(constant.value),
    }
}

/// The masked texts of variables files, for diagnostics.
pub fn sources(session: &Session, flags: &[VarFlag]) -> Sources {
    Sources { files: file_sources(&*session.system, flags).into() }
}

/// The masked texts of variables files, so that diagnostics have line numbers but show no content.
pub fn file_sources(system: &dyn System, flags: &[VarFlag]) -> Vec<SourceText> {
    // Ignore a failed directory listing, which was already reported.
    let automatic = automatic_files(system, Path::new(".")).unwrap_or_default();
    let automatic = automatic.iter().filter_map(|path| masked(path, system.read_file(path).ok()?));
    let named = flags.iter().filter_map(|flag| match flag {
        VarFlag::File(path) => masked_file(system, path),
        VarFlag::Value(_) => None,
    });
    automatic.chain(named).collect()
}

/// The masked text of a file with values that the user names.
pub fn masked_file(system: &dyn System, path: &Path) -> Option<SourceText> {
    masked(path, system.read_file_or_pipe(path).ok()?)
}

fn masked(path: &Path, bytes: Vec<u8>) -> Option<SourceText> {
    Some(masked_text(path, &String::from_utf8(bytes).ok()?))
}

/// The masked text of a file with this content.
pub(crate) fn masked_text(path: &Path, text: &str) -> SourceText {
    SourceText {
        path: path.to_string_lossy().as_ref().into(),
        blocks: [starred(text).into()].into(),
        may_hold_secrets: true,
    }
}

/// Replaces each byte of `text` by a star, except line ends.
fn starred(text: &str) -> String {
    let star = |c: char| if c == '\n' { "\n".to_owned() } else { "*".repeat(c.len_utf8()) };
    text.chars().map(star).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_variables_file_is_starred_line_by_line() {
        assert_eq!(starred("a = \"\u{e9}\"\n\tb\n"), "********\n**\n");
    }
}
