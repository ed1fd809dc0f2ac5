//! Checks of texts as modules: lowering, analysis, requests of an editor, and edits.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use addr::ProviderSource;
use db::{ByteRange, Diagnostic, MemorySystem};
use ide::Document;
use project::{Configure as _, EditableProject, Project};
use provider::{Provider as _, ProviderSchemas};
use sorted::TreeMap;

const PATH: &str = "main.tf";
const JSON_PATH: &str = "main.tf.json";
/// A comment and a blank line.
const AHEAD: &str = "# a comment\n\n";
/// The separator between the text and its edits in the input.
const BETWEEN: char = '\u{1}';
/// The maximal length of a text, because longer ones are slow and find nothing more.
const LONGEST: usize = 4096;

/// Checks a module: each diagnostic has an id, a summary and a place in the text; a comment ahead of the text
/// moves every place and changes nothing else; and the answers to an editor's requests have places in the text.
pub(crate) fn check_configuration(bytes: &[u8]) {
    check_module(bytes, PATH, AHEAD);
}

/// Checks a module in the JSON syntax, with blank lines ahead instead of a comment.
pub(crate) fn check_json_configuration(bytes: &[u8]) {
    check_module(bytes, JSON_PATH, " \n\n");
}

fn check_module(bytes: &[u8], path: &str, ahead: &str) {
    let (text, _) = syntax::decode(bytes);
    if text.len() > LONGEST {
        return;
    }
    let project = load(path, &text);
    let problems = problems(&project);
    problems.iter().for_each(|it| check_problem(it, path, &text));
    drop(project.program());
    ask_everything(&project, path, &text, &problems);
    // Nothing may precede a byte order mark.
    if text.starts_with('\u{feff}') {
        return;
    }
    let moved = load(path, &format!("{ahead}{text}"));
    let expected = problems.iter().map(|it| shown(it, path, ahead.len() as u32));
    let expected: Vec<String> = expected.collect();
    let found: Vec<String> = self::problems(&moved).iter().map(|it| shown(it, path, 0)).collect();
    assert_eq!(found, expected, "with something ahead of {text:?}");
}

/// Checks edits of a text. Each edit begins with two characters for its place. After every edit, the diagnostics
/// equal those of a fresh project with the resulting text.
pub(crate) fn check_typing(bytes: &[u8]) {
    let (text, _) = syntax::decode(bytes);
    if text.len() > LONGEST {
        return;
    }
    let mut parts = text.split(BETWEEN);
    let mut model = parts.next().unwrap_or_default().to_owned();
    let mut project = load(PATH, &model);
    drop(project.diagnostics());
    for edit in parts.take(4) {
        let mut letters = edit.chars();
        let (Some(from), Some(length)) = (letters.next(), letters.next()) else { return };
        let start = floor(&model, from as usize % (model.len() + 1));
        let end = floor(&model, (start + length as usize % 16).min(model.len())).max(start);
        model.replace_range(start..end, letters.as_str());
        let edited = project.tree_mut().edit(PATH, start..end, letters.as_str());
        assert!(edited.is_some(), "the file is part of a module");
        assert_eq!(project.tree().text(PATH).as_deref(), Some(&*model));
        let fresh: Vec<String> =
            problems(&load(PATH, &model)).iter().map(|it| shown(it, PATH, 0)).collect();
        let found: Vec<String> = problems(&project).iter().map(|it| shown(it, PATH, 0)).collect();
        assert_eq!(found, fresh, "typed to {model:?}");
    }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|it| text.is_char_boundary(*it)).unwrap_or_default()
}

fn load(path: &str, text: &str) -> EditableProject {
    let system = MemorySystem::new();
    system.write(path, text);
    system.write(
        "m/main.tf",
        "variable \"in\" {\n  ephemeral = true\n}\noutput \"out\" {\n  value = 1\n}\n",
    );
    let mut project = EditableProject::load(Arc::new(system), PathBuf::from("/"), TreeMap::new())
        .expect("the root module is there");
    for source in ["mayfly/playground", "hashicorp/playground", "terraform.io/builtin/terraform"] {
        let source = ProviderSource::parse(source).expect("an address");
        project.set_schemas(source, schemas());
    }
    project
}

/// The schemas of the playground.
fn schemas() -> Arc<ProviderSchemas> {
    static SCHEMAS: OnceLock<Arc<ProviderSchemas>> = OnceLock::new();
    let ask = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(providers::playground::provider().schemas()).expect("it has schemas")
    };
    Arc::clone(SCHEMAS.get_or_init(ask))
}

fn problems(project: &Project) -> Vec<Diagnostic> {
    project.diagnostics()
}

fn check_problem(problem: &Diagnostic, path: &str, text: &str) {
    assert!(!problem.summary.is_empty(), "{problem:?}");
    let related = problem.related.iter().map(|it| &it.location);
    let places = problem.location.iter().chain(related).filter(|it| &*it.path == path);
    for place in places {
        check_range(place.range, text);
    }
}

#[track_caller]
fn check_range(range: ByteRange, text: &str) {
    let inside = text.get(range.start as usize..range.end as usize);
    assert!(inside.is_some(), "{range:?} is not within {text:?}");
}

/// A diagnostic with every place moved by `by` bytes, as text.
fn shown(problem: &Diagnostic, path: &str, by: u32) -> String {
    let mut problem = problem.clone();
    let mut move_it = |place: &mut db::Location| {
        if &*place.path == path {
            place.range = ByteRange { start: place.range.start + by, end: place.range.end + by };
        }
    };
    problem.location.iter_mut().for_each(&mut move_it);
    problem.related.iter_mut().for_each(|it| move_it(&mut it.location));
    // A fix has a place too, which is that of the diagnostic.
    problem.fix = None;
    format!("{problem:?}")
}

fn ask_everything(project: &Project, path: &str, text: &str, problems: &[Diagnostic]) {
    let (db, workspace) = (project.db(), project.workspace());
    let (file, directory) = project.tree().file(path).expect("it was loaded");
    let document = Document { db, workspace, directory, file };
    let whole = ByteRange { start: 0, end: text.len() as u32 };
    let is_ours = |it: &ByteRange| check_range(*it, text);
    ide::semantic_tokens(document).iter().for_each(|it| is_ours(&it.range));
    ide::folding_ranges(document).iter().for_each(|it| is_ours(&it.range));
    ide::formatting(text).iter().flatten().for_each(|it| is_ours(&it.range));
    drop((ide::document_symbols(document), ide::inlay_hints(document, whole)));
    drop((ide::document_links(document), ide::code_lenses(document)));
    drop(ide::code_actions(document, whole, problems));
    // A sample of offsets, including some inside of characters and beyond the end.
    let length = text.len() as u32;
    for offset in (length % 7..=length + 7).step_by(7 + text.len() / 4) {
        ide::hover(document, offset).iter().for_each(|it| is_ours(&it.range));
        ide::selection_ranges(document, offset).iter().for_each(is_ours);
        drop((ide::definition(document, offset), ide::references(document, offset)));
        drop((ide::completions(document, offset), ide::signature_help(document, offset)));
        drop((ide::document_highlights(document, offset), ide::rename(document, offset, "new")));
    }
}
