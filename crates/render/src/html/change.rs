//! One changed object: a line that opens to its reasons and its differences.

use state::ResourceChange;

use super::{
    because,
    content::{PlanPage, STYLE},
    secrets::Secrets,
    writer::Html,
};
use crate::{
    diff,
    plan::{
        comment::{self, Section},
        human::map_changes,
        overview::column_of,
    },
    style::{Paint, Painted, Style, painted},
};

/// A change with its body.
pub(super) struct ShownChange<'p> {
    pub(super) change: &'p ResourceChange,
    pub(super) section: Section,
    /// The causes of the change. `None` if they are not shown, or there are none.
    pub(super) causes: Option<Html>,
    /// The body of the object as coloured text, without secrets. `None` if nothing in it changes.
    pub(super) body: Option<String>,
    /// True if the change is open when the page is loaded.
    pub(super) is_open: bool,
}

/// The indentation of a body in the plan as text, which the page does not need.
const INDENT: &str = "    ";

impl<'p> ShownChange<'p> {
    /// Renders planned changes on all processors.
    pub(super) fn planned(
        page: &PlanPage<'_>,
        changes: &[&'p ResourceChange],
        secrets: &Secrets,
        is_open: bool,
    ) -> Vec<ShownChange<'p>> {
        let bodies = map_changes(&page.view, changes, |view, change| {
            let body = diff::resource_body(view, change, None, &STYLE)?;
            Some(secrets.removed_from(&body))
        });
        let shown = |(change, body): (&&'p ResourceChange, Option<String>)| ShownChange {
            change,
            section: Section::Proposed,
            causes: page.causes.and_then(|it| because::of(it, change, secrets)),
            body,
            is_open,
        };
        changes.iter().zip(bodies).map(shown).collect()
    }

    /// Writes the change. The address in the line lacks the module, which the tree shows.
    pub(super) fn write(&self, html: &mut Html) {
        let ShownChange { change, .. } = self;
        let address = comment::headline_address(change);
        let kind = kind(change);
        html.markup("<details class=\"change\"");
        if self.section == Section::Proposed {
            html.attribute("id", &fragment(&address));
        }
        html.attribute("data-kind", kind);
        html.attribute("data-module", &change.addr.module.path().to_string());
        html.markup(if self.is_open { " open>\n<summary>" } else { ">\n<summary>" });
        self.write_headline(&address, kind, html);
        html.markup("</summary>\n<div class=\"body\">\n");
        if !change.addr.module.is_root() {
            html.element("<p class=\"full\"><code>", &address, "</code></p>\n");
        }
        self.write_notes(html);
        if let Some(causes) = &self.causes {
            html.append(causes);
        }
        if let Some(body) = &self.body {
            self.write_body(body, html);
        }
        html.markup("</div>\n</details>\n");
    }

    fn write_headline(&self, address: &str, kind: &str, html: &mut Html) {
        let ShownChange { change, section, .. } = self;
        html.markup("<span");
        html.attribute("class", &format!("mark kind-{kind}"));
        html.markup(" aria-hidden=\"true\">");
        let symbol = diff::symbol(change.change.action, &Style::PLAIN);
        let symbol = symbol.trim();
        html.text(match (symbol, kind) {
            ("", "import") => "↓",
            ("", "move") => "→",
            _ => symbol,
        });
        html.markup("</span> ");
        let module = format!("{}.", change.addr.module);
        let local = match change.addr.module.is_root() {
            true => address,
            false => address.strip_prefix(&module).unwrap_or(address),
        };
        html.element("<code class=\"address\">", local, "</code> ");
        let words = comment::headline(change, *section, &STYLE);
        html.markup("<span class=\"words\">");
        html.painted(&painted(&words));
        html.markup("</span>");
    }

    fn write_notes(&self, html: &mut Html) {
        let mut notes = comment::notes(self.change);
        // The causes say the same with their places.
        notes.retain(|it| self.causes.is_none() || !it.text.starts_with("(because "));
        if notes.is_empty() {
            return;
        }
        html.markup("<ul class=\"notes\">\n");
        for note in notes {
            html.markup(if note.is_warning { "<li class=\"yellow\">" } else { "<li>" });
            let text = note.text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
            html.text(text.unwrap_or(&note.text));
            html.markup("</li>\n");
        }
        html.markup("</ul>\n");
    }

    fn write_body(&self, body: &str, html: &mut Html) {
        let resource = &self.change.addr.resource;
        let (block_type, type_name, name) =
            (resource.mode.block_type(), &*resource.type_name, &*resource.name);
        let opening = format!("{block_type} \"{type_name}\" \"{name}\" {body}");
        write_lines(&opening, INDENT, html);
    }
}

/// Writes coloured lines without their common indentation. The symbol of a line decides its background.
pub(super) fn write_lines(text: &str, indentation: &str, html: &mut Html) {
    html.markup("<pre>");
    for line in text.trim_end_matches('\n').split('\n') {
        let parts = painted(line.strip_prefix(indentation).unwrap_or(line));
        match line_class(&parts) {
            "" => html.painted(&parts),
            class => {
                html.markup("<span");
                html.attribute("class", class);
                html.markup(">");
                html.painted(&parts);
                html.markup("</span>");
            }
        }
        html.markup("\n");
    }
    html.markup("</pre>\n");
}

/// The class of a line; empty for a line without a symbol.
fn line_class(parts: &[Painted<'_>]) -> &'static str {
    let symbol = parts.iter().find(|it| !it.text.trim().is_empty());
    match symbol.map(|it| (it.paint, it.text)) {
        Some((Some(Paint::Green), "+")) => "l add",
        Some((Some(Paint::Red), "-")) => "l del",
        Some((Some(Paint::Yellow), "~")) => "l mod",
        _ => "",
    }
}

/// The kind of a change, by which it is filtered and coloured.
pub(super) fn kind(change: &ResourceChange) -> &'static str {
    match column_of(change.change.action) {
        Some(column) => column,
        None if change.change.importing.is_some() => "import",
        None => "move",
    }
}

/// The identifier of a change in the page, to which a link may refer. An identifier has no space.
fn fragment(address: &str) -> String {
    address.replace(char::is_whitespace, "_")
}
