use expect_test::{Expect, expect};

use super::{Modifiers, SemanticToken};
use crate::fixture;

fn words(modifiers: Modifiers) -> String {
    let all = [
        (modifiers.declaration, "declaration"),
        (modifiers.readonly, "readonly"),
        (modifiers.ephemeral, "ephemeral"),
        (modifiers.sensitive, "sensitive"),
        (modifiers.deprecated, "deprecated"),
    ];
    all.iter().filter(|(holds, _)| *holds).map(|(_, word)| format!(" {word}")).collect()
}

fn show(text: &str, tokens: &[SemanticToken]) -> String {
    let line = |it: &SemanticToken| {
        format!("{} {:?}{}\n", fixture::slice(text, it.range), it.kind, words(it.modifiers))
    };
    tokens.iter().map(line).collect()
}

/// Shows the tokens of a file, without strings, operators and numbers.
#[track_caller]
fn check(text: &str, expect: Expect) {
    use super::SemanticKind as K;
    let fixture = fixture::load(text);
    let mut tokens = crate::semantic_tokens(fixture.document());
    let text = fixture.document().text();
    let mut end = 0;
    for token in &tokens {
        assert!(end <= token.range.start && token.range.start < token.range.end);
        assert!(!fixture::slice(&text, token.range).contains('\n'));
        end = token.range.end;
    }
    tokens.retain(|it| !matches!(it.kind, K::String | K::Operator | K::Number));
    expect.assert_eq(&show(&text, &tokens));
}

#[test]
fn semantic_tokens_cover_bodies() {
    check(
        "resource \"test_thing\" \"a\" {\n  name = 1\n  value_wo = 1\n  old = 1\n  rule {\n    \
         port = 1\n  }\n  unknown = 1\n  lifecycle {}\n}\n",
        expect![[r#"
            resource BlockType
            "test_thing" Type
            "a" Resource declaration
            name Property
            value_wo Property ephemeral
            old Property deprecated
            rule BlockType
            port Property
            unknown Property
            lifecycle BlockType
        "#]],
    );
    check(
        "variable \"x\" {\n  type = list(string)\n  ephemeral = true\n  sensitive = true\n}\n",
        expect![[r#"
        variable BlockType
        "x" Variable declaration ephemeral sensitive
        type Property
        list Type
        string Type
        ephemeral Property
        true Keyword
        sensitive Property
        true Keyword
    "#]],
    );
    check(
        "ephemeral test_secret s {}\noutput \"o\" {\n  value = 1\n}\nprovider \"test\" {}\n",
        expect![[r#"
        ephemeral BlockType
        test_secret Type
        s Resource declaration ephemeral
        output BlockType
        "o" Output declaration
        value Property
        provider BlockType
        "test" Provider
    "#]],
    );
}

#[test]
fn semantic_tokens_cover_meta_arguments() {
    check(
        "resource \"test_thing\" \"a\" {\n  provider = test.west\n  depends_on = [test_thing.b]\n  \
         lifecycle {\n    ignore_changes = [tags, nested.plain]\n  }\n  provisioner \"local-exec\" \
         {\n    when = destroy\n    command = \"\"\n  }\n}\n",
        expect![[r#"
            resource BlockType
            "test_thing" Type
            "a" Resource declaration
            provider Property
            test Provider
            west Provider
            depends_on Property
            test_thing Type
            b Resource
            lifecycle BlockType
            ignore_changes Property
            tags Property
            nested Property
            plain Property
            provisioner BlockType
            "local-exec" Type
            when Property
            destroy Keyword
            command Property
        "#]],
    );
}

#[test]
fn semantic_tokens_cover_references() {
    check(
        r#"
variable "x" {
  ephemeral = true
}
resource "test_thing" "a" {
  name = "n"
}
locals {
  a = var.x
  b = "t-${local.a}"
  c = test_thing.a.secret
  d = test_thing.a["k"].nested.hidden
  e = data.test_data.d.name
  f = path.module
  g = { k = local.a }
  h = local.g.k
  i = terraform.applying
}
"#,
        expect![[r#"
            variable BlockType
            "x" Variable declaration ephemeral
            ephemeral Property
            true Keyword
            resource BlockType
            "test_thing" Type
            "a" Resource declaration
            name Property
            locals BlockType
            a Local declaration readonly ephemeral
            var Namespace
            x Variable ephemeral
            b Local declaration readonly ephemeral
            local Namespace
            a Local readonly ephemeral
            c Local declaration readonly sensitive
            test_thing Type
            a Resource
            secret Property sensitive
            d Local declaration readonly sensitive
            test_thing Type
            a Resource
            nested Property sensitive deprecated
            hidden Property sensitive deprecated
            e Local declaration readonly
            data Namespace
            test_data Type
            d Resource
            name Property
            f Local declaration readonly
            path Namespace
            module Property readonly
            g Local declaration readonly ephemeral
            k Property
            local Namespace
            a Local readonly ephemeral
            h Local declaration readonly ephemeral
            local Namespace
            g Local readonly ephemeral
            k Property ephemeral
            i Local declaration readonly ephemeral
            terraform Namespace
            applying Property readonly ephemeral
        "#]],
    );
}

#[test]
fn semantic_tokens_cover_loop_variables() {
    check(
        "locals {\n  a = [for k, v in var.l : upper(v.x) if k != null]\n  b = v\n}\n",
        expect![[r#"
        locals BlockType
        a Local declaration readonly
        for Keyword
        k Bound declaration readonly
        v Bound declaration readonly
        in Keyword
        var Namespace
        l Variable
        upper Function
        v Bound readonly
        x Property
        if Keyword
        k Bound readonly
        null Keyword
        b Local declaration readonly
        v Keyword
    "#]],
    );
    check(
        "locals {\n  a = \"%{ for it in [1] }${it}%{ endfor }\"\n}\n",
        expect![[r#"
        locals BlockType
        a Local declaration readonly
        for Keyword
        it Bound declaration readonly
        in Keyword
        it Bound readonly
        endfor Keyword
    "#]],
    );
    check(
        "resource \"test_thing\" \"a\" {\n  dynamic \"rule\" {\n    for_each = []\n    content {\n      \
         port = rule.value\n    }\n  }\n}\n",
        expect![[r#"
        resource BlockType
        "test_thing" Type
        "a" Resource declaration
        dynamic BlockType
        "rule" BlockType
        for_each Property
        content BlockType
        port Property
        rule Bound readonly
        value Property
    "#]],
    );
}

#[test]
fn semantic_tokens_mark_ephemeral_module_names() {
    check(
        "//- /main.tf\nmodule \"m\" {\n  source = \"./c\"\n  in = 1\n}\nlocals {\n  a = \
         module.m.out\n  b = module.m.plain\n}\n//- /c/main.tf\nvariable \"in\" {\n  ephemeral = \
         true\n}\noutput \"out\" {\n  value = var.in\n  ephemeral = true\n}\noutput \"plain\" {\n  value = 1\n}\n",
        expect![[r#"
            module BlockType
            "m" Module declaration
            source Property
            in Property ephemeral
            locals BlockType
            a Local declaration readonly ephemeral
            module Namespace
            m Module
            out Output ephemeral
            b Local declaration readonly
            module Namespace
            m Module
            plain Output
        "#]],
    );
}

#[test]
fn semantic_tokens_end_with_their_line() {
    check(
        "/* one\n   two */\nlocals {\n  a = <<-EOT\n    x ${local.b}\n  EOT\n}\n",
        expect![[r#"
        /* one Comment
           two */ Comment
        locals BlockType
        a Local declaration readonly
        local Namespace
        b Local
    "#]],
    );
}

#[test]
fn semantic_tokens_of_a_range_are_those_it_touches() {
    let fixture =
        fixture::load("locals {\n  a = [for x in var.l : x.y]\n  b = 2\n}\nlocals {\n  c = 3\n}\n");
    let text = fixture.document().text();
    let start = text.find("x.y").expect("it is there") as u32;
    let range = db::ByteRange { start, end: start + 1 };
    let tokens = crate::semantic_tokens_in(fixture.document(), range);
    expect![[r#"
        x Bound readonly
    "#]]
    .assert_eq(&show(&text, &tokens));
}
