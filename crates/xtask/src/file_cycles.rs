//! Cycles between the files of a crate: files that import from each other, directly or through others.
//!
//! A file of a large cycle cannot be read, tested or moved without the others. A name that a facade re-exports makes
//! the facade a dependency of all its users; inside of a crate, import from the file that defines the name.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Context, Result, bail};
use syn::visit::{self, Visit};

/// The most files that a cycle may have.
const MAX_FILES: usize = 5;

/// The path of a module in its crate; empty for the root.
type Module = Vec<String>;

/// The files that each file imports from.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

/// Checks the sources of every crate of the workspace.
///
/// # Errors
/// Returns the cycles that are too large, with their imports, or the error of a file that cannot be read.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut found = String::new();
    for folder in ["crates", "tests"] {
        let mut crates: Vec<_> = fs::read_dir(root.join(folder))?
            .map(|entry| Ok(entry?.path().join("src")))
            .collect::<Result<_>>()?;
        crates.retain(|sources| sources.is_dir());
        crates.sort();
        for sources in crates {
            let imports = imports(&sources)?;
            let too_large = cycles(&imports).into_iter().filter(|it| it.len() > MAX_FILES);
            too_large.for_each(|cycle| describe(&mut found, &sources, &cycle, &imports));
        }
    }
    if !found.is_empty() {
        bail!("a cycle of files may have at most {MAX_FILES} files:\n{found}");
    }
    Ok(())
}

fn describe(out: &mut String, sources: &Path, cycle: &[Module], imports: &Imports) {
    use std::fmt::Write as _;
    let name = |module: &Module| match module.is_empty() {
        true => "the crate's root".to_owned(),
        false => module.join("/"),
    };
    let _ = writeln!(out, "  {}: {} files", sources.display(), cycle.len());
    for module in cycle {
        let within = imports[module].iter().filter(|it| cycle.contains(it));
        let within: Vec<String> = within.map(name).collect();
        let _ = writeln!(out, "    {} → {}", name(module), within.join(", "));
    }
}

/// Reads the files of a crate, without those of tests and generated ones.
fn imports(sources: &Path) -> Result<Imports> {
    let mut files = BTreeMap::new();
    collect(sources, &mut Module::new(), &mut files)?;
    let modules: BTreeSet<Module> = files.keys().cloned().collect();
    let imports = files.into_iter().map(|(module, text)| {
        let file = syn::parse_file(&text)
            .with_context(|| format!("{} {}", sources.display(), module.join("/")))?;
        let mut found = Found { module: &module, modules: &modules, imports: BTreeSet::new() };
        found.visit_file(&file);
        let mut imported = found.imports;
        imported.remove(&module);
        Ok((module, imported))
    });
    imports.collect()
}

fn collect(folder: &Path, module: &mut Module, files: &mut BTreeMap<Module, String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|it| it.to_str()).context("a name is no text")?;
        if matches!(name, "tests" | "generated") {
            continue;
        }
        if path.is_dir() {
            module.push(name.to_owned());
            collect(&path, module, files)?;
            module.pop();
        } else if path.extension().is_some_and(|it| it == "rs") {
            let mut file = module.clone();
            if !matches!(name, "mod" | "lib" | "main") {
                file.push(name.to_owned());
            }
            files.insert(file, fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// Collects the imports of one file.
struct Found<'f> {
    module: &'f Module,
    modules: &'f BTreeSet<Module>,
    imports: BTreeSet<Module>,
}

impl Found<'_> {
    /// Adds the file that a path begins with, if it is a path within the crate.
    fn add(&mut self, path: &[String]) {
        let Some(path) = self.absolute(path) else { return };
        let files = (0..=path.len()).rev().map(|length| &path[..length]);
        if let Some(file) = files.into_iter().find(|it| self.modules.contains(*it)) {
            self.imports.insert(file.to_vec());
        }
    }

    fn absolute(&self, path: &[String]) -> Option<Module> {
        let mut rest = path;
        let mut base = match path.first()?.as_str() {
            "crate" => Module::new(),
            "self" | "super" => self.module.clone(),
            first => {
                let mut child = self.module.clone();
                child.push(first.to_owned());
                return self.modules.contains(&child).then(|| {
                    child.extend_from_slice(&path[1..]);
                    child
                });
            }
        };
        if path[0] != "super" {
            rest = &rest[1..];
        }
        while rest.first().is_some_and(|it| it == "super") {
            base.pop();
            rest = &rest[1..];
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    fn add_tree(&mut self, prefix: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.add_tree(prefix, &path.tree);
                prefix.pop();
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|it| self.add_tree(prefix, it));
            }
            syn::UseTree::Name(name) => self.add_leaf(prefix, &name.ident),
            syn::UseTree::Rename(name) => self.add_leaf(prefix, &name.ident),
            syn::UseTree::Glob(_) => self.add(prefix),
        }
    }

    fn add_leaf(&mut self, prefix: &[String], name: &syn::Ident) {
        let mut path = prefix.to_vec();
        if name != "self" {
            path.push(name.to_string());
        }
        self.add(&path);
    }
}

impl<'a> Visit<'a> for Found<'_> {
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        // The root of a crate re-exports its interface for other crates; its own files import from each other.
        let is_interface =
            self.module.is_empty() && !matches!(item.vis, syn::Visibility::Inherited);
        if !is_interface {
            self.add_tree(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    // `pub(in path)` names the module that may use an item. It imports nothing from there.
    fn visit_vis_restricted(&mut self, _: &'a syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
        if names.len() > 1 && matches!(names[0].as_str(), "crate" | "self" | "super") {
            self.add(&names);
        }
        visit::visit_path(self, path);
    }
}

/// Returns true for `#[cfg(test)]`.
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|it| it.is_ident("test"))
}

/// The sets of files that reach each other, each in the order of paths.
fn cycles(imports: &Imports) -> Vec<Vec<Module>> {
    let mut search = Search { imports, entered: BTreeMap::new(), stack: Vec::new(), found: vec![] };
    for module in imports.keys() {
        if !search.entered.contains_key(module) {
            search.enter(module);
        }
    }
    search.found
}

/// Tarjan's search for strongly connected components.
struct Search<'i> {
    imports: &'i Imports,
    /// The position at which each file was entered; `None` once its component is complete.
    entered: BTreeMap<&'i Module, Option<usize>>,
    stack: Vec<&'i Module>,
    found: Vec<Vec<Module>>,
}

impl<'i> Search<'i> {
    /// Returns the earliest position that the file reaches.
    fn enter(&mut self, module: &'i Module) -> usize {
        let position = self.entered.len();
        self.entered.insert(module, Some(position));
        self.stack.push(module);
        let mut earliest = position;
        for imported in &self.imports[module] {
            match self.entered.get(imported) {
                None => earliest = earliest.min(self.enter(imported)),
                Some(Some(before)) => earliest = earliest.min(*before),
                Some(None) => {}
            }
        }
        if earliest == position {
            let start = self.stack.iter().rposition(|it| *it == module).unwrap_or_default();
            let component = self.stack.split_off(start);
            for member in &component {
                self.entered.insert(member, None);
            }
            if component.len() > 1 {
                let mut component: Vec<Module> = component.into_iter().cloned().collect();
                component.sort();
                self.found.push(component);
            }
        }
        earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cycle_of_files_is_large() {
        check(&crate::root()).expect("no cycle is too large");
    }

    #[track_caller]
    fn check_cycles(files: &[(&str, &str)], expected: &[&[&str]]) {
        let folder = tempfile::tempdir().expect("a temporary directory");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let imports = imports(folder.path()).expect("readable sources");
        let found = cycles(&imports);
        let found: Vec<Vec<String>> =
            found.iter().map(|it| it.iter().map(|it| it.join("/")).collect()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn files_that_import_from_each_other_are_a_cycle() {
        check_cycles(
            &[
                ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
                ("a.rs", "use crate::b::{B, C}; pub struct A;"),
                ("b.rs", "mod inner { } pub fn f(a: super::c::D) {}"),
                ("c.rs", "#[cfg(test)] mod tests { use crate::b::B; } use super::a::*;"),
            ],
            &[&["a", "b", "c"]],
        );
    }

    #[test]
    fn visibility_in_a_module_is_no_import_from_it() {
        let inner = ("a/inner.rs", "pub(in crate::a) struct S; pub(in crate::a) fn f() {}");
        check_cycles(&[("lib.rs", "mod a;"), ("a/mod.rs", "mod inner; use inner::S;"), inner], &[]);
    }

    #[test]
    fn facade_is_part_of_the_cycle_of_its_files() {
        check_cycles(
            &[
                ("lib.rs", "mod a;"),
                ("a/mod.rs", "mod one; mod two; pub(crate) use one::One;"),
                ("a/one.rs", "pub struct One;"),
                ("a/two.rs", "use super::One;"),
            ],
            &[],
        );
        check_cycles(
            &[
                ("lib.rs", "mod a;"),
                ("a/mod.rs", "mod one; mod two; pub(crate) use {one::One, two::Two};"),
                ("a/one.rs", "pub struct One;"),
                ("a/two.rs", "use super::One;"),
            ],
            &[&["a", "a/two"]],
        );
    }
}
