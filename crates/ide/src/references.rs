//! Find references and document highlights.

mod mention;

use hir::names::{ItemName, block_items, block_names};
use syntax::SyntaxToken;

use crate::{
    Cursor, Document, FileRange, Module,
    naming::{Named, Occurrence, Role, Templates},
};

/// A reference to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The place of the name.
    pub place: FileRange,
    /// The role of the name there.
    pub role: Role,
}

/// Returns all references to the name at an offset, including its declarations, in the order of modules and files.
/// `None` if there is no name at the offset.
pub fn references(document: Document<'_>, offset: u32) -> Option<Vec<Reference>> {
    let tree = document.cursor(offset)?;
    let named = Occurrence::at(&tree, &tree.token()?)?.named;
    Some(uses(&tree, &named).into_iter().map(|it| it.reference).collect())
}

/// Like [`references`], with the references in test files. Each of `tests` has the directory of its module under test.
pub fn references_with_tests(
    document: Document<'_>,
    offset: u32,
    tests: &[Document<'_>],
) -> Option<Vec<Reference>> {
    let tree = document.cursor(offset)?;
    let named = Occurrence::at(&tree, &tree.token()?)?.named;
    let mut search = Search::new(&tree, &named);
    search.found = uses(&tree, &named);
    if matches!(named, Named::Item(..) | Named::Module(_)) {
        let others = tests.iter().filter(|it| it.file != document.file);
        others.for_each(|it| search.document(*it, |_, _| true));
    }
    Some(search.found.into_iter().map(|it| it.reference).collect())
}

/// Returns the references in the file to the name at an offset.
pub fn document_highlights(document: Document<'_>, offset: u32) -> Vec<Reference> {
    let Some(tree) = document.cursor(offset) else { return Vec::new() };
    let Some(occurrence) = tree.token().and_then(|token| Occurrence::at(&tree, &token)) else {
        return Vec::new();
    };
    let mut search = Search::new(&tree, &occurrence.named);
    match &occurrence.named {
        _ if document.is_test() => search.document(document, |_, _| true),
        Named::Item(directory, _) => {
            let is_own = *directory == document.directory;
            let calls = CallsOf::new(document.module(), *directory);
            search.document(document, |search, block| {
                let module = document.module();
                is_own && search.may_mention(&module, block)
                    || search.may_use(&module, block, &calls)
            });
        }
        Named::Module(directory) => {
            let calls = CallsOf::new(document.module(), *directory);
            search.document(document, |search, block| {
                search.may_use(&document.module(), block, &calls)
            });
        }
        Named::Bound(..) | Named::Place(_) | Named::OfTest(_) => search.tree(&tree),
    }
    search.found.into_iter().map(|it| it.reference).collect()
}

/// A reference with the data that a rename needs.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The reference.
    pub(crate) reference: Reference,
    /// The type of the top-level block that contains the reference.
    pub(crate) block_type: String,
}

/// All references to a target, seen from a block that refers to it.
pub(crate) fn uses(tree: &Cursor<'_>, named: &Named) -> Vec<Use> {
    let mut search = Search::new(tree, named);
    let module = tree.document.module();
    match named {
        Named::Item(directory, name) => {
            search.module(&module.with_directory(*directory));
            if mention::is_seen_by_callers(name) {
                search.callers(&module, *directory);
            }
        }
        Named::Module(directory) => search.callers(&module, *directory),
        Named::Bound(..) => search.tree(tree),
        Named::Place(_) | Named::OfTest(_) => {}
    }
    if tree.document.is_test() && !matches!(named, Named::Bound(..) | Named::Place(_)) {
        // The file is none of the module's.
        search.document(tree.document, |_, _| true);
    }
    search.found
}

/// The calls of one module that refer to another module.
pub(crate) struct CallsOf {
    names: Vec<values::Str>,
}

impl CallsOf {
    /// Collects the calls in `caller` that refer to `called`.
    pub(crate) fn new(caller: Module<'_>, called: db::Directory) -> CallsOf {
        let calls = hir::module_calls::module_calls(caller.db, caller.workspace, caller.directory);
        CallsOf {
            names: calls.filter(|(_, it)| *it == called).map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Returns true if there are no calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns true if the call with the given name is one of them.
    pub(crate) fn contains(&self, call: &str) -> bool {
        self.names.iter().any(|name| &**name == call)
    }
}

struct Search<'a> {
    named: &'a Named,
    /// The text of the name, which every reference contains; the search skips other tokens. `None` for a module,
    /// because any source may refer to it.
    text: Option<String>,
    found: Vec<Use>,
}

impl<'a> Search<'a> {
    fn new(tree: &Cursor<'_>, named: &'a Named) -> Search<'a> {
        let text = match named {
            Named::Item(_, name) => mention::text(name).map(str::to_owned),
            Named::Bound(_, range) => Some(tree.root.text().slice(*range).to_string()),
            Named::OfTest(name) => Some(name.text().to_owned()),
            Named::Place(_) | Named::Module(_) => None,
        };
        Search { named, text, found: Vec::new() }
    }

    /// Searches the module that declares the item.
    fn module(&mut self, module: &Module<'_>) {
        for document in module.documents() {
            self.document(document, |search, block| search.may_mention(module, block));
        }
    }

    /// Searches the blocks of a file for which `is_wanted` is true. Only these are parsed.
    fn document(&mut self, document: Document<'_>, is_wanted: impl Fn(&Self, db::Block) -> bool) {
        for (block, start) in document.blocks() {
            if is_wanted(self, block) {
                self.tree(&document.cursor_in(block, start, start));
            }
        }
    }

    /// Searches all modules that call the target's module.
    fn callers(&mut self, module: &Module<'_>, called: db::Directory) {
        for caller in module.all() {
            let calls = CallsOf::new(caller, called);
            if calls.is_empty() {
                continue;
            }
            for document in caller.documents() {
                self.document(document, |search, block| search.may_use(&caller, block, &calls));
            }
        }
    }

    fn may_mention(&self, module: &Module<'_>, block: db::Block) -> bool {
        let Named::Item(_, name) = self.named else { return false };
        block_names(module.db, block).contains(name)
            || block_items(module.db, block).iter().any(|item| mention::mentions(item, name))
    }

    fn may_use(&self, module: &Module<'_>, block: db::Block, calls: &CallsOf) -> bool {
        let mut items = block_items(module.db, block).iter();
        match self.named {
            Named::Item(_, ItemName::Output(name)) => {
                items.any(|item| mention::reads_output(item, calls, name))
            }
            _ => items.any(|item| {
                item.kind.as_module_call().is_some_and(|call| calls.contains(&call.name))
            }),
        }
    }

    fn tree(&mut self, tree: &Cursor<'_>) {
        let templates = Templates::default();
        let tokens =
            tree.root.descendants_with_tokens().filter_map(syntax::NodeOrToken::into_token);
        for token in tokens {
            if !self.may_be(&token) {
                continue;
            }
            let Some(found) = Occurrence::among(tree, &templates, &token) else { continue };
            // The other tokens of a reference resolve to the same target.
            let is_name = found.range.contains_range(token.text_range());
            if is_name && found.named == *self.named {
                let reference = Reference { place: tree.file_range(found.range), role: found.role };
                let top = token.parent().and_then(|it| crate::block_syntax::top_level(&it));
                let block_type = top.and_then(|it| it.block_type()).unwrap_or_default().to_string();
                self.found.push(Use { reference, block_type });
            }
        }
    }

    fn may_be(&self, token: &SyntaxToken) -> bool {
        let kind = token.kind();
        let is_name = kind.is_name() || kind.is_template_literal();
        is_name && self.text.as_ref().is_none_or(|text| text == token.text())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{document_highlights, references};
    use crate::fixture;

    /// Shows every reference to the name at the cursor. Asserts that those in its file equal the document
    /// highlights.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let (document, offset) = (fixture.document(), fixture.offset());
        let highlights = document_highlights(document, offset);
        let found = references(document, offset).unwrap_or_default();
        let own = found.iter().filter(|it| it.place.file == document.file);
        assert_eq!(own.copied().collect::<Vec<_>>(), highlights);
        let shown = found.iter().map(|it| {
            assert_eq!(fixture.text(it.place), fixture.text(found[0].place));
            format!("{} {:?}\n", fixture.show(it.place), it.role)
        });
        expect.assert_eq(&shown.collect::<String>());
    }

    const VARIABLE: &str = r#"
//- /main.tf
module "a" {
  source = "./mod"
  region = "a"
}
module "b" {
  source = "./mod"
  region = module.a.region
}
module "c" {
  source = "./other"
  region = "a"
}
//- /mod/main.tf
variable "region" {
  validation {
    condition     = var.region$0 != ""
    error_message = "no"
  }
}
locals {
  region = "${var.region}/${upper(var.region)}"
}
//- /mod/out.tf
output "region" {
  value      = [local.region, [for region in [1] : region]]
  depends_on = [var.region]
}
//- /other/main.tf
variable "region" {}
"#;

    #[test]
    fn references_of_a_variable_include_callers() {
        check(
            VARIABLE,
            expect![[r#"
            mod/main.tf:1 `region` Declaration
            mod/main.tf:3 `region` Read
            mod/main.tf:8 `region` Read
            mod/main.tf:8 `region` Read
            mod/out.tf:3 `region` Read
            main.tf:3 `region` Write
            main.tf:7 `region` Write
        "#]],
        );
        let from_caller = VARIABLE.replace("$0", "").replacen("region =", "regi$0on =", 1);
        check(
            &from_caller,
            expect![[r#"
            mod/main.tf:1 `region` Declaration
            mod/main.tf:3 `region` Read
            mod/main.tf:8 `region` Read
            mod/main.tf:8 `region` Read
            mod/out.tf:3 `region` Read
            main.tf:3 `region` Write
            main.tf:7 `region` Write
        "#]],
        );
    }

    #[test]
    fn references_of_an_output_include_callers() {
        check(
            r#"
//- /main.tf
module "a" {
  source = "./mod"
}
module "b" {
  source = "./mod"
}
module "c" {
  source = "./other"
}
output "all" {
  value = [module.a.out, module.b[*].out, module.b["x"].out, module.c.out, { out = module.b }.out]
}
//- /mod/main.tf
output "out$0" {
  value = 1
}
//- /other/main.tf
output "out" {
  value = 1
}
"#,
            expect![[r#"
                mod/main.tf:1 `out` Declaration
                main.tf:11 `out` Read
                main.tf:11 `out` Read
                main.tf:11 `out` Read
            "#]],
        );
    }

    #[test]
    fn references_of_a_resource_are_found_everywhere() {
        check(
            r#"
resource "test_thing" "a" {
  value = data.test_data.a.result
}
data "test_data" "a" {
  name       = test_thing.a$0.id
  depends_on = [test_thing.a]
}
resource "test_thing" "b" {
  value = "${resource.test_thing.a.id} ${test_thing.a["x"].id}"
  lifecycle {
    replace_triggered_by = [test_thing.a]
  }
}
moved {
  from = test_thing.old
  to   = test_thing.a
}
resource "test_other" "a" {}
"#,
            expect![[r#"
                main.tf:2 `a` Declaration
                main.tf:6 `a` Read
                main.tf:7 `a` Read
                main.tf:10 `a` Read
                main.tf:10 `a` Read
                main.tf:12 `a` Read
                main.tf:17 `a` Read
            "#]],
        );
    }

    #[test]
    fn references_of_a_provider_and_its_alias_are_found() {
        check(
            r#"
//- /main.tf
provider "test" {
  alias = "west"
}
provider "other" {
  alias = "west"
}
resource "test_thing" "a" {
  provider = test.west$0
}
module "m" {
  source    = "./mod"
  providers = { test.west = test.west }
}
//- /mod/main.tf
terraform {
  required_providers {
    test = { configuration_aliases = [test.west] }
  }
}
"#,
            expect![[r#"
                main.tf:2 `west` Declaration
                main.tf:8 `west` Read
                main.tf:12 `west` Read
            "#]],
        );
        check(
            r#"
//- /main.tf
module "m" {
  source    = "./mod"
  providers = { test.west = test.west }
}
//- /mod/main.tf
terraform {
  required_providers {
    test = { configuration_aliases = [test.west$0] }
  }
}
resource "test_thing" "a" {
  provider = test.west
}
"#,
            expect![[r#"
                mod/main.tf:3 `west` Declaration
                mod/main.tf:7 `west` Read
                main.tf:3 `west` Write
            "#]],
        );
    }

    #[test]
    fn references_find_loop_variables() {
        check(
            "locals {\n  a = [for x in [1] : [x, [for x in [x] : x], local.x]]\n  x = [for x$0 in [2] : x]\n}\n",
            expect![[r#"
                main.tf:3 `x` Declaration
                main.tf:3 `x` Read
            "#]],
        );
        check(
            "locals {\n  a = [for x$0 in [1] : [x, [for x in [x] : x], local.x]]\n}\n",
            expect![[r#"
                main.tf:2 `x` Declaration
                main.tf:2 `x` Read
                main.tf:2 `x` Read
            "#]],
        );
        check(
            "resource \"test_thing\" \"a\" {\n  dynamic \"rule\" {\n    for_each = [1]\n    \
             content {\n      port = rule$0.value\n    }\n  }\n}\n",
            expect![[r#"
                main.tf:2 `rule` Declaration
                main.tf:5 `rule` Read
            "#]],
        );
    }

    #[test]
    fn references_of_a_module_call_are_found() {
        let text = r#"
//- /main.tf
module "a" {
  source = "./mod"
}
module "b" {
  source     = "./mod"
  depends_on = [module.a$0]
}
output "o" {
  value = module.a.x
}
//- /mod/main.tf
output "x" {
  value = 1
}
"#;
        check(
            text,
            expect![[r#"
            main.tf:1 `a` Declaration
            main.tf:6 `a` Read
            main.tf:9 `a` Read
        "#]],
        );
        check(
            &text.replace("$0", "").replacen("./mod", "./m$0od", 1),
            expect![[r#"
            main.tf:2 `"./mod"` Read
            main.tf:5 `"./mod"` Read
        "#]],
        );
    }

    #[test]
    fn references_of_unnamed_expressions_are_empty() {
        check("resource \"test_thing\" \"a\" {\n  value = upper$0(\"x\")\n}\n", expect![[""]]);
        check("locals {\n  a = 1$0 + 2\n}\n", expect![[""]]);
    }

    #[test]
    fn references_in_override_files_are_listed_once() {
        check(
            r#"
//- /main.tf
locals {
  a = 1
}
resource "test_thing" "r" {
  name = local.a
}
//- /override.tf
locals {
  a = 2
}
resource "test_thing" "r" {
  name = local.$0a
}
"#,
            expect![[r#"
                main.tf:2 `a` Declaration
                main.tf:5 `a` Read
                override.tf:2 `a` Declaration
                override.tf:5 `a` Read
            "#]],
        );
    }
}
