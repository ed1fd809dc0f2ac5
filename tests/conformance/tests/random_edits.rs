//! Seeded random edits. After any sequence of them, all answers equal those of a fresh project with the same text,
//! and the immediate check after an edit finds what a complete check finds.

#![expect(clippy::disallowed_methods, reason = "the environment says how long a run is")]

use std::{collections::HashSet, sync::Arc};

use conformance::World;
use db::{Block, Diagnostic};
use hir::{Entry, Item, Module, Origin};
use ide::Document;
use sorted::TreeMap;

/// The default number of sequences; `MAYFLY_SEQUENCES` overrides it for long runs.
const SEQUENCES: u64 = 2000;
/// The number of sequences after which the texts are reset; otherwise they would degrade to nonsense.
const FRESH_TEXTS: u64 = 12;

const BASE: &[(&str, &str)] = &[
    (
        "main.tf",
        r#"variable "password" {
  type      = string
  ephemeral = true
}

variable "names" {
  type    = list(string)
  default = ["a", "b"]
}

locals {
  first  = var.names[0]
  second = "${local.first}-${length(var.names)}"
  third  = { for name in var.names : name => upper(name) }
}

resource "terraform_data" "one" {
  input = local.second
}

resource "terraform_data" "each" {
  for_each = local.third
  input    = "${each.key}-${each.value}"
}

module "m" {
  source = "./m"
  in     = terraform_data.one.output
  secret = var.password
}

output "out" {
  value = module.m.out
}
"#,
    ),
    (
        "more.tf",
        r#"ephemeral "playground_random" "r" {
  length = 12
}

locals {
  fourth = [for key, value in terraform_data.each : value.output]
  random = ephemeral.playground_random.r.value
}

resource "playground_secret" "s" {
  name             = local.first
  value_wo         = local.random
  value_wo_version = 1
}

provider "playground" {
  store = "store"
}
"#,
    ),
    (
        "m/main.tf",
        r#"variable "in" {
  type = any
}

variable "secret" {
  type      = string
  ephemeral = true
}

locals {
  inner = "<${var.in}>"
}

output "out" {
  value = local.inner
}

output "hidden" {
  value     = var.secret
  ephemeral = true
}
"#,
    ),
];

/// Override files for some of the sequences. In a module with an override file, an edit affects more blocks.
const OVERRIDES: &[(&str, &str)] = &[
    (
        "x_override.tf",
        r#"locals {
  first = upper(var.names[1])
  third = local.fourth
}

resource "terraform_data" "each" {
  input = local.first
}

variable "names" {
  type = set(string)
}

module "m" {
  in = local.second
}
"#,
    ),
    (
        "m/override.tf.json",
        r#"{
  "output": {"out": {"sensitive": true}},
  "locals": {"inner": "${var.secret}"}
}
"#,
    ),
];

const SNIPPETS: &[&str] = &[
    "local.first",
    "local.inner",
    "var.password",
    "var.in",
    "module.m.hidden",
    "module.m.out",
    "module.m",
    "each.value",
    "terraform_data.one",
    "terraform_data.each[\"a\"].output",
    "ephemeral.playground_random.r",
    "\"",
    "${",
    "}",
    "{",
    "[",
    "]",
    "(",
    ")",
    ",",
    "\n",
    "\n\n",
    "# a comment\n",
    "/*",
    "*/",
    "<<E\ntext\nE\n",
    " = ",
    "count = 2\n",
    "sensitive = true\n",
    "ephemeral = true\n",
    "depends_on = [local.first]\n",
    "locals {\n  first = 1\n}\n",
    "variable \"in\" {}\n",
    "output \"o\" {\n  value = local.fourth\n}\n",
    "module \"n\" {\n  source = \"./m\"\n  in = 1\n}\n",
    "terraform {\n  required_providers {\n    other = {\n      source = \"a/b\"\n    }\n  }\n}\n",
    "resource \"terraform_data\" \"one\" {}\n",
    "try(",
    "can(",
    "nonsensitive(",
    "ephemeralasnull(",
    "null",
    "é𝒳",
    "\r\n",
];

/// A random number generator with a fixed seed.
struct Random(fastrand::Rng);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound.max(1))
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A random character boundary.
    fn place(&mut self, text: &str) -> usize {
        db::input::floor_char_boundary(text, self.below(text.len() + 1))
    }
}

/// The current texts, and a project that has followed every edit of them.
struct Session {
    world: World,
    texts: TreeMap<String, String>,
    /// The blocks with diagnostics, by file. The check after an edit includes them.
    suspects: TreeMap<String, HashSet<Block>>,
    base: Vec<(&'static str, &'static str)>,
}

impl Session {
    fn new(with_overrides: bool) -> Session {
        let others = if with_overrides { OVERRIDES } else { &[] };
        let base: Vec<_> = BASE.iter().chain(others).copied().collect();
        let texts: TreeMap<String, String> =
            base.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let mut world = fresh(&texts);
        let directories =
            world.project().tree().workspaces()[0].directories(world.project().db()).clone();
        directories.values().for_each(|it| world.project_mut().tree_mut().follow(*it));
        let mut session = Session { world, texts, suspects: TreeMap::new(), base };
        session.check_everything();
        session
    }

    /// Replaces bytes of a file and runs the immediate check.
    fn edit(&mut self, path: &str, range: std::ops::Range<usize>, with: &str) {
        let text = self.texts.get_mut(path).expect("is a file");
        text.replace_range(range.clone(), with);
        let edit = self.world.project_mut().tree_mut().edit(path, range, with);
        let edit = edit.expect("is a file of the configuration");
        let reached = self.world.project().tree().reached(&edit);
        self.check_at_once(path, reached.map(|it| it.into_iter().collect()));
    }

    /// Checks the edited file as an editor does: the blocks that the edit can have reached, and those that had
    /// diagnostics. The result must equal that of a check of the whole file.
    fn check_at_once(&mut self, path: &str, reached: Option<HashSet<Block>>) {
        let project = self.world.project();
        let (file, directory) = project.tree().file(path).expect("is a file");
        let known = self.suspects.entry(path.to_owned()).or_default();
        let is_asked = |block: Block| {
            reached
                .as_ref()
                .is_none_or(|reached| reached.contains(&block) || known.contains(&block))
        };
        let (db, workspace) = (project.db(), project.workspace());
        let at_once = hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, is_asked);
        let all = hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, |_| true);
        same(&at_once.diagnostics, &all.diagnostics, &|| format!("{path}:\n{}", self.texts[path]));
        self.check_everything();
    }

    fn check_everything(&mut self) {
        let project = self.world.project();
        let (db, workspace) = (project.db(), project.workspace());
        for path in self.texts.keys() {
            let Some((file, directory)) = project.tree().file(path) else { continue };
            let all = hir::diagnostics::of_blocks_of_file(db, workspace, directory, file, |_| true);
            self.suspects.insert(path.clone(), all.blocks.into_iter().collect());
        }
    }

    /// The incremental second check must find what a complete check finds, and must build the same program.
    fn look_again(&mut self) {
        let (found, program) = self.world.project_mut().recheck();
        same(&found, &self.world.analysis(), &|| format!("{:#?}", self.texts));
        let whole = self.world.project().program();
        assert_eq!(program.modules.len(), whole.modules.len(), "{:#?}", self.texts);
        for (ours, theirs) in program.modules.iter().zip(&whole.modules) {
            assert_eq!(entries(ours), entries(theirs), "{:#?}", self.texts);
            assert_eq!(ours.provider_sources, theirs.provider_sources, "{:#?}", self.texts);
            assert_eq!(
                ours.configuration_aliases, theirs.configuration_aliases,
                "{:#?}",
                self.texts
            );
        }
        for (ours, theirs) in program.sources.files.iter().zip(&*whole.sources.files) {
            assert_eq!((&ours.path, &ours.blocks), (&theirs.path, &theirs.blocks));
        }
    }

    /// Makes a random edit.
    fn step(&mut self, random: &mut Random) {
        let paths: Vec<String> = self.texts.keys().cloned().collect();
        let path = random.of(&paths).clone();
        let text = self.texts[&path].clone();
        match random.below(8) {
            0 | 1 => {
                let at = random.place(&text);
                self.edit(&path, at..at, random.of::<&str>(SNIPPETS));
            }
            2 => {
                let from = random.place(&text);
                let to = db::input::floor_char_boundary(&text, from + random.below(30));
                self.edit(&path, from..to.max(from), "");
            }
            3 => {
                let line = random_line(random, &text);
                self.edit(&path, line, "");
            }
            4 => {
                let line = random_line(random, &text);
                let copy = text[line].to_owned();
                let at = random_line(random, &text).start;
                self.edit(&path, at..at, &copy);
            }
            5 => {
                let word = random_word(random, &text);
                let other = self.texts[random.of(&paths)].clone();
                let with = other[random_word(random, &other)].to_owned();
                self.edit(&path, word, &with);
            }
            6 => {
                let block = random_block(random, &text);
                let cut = text[block.clone()].to_owned();
                self.edit(&path, block, "");
                let target = random.of(&paths).clone();
                let at = self.texts[&target].len();
                self.edit(&target, at..at, &cut);
            }
            _ => {
                let at = random.place(&text);
                let letter = random.of(&["a", "x", "_", "1", ".", " ", "\"", "\n", "=", "{", "}"]);
                self.edit(&path, at..at, letter);
            }
        }
    }

    /// Compares the project with a fresh one.
    fn compare(&self, random: &mut Random, seed: u64) {
        let fresh = fresh(&self.texts);
        let shown = || format!("seed {seed}:\n{:#?}", self.texts);
        same(&self.world.analysis(), &fresh.analysis(), &shown);
        self.compare_with_frozen(&shown);
        for (path, text) in &self.texts {
            // A fresh project does not load a module without callers.
            let Some(theirs) = document(&fresh, path) else { continue };
            let Some(ours) = document(&self.world, path) else { panic!("{path}: {}", shown()) };
            assert_eq!(ide::document_symbols(ours), ide::document_symbols(theirs), "{}", shown());
            for _ in 0..3 {
                let at = random.below(text.len() + 1) as u32;
                let (ours, theirs) = (ide::hover(ours, at), ide::hover(theirs, at));
                assert_eq!(ours, theirs, "{path} {at}, {}", shown());
            }
        }
    }

    /// Compares the project with a frozen one of the same texts.
    fn compare_with_frozen(&self, shown: &dyn Fn() -> String) {
        let frozen = World::frozen(&self.texts);
        let (found, program) = frozen.checked();
        same(&self.world.analysis(), &found, shown);
        let asked = hir::diagnostics::diagnostics(frozen.db(), frozen.workspace());
        same(&self.world.analysis(), &asked, shown);
        let edited = self.world.project().program();
        assert_eq!(edited.modules.len(), program.modules.len(), "{}", shown());
        for (ours, theirs) in edited.modules.iter().zip(&program.modules) {
            assert_eq!(items(ours), items(theirs), "{}", shown());
            assert_eq!(ours.provider_sources, theirs.provider_sources, "{}", shown());
        }
    }

    /// Resets the texts by edits.
    fn begin_again(&mut self) {
        for (path, text) in self.base.clone() {
            let old = self.texts[path].len();
            self.edit(path, 0..old, text);
        }
    }
}

/// Everything that a module declares: the name, the place, and the identity of the item.
fn entries(module: &Module) -> Vec<(String, Origin, *const Item)> {
    let all = declared(module);
    all.into_iter().map(|(name, it)| (name, it.origin, Arc::as_ptr(&it.item))).collect()
}

fn declared(module: &Module) -> Vec<(String, &Entry)> {
    let variables = module.variables.iter().map(|(name, it)| (format!("var.{name}"), it));
    let locals = module.locals.iter().map(|(name, it)| (format!("local.{name}"), it));
    let outputs = module.outputs.iter().map(|(name, it)| (format!("output.{name}"), it));
    let resources = module.resources.iter().map(|(name, it)| (name.to_string(), it));
    let calls = module.calls.iter().map(|(name, (it, id))| (format!("module.{name} {id:?}"), it));
    let providers = module.providers.iter().map(|(name, it)| (format!("{name:?}"), it));
    let checks = module.checks.iter().map(|(name, it)| (format!("check.{name}"), it));
    let others = module.others.iter().map(|it| (String::new(), it));
    let all = variables.chain(locals).chain(outputs).chain(resources).chain(calls);
    all.chain(providers).chain(checks).chain(others).collect()
}

/// The name, the place and the item of everything that a module declares.
fn items(module: &Module) -> Vec<(String, Origin, Item)> {
    let all = declared(module);
    all.into_iter().map(|(name, it)| (name, it.origin, Item::clone(&it.item))).collect()
}

/// Fails with the diagnostics that only one side has.
fn same(ours: &[Diagnostic], theirs: &[Diagnostic], shown: &dyn Fn() -> String) {
    let without = |all: &[Diagnostic], others: &[Diagnostic]| -> Vec<Diagnostic> {
        all.iter().filter(|it| !others.contains(it)).cloned().collect()
    };
    let (more, less) = (without(ours, theirs), without(theirs, ours));
    assert!(
        more.is_empty() && less.is_empty(),
        "too much: {more:#?}\ntoo little: {less:#?}\n{}",
        shown()
    );
    assert_eq!(ours.len(), theirs.len(), "{}", shown());
}

fn fresh(texts: &TreeMap<String, String>) -> World {
    let files = texts.iter().map(|(path, text)| {
        format!("//- /{path}\n{text}{}", if text.ends_with('\n') { "" } else { "\n" })
    });
    // A fixture drops an empty first file.
    let fixture: String = std::iter::once("//- /README\nNone.\n".to_owned()).chain(files).collect();
    let mut world = World::bare(&fixture);
    // The files of a fixture end with a newline; those of an editor need not.
    for (path, text) in texts {
        if world.project().tree().text(path).is_some_and(|it| it != *text) {
            world.edit(path, text);
        }
    }
    world
}

fn document<'w>(world: &'w World, path: &str) -> Option<Document<'w>> {
    let project = world.project();
    let (file, directory) = project.tree().file(path)?;
    Some(Document { db: project.db(), workspace: project.workspace(), directory, file })
}

fn random_line(random: &mut Random, text: &str) -> std::ops::Range<usize> {
    let start = text[..random.place(text)].rfind('\n').map_or(0, |it| it + 1);
    let end = text[start..].find('\n').map_or(text.len(), |it| start + it + 1);
    start..end
}

fn random_word(random: &mut Random, text: &str) -> std::ops::Range<usize> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let at = random.place(text);
    let start = text[..at].rfind(|letter| !is_letter(letter));
    let start = start.map_or(0, |it| it + text[it..].chars().next().map_or(1, char::len_utf8));
    let end = text[at..].find(|letter| !is_letter(letter)).map_or(text.len(), |it| at + it);
    start..end.max(start)
}

fn random_block(random: &mut Random, text: &str) -> std::ops::Range<usize> {
    let ranges = syntax::split(text);
    match ranges.is_empty() {
        true => 0..0,
        false => (*random.of(&ranges)).into(),
    }
}

/// A sequence is determined by its seed and by the seeds since the last reset of the texts.
fn run(seeds: std::ops::Range<u64>) {
    let mut sessions = [Session::new(false), Session::new(true)];
    for seed in seeds {
        let session = &mut sessions[usize::from(seed / FRESH_TEXTS % 4 == 3)];
        if seed % FRESH_TEXTS == 0 {
            session.begin_again();
        }
        let mut random = Random(fastrand::Rng::with_seed(seed));
        for _ in 0..1 + random.below(6) {
            session.step(&mut random);
        }
        session.look_again();
        session.compare(&mut random, seed);
    }
}

#[test]
fn random_edits_equal_a_fresh_start() {
    let number = |name: &str| std::env::var(name).ok().and_then(|it| it.parse::<u64>().ok());
    let first = number("MAYFLY_SEED").unwrap_or(0);
    let half = number("MAYFLY_SEQUENCES").unwrap_or(SEQUENCES).div_ceil(2);
    parallel::map_on(2, &[first, first + half], |&from| run(from..from + half));
}
