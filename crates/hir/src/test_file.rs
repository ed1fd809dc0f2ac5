//! Test files: their names, their declarations and their problems.
//!
//! Start reading at [`read`]. A test file belongs to no module, so it is read without a database: its blocks are
//! lowered like those of a configuration, and an [`Origin`] leads back to their source ranges.

use std::sync::Arc;

use db::{ByteRange, Diagnostic, Location, SourceText, Summary, input::TEST_FILE_EXTENSIONS};
use rustc_hash::FxHashSet;
use sorted::TreeSet;
use syntax::Chunks;
use values::Str;

use crate::{
    diagnostics::with_related_place,
    expr::At,
    fix::Fix,
    item::{Item, ItemKind, ProviderConfig},
    lower::{
        self,
        problem::{Problem, SYNTAX_ERROR},
        source_map::SourceMap,
    },
    program::{Entry, Origin},
    test_item::{MockProvider, TestItem, TestRun},
};

/// The names of the test files among the names in a directory, sorted. As in OpenTofu, `x.tofutest.hcl` hides
/// `x.tftest.hcl`, and `x.tofutest.json` hides `x.tftest.json`.
pub fn test_files_among<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let is_ignored = |name: &str| {
        name.starts_with('.') || name.ends_with('~') || name.starts_with('#') && name.ends_with('#')
    };
    let names: TreeSet<&str> = names.filter(|it| db::is_test_file(it) && !is_ignored(it)).collect();
    let is_hidden = |name: &str| {
        TEST_FILE_EXTENSIONS.chunks_exact(2).any(|pair| {
            let stem = name.strip_suffix(pair[1]);
            stem.is_some_and(|stem| names.contains(&*format!("{stem}{}", pair[0])))
        })
    };
    names.iter().filter(|it| !is_hidden(it)).map(|it| (*it).to_owned()).collect()
}

/// A test file.
#[derive(Clone)]
pub struct TestFile {
    /// The display path, by which users select the file.
    pub path: Arc<str>,
    /// The text, split into blocks, to be added to the sources of a program.
    pub source: SourceText,
    /// The declarations in source order. The file number of their origins is zero: see [`TestFile::at`].
    entries: Vec<Entry>,
    /// The problems of the file.
    pub problems: Vec<Diagnostic>,
}

impl TestFile {
    /// The file with the number that it has in [`db::Sources`].
    pub fn at(mut self, number: u32) -> TestFile {
        self.entries.iter_mut().for_each(|entry| entry.origin.file = number);
        self
    }

    /// All declarations, in source order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The `run` blocks, in source order.
    pub fn runs(&self) -> impl Iterator<Item = (&Entry, &TestRun)> {
        self.entries.iter().filter_map(|entry| Some((entry, entry.item.kind.as_run()?)))
    }

    /// The `provider` blocks.
    pub fn providers(&self) -> impl Iterator<Item = (&Entry, &ProviderConfig)> {
        self.entries.iter().filter_map(|entry| Some((entry, entry.item.kind.as_provider()?)))
    }

    /// The declarations that only test files have, without runs.
    pub fn items(&self) -> impl Iterator<Item = (&Entry, &TestItem)> {
        self.entries.iter().filter_map(|entry| match &entry.item.kind {
            ItemKind::Test(TestItem::Run(_)) => None,
            ItemKind::Test(item) => Some((entry, item)),
            _ => None,
        })
    }

    /// The `mock_provider` blocks.
    pub fn mock_providers(&self) -> impl Iterator<Item = (&Entry, &MockProvider)> {
        self.items().filter_map(|(entry, item)| match item {
            TestItem::MockProvider(it) => Some((entry, &**it)),
            _ => None,
        })
    }
}

/// Reads a test file. `path` is the path shown in diagnostics.
pub fn read(path: &str, bytes: &[u8]) -> TestFile {
    let (text, encoding) = syntax::decode(bytes);
    let chunks = if db::is_json(path) { Chunks::whole(&text) } else { Chunks::of(&text) };
    let blocks: Vec<Arc<str>> = chunks.ranges().iter().map(|it| Arc::from(&text[*it])).collect();
    let path: Arc<str> = Arc::from(path);
    let mut reading = Reading {
        path: Arc::clone(&path),
        entries: Vec::new(),
        declared: FxHashSet::default(),
        problems: Vec::new(),
    };
    if let Some(error) = &encoding {
        reading.problem(&Problem::syntax(error), 0, &text);
    }
    let mut offset = 0;
    for (index, block) in (0u32..).zip(&blocks) {
        reading.block(index, block, offset);
        offset += block.len() as u32;
    }
    let Reading { entries, mut problems, .. } = reading;
    sorted::sort_by(&mut problems, |a, b| a.location.cmp(&b.location));
    let source =
        SourceText { path: Arc::clone(&path), blocks: blocks.into(), may_hold_secrets: false };
    TestFile { path, source, entries, problems }
}

/// The kind of block and the name of a declaration.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    block: &'static str,
    name: String,
}

struct Reading {
    path: Arc<str>,
    entries: Vec<Entry>,
    declared: FxHashSet<Identity>,
    problems: Vec<Diagnostic>,
}

impl Reading {
    /// Lowers one block. A block with a syntax error has no other problems, which would only be consequences.
    fn block(&mut self, index: u32, text: &str, offset: u32) {
        let lowered = lower::lower_text(text, &self.path);
        let is_broken = lowered.problems.iter().any(|it| it.id() == SYNTAX_ERROR);
        for problem in lowered.problems.iter().filter(|it| !is_broken || it.id() == SYNTAX_ERROR) {
            self.problem(problem, offset, text);
        }
        for (item, (lowered, map)) in (0u32..).zip(lowered.items.iter().zip(&lowered.source_maps)) {
            self.declare(lowered, map, Origin { file: 0, block: index, item }, offset);
        }
    }

    /// Adds a declaration, or reports that it repeats an earlier one.
    fn declare(&mut self, item: &Arc<Item>, map: &SourceMap, origin: Origin, offset: u32) {
        let is_repeated = identity(&item.kind).is_some_and(|it| !self.declared.insert(it));
        if is_repeated && let Some((summary, detail)) = repeated(&item.kind) {
            let range = map.range(At::from(item.header)).unwrap_or_default();
            let location = self.location(ByteRange::from(range).shifted(offset));
            let is_refused = summary.is_error();
            self.problems.push(Diagnostic::new(summary, detail).at(Some(location)));
            if is_refused {
                return;
            }
        }
        self.entries.push(Entry { item: Arc::clone(item), origin });
    }

    fn problem(&mut self, problem: &Problem, offset: u32, text: &str) {
        let place = |range| self.location(ByteRange::from(range).shifted(offset));
        let location = place(problem.range);
        let fix = problem.fix.as_ref().filter(|_| !db::is_json(&self.path));
        let around = text.get(problem.range.start().into()..problem.range.end().into());
        let fix = fix.zip(around).and_then(|(fix, around): (&Fix, &str)| {
            fix.at(&self.path, location.range.start, around)
        });
        let context = lower::context_at(text, &self.path, problem.range);
        let found = Diagnostic {
            context,
            fix,
            ..Diagnostic::new(problem.summary.clone(), problem.detail.clone())
        };
        let found = found.at(Some(location));
        self.problems.push(with_related_place(found, problem.related.map(place)));
    }

    fn location(&self, range: ByteRange) -> Location {
        Location { path: Arc::clone(&self.path), range }
    }
}

/// The kind of block and the name that a file may declare only once. `None` if the kind has no such name.
fn identity(kind: &ItemKind) -> Option<Identity> {
    let (block, name) = match kind {
        ItemKind::Provider(it) => ("provider", address(&it.local_name, it.alias.as_ref())),
        ItemKind::Test(item) => match item {
            TestItem::Run(it) => ("run", it.name.to_string()),
            TestItem::Variables(_) => ("variables", String::new()),
            TestItem::MockProvider(it) => {
                ("mock_provider", address(&it.local_name, it.alias.as_ref()))
            }
            TestItem::ObjectOverride(it) => ("override", it.target.to_string()),
            TestItem::ModuleOverride(it) => ("override_module", it.target.to_string()),
        },
        _ => return None,
    };
    Some(Identity { block, name })
}

/// The problem of a declaration that repeats an earlier one of the file.
fn repeated(kind: &ItemKind) -> Option<(Summary, String)> {
    let same_target = |kind: &str, target: &dyn std::fmt::Display| {
        (Summary::duplicate_double(kind), lower::test_double::repeated_target(kind, target))
    };
    Some(match kind {
        ItemKind::Provider(it) => {
            let address = address(&it.local_name, it.alias.as_ref());
            let detail = format!("This file already has a provider block for \"{address}\".");
            (Summary::DUPLICATE_PROVIDER, detail)
        }
        ItemKind::Test(TestItem::Run(it)) => {
            let detail = format!(
                "This file already has a run block named \"{}\". References to this name lead to \
                 the last of them that was executed. Give each run a name of its own.",
                it.name
            );
            (Summary::DUPLICATE_RUN, detail)
        }
        ItemKind::Test(TestItem::Variables(_)) => {
            let detail = "This test file already has a variables block. Merge the two.".to_owned();
            (Summary::multiple_test_blocks("variables"), detail)
        }
        ItemKind::Test(TestItem::MockProvider(it)) => {
            let address = address(&it.local_name, it.alias.as_ref());
            let detail = format!(
                "It is not allowed to have multiple `mock_provider` blocks with the same address: \
                 `{address}`."
            );
            (Summary::duplicate_double("mock_provider"), detail)
        }
        ItemKind::Test(TestItem::ObjectOverride(it)) => same_target(it.block_type(), &it.target),
        ItemKind::Test(TestItem::ModuleOverride(it)) => same_target("override_module", &it.target),
        _ => return None,
    })
}

/// The address of a provider configuration in its module: `name` or `name.alias`.
pub fn address(local_name: &Str, alias: Option<&Str>) -> String {
    match alias {
        Some(alias) => format!("{local_name}.{alias}"),
        None => local_name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The problems of a test file, each with the text at its location.
    fn problems(path: &str, text: &str) -> Vec<(String, String)> {
        let file = read(path, text.as_bytes());
        let problems = file.problems.iter().map(|it| {
            let range = it.location.as_ref().expect("has a location").range;
            let place = text[range.start as usize..range.end as usize].to_owned();
            (it.summary.to_string(), place)
        });
        problems.collect()
    }

    #[test]
    fn opentofu_files_hide_files_of_the_same_name() {
        let names = [
            "a.tftest.hcl",
            "a.tofutest.hcl",
            "a.tftest.json",
            "b.tftest.json",
            "b.tofutest.json",
            "main.tf",
            ".c.tftest.hcl",
            "d.tftest.hcl~",
        ];
        let found = test_files_among(names.into_iter());
        assert_eq!(found, ["a.tftest.json", "a.tofutest.hcl", "b.tofutest.json"]);
    }

    #[test]
    fn problems_are_located_in_the_file() {
        let text = "variables {}\n\nrun \"a\" {\n  command = destroy\n}\nvariables {}\n";
        let expected = [
            ("Invalid \"command\" keyword", "destroy"),
            ("Multiple \"variables\" blocks", "variables"),
        ];
        let expected = expected.map(|(summary, place)| (summary.to_owned(), place.to_owned()));
        assert_eq!(problems("a.tftest.hcl", text), expected);
    }

    #[test]
    fn targets_and_expected_failures_are_checked() {
        let text = r#"
            run "a" {
              expect_failures = [var.a, module.m, terraform_data.a[0], module.m.terraform_data.a]
              override_resource { target = module.m }
              override_resource { target = module.m.terraform_data.a[*] }
              override_resource { target = module.m.terraform_data.a }
              override_module { target = module.m["k"] }
              override_data {
                target = data.a.b
                values = [1]
              }
            }
        "#;
        let found = problems("a.tftest.hcl", text);
        let expected = [
            ("Invalid `expect_failures` reference", "module.m"),
            ("Invalid `expect_failures` reference", "module.m.terraform_data.a"),
            ("Invalid address", "module.m"),
            ("Duplicated `override_resource` block", "override_resource"),
            ("Invalid address", "module.m[\"k\"]"),
            ("Object expected", "values = [1]"),
        ];
        let expected = expected.map(|(summary, place)| (summary.to_owned(), place.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn json_file_has_the_same_declarations() {
        let text = r#"{
          "run": {"a": {"command": "plan", "expect_failures": ["var.x"]}},
          "mock_provider": {"p": {"mock_resource": {"t": {"defaults": {"id": "x"}}}}}
        }"#;
        let file = read("a.tftest.json", text.as_bytes());
        assert!(file.problems.is_empty(), "{:?}", file.problems);
        let (_, run) = file.runs().next().expect("a run");
        assert_eq!(run.command, crate::test_item::TestCommand::Plan);
        assert_eq!(&*run.expect_failures[0].address, "var.x");
        let (_, mock) = file.mock_providers().next().expect("a mock");
        assert_eq!(mock.objects[0].defaults["id"].0.as_str(), Some("x"));
    }
}
