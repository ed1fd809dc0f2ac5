//! The search for declarations by name in all modules.

use hir::{
    Db, Workspace,
    names::{ItemName, declarations},
};

use super::SymbolKind;
use crate::{FileRange, Module};

/// A declaration that matches a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSymbol {
    /// The name in the form that references use, such as `var.region`.
    pub name: String,
    /// The kind of the declaration.
    pub kind: SymbolKind,
    /// The path of its module as shown to the user; `.` for the root module.
    pub module: String,
    /// The place of the name.
    pub place: FileRange,
}

/// Returns the declarations of all modules whose names contain the letters of `query` in order. Case and blanks of
/// the query do not matter. The best matches come first; at most `limit` are returned.
pub fn workspace_symbols(
    db: &dyn Db,
    workspace: Workspace,
    query: &str,
    limit: usize,
) -> Vec<FoundSymbol> {
    let query: Vec<char> =
        query.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    let mut found = Vec::new();
    for (path, &directory) in &**workspace.directories(db) {
        let module = Module::new(db, workspace, directory);
        for (name, _) in declarations(db, directory) {
            let Some((kind, text)) = shown(&name) else { continue };
            let Some(rank) = rank(&query, &text) else { continue };
            found.push((rank, text, &**path, kind, module, name));
        }
    }
    sorted::sort_by(&mut found, |a, b| (a.0, &a.1, a.2).cmp(&(b.0, &b.1, b.2)));
    let placed = found.into_iter().filter_map(|(_, name, path, kind, module, declared)| {
        let place = module.declaration(&declared)?.name;
        Some(FoundSymbol { name, kind, module: path.to_owned(), place })
    });
    placed.take(limit).collect()
}

fn shown(name: &ItemName) -> Option<(SymbolKind, String)> {
    Some(match name {
        ItemName::Variable(name) => (SymbolKind::Variable, format!("var.{name}")),
        ItemName::Local(name) => (SymbolKind::Local, format!("local.{name}")),
        ItemName::Output(name) => (SymbolKind::Output, format!("output.{name}")),
        ItemName::Resource(resource) => {
            let kind = match resource.mode {
                addr::ResourceMode::Managed => SymbolKind::Resource,
                addr::ResourceMode::Data => SymbolKind::Data,
                addr::ResourceMode::Ephemeral => SymbolKind::Ephemeral,
            };
            (kind, resource.to_string())
        }
        ItemName::Module(name) => (SymbolKind::Module, format!("module.{name}")),
        ItemName::Provider(name, None) => (SymbolKind::Provider, format!("provider.{name}")),
        ItemName::Provider(name, Some(alias)) => {
            (SymbolKind::Provider, format!("provider.{name}.{alias}"))
        }
        ItemName::Check(name) => (SymbolKind::Check, format!("check.{name}")),
        ItemName::Terraform
        | ItemName::Moved
        | ItemName::Removed
        | ItemName::Import
        | ItemName::Other => return None,
    })
}

/// The rank of a name for a query; a smaller rank is a better match. `None` if the name does not contain the
/// letters of the query in order.
///
/// A name with the query at the beginning of a word ranks before one with the query elsewhere, and that before one
/// with scattered letters. Shorter names rank before longer ones.
fn rank(query: &[char], name: &str) -> Option<(u32, usize)> {
    let letters: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let mut rest = query.iter().peekable();
    for letter in &letters {
        rest.next_if(|wanted| *wanted == letter);
    }
    if rest.peek().is_some() {
        return None;
    }
    if query.is_empty() {
        return Some((0, letters.len()));
    }
    let starts_word = |at: usize| at == 0 || !letters[at - 1].is_alphanumeric();
    let places: Vec<usize> =
        (0..letters.len()).filter(|&at| letters[at..].starts_with(query)).collect();
    let tier = match places.as_slice() {
        [] => 2,
        places if places.iter().any(|&at| starts_word(at)) => 0,
        _ => 1,
    };
    Some((tier, letters.len()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::workspace_symbols;
    use crate::fixture;

    /// Shows the matches of a query in a configuration with two modules.
    #[track_caller]
    fn check(query: &str, limit: usize, expect: Expect) {
        let fixture = fixture::load(
            r#"
//- /main.tf
variable "region" {}
locals {
  region_name = 1
  other       = 2
}
resource "test_thing" "main" {}
data "test_data" "origin" {}
module "network" { source = "./net" }
provider "test" { alias = "east" }
terraform {}
//- /net/main.tf
variable "region" {}
output "subregion" { value = 1 }
check "c" {}
"#,
        );
        let document = fixture.document();
        let found = workspace_symbols(document.db, document.workspace, query, limit);
        let shown = found.iter().map(|it| {
            format!("{:?} {} in {}: {}\n", it.kind, it.name, it.module, fixture.show(it.place))
        });
        expect.assert_eq(&shown.collect::<String>());
    }

    #[test]
    fn workspace_symbols_match_the_letters_in_order() {
        check(
            "region",
            10,
            expect![[r#"
            Variable var.region in .: main.tf:1 `region`
            Variable var.region in net: net/main.tf:1 `region`
            Local local.region_name in .: main.tf:3 `region_name`
            Output output.subregion in net: net/main.tf:2 `subregion`
        "#]],
        );
        check(
            "reg name",
            10,
            expect![[r#"
            Local local.region_name in .: main.tf:3 `region_name`
        "#]],
        );
        check(
            "RGN",
            10,
            expect![[r#"
            Variable var.region in .: main.tf:1 `region`
            Variable var.region in net: net/main.tf:1 `region`
            Output output.subregion in net: net/main.tf:2 `subregion`
            Local local.region_name in .: main.tf:3 `region_name`
            Data data.test_data.origin in .: main.tf:7 `origin`
        "#]],
        );
        check(
            "test.main",
            10,
            expect![[r#"
            Resource test_thing.main in .: main.tf:6 `main`
        "#]],
        );
        check("xyz", 10, expect![[""]]);
    }

    #[test]
    fn empty_symbol_query_lists_everything_up_to_the_limit() {
        check(
            "",
            3,
            expect![[r#"
            Check check.c in net: net/main.tf:3 `c`
            Variable var.region in .: main.tf:1 `region`
            Variable var.region in net: net/main.tf:1 `region`
        "#]],
        );
        check("", 0, expect![[""]]);
    }
}
