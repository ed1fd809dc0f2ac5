//! `graph`, compared with the real `tofu` where it is available.

use crate::{bench::Bench, tofu::programs};

const MAIN: &str = r#"
variable "n" {
  default = 2
}
locals {
  a = var.n + 1
  b = "x"
}
resource "terraform_data" "p" {
  count = var.n
  input = local.a
}
resource "terraform_data" "r" {
  input = [terraform_data.p[0].id, module.m.id]
  provisioner "local-exec" {
    command = "true"
  }
}
module "m" {
  source = "./m"
  in     = local.b
}
module "each" {
  source     = "./m"
  for_each   = toset(["a", "b"])
  in         = each.key
  depends_on = [terraform_data.p]
}
output "o" {
  value = module.m
}
check "c" {
  assert {
    condition     = var.n > 0
    error_message = "no"
  }
}
"#;

const MODULE: &str = r#"
variable "in" {}
locals {
  x = var.in
}
resource "terraform_data" "i" {
  input = local.x
  lifecycle {
    create_before_destroy = true
  }
}
output "id" {
  value = terraform_data.i.id
}
"#;

fn bench() -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("m/main.tf", MODULE);
    bench
}

#[test]
fn graphs_of_plans_have_the_nodes_and_edges_of_opentofu() {
    let mut printed = Vec::new();
    for program in programs() {
        let bench = bench();
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments).succeeds().out;
        run(&["init"]);
        let before = [run(&["graph"]), run(&["graph", "-verbose", "-module-depth=1"])];
        run(&["apply", "-auto-approve"]);
        let after = ["plan", "plan-refresh-only", "plan-destroy"]
            .map(|kind| run(&["graph", "-draw-cycles", &format!("-type={kind}")]));
        printed.push([before.as_slice(), after.as_slice()].concat());
        program.run(&bench, ".", ["graph", "-type=x"]).fails();
    }
    for others in &printed[1..] {
        assert_eq!(printed[0], *others);
    }
    let edges = [
        r#""[root] module.each (expand)" -> "[root] terraform_data.p (expand)""#,
        r#""[root] module.m.var.in (expand, input)" -> "[root] local.b (expand)""#,
        r#""[root] output.o (expand)" -> "[root] module.m (close)""#,
    ];
    for edge in edges {
        assert!(printed[0][0].contains(edge), "{}", printed[0][0]);
    }
    let destroyed =
        r#""[root] module.m.terraform_data.i (destroy)" -> "[root] terraform_data.r (destroy)""#;
    assert!(printed[0][4].contains(destroyed), "{}", printed[0][4]);
}

#[test]
fn graph_of_a_saved_plan_has_its_objects() {
    for program in programs() {
        let bench = bench();
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments).succeeds().out;
        run(&["init"]);
        run(&["plan", "-out=p"]);
        let created = run(&["graph", "-plan=p"]);
        let has = |text: &str, edge: [&str; 2]| {
            let line = format!("\"[root] {}\" -> \"[root] {}\"\n", edge[0], edge[1]);
            assert!(text.contains(&line), "{}: {edge:?}\n{text}", program.name());
        };
        has(&created, ["terraform_data.p[1]", "terraform_data.p (expand)"]);
        has(&created, ["module.m.output.id (expand)", "module.m.terraform_data.i"]);
        has(&created, ["terraform_data.r (expand)", "terraform_data.p[0]"]);
        run(&["apply", "p"]);
        run(&["plan", "-out=p", "-replace=terraform_data.r", "-var=n=1"]);
        let changed = run(&["graph", "-plan=p"]);
        has(&changed, ["terraform_data.p[0]", "terraform_data.r (destroy)"]);
        has(&changed, ["terraform_data.p[1] (destroy)", "terraform_data.r"]);
        run(&["plan", "-destroy", "-out=p"]);
        has(
            &run(&["graph", "-plan=p"]),
            ["terraform_data.p[0] (destroy)", r#"module.each[\"a\"].terraform_data.i (destroy)"#],
        );
    }
}

#[test]
fn draw_cycles_shows_the_graph_of_a_configuration_with_a_cycle() {
    let bench = Bench::with_main("locals {\n  a = local.b\n  b = local.a\n  c = local.a\n}\n");
    bench.mayfly(".", ["graph"]).fails().shows(&["Error: Cycle: local.a, local.b"]);
    let drawn = bench.mayfly(".", ["graph", "-draw-cycles"]).succeeds().out;
    let red = drawn.lines().filter(|it| it.ends_with("[color = \"red\", penwidth = \"2.0\"]"));
    assert_eq!(red.count(), 2, "{drawn}");
    assert!(drawn.contains("\"[root] local.c (expand)\" -> \"[root] local.a (expand)\"\n"));
}
