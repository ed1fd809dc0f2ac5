//! Test files: the module that each of their blocks is about, and the names that only they declare.
//!
//! A test file belongs to no module. Its blocks refer to the module under test; a `run` block with a `module` block
//! refers to that module instead.

use db::Directory;
use hir::{
    Db, Ref, Workspace,
    lower::{reference_root, reference_root_in_test},
    workspace::{is_local_source, local_module_directory},
};
use syntax::{
    AstNode, SyntaxNode,
    ast::{self, HasItems as _},
};
use values::Str;

use crate::{Cursor, Document, Module, block_syntax::literal};

/// A name that a test file declares, for use in the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TestName {
    /// `run "x" {}`
    Run(Str),
    /// `provider "x" {}` or `mock_provider "x" {}`, with its alias.
    Provider(Str, Option<Str>),
}

/// The module of a run.
pub(crate) enum RunModule {
    /// The one under test.
    UnderTest,
    /// Another one.
    Other(Directory),
    /// Another one that is not loaded.
    Unknown,
}

/// A `run` block.
pub(crate) struct RunAt<'db> {
    pub(crate) tree: Cursor<'db>,
    pub(crate) block: ast::Block,
}

/// The directory of the module that a test file is about: the one of the file, or the one above if the file is in the
/// directory `tests` or beside no configuration. `None` if no such module is loaded.
pub fn module_under_test(db: &dyn Db, workspace: Workspace, path: &str) -> Option<Directory> {
    let parent = path.rsplit_once('/').map_or(".", |(parent, _)| parent);
    let above = match parent.rsplit_once('/') {
        Some((above, _)) => above,
        None if parent == "." => "..",
        None => ".",
    };
    let directories = workspace.directories(db);
    let has_files = |it: &&Directory| !it.files(db).is_empty();
    let of = |path: &str| directories.get(path).filter(has_files).copied();
    let is_for_tests = parent == "tests" || parent.ends_with("/tests");
    let order = if is_for_tests { [above, parent] } else { [parent, above] };
    order.into_iter().find_map(of).or_else(|| directories.get(parent).copied())
}

impl<'db> Document<'db> {
    /// Returns true if the file is a test file. Its directory is that of the module under test.
    pub fn is_test(&self) -> bool {
        db::is_test_file(self.file.path(self.db))
    }

    /// The document as a block sees it: with the directory of the module that the block is about.
    pub(crate) fn of_block(&self, root: &SyntaxNode) -> Document<'db> {
        if !self.is_test() {
            return *self;
        }
        let other = run_in(root).and_then(|run| match self.run_module(&run) {
            RunModule::Other(directory) => Some(directory),
            RunModule::UnderTest | RunModule::Unknown => None,
        });
        let path = self.file.path(self.db);
        let directory = other.or_else(|| module_under_test(self.db, self.workspace, path));
        Document { directory: directory.unwrap_or(self.directory), ..*self }
    }

    /// The module that a run executes.
    fn run_module(&self, run: &ast::Block) -> RunModule {
        let module = run
            .body()
            .and_then(|body| body.blocks().find(|it| it.block_type().as_deref() == Some("module")));
        let Some(module) = module else { return RunModule::UnderTest };
        let found = literal(&module, "source").and_then(|source| self.directory_of(&source));
        found.map_or(RunModule::Unknown, RunModule::Other)
    }

    /// The directory of a local source, which is relative to the module under test.
    pub(crate) fn directory_of(&self, source: &str) -> Option<Directory> {
        let (db, workspace) = (self.db, self.workspace);
        let under_test = module_under_test(db, workspace, self.file.path(db))?;
        is_local_source(source).then_some(())?;
        let path = local_module_directory(under_test.path(db), source);
        workspace.directories(db).get(&path).copied()
    }

    /// The `run` blocks of the file, in order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = RunAt<'db>> + use<'db> {
        let trees = self.is_test().then(|| self.trees()).into_iter().flatten();
        trees.filter_map(|tree| {
            let block = run_in(&tree.root)?;
            Some(RunAt { tree, block })
        })
    }

    /// The run with this name.
    pub(crate) fn run(&self, name: &str) -> Option<RunAt<'db>> {
        self.runs().find(|it| it.block.label_texts().next().as_deref() == Some(name))
    }

    /// The definition that a name with steps refers to, and the number of steps that belong to the name.
    pub(crate) fn reference_root(&self, root: &str, steps: &[ast::Step]) -> Option<(Ref, usize)> {
        match self.is_test() {
            true => reference_root_in_test(root, steps),
            false => reference_root(root, steps),
        }
    }
}

impl<'db> RunAt<'db> {
    /// The module that the run executes. `None` if it is not loaded.
    pub(crate) fn module(&self) -> Option<Module<'db>> {
        (!self.tree.is_elsewhere()).then(|| self.tree.document.module())
    }
}

impl Cursor<'_> {
    /// Returns true in a run of another module than the one under test that is not loaded, so that nothing is known of
    /// the names in it.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let document = &self.document;
        let run = document.is_test().then(|| run_in(&self.root)).flatten();
        run.is_some_and(|run| matches!(document.run_module(&run), RunModule::Unknown))
    }
}

impl TestName {
    /// The part of the name that every reference to it contains.
    pub(crate) fn text(&self) -> &str {
        match self {
            TestName::Run(name)
            | TestName::Provider(name, None)
            | TestName::Provider(_, Some(name)) => name,
        }
    }
}

/// The `run` block of a tree.
fn run_in(root: &SyntaxNode) -> Option<ast::Block> {
    let blocks = root.children().filter_map(ast::Block::cast);
    blocks.into_iter().find(|it| it.block_type().as_deref() == Some("run"))
}

/// The name that the label of a top-level block of a test file declares.
pub(crate) fn declared(block: &ast::Block) -> Option<TestName> {
    let name = Str::from(&*block.label_texts().next()?);
    match block.block_type()?.as_str() {
        "run" => Some(TestName::Run(name)),
        "provider" | "mock_provider" => Some(TestName::Provider(name, literal(block, "alias"))),
        _ => None,
    }
}

/// The names that a test file declares, in order.
pub(crate) fn declared_in_file(document: Document<'_>) -> Vec<TestName> {
    let trees = document.is_test().then(|| document.trees()).into_iter().flatten();
    let block = |tree: Cursor<'_>| tree.root.children().find_map(ast::Block::cast);
    trees.filter_map(block).filter_map(|it| declared(&it)).collect()
}

/// The runs before the block around a node.
pub(crate) fn earlier_runs<'db>(cursor: &Cursor<'db>) -> Vec<RunAt<'db>> {
    let document = cursor.document;
    document.runs().take_while(|it| it.tree.start < cursor.start).collect()
}

#[cfg(test)]
mod tests;
