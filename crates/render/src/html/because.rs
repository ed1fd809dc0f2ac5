//! The causes of a change, as nested lists with their places in the configuration.

use causes::Finding;
use state::ResourceChange;

use super::{content::Explain, secrets::Secrets, writer::Html};

/// The largest number of findings for one change. `explain` shows all of them.
const MOST_SHOWN: usize = 24;

/// The causes of a change as HTML. `None` if there are none.
pub(super) fn of(explain: Explain<'_>, change: &ResourceChange, secrets: &Secrets) -> Option<Html> {
    let finding = explain(change);
    let mut html = Html::default();
    write(&finding, secrets, &mut html);
    (!finding.because.is_empty()).then_some(html)
}

/// Writes the causes of a finding. The finding itself is the change, which the page shows already.
fn write(finding: &Finding, secrets: &Secrets, html: &mut Html) {
    html.markup("<div class=\"causes\">\n<h3>Because</h3>\n");
    let mut left = MOST_SHOWN;
    write_list(finding, secrets, &mut left, html);
    html.markup("</div>\n");
}

fn write_list(outer: &Finding, secrets: &Secrets, left: &mut usize, html: &mut Html) {
    html.markup("<ul>\n");
    let mut omitted = outer.more;
    for finding in &outer.because {
        let Some(rest) = left.checked_sub(1) else {
            omitted += 1;
            continue;
        };
        *left = rest;
        html.markup("<li>");
        html.text(&secrets.removed_from(&finding.text_below(&outer.subject)));
        if let Some(place) = &finding.place {
            html.element(" <span class=\"place\">", &place.to_string(), "</span>");
        }
        if !finding.because.is_empty() && *left > 0 {
            html.markup("\n");
            write_list(finding, secrets, left, html);
        }
        html.markup("</li>\n");
    }
    if omitted > 0 {
        html.markup("<li class=\"dim\">and ");
        html.number(omitted);
        html.markup(" more</li>\n");
    }
    html.markup("</ul>\n");
}
