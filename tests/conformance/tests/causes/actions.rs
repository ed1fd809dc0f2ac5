//! Actions of objects.

use expect_test::expect;

use crate::check;

#[test]
fn replacement_is_traced_to_an_edited_literal() {
    check(
        r#"
locals {
  image = "v1"
}

resource "terraform_data" "web" {
  triggers_replace = local.image
}

resource "terraform_data" "dns" {
  input = terraform_data.web.id
}
"#,
        r#"
locals {
  image = "v2"
}

resource "terraform_data" "web" {
  triggers_replace = local.image
}

resource "terraform_data" "dns" {
  input = terraform_data.web.id
}
"#,
        "terraform_data.dns",
        expect![[r#"
            terraform_data.dns will be updated in-place because:
              - input is known only after apply                                                     main.tf:11
                - terraform_data.web.id is computed by the provider when it creates the new object  main.tf:6
                  - terraform_data.web must be replaced                                             main.tf:6
                    - triggers_replace changes from "v1" to "v2", which forces replacement          main.tf:7
                      - local.image is "v2"                                                         main.tf:3
              - output may change when the provider updates the object                              main.tf:10
        "#]],
    );
}

#[test]
fn instances_are_traced_to_count() {
    check(
        r#"
variable "size" {
  default = 3
}

resource "terraform_data" "web" {
  count = var.size
}
"#,
        r#"
variable "size" {
  default = 1
}

resource "terraform_data" "web" {
  count = var.size
}
"#,
        "terraform_data.web",
        expect![[r#"
            terraform_data.web[0] does not change.  main.tf:6

            terraform_data.web[1] will be destroyed because:
              - count of terraform_data.web is 1, which does not include the index 1  main.tf:7
                - var.size is 1, its default                                          main.tf:3

            terraform_data.web[2] will be destroyed because:
              - count of terraform_data.web is 1, which does not include the index 2  main.tf:7
                - var.size is 1, its default                                          main.tf:3
        "#]],
    );
}

#[test]
fn deleted_block_is_a_cause() {
    check(
        r#"
resource "terraform_data" "web" {
}
"#,
        "locals {}",
        "terraform_data.web",
        expect![[r#"
            terraform_data.web will be destroyed because:
              - it is not declared by any block
        "#]],
    );
}
