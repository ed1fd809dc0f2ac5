//! Types in the notation of the console's function `type`.

use values::Type;

const STEP: usize = 4;

/// A type as text, over several lines if it has parts.
pub fn type_text(ty: &Type) -> String {
    let mut text = String::new();
    write(ty, 0, &mut text);
    text
}

fn write(ty: &Type, indent: usize, text: &mut String) {
    match ty {
        Type::Dynamic => text.push_str("dynamic"),
        Type::Bool => text.push_str("bool"),
        Type::Number => text.push_str("number"),
        Type::String => text.push_str("string"),
        Type::List(element) => write_collection("list", element, indent, text),
        Type::Set(element) => write_collection("set", element, indent, text),
        Type::Map(element) => write_collection("map", element, indent, text),
        Type::Tuple(types) => {
            let parts = types.iter().map(|ty| (String::new(), ty));
            write_parts("tuple([", parts, "])", indent, text);
        }
        Type::Object(object) => {
            let parts = object.iter().map(|(name, ty)| (format!("{name}: "), ty));
            write_parts("object({", parts, "})", indent, text);
        }
    }
}

/// Writes a collection type. An element type with parts of its own is on separate lines.
fn write_collection(name: &str, element: &Type, indent: usize, text: &mut String) {
    text.push_str(name);
    text.push('(');
    if matches!(element, Type::Object(_) | Type::Tuple(_)) {
        line(indent + STEP, text);
        write(element, indent + STEP, text);
        text.push(',');
        line(indent, text);
    } else {
        write(element, indent, text);
    }
    text.push(')');
}

fn write_parts<'t>(
    open: &str,
    parts: impl ExactSizeIterator<Item = (String, &'t Type)>,
    close: &str,
    indent: usize,
    text: &mut String,
) {
    let is_empty = parts.len() == 0;
    text.push_str(open);
    for (name, ty) in parts {
        line(indent + STEP, text);
        text.push_str(&name);
        write(ty, indent + STEP, text);
        text.push(',');
    }
    if !is_empty {
        line(indent, text);
    }
    text.push_str(close);
}

fn line(indent: usize, text: &mut String) {
    text.push('\n');
    text.push_str(&" ".repeat(indent));
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn object_and_tuple_types_print_on_several_lines() {
        let inner = Type::object([("b", Type::list(Type::list(Type::String)))]);
        let ty = Type::object([
            ("a", Type::map(inner)),
            ("c", Type::tuple([Type::Dynamic, Type::tuple([])])),
            ("d", Type::set(Type::object::<&str>([]))),
        ]);
        expect![[r#"
            object({
                a: map(
                    object({
                        b: list(list(string)),
                    }),
                ),
                c: tuple([
                    dynamic,
                    tuple([]),
                ]),
                d: set(
                    object({}),
                ),
            })"#]]
        .assert_eq(&type_text(&ty));
    }
}
