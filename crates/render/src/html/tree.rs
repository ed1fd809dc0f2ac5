//! The tree of module instances with their changes.

use addr::ModuleStep;
use sorted::TreeMap;
use state::ResourceChange;

use super::{change::ShownChange, writer::Html};

/// A module instance: its own changes, and the instances that it calls.
#[derive(Default)]
pub(super) struct Tree<'p> {
    changes: Vec<&'p ShownChange<'p>>,
    children: TreeMap<&'p ModuleStep, Tree<'p>>,
}

impl<'p> Tree<'p> {
    /// Sorts changes into the tree. The order of the changes in a module instance stays.
    pub(super) fn of(changes: &'p [ShownChange<'p>]) -> Tree<'p> {
        let mut root = Tree::default();
        for change in changes {
            let steps = place(change.change).iter();
            let tree = steps.fold(&mut root, |tree, step| tree.children.entry(step).or_default());
            tree.changes.push(change);
        }
        root
    }

    /// The number of changes in this instance and below.
    fn len(&self) -> usize {
        self.changes.len() + self.children.values().map(Tree::len).sum::<usize>()
    }

    /// Writes the changes of the root module, then the modules that it calls.
    pub(super) fn write(&self, html: &mut Html) {
        self.write_inside(html);
    }

    fn write_inside(&self, html: &mut Html) {
        for change in &self.changes {
            change.write(html);
        }
        for (step, tree) in &self.children {
            tree.write_module(step, html);
        }
    }

    fn write_module(&self, step: &ModuleStep, html: &mut Html) {
        html.markup("<details class=\"module\" open>\n<summary>");
        html.element("<code>", &step.to_string(), "</code> ");
        let count = self.len();
        html.markup("<span class=\"dim\">");
        html.number(count);
        html.markup(if count == 1 { " change" } else { " changes" });
        html.markup("</span></summary>\n<div class=\"inside\">\n");
        self.write_inside(html);
        html.markup("</div>\n</details>\n");
    }
}

/// The module instance under which a change is listed.
fn place(change: &ResourceChange) -> &[ModuleStep] {
    change.addr.module.steps()
}
