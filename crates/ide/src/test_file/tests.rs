//! Tests of all features in test files.

use expect_test::{Expect, expect};

use crate::{Completions, completions, definition, fixture, hover, references};

const MODULE: &str = r#"
//- /main.tf
terraform {
  required_providers {
    test = { source = "test" }
  }
}
variable "region" {
  type        = string
  description = "Where it is."
}
variable "size" {
  type    = number
  default = 1
}
module "net" {
  source = "./net"
}
resource "test_thing" "web" {
  name = var.region
}
data "test_data" "image" {
}
check "health" {
}
output "name" {
  description = "The name of the server."
  value       = { first = test_thing.web.name }
}
//- /net/main.tf
resource "test_thing" "subnet" {
  name = "a"
}
output "cidr" {
  value = "10.0.0.0/8"
}
//- /tests/setup/main.tf
variable "prefix" {
  type = string
}
output "bucket" {
  description = "The bucket for the test."
  value       = "${var.prefix}-bucket"
}
"#;

fn load(test: &str) -> fixture::Fixture {
    fixture::load(&format!("{MODULE}//- /tests/web.tftest.hcl\n{test}"))
}

/// Shows the hover texts at the cursors.
#[track_caller]
fn check_hover(test: &str, expected: Expect) {
    let fixture = load(test);
    let texts = fixture.offsets.iter().map(|offset| {
        hover(fixture.document(), *offset).map_or_else(|| "nothing".to_owned(), |it| it.markdown)
    });
    expected.assert_eq(&texts.map(|it| format!("{it}\n====\n")).collect::<String>());
}

/// Shows the labels of the proposals at the cursor, without functions and keywords of values.
#[track_caller]
fn check_completions(test: &str, expected: Expect) {
    let fixture = load(test);
    let Completions { items, .. } = completions(fixture.document(), fixture.offset());
    let is_of_file = |it: &&crate::Completion| {
        it.kind != crate::CompletionKind::Function
            && !matches!(&*it.label, "true" | "false" | "null" | "for")
    };
    let labels = items.iter().filter(is_of_file).map(|it| {
        let detail = it.detail.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        format!("{}{detail}\n", it.label)
    });
    expected.assert_eq(&labels.collect::<String>());
}

#[test]
fn source_of_a_run_has_proposals_and_a_link() {
    let text = "run \"a\" {\n  module {\n    source = \"./tests/$0setup\"\n  }\n}\n";
    let fixture = load(text);
    let directories = ["./tests/setup", "./net"];
    let found = crate::source_completions(fixture.document(), fixture.offset(), directories);
    let labels: Vec<String> = found.into_iter().flatten().map(|it| it.label).collect();
    assert_eq!(labels, ["./tests/setup", "./net"]);
    let links = crate::document_links(fixture.document());
    assert!(matches!(links[0].target, crate::LinkTarget::File(_)), "{links:?}");
}

/// Shows the declarations of the names at the cursors.
#[track_caller]
fn check_definitions(test: &str, expected: Expect) {
    let fixture = load(test);
    let mut shown = String::new();
    for offset in &fixture.offsets {
        let found = definition(fixture.document(), *offset);
        let declarations = found.iter().flat_map(|it| &it.declarations);
        let places: Vec<String> = declarations.map(|it| fixture.show(it.name)).collect();
        shown.push_str(&format!("{}\n", places.join(", ")));
    }
    expected.assert_eq(&shown);
}

#[test]
fn hover_explains_blocks_and_arguments_of_test_files() {
    check_hover(
        r#"
$0run "setup" {
  comm$0and = apply
  mo$0dule {
    sour$0ce = "./tests/setup"
  }
  plan_options {
    mo$0de = normal
  }
  variables {
    pref$0ix = "x"
  }
}
mock_provider "te$0st" {
  mock_resource "test_th$0ing" {
    defa$0ults = { i$0d = "a" }
  }
}
"#,
        expect![[r#"
            ```hcl
            run "name" {}
            ```

            A step of the test: a plan or an apply of the module under test, and what must be true afterwards.
            ====
            ```hcl
            command: apply | plan
            ```

            What the run does. `apply` where absent.

            Optional.
            ====
            ```hcl
            module {}
            ```

            Another module that the run executes instead of the one under test.
            ====
            ```hcl
            source: string
            ```

            The module that the run executes: a path that begins with `./` or `../`, or an address of a registry.

            Required.
            ====
            ```hcl
            mode: normal | refresh-only
            ```

            What the run plans; `refresh-only` plans only what has changed outside.

            Optional.
            ====
            ```hcl
            var.prefix: string
            ```

            Required.

            Declared in `tests/setup/main.tf:1`
            ====
            ```hcl
            provider hashicorp/test
            ```
            ====
            ```hcl
            resource "test_thing"
            ```

            A thing of the test provider.

            Provider `hashicorp/test`
            ====
            ```hcl
            defaults: any
            ```

            The values of computed attributes in the objects that are made up.

            Optional.
            ====
            ```hcl
            id: string
            ```

            **computed**

            The name by which the provider knows it.

            Provider `hashicorp/test`
            ====
        "#]],
    );
}

#[test]
fn hover_explains_names_of_runs_and_of_the_module() {
    check_hover(
        r#"
provider "test" {
  alias = "ea$0st"
}
run "setup" {
  module {
    source = "./tests/$0setup"
  }
  assert {
    condition = output.buck$0et == var.pre$0fix
  }
}
run "web" {
  command   = plan
  providers = { test = test.ea$0st }
  variables {
    reg$0ion = run.se$0tup.buck$0et
  }
  assert {
    condition     = test_thing.we$0b.na$0me == var.reg$0ion
    error_message = "${output.na$0me} ${local.nothing$0}"
  }
  override_module {
    target  = module.n$0et
    outputs = { ci$0dr = "x" }
  }
}
"#,
        expect![[r#"
            ```hcl
            provider hashicorp/test
            ```

            Declared in `tests/web.tftest.hcl:3`
            ====
            ```hcl
            module tests/setup
            ```

            Variables: `prefix` (required)

            Outputs: `bucket`
            ====
            ```hcl
            output.bucket: string
            ```

            The bucket for the test.

            Declared in `tests/setup/main.tf:4`
            ====
            ```hcl
            var.prefix: string
            ```

            Required.

            Declared in `tests/setup/main.tf:1`
            ====
            ```hcl
            provider hashicorp/test
            ```

            Declared in `tests/web.tftest.hcl:3`
            ====
            ```hcl
            var.region: string
            ```

            Where it is.

            Required.

            Declared in `main.tf:6`
            ====
            ```hcl
            run.setup
            ```

            A run of `apply` with the module `./tests/setup`.

            Declared in `tests/web.tftest.hcl:5`
            ====
            ```hcl
            run.setup.bucket: string
            ```

            The bucket for the test.
            ====
            ```hcl
            resource "test_thing" "web"
            ```

            A thing of the test provider.

            Provider `hashicorp/test`

            Declared in `main.tf:17`
            ====
            ```hcl
            test_thing.web.name: string
            ```

            **required**

            A name for people.

            Provider `hashicorp/test`
            ====
            ```hcl
            var.region: string
            ```

            Where it is.

            Required.

            Declared in `main.tf:6`
            ====
            ```hcl
            output.name: object({ first = string })
            ```

            The name of the server.

            Declared in `main.tf:24`
            ====
            nothing
            ====
            ```hcl
            module.net: object({ cidr = string })
            ```

            Source: `./net`

            Declared in `main.tf:14`
            ====
            ```hcl
            output.cidr: string
            ```

            Value: `"10.0.0.0/8"`

            Declared in `net/main.tf:4`
            ====
        "#]],
    );
}

#[test]
fn completion_proposes_blocks_and_arguments() {
    check_completions(
        "$0",
        expect![[r#"
        run
        variables
        provider
        mock_provider
        override_resource
        override_data
        override_module
    "#]],
    );
    check_completions(
        "run \"a\" {\n  command = plan\n  $0\n}\n",
        expect![[r#"
        expect_failures (list of addresses)
        providers (map of provider references)
        assert (block)
        module (block)
        override_data (block)
        override_module (block)
        override_resource (block)
        plan_options (block)
        variables (block)
    "#]],
    );
    check_completions(
        "run \"a\" {\n  command = $0\n}\n",
        expect![[r#"
        apply
        plan
    "#]],
    );
    check_completions(
        "variables {\n  size = 1\n  $0\n}\n",
        expect![[r#"
        region (required, string)
    "#]],
    );
    check_completions(
        "run \"a\" {\n  variables {\n    $0\n  }\n}\n",
        expect![[r#"
        region (required, string)
        size (number)
    "#]],
    );
    check_completions(
        "mock_provider \"test\" {\n  $0\n}\n",
        expect![[r#"
        alias (string)
        for_each (map(any) | set(string))
        mock_data (block)
        mock_resource (block)
        override_data (block)
        override_resource (block)
    "#]],
    );
    check_completions(
        "mock_provider \"test\" {\n  mock_resource \"$0\" {\n  }\n}\n",
        expect![[r#"
            test_other (hashicorp/test)
            test_thing (hashicorp/test)
        "#]],
    );
    check_completions(
        "mock_provider \"test\" {\n  mock_data \"test_data\" {\n    defaults = {\n      $0\n    }\n  }\n}\n",
        expect![[r#"
            name (required, string)
            items (computed, list(object({ key = string, size = number })))
            result (computed, string)
        "#]],
    );
}

#[test]
fn completion_proposes_addresses_of_the_module_under_test() {
    let target = |block: &str, value: &str| format!("{block} {{\n  target = {value}\n}}\n");
    check_completions(
        &target("override_resource", "$0"),
        expect![[r#"
        module.net.test_thing.subnet
        test_thing.web
    "#]],
    );
    check_completions(
        &target("override_resource", "module.net.$0"),
        expect![[r#"
        test_thing.subnet
    "#]],
    );
    check_completions(
        &target("override_data", "$0"),
        expect![[r#"
        data.test_data.image
    "#]],
    );
    check_completions(
        &target("override_module", "$0"),
        expect![[r#"
        module.net
    "#]],
    );
    check_completions(
        "run \"a\" {\n  expect_failures = [$0]\n}\n",
        expect![[r#"
        check.health
        data.test_data.image
        output.name
        test_thing.web
        var.region
        var.size
    "#]],
    );
    check_completions(
        "run \"a\" {\n  expect_failures = [var.$0]\n}\n",
        expect![[r#"
        region
        size
    "#]],
    );
    check_completions(
        "override_resource {\n  target = module.net.test_thing.subnet\n  values = {\n    $0\n  }\n}\n",
        expect![[r#"
            name (required, string)
            enabled (bool)
            id (computed, string)
            nested (object({ hidden = optional(string), plain = optional(string)…)
            secret (computed, sensitive, string)
            size (number)
            tags (map(string))
            value (string)
            value_wo (write-only: may be ephemeral, is not stored, string)
            value_wo_version (number)
            old (string)
        "#]],
    );
}

#[test]
fn completion_proposes_runs_and_their_outputs() {
    let runs = |value: &str| {
        format!(
            "run \"setup\" {{\n  module {{\n    source = \"./tests/setup\"\n  }}\n}}\n\
             run \"web\" {{\n  variables {{\n    region = {value}\n  }}\n}}\nrun \"later\" {{\n}}\n"
        )
    };
    check_completions(
        &runs("$0"),
        expect![[r#"
        var.region (string)
        output
        run
        var.size (number)
        data
        module
        test_thing (1 resource)
        var
    "#]],
    );
    check_completions(
        &runs("run.$0"),
        expect![[r#"
        setup (run)
    "#]],
    );
    check_completions(
        &runs("run.setup.$0"),
        expect![[r#"
        bucket (string)
    "#]],
    );
    check_completions(
        &runs("output.$0"),
        expect![[r#"
        name (object({ first = string }))
    "#]],
    );
    check_completions(
        &runs("test_thing.web.$0"),
        expect![[r#"
        id (string)
        name (string)
        secret (sensitive, string)
        value (string)
        value_wo (string)
        enabled (bool)
        size (number)
        value_wo_version (number)
        limits (list(object({ cpu = number })))
        nested (may have sensitive parts, object({ hidden = string, plain = string }))
        rule (list(object({ from = string, port = number })))
        tags (map(string))
        old (string)
    "#]],
    );
    let unknown = "run \"a\" {\n  module {\n    source = \"./nowhere\"\n  }\n  assert {\n    \
                   condition = var.$0\n  }\n}\n";
    check_completions(unknown, expect![[""]]);
}

const REFERENCES: &str = r#"
provider "test" {
  alias = "ea$0st"
}
run "set$0up" {
  module {
    source = "./tests/$0setup"
  }
  variables {
    pre$0fix = var.size
  }
}
run "web" {
  providers = { te$0st = test.ea$0st }
  variables {
    reg$0ion = ru$0n.setup.buc$0ket
  }
  assert {
    condition = output.na$0me.fir$0st == var.re$0gion && data.test_data.im$0age.id == module.n$0et.ci$0dr
  }
  expect_failures = [check.hea$0lth, var.si$0ze]
  override_resource {
    target = module.ne$0t.test_thing.sub$0net[0]
  }
}
"#;

#[test]
fn definition_leads_from_test_files_to_the_module() {
    check_definitions(
        REFERENCES,
        expect![[r#"
            tests/web.tftest.hcl:3 `east`
            tests/web.tftest.hcl:5 `setup`
            tests/setup/main.tf:1 ``
            tests/setup/main.tf:1 `prefix`
            main.tf:3 `test = { source = "test" }`
            tests/web.tftest.hcl:3 `east`
            main.tf:6 `region`
            tests/web.tftest.hcl:5 `setup`
            tests/setup/main.tf:4 `bucket`
            main.tf:24 `name`
            main.tf:26 `first`
            main.tf:6 `region`
            main.tf:20 `image`
            main.tf:14 `net`
            net/main.tf:4 `cidr`
            main.tf:22 `health`
            main.tf:10 `size`
            main.tf:14 `net`
            net/main.tf:1 `subnet`
        "#]],
    );
}

#[test]
fn references_from_a_test_file_include_the_module_and_the_file() {
    let check = |test: &str, expected: Expect| {
        let fixture = load(test);
        let found = references(fixture.document(), fixture.offset()).unwrap_or_default();
        let highlights = crate::document_highlights(fixture.document(), fixture.offset());
        let own = found.iter().filter(|it| it.place.file == fixture.document().file);
        assert_eq!(own.copied().collect::<Vec<_>>(), highlights);
        let shown = found.iter().map(|it| format!("{} {:?}\n", fixture.show(it.place), it.role));
        expected.assert_eq(&shown.collect::<String>());
    };
    let text = REFERENCES.replace("$0", "");
    check(
        &text.replace("\"setup\"", "\"$0setup\""),
        expect![[r#"
        tests/web.tftest.hcl:5 `setup` Declaration
        tests/web.tftest.hcl:16 `setup` Read
    "#]],
    );
    check(
        &text.replace("var.region", "var.re$0gion"),
        expect![[r#"
        main.tf:6 `region` Declaration
        main.tf:18 `region` Read
        tests/web.tftest.hcl:16 `region` Write
        tests/web.tftest.hcl:19 `region` Read
    "#]],
    );
    check(
        &text.replace("run.setup.bucket", "run.setup.buck$0et"),
        expect![[r#"
        tests/setup/main.tf:4 `bucket` Declaration
        tests/web.tftest.hcl:16 `bucket` Read
    "#]],
    );
    check(
        &text.replace("test.east", "test.ea$0st"),
        expect![[r#"
        tests/web.tftest.hcl:3 `east` Declaration
        tests/web.tftest.hcl:14 `east` Read
    "#]],
    );
}

#[test]
fn features_never_panic_in_broken_test_files() {
    for text in [
        REFERENCES,
        "run \"\" {\n module {\n source = \"\n}\nrun {\n providers = { = a.\n} variables { x = run.",
        "override_module { target = module.[ }\nmock_provider \"\" { mock_resource { defaults = { ä",
        "run \"a\" { expect_failures = [data., module.x[0]., \"${run.",
    ] {
        let fixture = load(&text.replace("$0", ""));
        let length = text.len() as u32;
        let fixture = fixture::Fixture { path: "tests/web.tftest.hcl".to_owned(), ..fixture };
        let document = fixture.document();
        for at in (0..length + 3).chain([u32::MAX]) {
            hover(document, at);
            completions(document, at);
            definition(document, at);
            references(document, at);
            crate::document_highlights(document, at);
            crate::signature_help(document, at);
            crate::selection_ranges(document, at);
        }
        crate::folding_ranges(document);
        crate::document_symbols(document);
        crate::document_links(document);
        crate::semantic_tokens(document);
    }
}
