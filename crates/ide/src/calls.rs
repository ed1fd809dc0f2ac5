//! The hierarchy of module calls.

use db::Directory;
use hir::{Db, Workspace, names::ItemName};
use syntax::ast;

use crate::{
    Document, FileRange, Module,
    block_syntax::top_level,
    naming::{Declaration, called},
};

/// A module of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledModule {
    /// The directory of the module; the key for [`calling_modules`] and [`called_modules`].
    pub directory: Directory,
    /// The path of the module as shown to the user; `.` for the root module.
    pub path: String,
    /// The declaration that represents the module in an editor.
    pub place: Declaration,
}

/// A module with the calls that connect it to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCalls {
    /// The module at the other end of the calls.
    pub module: CalledModule,
    /// The names of the calls, in the calling module.
    pub calls: Vec<FileRange>,
}

/// The module at an offset: the called module inside a `module` block, else the module of the file.
pub fn module_at(document: Document<'_>, offset: u32) -> Option<CalledModule> {
    let tree = document.cursor(offset)?;
    let block = tree.token().and_then(|token| token.parent()).and_then(|node| top_level(&node));
    let is_call = |block: &ast::Block| block.block_type().is_some_and(|it| it == "module");
    let directory = match block.filter(is_call) {
        Some(call) => called(&tree, &call)?,
        None => document.directory,
    };
    of_directory(&document.module().with_directory(directory))
}

/// The modules that call a module, by path.
pub fn calling_modules(db: &dyn Db, workspace: Workspace, called: Directory) -> Vec<ModuleCalls> {
    let module = Module::new(db, workspace, called);
    let callers = module.all().filter_map(|caller| {
        let calls: Vec<_> = calls(&caller).filter(|(_, it)| *it == called).collect();
        if calls.is_empty() {
            return None;
        }
        let calls = calls.into_iter().filter_map(|(name, _)| place(&caller, &name)).collect();
        Some(ModuleCalls { module: of_directory(&caller)?, calls })
    });
    callers.collect()
}

/// The modules that a module calls, in the order of the names of the calls.
pub fn called_modules(db: &dyn Db, workspace: Workspace, caller: Directory) -> Vec<ModuleCalls> {
    let caller = Module::new(db, workspace, caller);
    let mut found: Vec<ModuleCalls> = Vec::new();
    for (name, directory) in calls(&caller) {
        let Some(place) = place(&caller, &name) else { continue };
        match found.iter_mut().find(|it| it.module.directory == directory) {
            Some(known) => known.calls.push(place),
            None => {
                let module = of_directory(&caller.with_directory(directory));
                found.extend(module.map(|module| ModuleCalls { module, calls: vec![place] }));
            }
        }
    }
    found
}

fn calls(module: &Module<'_>) -> impl Iterator<Item = (ItemName, Directory)> {
    let calls = hir::module_calls::module_calls(module.db, module.workspace, module.directory);
    calls.map(|(name, directory)| (ItemName::Module(name.clone()), directory))
}

fn place(caller: &Module<'_>, call: &ItemName) -> Option<FileRange> {
    Some(caller.declaration(call)?.name)
}

fn of_directory(module: &Module<'_>) -> Option<CalledModule> {
    let path = module.directory.path(module.db).to_string();
    Some(CalledModule { directory: module.directory, path, place: module.start()? })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{called_modules, calling_modules, module_at};
    use crate::fixture;

    /// Shows the module at the cursor, its callers and the modules that it calls.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let document = fixture.document();
        let (db, workspace) = (document.db, document.workspace);
        let Some(module) = module_at(document, fixture.offset()) else {
            return expect.assert_eq("nothing\n");
        };
        let mut shown = format!("{} {}\n", module.path, fixture.show(module.place.name));
        let calling = calling_modules(db, workspace, module.directory).into_iter();
        let called = called_modules(db, workspace, module.directory).into_iter();
        for (word, it) in calling.map(|it| ("from", it)).chain(called.map(|it| ("to", it))) {
            let places: Vec<_> = it.calls.iter().map(|place| fixture.show(*place)).collect();
            shown.push_str(&format!("{word} {} by {}\n", it.module.path, places.join(", ")));
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn call_hierarchy_lists_module_calls() {
        let text = r#"
//- /main.tf
locals {}
module "b" { source = "./one" }
module "a" { source = "./one" }
module "c" { source = "./two" }
module "d" { source = "./nowhere" }
//- /one/a.tf
module "inner" { source = "../two" }
//- /one/main.tf
variable "x" {}
//- /two/main.tf
variable "x" {}
"#;
        let at = |place: &str| text.replacen(&place.replace("$0", ""), place, 1);
        check(
            &at("lo$0cals"),
            expect![[r#"
            . main.tf:1 ``
            to one by main.tf:3 `a`, main.tf:2 `b`
            to two by main.tf:4 `c`
        "#]],
        );
        check(
            &at("module \"$0b\""),
            expect![[r#"
            one one/main.tf:1 ``
            from . by main.tf:3 `a`, main.tf:2 `b`
            to two by one/a.tf:1 `inner`
        "#]],
        );
        check(
            &at("./t$0wo"),
            expect![[r#"
            two two/main.tf:1 ``
            from . by main.tf:4 `c`
            from one by one/a.tf:1 `inner`
        "#]],
        );
        check(
            &at("./n$0owhere"),
            expect![[r#"
            nothing
        "#]],
        );
        check(
            &at("module \"inn$0er\""),
            expect![[r#"
            two two/main.tf:1 ``
            from . by main.tf:4 `c`
            from one by one/a.tf:1 `inner`
        "#]],
        );
    }
}
