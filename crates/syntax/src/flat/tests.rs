//! Checks that the lossless and the flat tree of a text agree.

use proptest::prelude::*;

use crate::fuzz::check_parse as check;

#[test]
fn flat_tree_equals_the_lossless_tree() {
    for text in [
        "",
        " \n",
        "# only a comment",
        "a = 1 # one\n",
        "a \"b\" {\n  c = [1, 2 /* two */, x[*].y, x.*.z[0]]\n\n  d {\n  }\n}\n",
        "a = \"x ${ y ~} z %{ if a }b%{ else }c%{ endif }\"\n",
        "a = <<-EOT\n    b\n      ${c}\n  EOT\n",
        "a = f(1, [for x in y : x if z]...)\nb = { for k, v in m : k => v... }\n",
        "a =",
        "a = )",
        "a = (\n",
        "a b c",
        "}",
        "a {",
        "a = \"${\n",
        "a = x ? y",
        "\u{feff}a = 1",
    ] {
        check(text);
    }
}

proptest! {
    #[test]
    fn flat_tree_equals_the_lossless_tree_of_any_text(text in "[a-c{}()\\[\\]=\\.\\*\"$%~?:, \n#<\\-E1]{0,60}") {
        check(&text);
    }
}
