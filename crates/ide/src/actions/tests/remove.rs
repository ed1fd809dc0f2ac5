//! Tests of quick fixes that remove an argument or block.

use expect_test::expect;

use super::check;

#[test]
fn quick_fix_removes_a_refused_argument() {
    check(
        "provider \"test\" {\n  region  = \"\"\n  version$0 = \"1\"\n}\n",
        expect![[r#"
        QuickFix: Remove argument "version"
        //- /main.tf
        provider "test" {
          region  = ""
        }
    "#]],
    );
    check(
        "provider \"test\" {\n  region = \"\"\n  count$0  = 1\n}\n",
        expect![[r#"
        QuickFix: Remove argument "count"
        //- /main.tf
        provider "test" {
          region = ""
        }
    "#]],
    );
    check(
        "//- /main.tf\nmodule \"m\" {\n  source  = \"./mod\"\n  version = \"$01\"\n}\n//- /mod/main.tf\nlocals {}\n",
        expect![[r#"
            QuickFix: Remove argument "version"
            //- /main.tf
            module "m" {
              source  = "./mod"
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {\n  lifecycle {\n    ignore_changes$0 = all\n  }\n  \
         provisioner \"local-exec\" {}\n}\n",
        expect![[r#"
            QuickFix: Remove argument "ignore_changes"
            //- /main.tf
            ephemeral "test_secret" "s" {
              lifecycle {
              }
              provisioner "local-exec" {}
            }
        "#]],
    );
    check(
        "data \"test_data\" \"d\" {\n  name = \"x\"\n  lifecycle {\n    prevent_destroy$0 = true\n  }\n}\n",
        expect![[r#"
            QuickFix: Remove argument "prevent_destroy"
            //- /main.tf
            data "test_data" "d" {
              name = "x"
              lifecycle {
              }
            }
        "#]],
    );
    check(
        "ephemeral \"test_secret\" \"s\" {\n  provision$0er \"local-exec\" {}\n}\n",
        expect![[r#"
            QuickFix: Remove block "provisioner"
            //- /main.tf
            ephemeral "test_secret" "s" {
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n\n  limits {}\n\n  lim$0its {}\n}\n",
        expect![[r#"
            QuickFix: Remove block "limits"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"

              limits {}
            }
        "#]],
    );
    check(
        "resource \"test_thing\" \"t\" {\n  name = \"x\"\n  dynamic \"limits\" {\n    for_each = \
         []\n    content {}\n    cont$0ent {}\n  }\n}\n",
        expect![[r#"
            QuickFix: Remove block "content"
            //- /main.tf
            resource "test_thing" "t" {
              name = "x"
              dynamic "limits" {
                for_each = []
                content {}
              }
            }
        "#]],
    );
}
