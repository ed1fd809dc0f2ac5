//! Layout of objects, maps, lists and sets.

use std::borrow::Cow;

use crate::diff::{
    Act, NamedNode, Node, Shape,
    print::{Name, Options, Printer, indent, name_of, widest},
};

impl Printer<'_> {
    pub(super) fn object(
        &self,
        node: &Node,
        attributes: &[NamedNode],
        from_schema: bool,
        depth: usize,
        options: Options,
    ) -> String {
        if attributes.is_empty() {
            return self.empty("{}", node.replace, node, options);
        }
        let inner = Options { no_null: !from_schema, forces: false, ..options };
        let names: Vec<_> = attributes.iter().map(|it| name_of(&it.name)).collect();
        let width = widest(&names);
        let mut text = format!("{{{}\n", self.forces(node.replace, options));
        let mut hidden = 0;
        for (name, NamedNode { node: attribute, .. }) in names.iter().zip(attributes) {
            if attribute.act == Act::NoOp && !options.unchanged {
                hidden += 1;
                continue;
            }
            let name = Name { text: name, width };
            self.push_line(&mut text, name, attribute, depth + 1, inner);
        }
        text.push_str(&self.hidden(hidden, "attribute", depth + 1, options));
        text + &self.closing("}", node, depth, options)
    }

    pub(super) fn map(
        &self,
        node: &Node,
        elements: &[NamedNode],
        from_schema: bool,
        depth: usize,
        options: Options,
    ) -> String {
        // Objects from a schema show "forces replacement" on their elements.
        let (own, inherited) = (node.replace && !from_schema, node.replace && from_schema);
        if elements.is_empty() {
            return self.empty("{}", own, node, options);
        }
        let no_null = from_schema || node.act == Act::Delete;
        let inner = Options { no_null, forces: inherited, ..options };
        let names: Vec<Cow<'_, str>> =
            elements.iter().map(|it| values::go_quoted(&it.name).into()).collect();
        let width = if from_schema { 0 } else { widest(&names) };
        let mut text = format!("{{{}\n", self.forces(own, options));
        let mut hidden = 0;
        for (name, NamedNode { node: element, .. }) in names.iter().zip(elements) {
            if element.act == Act::NoOp && !options.unchanged {
                hidden += 1;
                continue;
            }
            let name = Name { text: name, width };
            self.push_line(&mut text, name, element, depth + 1, inner);
            if matches!(element.shape, Shape::Object { .. }) {
                text.insert(text.len() - 1, ',');
            }
        }
        text.push_str(&self.hidden(hidden, "element", depth + 1, options));
        text + &self.closing("}", node, depth, options)
    }

    /// Writes a list. The unchanged elements next to a change are shown, because the order matters; in a list of a
    /// nested attribute they are not.
    pub(super) fn list(
        &self,
        node: &Node,
        elements: &[Node],
        from_schema: bool,
        depth: usize,
        options: Options,
    ) -> String {
        if elements.is_empty() {
            return self.empty("[]", node.replace, node, options);
        }
        let changed = Options { no_null: true, forces: false, ..options };
        let unchanged = Options { unchanged: true, ..changed };
        let mut text = format!("[{}\n", self.forces(node.replace, options));
        // The unchanged elements since the last shown one.
        let mut waiting: Vec<&Node> = Vec::new();
        let mut show_next = false;
        for element in elements {
            if element.act == Act::NoOp && !show_next && !options.unchanged {
                waiting.push(element);
                continue;
            }
            show_next = false;
            if !from_schema {
                if let Some((last, others)) = waiting.split_last() {
                    text.push_str(&self.hidden(others.len(), "element", depth + 1, options));
                    text.push_str(&self.element(last, depth + 1, unchanged));
                }
                waiting.clear();
            }
            if element.act == Act::NoOp {
                text.push_str(&self.element(element, depth + 1, unchanged));
            } else {
                text.push_str(&self.element(element, depth + 1, changed));
                show_next = !from_schema;
            }
        }
        text.push_str(&self.hidden(waiting.len(), "element", depth + 1, options));
        text + &self.closing("]", node, depth, options)
    }

    pub(super) fn set(
        &self,
        node: &Node,
        elements: &[Node],
        from_schema: bool,
        depth: usize,
        options: Options,
    ) -> String {
        let (own, inherited) = (node.replace && !from_schema, node.replace && from_schema);
        if elements.is_empty() {
            return self.empty("[]", own, node, options);
        }
        let inner = Options { no_null: true, forces: inherited, ..options };
        let mut text = format!("[{}\n", self.forces(own, options));
        let mut hidden = 0;
        for element in elements {
            if element.act == Act::NoOp && !options.unchanged {
                hidden += 1;
                continue;
            }
            text.push_str(&self.element(element, depth + 1, inner));
        }
        text.push_str(&self.hidden(hidden, "element", depth + 1, options));
        text + &self.closing("]", node, depth, options)
    }

    fn element(&self, element: &Node, depth: usize, options: Options) -> String {
        let body = self.node(element, depth, options);
        let warnings = self.warnings(element, depth);
        format!("{warnings}{}{}{body},\n", indent(depth), self.symbol(element.act, options))
    }

    fn empty(&self, brackets: &str, replace: bool, node: &Node, options: Options) -> String {
        format!(
            "{brackets}{}{}",
            self.null_suffix(node.act, options),
            self.forces(replace, options)
        )
    }

    pub(super) fn closing(
        &self,
        bracket: &str,
        node: &Node,
        depth: usize,
        options: Options,
    ) -> String {
        let none = self.symbol(Act::NoOp, options);
        format!("{}{none}{bracket}{}", indent(depth), self.null_suffix(node.act, options))
    }
}
