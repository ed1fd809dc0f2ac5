//! The overview at the end of a large plan: the number of changes by module and action.
//!
//! ```text
//! Changes by module:
//!   add  change  destroy
//!    70       3        0  (root module)
//!    12       0        2  module.network
//! ```
//! The instances of a module call are one row, and a replacement is counted as such, not as a destruction and a
//! creation. Rows beyond [`MAX_ROWS`] are one, so that the overview fits on a screen.

use std::fmt::Write;

use addr::ModulePath;
use sorted::TreeMap;
use state::{Action, ResourceChange};

use crate::style::{Paint, Style, visible_line};

/// A plan with more changes has an overview.
const MAX_PLAIN: usize = 50;

/// The maximal number of modules with a row of their own.
const MAX_ROWS: usize = 20;

/// The columns, in the order of their display.
const COLUMNS: [&str; 7] = ["import", "add", "change", "replace", "destroy", "forget", "read"];

/// The number of changes in each column.
type Counts = [usize; COLUMNS.len()];

/// A table with the numbers of changes.
pub(crate) struct Overview {
    /// The names of the columns that have a number.
    pub(crate) columns: Vec<&'static str>,
    /// The rows, by module.
    pub(crate) rows: Vec<OverviewRow>,
}

/// The numbers of changes in a module.
pub(crate) struct OverviewRow {
    /// The name of the module.
    pub(crate) name: String,
    /// The number in each column of the table.
    pub(crate) counts: Vec<usize>,
}

impl Overview {
    /// Counts changes.
    pub(crate) fn of(changes: &[&ResourceChange]) -> Overview {
        let mut modules: TreeMap<ModulePath, Counts> = TreeMap::new();
        for change in changes {
            let counts = modules.entry(change.addr.module.path()).or_default();
            columns_of(change).for_each(|column| counts[column] += 1);
        }
        let rows = rows(&modules);
        let is_used = |column: &usize| rows.iter().any(|(_, counts)| counts[*column] > 0);
        let used: Vec<usize> = (0..COLUMNS.len()).filter(is_used).collect();
        let row = |(name, counts): (String, Counts)| {
            let counts = used.iter().map(|it| counts[*it]).collect();
            OverviewRow { name, counts }
        };
        let columns = used.iter().map(|it| COLUMNS[*it]).collect();
        Overview { columns, rows: rows.into_iter().map(row).collect() }
    }

    /// The sum of each column.
    pub(crate) fn totals(&self) -> Vec<usize> {
        let total = |column: usize| self.rows.iter().map(|it| it.counts[column]).sum();
        (0..self.columns.len()).map(total).collect()
    }
}

/// The overview of a plan's changes; empty if there are few.
pub(super) fn overview(changes: &[&ResourceChange], style: &Style) -> String {
    let overview = Overview::of(changes);
    if overview.totals().iter().sum::<usize>() <= MAX_PLAIN {
        return String::new();
    }
    let width = |(column, name): (usize, &&str)| {
        let numbers = overview.rows.iter().map(|it| it.counts[column].to_string().len());
        numbers.max().unwrap_or(0).max(name.len())
    };
    let widths: Vec<usize> = overview.columns.iter().enumerate().map(width).collect();
    let mut text = format!("\n{}\n", style.paint(Paint::Bold, "Changes by module:"));
    let mut line = |cells: Vec<String>, name: &str, paint: Option<Paint>| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
        let cells: String = cells.collect();
        let shown = paint.map_or_else(|| cells.clone(), |paint| style.paint(paint, &cells));
        let gap = if name.is_empty() { "" } else { "  " };
        let _ = writeln!(text, "{shown}{gap}{name}");
    };
    let columns = overview.columns.iter().map(|it| (*it).to_owned()).collect();
    line(columns, "", Some(Paint::Dim));
    for OverviewRow { name, counts } in &overview.rows {
        line(counts.iter().map(ToString::to_string).collect(), name, None);
    }
    text
}

/// The name of the column in which an action is counted. `None` for a change that only moves or imports.
pub(crate) fn column_of(action: Action) -> Option<&'static str> {
    column(action).map(|it| COLUMNS[it])
}

/// The columns in which a change is counted: an import may change the object too.
fn columns_of(change: &ResourceChange) -> impl Iterator<Item = usize> {
    let import = change.change.importing.is_some().then_some(0);
    import.into_iter().chain(column(change.change.action))
}

fn column(action: Action) -> Option<usize> {
    match action {
        Action::NoOp => None,
        Action::Create => Some(1),
        Action::Update => Some(2),
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => Some(3),
        Action::Delete => Some(4),
        Action::Forget => Some(5),
        Action::Read => Some(6),
    }
}

fn sum(counts: &Counts) -> usize {
    counts.iter().sum()
}

/// The rows in the order of the modules. The modules with the most changes have rows of their own, and the others share
/// the last one.
fn rows(modules: &TreeMap<ModulePath, Counts>) -> Vec<(String, Counts)> {
    let mut sizes: Vec<usize> = modules.values().map(sum).collect();
    sorted::sort_by(&mut sizes, |a, b| b.cmp(a));
    let least = sizes.get(MAX_ROWS - 1).copied().filter(|_| sizes.len() > MAX_ROWS).unwrap_or(0);
    let mut rows = Vec::new();
    let (mut others, mut counts_of_others) = (0, Counts::default());
    for (module, counts) in modules {
        if sum(counts) >= least && rows.len() < MAX_ROWS && sum(counts) > 0 {
            let name =
                if module.is_root() { "(root module)".to_owned() } else { module.to_string() };
            rows.push((visible_line(&name), *counts));
        } else if sum(counts) > 0 {
            others += 1;
            counts_of_others.iter_mut().zip(counts).for_each(|(to, it)| *to += it);
        }
    }
    if others > 0 {
        rows.push((format!("({others} other modules)"), counts_of_others));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(add: usize) -> Counts {
        let mut counts = Counts::default();
        counts[1] = add;
        counts
    }

    #[test]
    fn small_modules_share_a_row() {
        let module = |index: usize| ModulePath::new([format!("m{index:02}").into()]);
        let mut modules: TreeMap<ModulePath, Counts> =
            (0..30).map(|index| (module(index), counts(index % 3 + 1))).collect();
        modules.insert(ModulePath::root(), counts(7));
        let rows = rows(&modules);
        assert_eq!(rows.len(), MAX_ROWS + 1);
        assert_eq!(rows[0], ("(root module)".to_owned(), counts(7)));
        let (name, rest) = rows.last().expect("has rows");
        assert_eq!(name, "(11 other modules)");
        let total: usize = rows.iter().map(|(_, counts)| sum(counts)).sum();
        assert_eq!((total, rest[1] > 0), (modules.values().map(sum).sum(), true));
    }
}
