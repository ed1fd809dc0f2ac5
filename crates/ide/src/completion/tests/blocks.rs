//! Tests of completion of block types, labels and arguments.

use expect_test::expect;

use super::*;

#[test]
fn completion_proposes_block_types() {
    check(
        "$0",
        expect![[r#"
            Block resource
            Block data
            Block ephemeral
            Block module
            Block provider
            Block variable
            Block output
            Block locals
            Block terraform
            Block check
            Block moved
            Block import
            Block removed
        "#]],
    );
    check_taken(
        "$0",
        "resource",
        expect![[r#"
        resource "${1:type}" "${2:name}" {
          $0
        }"#]],
    );
    check_taken(
        "locals {}\n\nvar$0\n",
        "variable",
        expect![[r#"
        locals {}

        variable "${1:name}" {
          $0
        }
    "#]],
    );
    check_taken(
        "vari$0 \"x\" {}\n",
        "variable",
        expect![[r#"
        variable "x" {}
    "#]],
    );
}

#[test]
fn completion_proposes_labels() {
    check(
        "resource \"$0\" \"x\" {}\n",
        expect![[r#"
        Type test_other: hashicorp/test
        Type test_thing: hashicorp/test
    "#]],
    );
    check(
        "resource \"test_$0\n",
        expect![[r#"
        Type test_other: hashicorp/test
        Type test_thing: hashicorp/test
    "#]],
    );
    check_taken(
        "resource \"test_t$0\" \"x\" {}\n",
        "test_thing",
        expect![[r#"
        resource "test_thing" "x" {}
    "#]],
    );
    check(
        "data \"$0\" {\n}\n",
        expect![[r#"
        Type test_data: hashicorp/test
    "#]],
    );
    check(
        "ephemeral \"$0\n\nlocals {}\n",
        expect![[r#"
        Type test_secret: hashicorp/test
    "#]],
    );
    check(
        "provider \"$0\" {}\n",
        expect![[r#"
        Provider test: hashicorp/test
    "#]],
    );
    check("resource \"test_thing\" \"$0\" {}\n", expect![[""]]);
    check(
        "resource \"test_thing\" \"x\" {\n  provisioner \"$0\" {}\n}\n",
        expect![[r#"
        Type echo
        Type file
        Type local-exec
        Type remote-exec
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  dynamic \"$0\" {}\n}\n",
        expect![[r#"
        Block limits
        Block rule
    "#]],
    );
}

#[test]
fn completion_proposes_arguments_of_a_resource() {
    check(
        "resource \"test_thing\" \"x\" {\n  $0\n}\n",
        expect![[r#"
        Argument name: required, string
        Argument enabled: bool
        Block limits: block
        Argument nested: object({ hidden = optional(string), plain = optional(string)…
        Block rule: block
        Argument size: number
        Argument tags: map(string)
        Argument value: string
        Argument value_wo: write-only: may be ephemeral, is not stored, string
        Argument value_wo_version: number
        Argument count: number
        Argument depends_on: list of references
        Argument for_each: map(any) | set(string)
        Argument provider: provider reference
        Block connection: block
        Block dynamic: block
        Block lifecycle: block
        Block provisioner: block
        Argument old: string (deprecated)
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  name = \"\"\n  lifecycle {}\n  limits {}\n  va$0\n}\n",
        expect![[r#"
        Argument enabled: bool
        Argument nested: object({ hidden = optional(string), plain = optional(string)…
        Block rule: block
        Argument size: number
        Argument tags: map(string)
        Argument value: string
        Argument value_wo: write-only: may be ephemeral, is not stored, string
        Argument value_wo_version: number
        Argument count: number
        Argument depends_on: list of references
        Argument for_each: map(any) | set(string)
        Argument provider: provider reference
        Block connection: block
        Block dynamic: block
        Block provisioner: block
        Argument old: string (deprecated)
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  rule {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument port: required, number
        Argument from: string
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  dynamic \"rule\" {\n    for_each = []\n    content {\n      \
         $0\n    }\n  }\n}\n",
        expect![[r#"
        Argument port: required, number
        Argument from: string
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  dynamic \"rule\" {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument for_each: required, any
        Argument iterator: any
        Argument labels: list(string)
        Block content: block
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  nested = {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument hidden: sensitive, string
        Argument plain: string
    "#]],
    );
    check(
        "resource \"test_thing\" \"x\" {\n  provisioner \"local-exec\" {\n    $0\n  }\n}\n",
        expect![[r#"
        Argument command: required, string
        Argument environment: map(string)
        Argument interpreter: list(string)
        Argument on_failure: continue | fail
        Argument quiet: bool
        Argument when: create | destroy
        Argument working_dir: string
        Block connection: block
    "#]],
    );
}

#[test]
fn accepted_argument_inserts_a_snippet() {
    check_taken(
        "resource \"test_thing\" \"x\" {\n  na$0\n}\n",
        "name",
        expect![[r#"
        resource "test_thing" "x" {
          name = 
        }
    "#]],
    );
    check_taken(
        "resource \"test_thing\" \"x\" {\n  na$0 = 1\n}\n",
        "name",
        expect![[r#"
        resource "test_thing" "x" {
          name = 1
        }
    "#]],
    );
    check_taken(
        "resource \"test_thing\" \"x\" {\n  ru$0\n}\n",
        "rule",
        expect![[r#"
        resource "test_thing" "x" {
          rule {
          port = $1
          $0
        }
        }
    "#]],
    );
    check_taken(
        "resource \"test_thing\" \"x\" {\n  dyn$0\n}\n",
        "dynamic",
        expect![[r#"
        resource "test_thing" "x" {
          dynamic "${1:block_type}" {
          for_each = $2
          content {
            $0
          }
        }
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = up$0\n}\n",
        "upper",
        expect![[r#"
        locals {
          a = upper($0)
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = up$0(\"x\")\n}\n",
        "upper",
        expect![[r#"
        locals {
          a = upper("x")
        }
    "#]],
    );
    check_taken(
        "variable \"x\" {\n  type = li$0\n}\n",
        "list",
        expect![[r#"
        variable "x" {
          type = list(${1:string})
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = convert([], li$0)\n}\n",
        "list",
        expect![[r#"
        locals {
          a = convert([], list(${1:string}))
        }
    "#]],
    );
    check_taken(
        "locals {\n  a = convert({}, object({ b = $0 }))\n}\n",
        "optional",
        expect![[r#"
        locals {
          a = convert({}, object({ b = optional(${1:string}) }))
        }
    "#]],
    );
}

#[test]
fn completion_works_in_unclosed_blocks() {
    check(
        "variable \"x\" {\n  $0",
        expect![[r#"
        Argument default: any
        Argument deprecated: string
        Argument description: string
        Argument ephemeral: bool
        Argument nullable: bool
        Argument sensitive: bool
        Argument type: type
        Block validation: block
    "#]],
    );
    check(
        "variable \"x\" {\n  typ$0\n\nlocals {\n  a = 1\n}\n",
        expect![[r#"
        Argument default: any
        Argument deprecated: string
        Argument description: string
        Argument ephemeral: bool
        Argument nullable: bool
        Argument sensitive: bool
        Argument type: type
        Block validation: block
    "#]],
    );
    check(
        "variable \"x\" { $0 }\n",
        expect![[r#"
        Argument default: any
        Argument deprecated: string
        Argument description: string
        Argument ephemeral: bool
        Argument nullable: bool
        Argument sensitive: bool
        Argument type: type
        Block validation: block
    "#]],
    );
    check(
        "output \"x\" {\n  value = 1\n  precondition {\n    $0\n",
        expect![[r#"
        Argument condition: required, bool
        Argument error_message: required, string
    "#]],
    );
    check("# a comment $0\n", expect![[""]]);
    check("locals {\n  a = \"text $0\"\n}\n", expect![[""]]);
    check("locals {\n  a = 1$0\n}\n", expect![[""]]);
    check("locals {\n  a = var.x $0\n}\n", expect![[""]]);
}

#[test]
fn completion_proposes_module_arguments() {
    check(
        &in_world("module \"n\" {\n  source = \"./child\"\n  $0\n}\n"),
        expect![[r#"
        Argument in: required, object({ path = optional(string), port = number })
        Argument key: ephemeral, sensitive, string
        Argument note: string
        Argument count: number
        Argument depends_on: list of references
        Argument for_each: map(any) | set(string)
        Argument providers: map of provider references
        Argument version: string
        Block lifecycle: block
    "#]],
    );
    check(
        &in_world("module \"n\" {\n  source = \"./child\"\n  in = {\n    $0\n  }\n}\n"),
        expect![[r#"
        Argument port: required, number
        Argument path: string
    "#]],
    );
    check(
        &in_world(
            "module \"n\" {\n  source = \"./child\"\n  providers = {\n    test = $0\n  }\n}\n",
        ),
        expect![[r#"
        Provider test.west: hashicorp/test
    "#]],
    );
}

#[test]
fn completion_proposes_terraform_settings() {
    check(
        &in_world("terraform {\n  required_providers {\n    $0\n  }\n}\n"),
        expect![[r#"
        Provider test: hashicorp/test
    "#]],
    );
    check(
        &in_world("terraform {\n  required_providers {\n    test = {\n      $0\n    }\n  }\n}\n"),
        expect![[r#"
        Argument configuration_aliases: map of provider references
        Argument source: string
        Argument version: string
    "#]],
    );
    check(
        &in_world("terraform {\n  $0\n}\n"),
        expect![[r#"
        Argument required_version: string
        Block backend: block
        Block required_providers: block
    "#]],
    );
}
