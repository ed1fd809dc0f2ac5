//! Checks that each relative link of a Markdown file leads to a tracked file and to a heading that exists.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use anyhow::{Result, bail};

/// Checks the links of every tracked Markdown file.
///
/// # Errors
/// Returns the links that lead nowhere, one per line, or the error if git fails.
pub(crate) fn check(root: &Path) -> Result<()> {
    let tracked = crate::tidy::tracked(root)?;
    let mut pages = BTreeMap::new();
    for path in tracked.iter().filter(|it| it.ends_with(".md")) {
        // A tracked file that was deleted but not committed yet has no links.
        if let Ok(text) = fs::read_to_string(root.join(path)) {
            pages.insert(path.as_str(), text);
        }
    }
    let files = files_and_folders(&tracked);
    let broken = broken_links(&pages, &files);
    if !broken.is_empty() {
        bail!("links that lead nowhere:\n  {}", broken.join("\n  "));
    }
    Ok(())
}

/// Returns the tracked files and every folder above one.
fn files_and_folders(tracked: &[String]) -> BTreeSet<&str> {
    let mut found = BTreeSet::from([""]);
    for path in tracked {
        found.insert(path.as_str());
        found.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    found
}

/// Returns a line for each broken link, in the order of the pages.
fn broken_links(pages: &BTreeMap<&str, String>, files: &BTreeSet<&str>) -> Vec<String> {
    let anchors: BTreeMap<_, _> =
        pages.iter().map(|(path, text)| (*path, anchors_of(text))).collect();
    let mut broken = Vec::new();
    for (page, text) in pages {
        for (line, target) in links_of(text) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let resolved =
                if path.is_empty() { Some((*page).to_owned()) } else { resolve(page, path) };
            let fault = match &resolved {
                Some(it) if files.contains(it.as_str()) => anchors
                    .get(it.as_str())
                    .filter(|known| !anchor.is_empty() && !known.contains(anchor))
                    .map(|_| "the page has no such heading"),
                _ => Some("no such file is tracked; a new one needs `git add`"),
            };
            if let Some(fault) = fault {
                broken.push(format!("{page}:{line}: {target}: {fault}"));
            }
        }
    }
    broken
}

/// Returns the path of `link`, which is relative to `page`, from the root; `None` if it leads out of the root.
fn resolve(page: &str, link: &str) -> Option<String> {
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the lines outside of fenced code blocks, numbered from 1.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let marker = &line.trim_start()[..ticks(line.trim_start())];
        match fence {
            Some(open) if marker.len() >= open.len() && line.trim() == marker => fence = None,
            None if marker.len() >= 3 => fence = Some(marker),
            None => return Some((index + 1, line)),
            Some(_) => {}
        }
        None
    })
}

fn ticks(line: &str) -> usize {
    line.bytes().take_while(|it| *it == b'`').count()
}

/// Returns the relative targets of inline links, each with its line. Links inside of code spans are text.
fn links_of(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose_lines(text) {
        for (at, _) in line.match_indices("](") {
            if line[..at].matches('`').count() % 2 == 1 {
                continue;
            }
            let rest = &line[at + 2..];
            let Some(end) = rest.find([')', ' ']) else { continue };
            let target = &rest[..end];
            if !target.contains("://") && !target.starts_with("mailto:") {
                found.push((number, target));
            }
        }
    }
    found
}

/// Returns the anchors that GitHub gives to the headings of a page.
fn anchors_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, line) in prose_lines(text) {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if !(1..=6).contains(&level) || !title.starts_with(' ') {
            continue;
        }
        let base = anchor(&heading_text(title.trim()));
        let mut unique = base.clone();
        for n in 1.. {
            if found.insert(unique) {
                break;
            }
            unique = format!("{base}-{n}");
        }
    }
    found
}

/// Returns a heading without the targets of its links.
fn heading_text(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title;
    while let Some(at) = rest.find("](") {
        text.push_str(&rest[..at]);
        rest = rest[at..].find(')').map_or("", |end| &rest[at + end + 1..]);
    }
    text + rest
}

fn anchor(title: &str) -> String {
    title
        .chars()
        .filter_map(|it| match it {
            ' ' => Some('-'),
            '-' | '_' => Some(it),
            it if it.is_alphanumeric() => Some(it),
            _ => None,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_all_pages_resolve() {
        check(&crate::root()).expect("each link leads to a file and a heading");
    }

    #[test]
    fn broken_links_are_reported_with_their_line() {
        let page = "# A `b` page\n[ok](../README.md) [ok](#a-b-page) [web](https://example.com/x)\n\
                    [gone](gone.md)\n```\n[code](gone.md)\n```\n`[code](gone.md)` [bad](#other)\n\
                    [out](../../x) [twice](b.md#same-1) [thrice](b.md#same-2)\n";
        let pages = BTreeMap::from([
            ("docs/a.md", page.to_owned()),
            ("docs/b.md", "# Same\n## Same\n".to_owned()),
            ("README.md", String::new()),
        ]);
        let tracked: Vec<_> = pages.keys().map(ToString::to_string).collect();
        assert_eq!(
            broken_links(&pages, &files_and_folders(&tracked)),
            [
                "docs/a.md:3: gone.md: no such file is tracked; a new one needs `git add`",
                "docs/a.md:7: #other: the page has no such heading",
                "docs/a.md:8: ../../x: no such file is tracked; a new one needs `git add`",
                "docs/a.md:8: b.md#same-2: the page has no such heading",
            ]
        );
    }
}
