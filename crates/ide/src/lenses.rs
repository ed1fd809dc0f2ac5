//! Code lenses: the number of references of each declaration.

use hir::{
    Expr, ExprId, Item, ItemKind,
    item::RefTarget,
    module_calls::called_directories,
    names::{ItemName, block_items},
};
use rustc_hash::FxHashMap;
use values::Str;

use crate::{
    Document, FileRange, Module,
    naming::{Named, Occurrence, Templates},
};

/// The number of references of a declaration, shown above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The name in the declaration. A references request at this place returns the counted references.
    pub name: FileRange,
    /// The number of references in the module and in its callers.
    pub uses: usize,
}

/// Returns the number of references of every variable, output, resource and module call of a file.
///
/// One pass over the module and its callers counts all of them. Locals have no lens, because there are too many of
/// them.
pub fn code_lenses(document: Document<'_>) -> Vec<Lens> {
    let module = document.module();
    let counts = Counts::of(&module);
    let mut lenses = Vec::new();
    for tree in document.trees() {
        for name in hir::names::block_names(document.db, tree.block) {
            if !is_shown(name) {
                continue;
            }
            let label =
                tree.root.first_child().and_then(|block| crate::naming::declared_name(&block));
            let Some(range) = label else { continue };
            let uses = counts.uses.get(name).copied().unwrap_or_default();
            lenses.push(Lens { name: tree.file_range(range), uses });
        }
    }
    lenses
}

fn is_shown(name: &ItemName) -> bool {
    matches!(
        name,
        ItemName::Variable(_) | ItemName::Output(_) | ItemName::Resource(_) | ItemName::Module(_)
    )
}

/// The number of references of each name of a module.
#[derive(Default)]
struct Counts {
    uses: FxHashMap<ItemName, usize>,
}

impl Counts {
    fn of(module: &Module<'_>) -> Counts {
        let mut counts = Counts::default();
        for document in module.documents() {
            for (block, start) in document.blocks() {
                for item in block_items(module.db, block) {
                    if let ItemKind::Moved(_) | ItemKind::Removed(_) | ItemKind::Import(_) =
                        &item.kind
                    {
                        counts.in_text(&document.cursor_in(block, start, start));
                    } else {
                        counts.own(item);
                    }
                }
            }
        }
        for caller in module.all() {
            counts.in_caller(&caller, module.directory);
        }
        counts
    }

    fn add(&mut self, name: ItemName) {
        *self.uses.entry(name).or_default() += 1;
    }

    /// Counts the references of an item of the module itself.
    fn own(&mut self, item: &Item) {
        for reference in &item.refs {
            match &reference.target {
                RefTarget::Variable(name) => self.add(ItemName::Variable(name.clone())),
                RefTarget::Resource(resource) => self.add(ItemName::Resource(resource.clone())),
                RefTarget::Module(call) | RefTarget::ModuleOutput(call, _) => {
                    self.add(ItemName::Module(call.clone()));
                }
                RefTarget::Local(_) | RefTarget::Ambient(_) => {}
            }
        }
    }

    /// Counts the references in the text of a block whose addresses are not lowered to references.
    fn in_text(&mut self, tree: &crate::Cursor<'_>) {
        let templates = Templates::default();
        let tokens =
            tree.root.descendants_with_tokens().filter_map(syntax::NodeOrToken::into_token);
        for token in tokens.filter(|token| token.kind().is_name()) {
            let Some(found) = Occurrence::among(tree, &templates, &token) else { continue };
            if let Named::Item(directory, name) = found.named
                && directory == tree.document.directory
                && found.range == token.text_range()
            {
                self.add(name);
            }
        }
    }

    /// Counts the arguments that a module passes to calls of the counted module, and the outputs that it reads
    /// from them.
    fn in_caller(&mut self, caller: &Module<'_>, called: db::Directory) {
        let calls = crate::references::CallsOf::new(*caller, called);
        if calls.is_empty() {
            return;
        }
        for document in caller.documents() {
            for &block in document.file.blocks(caller.db) {
                for item in block_items(caller.db, block) {
                    self.arguments(caller, item, called);
                    for output in outputs_read(item, |call| calls.contains(call)) {
                        self.add(ItemName::Output(output));
                    }
                }
            }
        }
    }

    fn arguments(&mut self, caller: &Module<'_>, item: &Item, called: db::Directory) {
        let Some(call) = item.kind.as_module_call() else { return };
        let leads_to = called_directories(caller.db, caller.workspace, caller.directory, call);
        if leads_to.contains(&called) {
            call.inputs.iter().for_each(|input| self.add(ItemName::Variable(input.name.clone())));
        }
    }
}

/// The outputs of the given calls that an item reads, as `module.a.out` or `module.a[*].out`.
fn outputs_read(item: &Item, is_wanted: impl Fn(&str) -> bool) -> Vec<Str> {
    let mut outputs = Vec::new();
    let mut whole = Vec::new();
    for reference in &item.refs {
        match &reference.target {
            RefTarget::ModuleOutput(call, output) if is_wanted(call) => {
                outputs.push(output.clone())
            }
            RefTarget::Module(call) if is_wanted(call) => whole.push(reference.expr),
            _ => {}
        }
    }
    if whole.is_empty() {
        return outputs;
    }
    for (_, expr) in item.exprs.iter() {
        if let Expr::Splat { base, item: element, each } = expr
            && whole.contains(base)
        {
            outputs.extend(first_step(item, *each, *element));
        }
    }
    outputs
}

/// The name of the first attribute that a splat takes from each element.
fn first_step(item: &Item, each: ExprId, element: hir::SymbolId) -> Option<Str> {
    let mut step = each;
    loop {
        match &item.exprs[step] {
            Expr::GetAttr { base, name } => match &item.exprs[*base] {
                Expr::Symbol(symbol) if *symbol == element => return Some(name.clone()),
                _ => step = *base,
            },
            Expr::Index { base, .. } | Expr::Splat { base, .. } => step = *base,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::code_lenses;
    use crate::{Role, fixture, references};

    /// Shows the counts of the file with the cursor. Asserts that each equals the number of references that
    /// [`references`] finds.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let document = fixture.document();
        let shown = code_lenses(document).into_iter().map(|lens| {
            let found = references(document, lens.name.range.start).expect("it is a name");
            let uses = found.iter().filter(|it| it.role != Role::Declaration).count();
            assert_eq!(lens.uses, uses, "{}", fixture.show(lens.name));
            format!("{} {}\n", fixture.show(lens.name), lens.uses)
        });
        expect.assert_eq(&shown.collect::<String>());
    }

    #[test]
    fn code_lenses_count_uses_in_module_and_callers() {
        let text = r#"
//- /main.tf
variable "unused" {}
variable "used" {}
module "a" {
  source = "./mod"
  region = var.used
}
module "b" {
  source     = "./mod"
  region     = "${var.used}/${var.used}"
  depends_on = [module.a]
}
output "o" {
  value = [module.a.out, module.b[*].out, module.b[0].out.x, module.b[*].other, module.a, test_thing.t]
}
resource "test_thing" "t" {
  lifecycle {
    postcondition {
      condition     = test_thing.u.id != ""
      error_message = "no"
    }
  }
}
resource "test_thing" "u" {}
moved {
  from = test_thing.old
  to   = test_thing.u
}
import {
  to = test_thing.t
  id = "${var.used}"
}
//- /mod/main.tf
variable "region" {}
output "out" {
  value = var.region
}
output "other" {
  value = 1
}
"#;
        check(
            text,
            expect![[r#"
            main.tf:1 `unused` 0
            main.tf:2 `used` 4
            main.tf:3 `a` 3
            main.tf:7 `b` 3
            main.tf:12 `o` 0
            main.tf:15 `t` 2
            main.tf:23 `u` 2
        "#]],
        );
        check(
            &text.replace("\"region\" {}", "\"region\"$0 {}"),
            expect![[r#"
            mod/main.tf:1 `region` 3
            mod/main.tf:2 `out` 3
            mod/main.tf:5 `other` 1
        "#]],
        );
    }
}
