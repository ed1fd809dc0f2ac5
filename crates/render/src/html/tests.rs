mod accessible;

use std::sync::Arc;

use addr::ProviderSource;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use db::{Diagnostic, Sources, Summary};
use expect_test::{Expect, expect};
use sha2::{Digest, Sha256};
use sorted::TreeSet;
use state::{
    Action, CheckKind, CheckObject, CheckResult, CheckStatus, OutputChange, Plan, ResourceChange,
};
use values::{Mark, Type, Value};

use super::*;
use crate::plan::{
    tests::{change, null, plan_of, schemas, secret},
    view::PlanView,
};

fn page_with(plan: &Plan, diagnostics: &[Diagnostic]) -> String {
    let known = schemas();
    let find = |_: &ProviderSource| Some(Arc::clone(&known));
    let html = plan_page(&PlanPage {
        view: PlanView { plan, schemas: &find, show_sensitive: true },
        program: None,
        causes: None,
        difference: None,
        diagnostics,
        sources: &Sources::default(),
    });
    well_formed(&html);
    accessible::check_structure(&html);
    html
}

fn page(plan: &Plan) -> String {
    page_with(plan, &[])
}

/// The elements without content, which have no end tag.
const VOID: [&str; 1] = ["meta"];

/// An element that is open.
struct Open<'h> {
    name: &'h str,
}

/// Checks the page against the rules that a browser silently repairs: all elements are closed in their order, all
/// attributes are quoted, every reference is one of ours, identifiers are unique, and nothing is loaded or run.
#[track_caller]
fn well_formed(html: &str) {
    let mut rest = html.strip_prefix("<!DOCTYPE html>\n").expect("a document type");
    let mut open: Vec<Open<'_>> = Vec::new();
    let (mut ids, mut labels) = (TreeSet::new(), Vec::new());
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at]);
        let tag = &rest[at + 1..rest[at..].find('>').expect("the tag ends") + at];
        rest = &rest[at + tag.len() + 2..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().map(|it| it.name), Some(name), "closes what is open: {tag}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.bytes().all(|it| it.is_ascii_alphanumeric()), "{tag}");
        for (attribute, value) in attributes_of(attributes) {
            check_text(value);
            assert!(!attribute.starts_with("on") && attribute != "style", "{tag}");
            assert!(!["src", "srcset", "action", "data"].contains(&attribute), "{tag}");
            assert!(attribute != "href" || value.starts_with('#'), "{tag}");
            if attribute == "id" {
                assert!(ids.insert(value), "{value} is twice an identifier");
                assert!(!value.contains(char::is_whitespace), "{value}");
            }
            if attribute == "aria-labelledby" {
                labels.push(value);
            }
        }
        match name {
            "style" | "script" => {
                let end = rest.find("</").expect("is closed");
                rest = rest[end..].strip_prefix(&format!("</{name}>")).expect("is closed");
            }
            _ if VOID.contains(&name) => {}
            _ => open.push(Open { name }),
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty());
    assert!(labels.iter().all(|it| ids.contains(it)), "each label is in the page");
}

#[track_caller]
fn check_text(text: &str) {
    for after in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
        assert!(known.iter().any(|it| after.starts_with(it)), "{after}");
    }
    assert!(!text.contains(['>', '\'']), "{text}");
    let is_plain = |it: char| !it.is_control() || it == '\n' || it == '\t';
    assert!(text.chars().all(is_plain), "{text:?}");
}

/// The attributes of a tag with their values; empty for an attribute without a value.
#[track_caller]
fn attributes_of(text: &str) -> Vec<(&str, &str)> {
    let mut attributes = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(['=', ' ']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        assert!(name.bytes().all(|it| it.is_ascii_lowercase() || it == b'-'), "{text}");
        let value = after.strip_prefix("=\"").map(|it| it.split_once('"').expect("is quoted"));
        let (value, after) = value.unwrap_or(("", after));
        assert!(!after.starts_with('='), "is quoted: {text}");
        attributes.push((name, value));
        rest = after.trim_start();
    }
    attributes
}

/// The content of an element with this tag.
fn content<'h>(html: &'h str, tag: &str) -> &'h str {
    let (_, rest) = html.split_once(&format!("<{tag}>")).expect("has the element");
    rest.split_once(&format!("</{tag}>")).expect("is closed").0
}

/// Compares the content of the page's body with `expected`, without the script.
#[track_caller]
fn check(plan: &Plan, expected: Expect) {
    let html = page(plan);
    let (body, _) = content(&html, "body").split_once("<footer>").expect("a footer");
    expected.assert_eq(body.split_once("<header>\n").expect("a header").1);
}

fn updated(address: &str, before: &str, after: &str) -> ResourceChange {
    let object = |path: &str| secret(&[("path", Value::string(path))]);
    change(address, Action::Update, object(before), object(after))
}

#[test]
fn page_shows_changes_in_the_tree_of_modules() {
    let mut plan = plan_of(vec![
        updated("t_secret.a", "x", "y"),
        change("module.m[\"k\"].t_secret.b[0]", Action::Delete, secret(&[]), null()),
    ]);
    plan.ephemerals.clear();
    plan.output_changes.insert(
        "o".into(),
        OutputChange {
            action: Action::Create,
            before: null(),
            after: Value::int(1),
            sensitive: false,
        },
    );
    check(
        &plan,
        expect![[r#"
        <h1>Plan: 0 to add, 1 to change, 1 to destroy</h1>
        <ul class="counts">
        <li class="kind-change"><b>1</b> change</li>
        <li class="kind-destroy"><b>1</b> destroy</li>
        </ul>
        <dl class="facts">
        <div><dt>Workspace</dt><dd>default</dd></div>
        <div><dt>Planned</dt><dd>2026-01-02T03:04:05Z</dd></div>
        <div><dt>Made by</dt><dd>a test</dd></div>
        </dl>
        </header>
        <main>
        <section id="overview" aria-labelledby="overview-heading">
        <h2 id="overview-heading">Changes by module</h2>
        <div class="scroll" role="group" aria-labelledby="overview-heading" tabindex="0">
        <table>
        <thead><tr><th scope="col">Module</th><th scope="col" class="kind-change">change</th><th scope="col" class="kind-destroy">destroy</th></tr></thead>
        <tbody>
        <tr><th scope="row"><code>(root module)</code></th><td>1</td><td class="none">0</td></tr>
        <tr><th scope="row"><code>module.m</code></th><td class="none">0</td><td>1</td></tr>
        </tbody>
        </table>
        </div>
        </section>
        <section id="changes" aria-labelledby="changes-heading">
        <h2 id="changes-heading">Changes</h2>
        <form id="filters" role="search" aria-label="Filter the changes" hidden></form>
        <p id="count" role="status" class="dim"></p>
        <div id="tree">
        <details class="change" id="t_secret.a" data-kind="change" data-module="" open>
        <summary><span class="mark kind-change" aria-hidden="true">~</span> <code class="address">t_secret.a</code> <span class="words">will be updated in-place</span></summary>
        <div class="body">
        <pre>resource &quot;t_secret&quot; &quot;a&quot; {
        <span class="l mod">  <span class="yellow">~</span> path     = &quot;x&quot; <span class="yellow">-&gt;</span> &quot;y&quot;</span>
        <span class="l mod">  <span class="yellow">~</span> value_wo = (write-only attribute)</span>
        }
        </pre>
        </div>
        </details>
        <details class="module" open>
        <summary><code>module.m[&quot;k&quot;]</code> <span class="dim">1 change</span></summary>
        <div class="inside">
        <details class="change" id="module.m[&quot;k&quot;].t_secret.b[0]" data-kind="destroy" data-module="module.m" open>
        <summary><span class="mark kind-destroy" aria-hidden="true">-</span> <code class="address">t_secret.b[0]</code> <span class="words">will be <span class="b red">destroyed</span></span></summary>
        <div class="body">
        <p class="full"><code>module.m[&quot;k&quot;].t_secret.b[0]</code></p>
        <pre>resource &quot;t_secret&quot; &quot;b&quot; {
        <span class="l del">  <span class="red">-</span> value_wo = (write-only attribute)<span class="dim"> -&gt; null</span></span>
        }
        </pre>
        </div>
        </details>
        </div>
        </details>
        </div>
        </section>
        <section id="outputs" aria-labelledby="outputs-heading">
        <h2 id="outputs-heading">Outputs</h2>
        <pre><span class="l add">  <span class="green">+</span> o = 1</span>
        </pre>
        </section>
        </main>
    "#]],
    );
}

/// Texts that end an element, an attribute, a comment or a script, and characters that a reader does not see.
const HOSTILE: &str =
    "</pre></script><script>alert(1)</script><!--\" onload='x' &lt;\u{0}\u{1b}[1m\u{202e}]]>";

#[test]
fn hostile_texts_stay_texts_in_every_place() {
    let key = "module.m[\"</summary>\\\" x='\"].t_secret.a[\"<img src=x>\"]";
    let mut replaced = updated(key, "before", HOSTILE);
    replaced.change.importing = Some(Box::new(state::Importing::Id(HOSTILE.to_owned())));
    let mut plan =
        plan_of(vec![replaced, updated("t_secret.b", "{\"</script>\": 1}", "{\"<i>\": 2}")]);
    plan.resource_drift.push(Arc::new(updated("t_secret.b", "a\nb", HOSTILE)));
    plan.relevant_attributes.push(state::RelevantAttribute {
        resource: plan.resource_drift[0].addr.clone(),
        attribute: values::Path::root().attr("path"),
    });
    plan.backend.workspace = HOSTILE.to_owned();
    plan.made_by = HOSTILE.to_owned();
    let output = OutputChange {
        action: Action::Update,
        before: Value::string(HOSTILE),
        after: Value::tuple(vec![Value::string(HOSTILE)]),
        sensitive: false,
    };
    plan.output_changes.insert(HOSTILE.into(), output);
    plan.checks.push(CheckResult {
        kind: CheckKind::Check,
        config_addr: HOSTILE.to_owned(),
        status: CheckStatus::Fail,
        objects: vec![CheckObject {
            addr: HOSTILE.to_owned(),
            status: CheckStatus::Fail,
            failure_messages: vec![HOSTILE.to_owned()],
        }],
    });
    let mut diagnostic = Diagnostic::new(Summary::provider_error(HOSTILE), HOSTILE);
    diagnostic.address = Some(HOSTILE.into());
    let html = page_with(&plan, &[diagnostic]);
    let shown = html.matches("alert(1)").count();
    assert!(shown >= 10, "the texts are shown: {shown}");
    assert_eq!(html.matches("<script>").count(), 1);
    assert!(!html.contains("<img") && !html.contains("<i>"));
}

#[test]
fn page_has_no_secret_even_if_a_provider_repeats_one() {
    let hidden = |mark: Mark| Value::string("hunter2 & co").with_mark(mark);
    let repeated = Value::string("see hunter2 & co");
    let object = |mark: Mark| secret(&[("path", hidden(mark)), ("id", repeated.clone())]);
    let by_schema = secret(&[
        ("sensitive", Value::string("schema-secret")),
        ("any", Value::string("cGFzczpzY2hlbWEtc2VjcmV0")),
    ]);
    let mut plan = plan_of(vec![
        change("t_secret.a", Action::Create, null(), object(Mark::Sensitive)),
        change("t_secret.b", Action::Create, null(), object(Mark::Ephemeral)),
        change("t_secret.c", Action::Update, secret(&[]), by_schema),
    ]);
    for (name, sensitive) in [("plain", false), ("secret", true)] {
        let after = Value::string(if sensitive { "output-secret" } else { "not output-secret" });
        let output = OutputChange { action: Action::Create, before: null(), after, sensitive };
        plan.output_changes.insert(name.into(), output);
    }
    let leak = Diagnostic::new(Summary::UNDECLARED_VARIABLE, "It was \"output-secret\".");
    let html = page_with(&plan, &[leak]);
    for text in ["hunter2", "schema-secret", "output-secret", "cGFzczpzY2hlbWEtc2VjcmV0"] {
        assert!(!html.contains(text), "{text}");
    }
    assert!(html.contains("(sensitive value)") && html.contains("(redacted)"));
    let marked = Value::unknown(Type::String).with_mark(Mark::Sensitive);
    let after = secret(&[("path", marked)]);
    page(&plan_of(vec![change("t_secret.a", Action::Create, null(), after)]));
}

#[test]
fn policy_permits_only_the_own_style_and_script() {
    let html = page(&plan_of(vec![updated("t_secret.a", "x", "y")]));
    let digest = |tag: &str| BASE64_STANDARD.encode(Sha256::digest(content(&html, tag)));
    let policy = format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src \
         &#39;sha256-{}&#39;; script-src &#39;sha256-{}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;\">",
        digest("style"),
        digest("script")
    );
    assert!(html.contains(&policy));
    assert_eq!(html.matches("<style>").count() + html.matches("<script>").count(), 2);
    for absent in
        ["http://", "https://", "url(", "@import", "fetch(", "XMLHttpRequest", "innerHTML"]
    {
        assert!(!html.contains(absent), "{absent}");
    }
}

#[test]
fn large_plan_begins_with_closed_changes() {
    let changes = |count: usize| {
        let change =
            |index| updated(&format!("module.m{}.t_secret.a[{index}]", index % 7), "x", "y");
        page(&plan_of((0..count).map(change).collect()))
    };
    let (small, large) = (changes(20), changes(2_000));
    let open = |html: &str| {
        html.matches("data-kind=\"change\"").count() - html.matches("\">\n<summary><span").count()
    };
    assert_eq!((open(&small), open(&large)), (20, 0));
    assert!(large.contains("<details class=\"module\" open>"));
    // The style, the script and about a kilobyte for each change.
    assert!(large.len() < 2_000 * 1_100 + 40_000, "{}", large.len());
}

#[test]
fn page_of_an_empty_plan_says_that_nothing_changes() {
    let mut plan = plan_of(Vec::new());
    plan.is_applyable = false;
    let html = page(&plan);
    assert!(html.contains("<title>Plan: no changes</title>"));
    assert!(html.contains("No object changes."));
    assert!(!html.contains("id=\"filters\""));
    plan.has_errors = true;
    assert!(page(&plan).contains("<h1>Plan: failed with errors</h1>"));
}
