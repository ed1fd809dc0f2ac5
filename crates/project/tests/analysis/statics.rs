//! Tests of module sources that are not literals: their values and their diagnostics.

use std::{path::PathBuf, sync::Arc};

use db::MemorySystem;
use hir::{
    item::ConstValue,
    workspace::{CallKey, InstalledModule, StaticInputs},
};
use project::{Configure as _, EditableProject, Manifest, Project};
use sorted::TreeMap;
use values::Value;

/// Loads a configuration with values for the variables of its root module.
fn load(fixture: &str, values: &[(&str, Value)]) -> EditableProject {
    load_with(fixture, values, Manifest::new())
}

fn load_with(fixture: &str, values: &[(&str, Value)], manifest: Manifest) -> EditableProject {
    let system = MemorySystem::new();
    for (path, text) in db::fixture::split_fixture(fixture) {
        system.write(path, text.as_str());
    }
    let mut project = EditableProject::load(Arc::new(system), PathBuf::from("/"), manifest)
        .expect("has a root module");
    let variables = values.iter().map(|(name, it)| ((*name).into(), ConstValue(it.clone())));
    project.set_static_inputs(StaticInputs {
        variables: variables.collect(),
        workspace: "default".into(),
        current_directory: "/work".into(),
        base_directory: "/work".into(),
        ..StaticInputs::default()
    });
    project
}

/// Returns the paths of the module calls, each with its source and directory.
fn calls(project: &Project) -> String {
    let program = project.program();
    let paths = program.module_paths().skip(1);
    paths.map(|it| format!("{} {} in {}\n", it.key, it.source, it.module.dir)).collect()
}

/// Returns the errors, each with its location and its related locations.
fn errors(project: &Project) -> String {
    let program = project.program();
    let mut lines = String::new();
    for found in project.diagnostics().iter().filter(|it| it.is_error()) {
        let text_at = |location: &db::Location| {
            let text = program.sources.text(&location.path).unwrap_or_default();
            text[location.range.start as usize..location.range.end as usize].to_owned()
        };
        let at = found.location.as_ref().map(text_at).unwrap_or_default();
        lines.push_str(&format!("[{}] {}: {}\n", found.id(), found.summary, at));
        for related in &found.related {
            lines.push_str(&format!("  {}: {}\n", related.message, text_at(&related.location)));
        }
    }
    lines
}

const FLAVOURS: &str = r#"
//- /main.tf
variable "flavour" {
  type    = string
  default = "small"
}
locals {
  directory = "./${var.flavour}"
}
module "m" {
  source = local.directory
}
output "size" {
  value = module.m.size
}
//- /small/main.tf
output "size" {
  value = 1
}
//- /large/main.tf
output "size" {
  value = 100
}
"#;

#[test]
fn module_source_is_evaluated_from_variables_and_locals() {
    let project = load(FLAVOURS, &[]);
    assert_eq!((calls(&project).as_str(), errors(&project).as_str()), ("m ./small in small\n", ""));
    let project = load(FLAVOURS, &[("flavour", "large".into())]);
    assert_eq!((calls(&project).as_str(), errors(&project).as_str()), ("m ./large in large\n", ""));
    let project = load(FLAVOURS, &[("flavour", "none".into())]);
    assert_eq!(calls(&project), "");
    assert_eq!(
        errors(&project),
        "[module-not-installed] Unreadable module directory: local.directory\n"
    );
}

#[test]
fn module_source_depends_on_the_arguments_of_its_call() {
    let project = load(
        r#"
//- /main.tf
module "one" {
  source  = "./inner"
  flavour = "small"
}
module "again" {
  source  = "./inner"
  flavour = "small"
}
module "two" {
  source  = "./inner"
  flavour = "large"
}
//- /inner/main.tf
variable "flavour" {}
module "m" {
  source = "../${var.flavour}"
}
output "size" {
  value = module.m.size
}
//- /small/main.tf
output "size" {
  value = 1
}
//- /large/main.tf
output "size" {
  value = "much"
}
"#,
        &[],
    );
    assert_eq!(errors(&project), "");
    assert_eq!(
        calls(&project),
        "again ./inner in inner\n\
         again.m ../small in small\n\
         one ./inner in inner\n\
         one.m ../small in small\n\
         two ./inner in inner\n\
         two.m ../large in large\n"
    );
    // The module `inner` occurs twice, because its calls lead to different modules.
    let program = project.program();
    let directories: Vec<&str> = program.modules.iter().map(|it| &*it.dir).collect();
    assert_eq!(directories, [".", "inner", "inner", "small", "large"]);
    let numbered = program.modules.iter().enumerate();
    assert!(numbered.into_iter().all(|(index, it)| it.id.0 as usize == index));
}

#[test]
fn unset_variable_of_a_source_is_reported_with_the_path() {
    let project = load(
        r#"
//- /main.tf
variable "flavour" {}
locals {
  directory = "./${var.flavour}"
}
module "outer" {
  source = "./outer"
  where  = local.directory
}
//- /outer/main.tf
variable "where" {}
module "m" {
  source = var.where
}
output "o" {
  value = module.m.anything
}
"#,
        &[],
    );
    assert_eq!(
        errors(&project),
        "[unset-static-variable] Unable to compute static value: var.where\n  \
           module.outer:var.where depends on local.directory, which is not available: local.directory\n  \
           local.directory depends on var.flavour, which is not available: var.flavour\n  \
           var.flavour is declared without a default: variable \"flavour\"\n"
    );
}

/// Checks the errors of a module call with this `source` in a configuration with these declarations.
#[track_caller]
fn check(source: &str, expected: &str) {
    let text = format!(
        r#"
//- /main.tf
variable "secret" {{
  sensitive = true
  default   = "./m"
}}
variable "passing" {{
  ephemeral = true
  default   = "./m"
}}
variable "nothing" {{
  default = null
}}
variable "list" {{
  default = ["./m"]
}}
locals {{
  from_secret = "${{var.secret}}/x"
  dynamic     = terraform_data.d.id
}}
resource "terraform_data" "d" {{}}
module "other" {{
  source = "./m"
}}
module "m" {{
  source = {source}
}}
//- /m/main.tf
output "path" {{
  value = "./m"
}}
"#
    );
    let project = load(&text, &[]);
    assert_eq!(errors(&project), expected, "{source}");
}

#[test]
fn dynamic_values_in_a_source_are_errors() {
    check(
        "terraform_data.d.id",
        "[dynamic-value] Dynamic value in static context: terraform_data.d\n",
    );
    check(
        "local.dynamic",
        "[dynamic-value] Dynamic value in static context: local.dynamic\n  \
           terraform_data.d has no value before the configuration is planned: terraform_data.d\n",
    );
    check(
        "module.other.path",
        "[dynamic-value] Module output not supported in static context: module.other\n",
    );
    check("\"${path.temp}/m\"", "[dynamic-value] Dynamic value in static context: path.temp\n");
    check(
        "var.secret",
        "[sensitive-static-value] Sensitive value not allowed: var.secret\n  \
           var.secret is sensitive: variable \"secret\"\n",
    );
    check(
        "local.from_secret",
        "[sensitive-static-value] Sensitive value not allowed: local.from_secret\n  \
           local.from_secret is sensitive: from_secret\n  \
           var.secret is sensitive: variable \"secret\"\n",
    );
    check("var.nothing", "[invalid-static-value] Unsuitable value type: var.nothing\n");
    check("var.list", "[invalid-static-value] Unsuitable value type: var.list\n");
    check(
        "\"./${timestamp()}\"",
        "[invalid-static-value] Unsuitable value type: \"./${timestamp()}\"\n",
    );
    // The diagnostic reports the cause, and only once.
    check(
        "var.missing",
        "[undeclared-reference] Reference to undeclared input variable: var.missing\n",
    );
    check("var.list[0]", "");
    check("true ? \"./m\" : \"./n\"", "");
}

#[test]
fn ephemeral_source_is_reported_once() {
    let project = load(
        r#"
//- /main.tf
variable "passing" {
  ephemeral = true
  default   = "./m"
}
module "m" {
  source = var.passing
}
"#,
        &[],
    );
    let found = errors(&project);
    assert!(found.starts_with("[ephemeral-static-value] Ephemeral value not allowed: "), "{found}");
    assert_eq!(found.matches("[").count(), 1, "{found}");
}

#[test]
fn module_source_can_read_files() {
    let project = load(
        r#"
//- /main.tf
locals {
  versions = yamldecode(file("${path.module}/versions.yaml"))
}
module "m" {
  source = "./m/${local.versions.m}"
}
//- /versions.yaml
m: v2
//- /m/v2/main.tf
locals {}
"#,
        &[],
    );
    assert_eq!((calls(&project).as_str(), errors(&project).as_str()), ("m ./m/v2 in m/v2\n", ""));
}

#[test]
fn module_call_cycle_is_refused() {
    let project = load(
        r#"
//- /main.tf
module "m" {
  source = "./m"
  depth  = 3
}
//- /m/main.tf
variable "depth" {}
module "next" {
  source = var.depth > 0 ? "../m" : "../leaf"
  depth  = var.depth - 1
}
//- /leaf/main.tf
variable "depth" {}
"#,
        &[],
    );
    assert!(errors(&project).starts_with("[module-cycle] "), "{}", errors(&project));
}

fn installed(source: &str, version: Option<&str>, dir: &str) -> InstalledModule {
    InstalledModule { source: source.into(), version: version.map(Into::into), dir: dir.into() }
}

#[test]
fn package_installed_for_another_source_value_is_not_used() {
    let fixture = r#"
//- /main.tf
variable "v" {}
module "m" {
  source = "git::https://example.com/m.git?ref=${var.v}"
}
//- /.terraform/modules/m/main.tf
locals {}
"#;
    let place = || CallKey { caller: ".".into(), name: "m".into() };
    let one = installed("git::https://example.com/m.git?ref=v1", None, ".terraform/modules/m");
    let manifest = || TreeMap::from([(place(), vec![one.clone()])]);
    let project = load_with(fixture, &[("v", "v1".into())], manifest());
    assert_eq!(errors(&project), "");
    let project = load_with(fixture, &[("v", "v2".into())], manifest());
    assert_eq!(
        errors(&project),
        "[module-not-installed] Module source has changed: \"git::https://example.com/m.git?ref=${var.v}\"\n"
    );
}

#[test]
fn module_version_constraint_is_checked_against_the_manifest() {
    let fixture = r#"
//- /main.tf
variable "most" {
  default = "< 3.0"
}
locals {
  constraint = ">= 1.0, ${var.most}"
}
module "m" {
  source  = "example/m/cloud"
  version = local.constraint
}
//- /.terraform/modules/m/main.tf
locals {}
"#;
    let one = installed("example/m/cloud", Some("2.1.0"), ".terraform/modules/m");
    let manifest = || {
        let key = CallKey { caller: ".".into(), name: "m".into() };
        TreeMap::from([(key, vec![one.clone()])])
    };
    let project = load_with(fixture, &[], manifest());
    assert_eq!(errors(&project), "");
    let project = load_with(fixture, &[("most", "< 2.0".into())], manifest());
    assert_eq!(
        errors(&project),
        "[module-not-installed] Module version requirements have changed: local.constraint\n"
    );
    let project = load_with(fixture, &[("most", "newest".into())], manifest());
    assert_eq!(
        errors(&project),
        "[invalid-version-constraint] Invalid version constraint: local.constraint\n"
    );
}

#[test]
fn edit_of_a_source_value_switches_the_module() {
    let mut project = load(FLAVOURS, &[]);
    project.recheck();
    let text = project.tree().text("main.tf").expect("is there").replace("\"small\"", "\"large\"");
    project.set_text("main.tf", &text);
    let (found, program) = project.recheck();
    assert!(found.iter().all(|it| !it.is_error()), "{found:?}");
    assert_eq!(program.modules.iter().map(|it| &*it.dir).collect::<Vec<_>>(), [".", "large"]);
    // Both modules are loaded already, so this edit loads none.
    let text = text.replace("\"large\"", "\"small\"");
    project.set_text("main.tf", &text);
    let (_, program) = project.recheck();
    assert_eq!(program.modules.iter().map(|it| &*it.dir).collect::<Vec<_>>(), [".", "small"]);
    let text = text.replace("\"small\"", "\"none\"");
    project.set_text("main.tf", &text);
    assert_eq!(
        errors(&project),
        "[module-not-installed] Unreadable module directory: local.directory\n"
    );
}
