//! The page of `plan -html` and `show -html`: the file, and what a browser makes of it.

use std::{fs, io::Write, os::unix::fs::PermissionsExt};

use serde_json::json;

use crate::{bench::Bench, web_driver::Browser};

const MAIN: &str = r#"
variable "size" {
  type = number
}
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "app" {
  input = {
    size     = var.size
    text     = "</script><script>document.title = 'taken'</script>"
    password = var.password
  }
}
resource "terraform_data" "old" {
  for_each = var.size == 1 ? toset(["one", "two"]) : toset([])
}
module "net" {
  source = "./net"
  size   = var.size
}
output "size" {
  value = var.size
}
output "password" {
  value     = var.password
  sensitive = true
}
"#;

const NET: &str = r#"
variable "size" {
}
resource "terraform_data" "subnet" {
  count            = var.size
  triggers_replace = var.size
}
"#;

const PASSWORD: &str = "-var=password=correct-horse-battery";

/// A directory with a state, in which a plan with `-var=size=3` changes something of each kind.
fn applied() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("net/main.tf", NET);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["apply", "-auto-approve", "-var=size=1", PASSWORD]).succeeds();
    bench
}

fn page(bench: &Bench, name: &str) -> String {
    String::from_utf8(bench.read(name)).expect("is text")
}

#[test]
fn plan_writes_a_private_page_without_sensitive_values() {
    let bench = applied();
    fs::write(bench.path("plan.html"), "old").expect("can be written");
    let arguments =
        ["plan", "-html=plan.html", "-out=p", "-show-sensitive", "-var=size=3", PASSWORD];
    let planned = bench.mayfly(".", arguments).succeeds();
    planned.shows(&[
        "correct-horse",
        "Saved the plan to: p",
        "Wrote the plan as an HTML page to plan.html (",
    ]);
    let mode = fs::metadata(bench.path("plan.html")).expect("is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let html = page(&bench, "plan.html");
    assert!(!html.contains("correct-horse"), "the state repeats the password in `output`");
    for part in [
        "<h1>Plan: 3 to add, 1 to change, 3 to destroy</h1>",
        "(redacted)",
        "<h3>Because</h3>",
        "main.tf:",
        "module.net",
    ] {
        assert!(html.contains(part), "{part}");
    }
    bench.mayfly(".", ["show", "-html=shown.html", "p"]).succeeds().lacks(&["will be created"]);
    // A saved plan does not record where a value came from.
    let html = html.replace("set by -var", "set when the plan was made");
    assert!(page(&bench, "shown.html") == html, "the pages differ");
    let json =
        bench.mayfly(".", ["plan", "-json", "-html=json.html", "-var=size=3", PASSWORD]).succeeds();
    assert!(json.json_lines().len() > 3);
}

#[test]
fn page_that_cannot_be_written_does_not_prevent_saving_the_plan() {
    let bench = applied();
    let arguments = ["plan", "-html=nowhere/plan.html", "-out=p", "-var=size=3", PASSWORD];
    let planned = bench.mayfly(".", arguments).fails();
    planned.shows(&["Error: Failed to write HTML page", "nowhere/plan.html cannot be written"]);
    bench.mayfly(".", ["show", "p"]).succeeds();
    for contradicting in [&["-json", "p"][..], &["-state"], &[]] {
        let shown = bench.mayfly(".", [&["show", "-html=x.html"], contradicting].concat()).fails();
        shown.shows(&["-html writes a saved plan as a page"]);
    }
}

const FAILING: &str = r#"
variable "size" {
  default = 1
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.size > 1
      error_message = "<never>"
    }
  }
}
"#;

#[test]
fn failed_plan_is_written_with_its_errors() {
    let bench = Bench::with_main(FAILING);
    bench.mayfly(".", ["init"]).succeeds();
    bench.mayfly(".", ["plan", "-html=plan.html"]).fails();
    let html = page(&bench, "plan.html");
    for part in ["failed with errors", "id=\"errors\"", "&lt;never&gt;"] {
        assert!(html.contains(part), "{part}");
    }
}

/// The number of changes that the page shows.
const SHOWN: &str = "document.querySelectorAll('#tree details.change:not([hidden])').length";

const ESCAPE: &str = "\u{e00c}";
const ENTER: &str = "\u{e007}";

#[test]
fn page_works_in_a_browser() {
    let Some(browser) = Browser::start() else {
        let text =
            "skipped: page_works_in_a_browser, because chromium or chromedriver is not on PATH";
        let _ = writeln!(std::io::stderr(), "{text}");
        return;
    };
    let bench = applied();
    bench.mayfly(".", ["plan", "-html=plan.html", "-var=size=3", PASSWORD]).succeeds();
    browser.open(&bench.path("plan.html"));
    assert_eq!(browser.value("document.title"), json!("Plan: 3 to add, 1 to change, 3 to destroy"));
    assert_eq!(browser.value("performance.getEntriesByType('resource').length"), json!(0));
    assert_eq!(browser.value(SHOWN), json!(6));
    filters_select_changes(&browser);
    keys_move_between_changes(&browser);
    assert_eq!(browser.console(), json!([]), "nothing was refused, and no script failed");
    // A script that is not the page's own does not run.
    let evil = "(() => { const s = document.createElement('script'); s.textContent = 'document.title = 1'; \
                document.body.append(s); return document.title; })()";
    assert_eq!(browser.value(evil), json!("Plan: 3 to add, 1 to change, 3 to destroy"));
    assert!(browser.console().to_string().contains("Content Security Policy"));
    page_is_readable_without_its_script(&browser, &bench);
}

/// The visible texts with too little contrast between their colour and the surface behind them, by WCAG 2.
const PALE: &str = "(() => {
  const parts = (it) => it.match(/[\\d.]+/g).map(Number);
  const linear = (it) => (it /= 255) <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const surface = (node) => {
    const own = parts(getComputedStyle(node).backgroundColor);
    return own[3] === 0 ? surface(node.parentElement) : own;
  };
  const pale = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !node.checkVisibility() || node.localName === 'option') continue;
    count += 1;
    const pair = [parts(getComputedStyle(node).color), surface(node)].map(luminance).sort((a, b) => b - a);
    if ((pair[0] + 0.05) / (pair[1] + 0.05) < 4.5) pale.push(node.outerHTML);
  }
  return count > 40 ? pale : ['only ' + count + ' texts'];
})()";

/// The controls without a name that a screen reader could say.
const NAMELESS: &str = "[...document.querySelectorAll('a, button, input, select, summary, [tabindex]')].filter((it) => {
  const labels = [...it.labels ?? []].map((it) => it.textContent);
  const own = ['INPUT', 'SELECT'].includes(it.tagName) ? '' : it.textContent;
  const by = document.getElementById(it.getAttribute('aria-labelledby'))?.textContent;
  return it.checkVisibility() && ![it.getAttribute('aria-label'), by, own, ...labels].some((it) => it?.trim());
}).map((it) => it.outerHTML)";

/// The parts that scroll sideways, and that the keyboard cannot reach.
const OUT_OF_REACH: &str = "[...document.querySelectorAll('*')].filter((it) =>
  it.scrollWidth > it.clientWidth && ['auto', 'scroll'].includes(getComputedStyle(it).overflowX) && it.tabIndex < 0
).map((it) => it.outerHTML)";

#[test]
fn page_is_accessible_in_both_themes_and_on_a_narrow_window() {
    let Some(browser) = Browser::start() else {
        let text = "skipped: page_is_accessible, because chromium or chromedriver is not on PATH";
        let _ = writeln!(std::io::stderr(), "{text}");
        return;
    };
    let bench = applied();
    bench.mayfly(".", ["plan", "-html=plan.html", "-var=size=3", PASSWORD]).succeeds();
    for theme in ["light", "dark"] {
        browser.prefer(theme);
        for width in [1200, 380] {
            browser.resize(width, 900);
            browser.open(&bench.path("plan.html"));
            let is_dark = browser.value("matchMedia('(prefers-color-scheme: dark)').matches");
            assert_eq!(is_dark, json!(theme == "dark"));
            browser
                .value("document.querySelectorAll('details').forEach((it) => { it.open = true; })");
            for fault in [PALE, NAMELESS, OUT_OF_REACH] {
                assert_eq!(browser.value(fault), json!([]), "{theme}, {width}: {fault}");
            }
            let overflow = "document.documentElement.scrollWidth - innerWidth";
            assert!(browser.value(overflow).as_i64().is_some_and(|it| it <= 0), "{width}");
        }
    }
    focus_is_visible_on_every_control(&browser);
}

const TAB: &str = "\u{e004}";

fn focus_is_visible_on_every_control(browser: &Browser) {
    let focused = "document.activeElement.outerHTML.slice(0, 80)";
    let outline = "['', 'label'].map((it) => it ? document.activeElement.closest(it) : document.activeElement)
        .filter(Boolean).map((it) => getComputedStyle(it))
        .some((it) => it.outlineStyle === 'solid' && parseFloat(it.outlineWidth) >= 2)";
    let mut visited = std::collections::BTreeSet::new();
    for _ in 0..60 {
        browser.press(TAB);
        if browser.value("document.activeElement === document.body") == json!(true) {
            // Behind the last control, the focus leaves the page.
            break;
        }
        let control = browser.value(focused).to_string();
        assert_eq!(browser.value(outline), json!(true), "{control}");
        visited.insert(control);
    }
    let all = visited.iter().cloned().collect::<String>();
    for control in ["class=\\\"skip", "<input", "<button", "<summary", "class=\\\"scroll"] {
        assert!(all.contains(control), "{control}: {visited:#?}");
    }
}

fn filters_select_changes(browser: &Browser) {
    browser.press("/two");
    browser.wait_until(&format!("{SHOWN} === 1"));
    assert_eq!(
        browser.value("document.getElementById('count').textContent"),
        json!("1 of 6 changes")
    );
    browser.press(ESCAPE);
    browser.wait_until(&format!("{SHOWN} === 6"));
    browser.value("document.querySelector('#filters input[value=replace]').click()");
    browser.wait_until(&format!("{SHOWN} === 1"));
    browser.press(ESCAPE);
    let select = "(() => { const s = document.querySelector('#filters select'); s.value = 'module.net'; \
                  s.dispatchEvent(new Event('change', {bubbles: true})); })()";
    browser.value(select);
    browser.wait_until(&format!("{SHOWN} === 3"));
    browser.press(ESCAPE);
    browser.wait_until(&format!("{SHOWN} === 6"));
}

fn keys_move_between_changes(browser: &Browser) {
    let focused = "document.activeElement.closest('details.change')?.id ?? ''";
    browser.press("j");
    assert_eq!(browser.value(focused), json!("terraform_data.app"));
    browser.press("jj");
    assert_eq!(browser.value(focused), json!("terraform_data.old[\"two\"]"));
    browser.press("k");
    assert_eq!(browser.value(focused), json!("terraform_data.old[\"one\"]"));
    let is_open = "document.activeElement.closest('details.change').open";
    let before = browser.value(is_open);
    browser.press(ENTER);
    assert_ne!(browser.value(is_open), before);
}

/// The text of the diff of a change can be read with the script removed.
fn page_is_readable_without_its_script(browser: &Browser, bench: &Bench) {
    let html = page(bench, "plan.html");
    let (before, rest) = html.split_once("<script>").expect("has a script");
    let (_, after) = rest.split_once("</script>").expect("is closed");
    bench.write("bare.html", &format!("{before}{after}"));
    browser.open(&bench.path("bare.html"));
    assert_eq!(browser.value("document.getElementById('filters').offsetHeight"), json!(0));
    let text = "document.querySelector('main').textContent";
    let text = browser.value(text).to_string();
    for part in ["terraform_data.old[", "will be", "triggers_replace = 1 -> 3"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
