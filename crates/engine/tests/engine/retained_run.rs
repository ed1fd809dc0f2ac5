//! Tests that a planner gives the same plan as a fresh plan of the same text, whatever the edits are.

use fastrand::Rng;
use state::Plan;

use crate::world::{World, summaries, world};

/// A configuration with placeholders: `<0>` and so on.
const TEXT: &str = r#"
variable "s" { ephemeral = true }
variable "v" { default = "<0>" }
locals {
  one    = "<1>"
  two    = upper(local.one)
  secret = sensitive("<2>")
  many   = { a = "<3>", b = "<4>", (local.one) = "c" }
  n      = length("<5>")
  unused = "<6>"
  token  = ephemeral.test_secret.s.value
}
provider "test" { token = "<7>" }
provider "test" { alias = "other" }
ephemeral "test_secret" "s" { name = "<8>" }
data "test_lookup" "d" { name = local.two }
resource "test_thing" "a" {
  name      = "a-${local.one}"
  zone      = local.secret
  secret_wo = local.token
}
resource "test_thing" "b" {
  for_each = local.many
  name     = each.value
  zone     = test_thing.a.name
}
resource "test_thing" "c" {
  count = local.n
  name  = "c${count.index}-${var.v}"
  zone  = data.test_lookup.d.result
}
resource "test_thing" "alone" {
  name = "<9>"
  <15>
}
resource "test_thing" "wired" {
  count = length(<17>)
  name  = <16>
}
module "m" {
  for_each = { x = local.n, y = 2 }
  source   = "./m"
  zone     = local.two
  size     = each.value
  secret   = local.token
}
resource "test_thing" "after" {
  name       = "after-<10>"
  depends_on = [module.m]
}
output "a" { value = test_thing.a.name }
output "b" { value = { for k, it in test_thing.b : k => it.zone } }
output "m" { value = [for it in module.m : it.name] }
output "plain" { value = "<11>" }
output "wired" { value = [<18>, test_thing.wired[*].name] }
<12>
"#;

const MODULE: &str = r#"
variable "zone" {}
variable "size" {}
variable "secret" { ephemeral = true }
locals {
  inner = "<13>-${var.zone}"
  part  = [<19>]
}
resource "test_thing" "in" {
  name      = local.inner
  secret_wo = var.secret
}
resource "test_thing" "other" { name = "<14>" }
output "name" { value = "${test_thing.in.name}-${test_thing.other.name}-${var.size}-${local.part[0]}" }
"#;

const PLACES: usize = 20;

const WORDS: [&str; 4] = ["x", "yy", "zzz", "q"];

/// Blocks that appear and disappear. Some contain errors.
const BLOCKS: [&str; 5] = [
    "",
    "output \"more\" { value = local.two }",
    "resource \"test_thing\" \"more\" { name = local.one }",
    "check \"c\" {\n  assert {\n    condition = local.n < 3\n    error_message = \"no\"\n  }\n}",
    "output \"wrong\" { value = local.n > 2 ? 1 / 0 : 1 }",
];

/// The `provider` argument of a resource.
const PROVIDERS: [&str; 2] = ["", "provider = test.other"];

/// Expressions for the root module.
const REFERENCES: [&str; 7] = [
    "\"no\"",
    "local.one",
    "local.two",
    "var.v",
    "test_thing.a.name",
    "data.test_lookup.d.id",
    "module.m[\"y\"].name",
];

/// Expressions for the called module.
const REFERENCES_WITHIN: [&str; 3] = ["\"no\"", "var.zone", "test_thing.other.name"];

/// Returns the words for a placeholder.
fn words(place: usize) -> &'static [&'static str] {
    match place {
        12 => &BLOCKS,
        15 => &PROVIDERS,
        16 | 18 => &REFERENCES,
        // The number of instances must be known.
        17 => &REFERENCES[..4],
        19 => &REFERENCES_WITHIN,
        _ => &WORDS,
    }
}

fn filled(text: &str, words: &[&str; PLACES]) -> String {
    let mut text = text.to_owned();
    for (index, word) in words.iter().enumerate() {
        text = text.replace(&format!("<{index}>"), word);
    }
    text
}

fn begin(words: &[&str; PLACES]) -> World {
    let (root, module) = (filled(TEXT, words), filled(MODULE, words));
    let mut world = world(&format!("//- /main.tf\n{root}\n//- /m/main.tf\n{module}"));
    world.set("s", "a-secret");
    world
}

/// Removes the parts in which equal plans may differ.
fn told(mut plan: Plan) -> Plan {
    plan.id = String::new();
    // An incremental plan opens only the ephemeral resources that it needs.
    plan.ephemerals.clear();
    plan
}

#[track_caller]
fn assert_same(one: &Plan, other: &Plan, context: &str) {
    for (one, other) in one.resource_changes.iter().zip(&other.resource_changes) {
        assert_eq!(one, other, "{context}");
    }
    assert_eq!(one.output_changes, other.output_changes, "{context}");
    assert_eq!(one, other, "{context}");
}

/// Replaces random placeholders and compares the plans after each edit. Returns the number of turns of the planner
/// and that of fresh plans.
fn check(seed: u64, edits: usize) -> (usize, usize) {
    let mut random = Rng::with_seed(seed);
    let mut filling: [&str; PLACES] = std::array::from_fn(|place| words(place)[0]);
    let mut applied = begin(&filling);
    if random.usize(..3) > 0 {
        assert_eq!(summaries(&applied.apply()), "");
    }
    let mut watching = begin(&filling).watch();
    watching.state = applied.state.clone();
    let (mut turns, mut all) = (0, 0);
    for edit in 0..edits {
        let place = random.usize(..PLACES);
        let choice = words(place);
        filling[place] = choice[random.usize(..choice.len())];
        watching.edit("main.tf", &filled(TEXT, &filling));
        watching.edit("m/main.tf", &filled(MODULE, &filling));
        if random.usize(..20) == 0 {
            watching.set("s", WORDS[random.usize(..WORDS.len())]);
        }
        let mut fresh = begin(&filling).watch();
        fresh.state = applied.state.clone();
        fresh.variables = watching.variables.clone();
        let (one, other) = (watching.plan(), fresh.plan());
        let context = format!("seed {seed}, edit {edit} of place {place}: {filling:?}");
        assert_eq!(summaries(&one.diagnostics), summaries(&other.diagnostics), "{context}");
        assert_eq!(one.refreshed, other.refreshed, "{context}");
        if one.has_errors() {
            continue;
        }
        assert_same(&told(one.plan), &told(other.plan), &context);
        turns += watching.planner.as_ref().map_or(0, engine::Planner::turns);
        all += fresh.planner.as_ref().map_or(0, engine::Planner::turns);
        fresh.close();
    }
    watching.close();
    (turns, all)
}

/// The number of edit sequences. `MAYFLY_SEQUENCES` sets it for long runs.
#[expect(clippy::disallowed_methods, reason = "who runs the test says how long")]
fn sequences() -> u64 {
    std::env::var("MAYFLY_SEQUENCES").ok().and_then(|it| it.parse().ok()).unwrap_or(12)
}

#[test]
fn partial_rerun_equals_a_full_run() {
    let (mut turns, mut all) = (0, 0);
    for seed in 0..sequences() {
        let of_seed = check(seed, 12);
        turns += of_seed.0;
        all += of_seed.1;
    }
    assert!(turns * 3 < all * 2, "{turns} turns of {all}: much stood");
}

/// Returns the turns of a second plan of the same text, and those of the first.
fn again(text: &str) -> (usize, usize) {
    let mut world = world(text).watch();
    world.set("s", "a-secret");
    let mut turns = [0; 2];
    for turns in &mut turns {
        assert_eq!(summaries(&world.plan().diagnostics), "");
        *turns = world.planner.as_ref().map_or(0, engine::Planner::turns);
    }
    (turns[1], turns[0])
}

#[test]
fn unaffected_nodes_are_not_visited() {
    let text = |value: &str| {
        format!(
            "variable \"s\" {{ ephemeral = true }}\nresource \"test_thing\" \"a\" {{\n  for_each = \
             {{ k = {value} }}\n  name = each.key\n  secret_wo = each.value\n}}\n"
        )
    };
    let (second, first) = again(&text("\"plain\""));
    assert!(second <= 1 && first > 3, "{second} of {first}");
    // A planner does not keep ephemeral values of instances from one plan to the next.
    let (second, first) = again(&text("var.s"));
    assert!(second >= first, "{second} of {first}");
}
