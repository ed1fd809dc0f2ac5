//! Layout of blocks: attributes, then nested blocks by type.

use std::fmt::Write;

use crate::diff::{
    Act, Group, NamedNode, Node, Shape,
    print::{Name, Options, Printer, indent, name_of, widest},
};

/// Attributes that identify an object; they are shown even if they do not change.
const IDENTIFYING: [&str; 3] = ["id", "name", "tags"];

impl Printer<'_> {
    pub(super) fn push_block(
        &self,
        text: &mut String,
        node: &Node,
        attributes: &[NamedNode],
        groups: &[Group],
        depth: usize,
        options: Options,
    ) {
        let forces = self.forces(node.replace, options);
        if attributes.is_empty() && groups.is_empty() {
            let _ = write!(text, "{{}}{forces}");
            return;
        }
        let options = Options { forces: false, ..options };
        ["{", &forces, "\n"].iter().for_each(|part| text.push_str(part));
        self.push_attributes(attributes, depth + 1, options, text);
        let mut hidden = 0;
        for group in groups {
            hidden += self.push_group(group, !attributes.is_empty(), depth + 1, options, text);
        }
        if hidden > 0 {
            let _ = write!(text, "\n{}", self.hidden(hidden, "block", depth + 1, options));
        }
        text.push_str(&indent(depth));
        text.push_str(self.symbol(Act::NoOp, options));
        text.push('}');
    }

    fn push_attributes(
        &self,
        attributes: &[NamedNode],
        depth: usize,
        options: Options,
        text: &mut String,
    ) {
        let names: Vec<_> = attributes.iter().map(|it| name_of(&it.name)).collect();
        let width = widest(&names);
        let mut hidden = 0;
        for (name, NamedNode { node: attribute, .. }) in names.iter().zip(attributes) {
            let name = Name { text: name, width };
            let is_identifying = IDENTIFYING.contains(&name.text);
            if attribute.act == Act::NoOp && !options.unchanged && !is_identifying {
                hidden += 1;
                continue;
            }
            let options = Options { unchanged: options.unchanged || is_identifying, ..options };
            self.push_line(text, name, attribute, depth, options);
        }
        text.push_str(&self.hidden(hidden, "attribute", depth, options));
    }

    /// Writes the blocks of a group. Returns the number of unchanged blocks that are hidden.
    fn push_group(
        &self,
        group: &Group,
        after_attributes: bool,
        depth: usize,
        options: Options,
        text: &mut String,
    ) -> usize {
        let mut hidden = 0;
        let mut is_first = true;
        for (label, block) in &group.blocks {
            let covered = group.secret.and_then(|secret| covered(block, secret));
            let block = covered.as_ref().unwrap_or(block);
            if block.act == Act::NoOp && !options.unchanged {
                hidden += 1;
                continue;
            }
            if is_first && after_attributes {
                text.push('\n');
            }
            is_first = false;
            let options = Options { forces: group.replace, ..options };
            let label =
                label.as_ref().map(|it| format!(" {}", values::go_quoted(it))).unwrap_or_default();
            let body = self.node(block, depth, options);
            let symbol = self.symbol(block.act, options);
            text.push_str(&self.warnings(block, depth));
            let _ =
                writeln!(text, "{}{symbol}{}{label} {body}", indent(depth), name_of(&group.name));
        }
        hidden
    }
}

/// The node of a block whose whole group is secret on the side to which the block belongs. `None` if the block may
/// be shown.
fn covered(block: &Node, secret: super::Secret) -> Option<Node> {
    let is_covered = match block.act {
        Act::Create => secret.after,
        Act::Delete => secret.before,
        Act::Update | Act::NoOp => secret.before || secret.after,
    };
    if !is_covered {
        return None;
    }
    let act = match block.act {
        Act::NoOp if secret.before != secret.after => Act::Update,
        act => act,
    };
    let secret = super::Secret { is_same: block.act == Act::NoOp, ..secret };
    Some(Node { act, replace: block.replace, shape: Shape::SecretBlock(secret) })
}
