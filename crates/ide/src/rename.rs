//! Rename.

mod refusal;

use db::ByteRange;
use hir::names::ItemName;
use refusal::{check_identifier, check_item, is_history, no_name_of_ours, notes, refuse};
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken,
    ast::{self, HasItems},
};

use crate::{
    Cursor, Document, Module,
    edit::Edit,
    naming::{Declaration, Named, Occurrence, Role, iterator_name},
    references::{Use, uses},
};

/// A name that can be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamable {
    /// The range of the name.
    pub range: ByteRange,
    /// The current name.
    pub name: String,
}

/// The result of a rename.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The edits of all references, in the order of modules and files. Blocks that record the past, `moved` and
    /// `removed`, stay unchanged.
    pub edits: Vec<Edit>,
    /// Sentences about the effects that the rename has outside of the configuration.
    pub notes: Vec<String>,
}

/// The reason for which a name cannot be changed, in sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// Returns the name at an offset.
///
/// # Errors
/// If the name cannot be renamed; the error gives the reason.
pub fn prepare_rename(document: Document<'_>, offset: u32) -> Result<Renamable, Refusal> {
    let target = Target::at(document, offset)?;
    let name = target.tree.root.text().slice(target.range).to_string();
    Ok(Renamable { range: target.tree.in_file(target.range), name })
}

/// Renames the name at an offset.
///
/// # Errors
/// If the name cannot be renamed, or cannot be renamed to `new_name`.
pub fn rename(document: Document<'_>, offset: u32, new_name: &str) -> Result<Rename, Refusal> {
    let target = Target::at(document, offset)?;
    check_identifier(new_name)?;
    let old_name = target.tree.root.text().slice(target.range).to_string();
    if old_name == new_name {
        return Ok(Rename { edits: Vec::new(), notes: Vec::new() });
    }
    match &target.named {
        Named::Item(directory, name) => {
            let module = document.module().with_directory(*directory);
            rename_item(&target, &module, name, new_name)
        }
        _ => rename_bound(&target, new_name),
    }
}

/// A name that can be renamed.
struct Target<'db> {
    tree: Cursor<'db>,
    named: Named,
    range: syntax::TextRange,
}

impl<'db> Target<'db> {
    fn at(document: Document<'db>, offset: u32) -> Result<Target<'db>, Refusal> {
        let nothing = || Refusal("There is no name here.".to_owned());
        let tree = document.cursor(offset).ok_or_else(nothing)?;
        let token = tree.token().ok_or_else(nothing)?;
        let Some(Occurrence { named, range, .. }) = Occurrence::at(&tree, &token) else {
            return Err(no_name_of_ours(&token));
        };
        if !range.contains_inclusive(tree.offset) {
            return refuse(format!(
                "Put the cursor on \"{}\" to rename it; the part before it cannot be renamed.",
                tree.root.text().slice(range)
            ));
        }
        let target = Target { tree, named, range };
        target.check()?;
        Ok(target)
    }

    fn check(&self) -> Result<(), Refusal> {
        match &self.named {
            Named::Bound(..) => Ok(()),
            Named::Item(directory, name) => {
                let module = self.tree.document.module().with_directory(*directory);
                check_item(&module, name)
            }
            Named::Place(_) => refuse(
                "Attributes and arguments of objects have the names that their users expect; only \
                 names that a module declares can be changed everywhere at once.",
            ),
            Named::OfTest(_) => refuse("Names of test files cannot be renamed."),
            Named::Module(_) => refuse(
                "The source of a module is a path: rename its directory, and change the source.",
            ),
        }
    }
}

fn rename_item(
    target: &Target<'_>,
    module: &Module<'_>,
    name: &ItemName,
    new_name: &str,
) -> Result<Rename, Refusal> {
    let renamed = with_name(name, new_name);
    if let ItemName::Variable(_) = name
        && hir::lower::is_reserved_variable(new_name)
    {
        return refuse(format!(
            "The variable name \"{new_name}\" is reserved: it has a meaning of its own inside of module blocks."
        ));
    }
    if module.is_declared(&renamed)
        && let Some(taken) = module.declaration(&renamed)
    {
        return refuse(format!("The name \"{new_name}\" is taken: see {}.", place(module, &taken)));
    }
    let uses = uses(&target.tree, &target.named);
    Ok(Rename {
        edits: uses
            .iter()
            .filter(|it| !is_history(it))
            .map(|it| Edit::replace(it.reference.place, new_name))
            .collect(),
        notes: notes(module, name, &renamed),
    })
}

fn with_name(name: &ItemName, new_name: &str) -> ItemName {
    let new = values::Str::from(new_name);
    match name {
        ItemName::Variable(_) => ItemName::Variable(new),
        ItemName::Local(_) => ItemName::Local(new),
        ItemName::Output(_) => ItemName::Output(new),
        ItemName::Module(_) => ItemName::Module(new),
        ItemName::Check(_) => ItemName::Check(new),
        ItemName::Provider(local_name, _) => ItemName::Provider(local_name.clone(), Some(new)),
        ItemName::Resource(it) => {
            ItemName::Resource(addr::Resource::new(it.mode, it.type_name.clone(), new_name))
        }
        ItemName::Terraform
        | ItemName::Moved
        | ItemName::Removed
        | ItemName::Import
        | ItemName::Other => name.clone(),
    }
}

/// A place in words: `modules/net/main.tf line 3`.
fn place(module: &Module<'_>, declaration: &Declaration) -> String {
    let document = module.document(declaration.name.file);
    let text = document.text();
    let before = text.get(..declaration.name.range.start as usize).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let root = module.workspace.root(module.db).path(module.db);
    format!("{} line {line}", crate::shown::path_from(root, document.file.path(module.db)))
}

fn rename_bound(target: &Target<'_>, new_name: &str) -> Result<Rename, Refusal> {
    let Named::Bound(_, binding) = &target.named else { return refuse("There is no name here.") };
    let token = target.tree.root.token_at_offset(binding.start()).right_biased();
    let Some(scope) = token.and_then(|token| scope(&token)) else {
        return refuse("There is no name here.");
    };
    if names_root(&scope, new_name) {
        return refuse(format!(
            "The name \"{new_name}\" already has a meaning in this scope: after the renaming, \
             references would have another meaning."
        ));
    }
    let found = uses(&target.tree, &target.named);
    let implicit =
        ast::Block::cast(scope).filter(|it| iterator_name(it).is_some_and(|it| !it.is_explicit));
    let declares = |it: &&Use| it.reference.role != Role::Declaration;
    let mut edits: Vec<Edit> = match &implicit {
        // The label also names the type of the generated blocks, so it stays unchanged.
        Some(_) => found
            .iter()
            .filter(declares)
            .map(|it| Edit::replace(it.reference.place, new_name))
            .collect(),
        None => found.iter().map(|it| Edit::replace(it.reference.place, new_name)).collect(),
    };
    if let Some(edit) = implicit.and_then(|block| name_iterator(&target.tree, &block, new_name)) {
        edits.insert(0, edit);
    }
    Ok(Rename { edits, notes: Vec::new() })
}

/// The node in which a binding is visible.
fn scope(binding: &SyntaxToken) -> Option<SyntaxNode> {
    binding.parent_ancestors().find(|it| {
        matches!(
            it.kind(),
            SyntaxKind::FOR_TUPLE
                | SyntaxKind::FOR_OBJECT
                | SyntaxKind::QUOTED_TEMPLATE
                | SyntaxKind::HEREDOC
                | SyntaxKind::BLOCK
        )
    })
}

/// Returns true if a reference or a binding inside of `scope` has the name.
fn names_root(scope: &SyntaxNode, name: &str) -> bool {
    let mut tokens = scope.descendants_with_tokens().filter_map(syntax::NodeOrToken::into_token);
    tokens.any(|token| {
        let parent = token.parent().map(|it| it.kind());
        let is_root = matches!(
            parent,
            Some(SyntaxKind::REFERENCE | SyntaxKind::FOR_INTRO | SyntaxKind::TEMPLATE_FOR)
        );
        is_root && token.kind().is_name() && token.text() == name
    })
}

/// Adds the argument `iterator` to a `dynamic` block whose iterator has the name of its label.
fn name_iterator(tree: &Cursor<'_>, block: &ast::Block, name: &str) -> Option<Edit> {
    let first = block.body()?.body_items().next()?;
    let start = first.syntax().text_range().start();
    let text = tree.root.text().slice(..start).to_string();
    let indent = text.rsplit_once('\n').map_or("", |(_, line)| line);
    let range = tree.file_range(syntax::TextRange::empty(start));
    Some(Edit::before(range, format!("iterator = {name}\n{indent}")))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{prepare_rename, rename};
    use crate::fixture;

    /// Renames the name at the cursor, and shows every changed file or the refusal.
    #[track_caller]
    fn check(text: &str, new_name: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let (document, offset) = (fixture.document(), fixture.offset());
        let shown = match rename(document, offset, new_name) {
            Err(refusal) => format!("{}\n", refusal.0),
            Ok(rename) => {
                let name = prepare_rename(document, offset).expect("it can be renamed");
                let range = crate::FileRange { file: document.file, range: name.range };
                assert_eq!(fixture.text(range), name.name);
                let notes: String = rename.notes.iter().map(|it| format!("note: {it}\n")).collect();
                fixture.apply(&rename.edits) + &notes
            }
        };
        expect.assert_eq(&shown);
    }

    #[test]
    fn rename_changes_a_local_and_its_uses() {
        check(
            "locals {\n  a = 1\n  b = [local.a, \"${local.a$0}\", { a = local.a }]\n}\n",
            "one",
            expect![[r#"
                //- /main.tf
                locals {
                  one = 1
                  b = [local.one, "${local.one}", { a = local.one }]
                }
            "#]],
        );
    }

    #[test]
    fn rename_changes_a_variable_and_arguments_of_callers() {
        check(
            r#"
//- /main.tf
module "m" {
  source = "./mod"
  region = "a"
}
//- /mod/main.tf
variable "region" {}
//- /mod/use.tf
output "region" {
  value = var.reg$0ion
}
"#,
            "place",
            expect![[r#"
                //- /main.tf
                module "m" {
                  source = "./mod"
                  place = "a"
                }
                //- /mod/main.tf
                variable "place" {}
                //- /mod/use.tf
                output "region" {
                  value = var.place
                }
            "#]],
        );
        check(
            "variable \"a$0\" {}\n",
            "b",
            expect![[r#"
            //- /main.tf
            variable "b" {}
            note: Values of "a" that are given in .tfvars files, as TF_VAR_a or with -var keep the old name; change them there.
        "#]],
        );
    }

    #[test]
    fn rename_changes_an_output_and_its_references() {
        check(
            r#"
//- /main.tf
module "m" {
  source = "./mod"
}
output "all" {
  value = [module.m.out, module.m[*].out$0]
}
//- /mod/main.tf
output "out" {
  value = 1
}
"#,
            "result",
            expect![[r#"
                //- /main.tf
                module "m" {
                  source = "./mod"
                }
                output "all" {
                  value = [module.m.result, module.m[*].result]
                }
                //- /mod/main.tf
                output "result" {
                  value = 1
                }
            "#]],
        );
    }

    #[test]
    fn rename_of_a_resource_reports_the_effect_on_its_state() {
        check(
            r#"
resource "test_thing" "a" {
  value = "x"
}
resource "test_thing" "b" {
  value      = test_thing.a$0.id
  depends_on = [test_thing.a]
}
moved {
  from = test_thing.old
  to   = test_thing.a
}
import {
  to = test_thing.a
  id = "x"
}
"#,
            "first",
            expect![[r#"
                //- /main.tf

                resource "test_thing" "first" {
                  value = "x"
                }
                resource "test_thing" "b" {
                  value      = test_thing.first.id
                  depends_on = [test_thing.first]
                }
                moved {
                  from = test_thing.old
                  to   = test_thing.a
                }
                import {
                  to = test_thing.first
                  id = "x"
                }
                note: The next apply destroys test_thing.a and creates it again as test_thing.first. To keep it, add a "moved" block from test_thing.a to test_thing.first.
            "#]],
        );
        check(
            "data \"test_data\" \"a\" {}\noutput \"o\" {\n  value = data.test_data.a$0.result\n}\n",
            "b",
            expect![[r#"
                //- /main.tf
                data "test_data" "b" {}
                output "o" {
                  value = data.test_data.b.result
                }
            "#]],
        );
    }

    #[test]
    fn rename_changes_a_module_call() {
        check(
            "module \"m$0\" {\n  source = \"./mod\"\n}\noutput \"o\" {\n  value = module.m.x\n}\n",
            "n",
            expect![[r#"
                //- /main.tf
                module "n" {
                  source = "./mod"
                }
                output "o" {
                  value = module.n.x
                }
                note: The next apply destroys module.m and creates it again as module.n. To keep it, add a "moved" block from module.m to module.n.
            "#]],
        );
    }

    #[test]
    fn rename_of_an_installed_module_call_requires_init() {
        check(
            "module \"m$0\" {\n  source = \"a/b/c\"\n}\n",
            "n",
            expect![[r#"
                //- /main.tf
                module "n" {
                  source = "a/b/c"
                }
                note: The next apply destroys module.m and creates it again as module.n. To keep it, add a "moved" block from module.m to module.n.
                note: The module is installed under the name of its call: run init again.
            "#]],
        );
    }

    #[test]
    fn rename_changes_an_alias_in_module_and_callers() {
        check(
            r#"
//- /main.tf
provider "test" {
  alias = "west"
}
module "m" {
  source    = "./mod"
  providers = { test.remote = test.west$0 }
}
resource "test_thing" "a" {
  provider = test.west
}
//- /mod/main.tf
terraform {
  required_providers {
    test = { configuration_aliases = [test.remote] }
  }
}
"#,
            "east",
            expect![[r#"
                //- /main.tf
                provider "test" {
                  alias = "east"
                }
                module "m" {
                  source    = "./mod"
                  providers = { test.remote = test.east }
                }
                resource "test_thing" "a" {
                  provider = test.east
                }
            "#]],
        );
        check(
            r#"
//- /main.tf
module "m" {
  source    = "./mod"
  providers = { test.remote = test }
}
//- /mod/main.tf
terraform {
  required_providers {
    test = { configuration_aliases = [test.remote] }
  }
}
resource "test_thing" "a" {
  provider = test.remo$0te
}
"#,
            "east",
            expect![[r#"
                //- /main.tf
                module "m" {
                  source    = "./mod"
                  providers = { test.east = test }
                }
                //- /mod/main.tf
                terraform {
                  required_providers {
                    test = { configuration_aliases = [test.east] }
                  }
                }
                resource "test_thing" "a" {
                  provider = test.east
                }
            "#]],
        );
    }

    #[test]
    fn rename_changes_loop_variables() {
        check(
            "locals {\n  a = [for k, v in {} : [k, v$0, local.v]]\n}\n",
            "w",
            expect![[r#"
            //- /main.tf
            locals {
              a = [for k, w in {} : [k, w, local.v]]
            }
        "#]],
        );
        check(
            "locals {\n  a = [for k, v in {} : [k, v$0, local.v]]\n}\n",
            "k",
            expect![[r#"
            The name "k" already has a meaning in this scope: after the renaming, references would have another meaning.
        "#]],
        );
        check(
            "resource \"test_thing\" \"a\" {\n  dynamic \"rule\" {\n    for_each = [1]\n    \
             content {\n      port = rule$0.value\n    }\n  }\n}\n",
            "it",
            expect![[r#"
                //- /main.tf
                resource "test_thing" "a" {
                  dynamic "rule" {
                    iterator = it
                    for_each = [1]
                    content {
                      port = it.value
                    }
                  }
                }
            "#]],
        );
        check(
            "resource \"test_thing\" \"a\" {\n  dynamic \"rule\" {\n    for_each = [1]\n    \
             iterator = it\n    content {\n      port = it$0.value\n    }\n  }\n}\n",
            "one",
            expect![[r#"
                //- /main.tf
                resource "test_thing" "a" {
                  dynamic "rule" {
                    for_each = [1]
                    iterator = one
                    content {
                      port = one.value
                    }
                  }
                }
            "#]],
        );
    }

    #[test]
    fn rename_refuses_invalid_names_and_targets() {
        check(
            "locals {\n  a$0 = 1\n}\n",
            "1a",
            expect![[r#"
            "1a" is no name: a name starts with a letter or an underscore, and has only letters, digits, underscores and dashes.
        "#]],
        );
        check(
            "locals {\n  a$0 = 1\n}\nlocals {\n  b = 2\n}\n",
            "b",
            expect![[r#"
            The name "b" is taken: see main.tf line 5.
        "#]],
        );
        check(
            "variable \"a$0\" {}\n",
            "source",
            expect![[r#"
            The variable name "source" is reserved: it has a meaning of its own inside of module blocks.
        "#]],
        );
        check(
            "locals {\n  a = upper$0(\"x\")\n}\n",
            "b",
            expect![[r#"
            Functions are part of the language or of a provider, and keep their names.
        "#]],
        );
        check(
            "resource \"test_thing\" \"a\" {\n  value$0 = 1\n}\n",
            "b",
            expect![[r#"
            This name is given by the language or by a provider, and cannot be changed.
        "#]],
        );
        check(
            "resource \"test_thing$0\" \"a\" {}\n",
            "b",
            expect![[r#"
            The types of resources are named by their providers.
        "#]],
        );
        check(
            "locals {\n  a = var.x$0\n}\n",
            "b",
            expect![[r#"
            This name is not declared, so it cannot be renamed. Declare it first.
        "#]],
        );
        check(
            "variable \"x\" {}\nlocals {\n  a = va$0r.x\n}\n",
            "b",
            expect![[r#"
            Put the cursor on "x" to rename it; the part before it cannot be renamed.
        "#]],
        );
        check(
            "resource \"test_thing\" \"a\" {\n  provider = test.we$0st\n}\n",
            "b",
            expect![[r#"
            This name is not declared, so it cannot be renamed. Declare it first.
        "#]],
        );
        check(
            "locals {\n  a = 1 +$0 2\n}\n",
            "b",
            expect![[r#"
            There is no name here that can be changed: variables, locals, outputs, resources, module calls, provider aliases and names bound by "for" and "dynamic" can.
        "#]],
        );
        check(
            "provider \"test$0\" {}\n",
            "b",
            expect![[r#"
            The local name of a provider decides which resources belong to it; only an alias can be renamed.
        "#]],
        );
        check(
            "locals {\n  a = { b$0 = 1 }\n}\n",
            "c",
            expect![[r#"
            Attributes and arguments of objects have the names that their users expect; only names that a module declares can be changed everywhere at once.
        "#]],
        );
        check(
            "$0",
            "c",
            expect![[r#"
            There is no name here.
        "#]],
        );
        check(
            r#"
//- /main.tf
module "m" {
  source = "./.terraform/modules/m"
  reg$0ion = "a"
}
//- /.terraform/modules/m/main.tf
variable "region" {}
"#,
            "place",
            expect![[r#"
                The module in .terraform/modules/m is an installed package: changes there are lost when it is installed again. Change the module at its source.
            "#]],
        );
    }
}
