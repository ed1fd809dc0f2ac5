//! Shows how another crate uses this one, from the text to its meaning.

use syntax::ast::{self, AstNode, HasItems as _};
use syntax::{SyntaxPtr, TextRange, decode, parse_chunk, parse_file, split, template};

#[test]
fn api_walkthrough() {
    // Decode bytes to text. Bytes that are not UTF-8 give one error, and the rest is still parsed.
    let (text, error) = decode(
        b"# hello\nresource \"null_resource\" \"a\" {\n  triggers = { x = \
                                 \"${var.x}!\" }\n}\n\nlocals {\n  y = 1 2\n}\n",
    );
    assert!(error.is_none());

    // Split a file into chunks. Each parses alone, so an edit costs only the chunks that it touches.
    let ranges = split(&text);
    assert_eq!(ranges.len(), 2);
    let first = parse_chunk(&text[ranges[0]]);
    assert!(first.errors().is_empty());

    // The tree is typed, and any part may be missing.
    let Some(ast::BodyItem::Block(block)) = first.tree().body_items().next() else {
        panic!("the item is a block")
    };
    assert_eq!(block.block_type().as_deref(), Some("resource"));
    assert_eq!(block.label_texts().collect::<Vec<_>>(), ["null_resource", "a"]);
    let body = block.body().expect("the block has a body");
    let value =
        body.attribute("triggers").and_then(|it| it.value()).expect("the attribute has a value");

    // The keys of an object are names or expressions.
    let ast::Expr::Object(object) = value else { panic!("the value is an object") };
    let item = object.items().next().expect("the object has an item");
    assert_eq!(item.key().and_then(|key| key.name_token()).expect("the key is a name").text(), "x");

    // Lower a template to its parts.
    let Some(ast::Expr::QuotedTemplate(quoted)) = item.value() else {
        panic!("the value is a template")
    };
    let lowered = template::quoted(&quoted);
    let [template::Part::Interpolation(interpolation), template::Part::Literal(literal)] =
        lowered.parts.as_slice()
    else {
        panic!("the template has two parts")
    };
    assert_eq!(literal, "!");

    // A traversal has a root and steps.
    let expr = interpolation.expr.clone().expect("the interpolation has an expression");
    let traversal = expr.as_static_traversal().expect("the expression is a name and steps");
    assert_eq!(traversal.root.text(), "var");
    assert_eq!(traversal.steps.len(), 1);

    // A pointer finds its node again in the same tree, and keeps no tree alive.
    let pointer = SyntaxPtr::of(&expr);
    assert_eq!(pointer.to_ast::<ast::Expr>(&first.syntax()), Some(expr));
    assert_eq!(pointer.to_ast::<ast::Block>(&first.syntax()), None);

    // An error has a summary, a detail and a range in the parsed text.
    let second = parse_chunk(&text[ranges[1]]);
    let [error] = second.errors() else { panic!("there is one error") };
    assert_eq!(error.summary, "Missing newline after argument");
    assert_eq!(
        error.detail(|_| unreachable!("it speaks of no other place")),
        "An argument definition must end with a newline."
    );
    assert_eq!(error.shifted(ranges[1].start()).range, TextRange::new(92.into(), 93.into()));

    // A whole file is the concatenation of its chunks.
    let file = parse_file(&text);
    assert_eq!(file.syntax().text(), text.as_str());
    assert_eq!(file.tree().blocks().count(), 2);
}

#[test]
fn invalid_utf8_is_an_error_at_its_range() {
    let (text, error) = decode(b"a = \"\xff\xfe\"\n");
    let error = error.expect("the bytes are not UTF-8");
    assert_eq!(error.summary, "Invalid character encoding");
    assert_eq!(&text[error.range], "\u{fffd}");
    assert!(parse_file(&text).errors().is_empty());
}

#[test]
fn accesses_after_a_splat_are_grouped() {
    use syntax::ast::Access;
    let shape = |text: &str| {
        fn write(accesses: &[Access]) -> String {
            let one = |access: &Access| match access {
                Access::Attr(it) => format!(".{}", it.name().unwrap_or_default()),
                Access::LegacyIndex(it) => format!(".{}", it.number().unwrap_or_default()),
                Access::Index(it) => it.syntax().text().to_string(),
                Access::Splat(_, each) => format!("[*]({})", write(each)),
                Access::AttrSplat(_, each) => format!(".*({})", write(each)),
            };
            accesses.iter().map(one).collect()
        }
        match syntax::parse_expression(text).tree().expr() {
            Some(ast::Expr::Traversal(it)) => write(&it.accesses()),
            other => panic!("{other:?} is no traversal"),
        }
    };
    assert_eq!(shape("x.*.n[0]"), ".*(.n)[0]");
    assert_eq!(shape("x[*].n[0]"), "[*](.n[0])");
    assert_eq!(shape("x.*.n.0.y[*].z[*].w"), ".*(.n.0.y)[*](.z[*](.w))");
}
