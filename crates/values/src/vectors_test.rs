//! Compares encodings, orders and conversions with recordings of cty, line by line.

use crate::{Kind, Number, ObjectType, Refinements, Type, Value, convert, json, msgpack};

const VECTORS: &str = include_str!("../../../tests/data/cty_vectors.txt");

/// Returns the value of a line that names one, with the type for its encoding.
fn named(name: &str) -> Option<(Value, Type)> {
    let at_own = |value: Value| {
        let ty = value.ty();
        Some((value, ty))
    };
    let dynamic = |value: Value| Some((value, Type::Dynamic));
    let number = |text: &str| Number::parse(text).expect("a number");
    let numbers =
        |all: &[&str]| all.iter().map(|text| Value::number(number(text))).collect::<Vec<_>>();
    let unknown = |ty: Type, known: Refinements| at_own(Value::unknown_with(ty, known.not_null()));
    match name {
        "unknown string" => at_own(Value::unknown(Type::String)),
        "unknown dyn" => at_own(Value::dynamic()),
        "unk string vs dyn" => dynamic(Value::unknown(Type::String)),
        "null string" => at_own(Value::null(Type::String)),
        "null dyn" => at_own(Value::null(Type::Dynamic)),
        "null string as dyn" => dynamic(Value::null(Type::String)),
        "unk notnull" => unknown(Type::String, Refinements::NONE),
        "unk prefix" => unknown(Type::String, Refinements::NONE.with_prefix("https://")),
        "unk num range" => {
            let range =
                Refinements::NONE.with_lower(number("0"), true).with_upper(number("1.5"), true);
            unknown(Type::Number, range)
        }
        "unk num excl" => at_own(Value::unknown_with(
            Type::Number,
            Refinements::NONE.with_lower(number("5"), false),
        )),
        "unk list len" => unknown(
            Type::list(Type::String),
            Refinements::NONE.with_min_length(1).with_max_length(300),
        ),
        "unk list len 2..2" => unknown(
            Type::list(Type::String),
            Refinements::NONE.with_min_length(2).with_max_length(2),
        ),
        "unk bool nn" => unknown(Type::Bool, Refinements::NONE),
        "unk obj nn" => unknown(Type::object([("a", Type::String)]), Refinements::NONE),
        "dyn string" => dynamic(Value::string("hi")),
        "dyn obj" => dynamic(Value::object_from([("a", Value::int(1))])),
        "list of dyn" => {
            Some((Value::list(Type::String, vec!["a".into()]), Type::list(Type::Dynamic)))
        }
        "tuple" => at_own(Value::tuple(vec![Value::int(1), Value::bool(true)])),
        "empty tuple" => at_own(Value::empty_tuple()),
        "empty obj" => at_own(Value::empty_object()),
        "empty list" => at_own(Value::list(Type::String, vec![])),
        "empty map" => at_own(Value::map(Type::String, [].into_iter().collect())),
        "map" => at_own(Value::map(
            Type::String,
            [("a".into(), "1".into()), ("b".into(), "2".into())].into_iter().collect(),
        )),
        "set str" => {
            at_own(Value::set(Type::String, vec!["b".into(), "a".into(), "B".into(), "a".into()]))
        }
        "set num" => at_own(Value::set(Type::Number, numbers(&["10", "9", "1.5", "-1"]))),
        "set list num" => {
            let lists =
                ["9", "10", "-2", "1"].map(|text| Value::list(Type::Number, numbers(&[text])));
            at_own(Value::set(Type::list(Type::Number), lists.into()))
        }
        "set str w/ unknowns" => {
            let unknown = Value::unknown(Type::String);
            let items = vec![Value::null(Type::String), unknown.clone(), unknown, "z".into()];
            at_own(Value::set(Type::String, items))
        }
        "num 2^64" => at_own(Value::number(number("18446744073709551616"))),
        "num 2^63" => at_own(Value::number(number("9223372036854775808"))),
        "num -2^63" => at_own(Value::number(number("-9223372036854775808"))),
        "num 1e20 float" => at_own(Value::number(Number::from(1e20))),
        "+inf" => at_own(Value::number(number("Inf"))),
        "str html" => at_own(Value::string("<a>&\u{2028}\"\\\u{1}\u{7f}\u{8}\u{c}\té")),
        "string e+combining" => at_own(Value::string("e\u{301}")),
        "conv bool->string" => {
            at_own(convert::convert(&Value::bool(true), &Type::String).expect("a string"))
        }
        "conv num->string" => at_own(
            convert::convert(&Value::number(number("1.5")), &Type::String).expect("a string"),
        ),
        other => at_own(Value::number(number(other.strip_prefix("num ")?))),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Shortens a text to `abc…(100 chars)…xyz`, as the recording does.
fn shortened(text: &str) -> String {
    if text.len() < 72 {
        return text.to_owned();
    }
    format!("{}…({} chars)…{}", &text[..30], text.len(), &text[text.len() - 12..])
}

#[track_caller]
fn check_encoding(line: &str, value: &Value, ty: &Type, recorded: &str) {
    let (mp, js) = recorded.split_once(" js=").unwrap_or((recorded, ""));
    let mp = mp.strip_prefix("mp=").expect("a msgpack field");
    let bytes = msgpack::encode(value, ty).expect("an encoding");
    assert_eq!(shortened(&hex(&bytes)), mp, "{line}");
    let back = msgpack::decode(&bytes, ty).expect("the value again");
    assert_eq!(
        hex(&msgpack::encode(&back, ty).expect("an encoding")),
        hex(&bytes),
        "round trip of {line}"
    );
    if js.is_empty() {
        return;
    }
    match json::encode(value, ty) {
        Ok(text) => {
            assert_eq!(text, js, "{line}");
            assert_eq!(
                &json::decode(text.as_bytes(), ty).expect("the value again"),
                value,
                "round trip of {line}"
            );
        }
        Err(error) => assert_eq!(format!("ERR {}", error.message), js, "{line}"),
    }
}

/// Checks a line of the form `LABEL prec=P f=TEXT [g10=TEXT] mp=HEX`.
#[track_caller]
fn check_number(line: &str, value: &Number, recorded: &str) {
    let recorded = recorded.replace(" chars)", "_chars)");
    let field = |name: &str| {
        let field = recorded.split(' ').find_map(|field| field.strip_prefix(name));
        field.map(|field| field.replace("_chars)", " chars)"))
    };
    assert_eq!(Some(value.precision().to_string()), field("prec="), "{line}");
    let text = value.to_string();
    // Results of arithmetic are recorded in full.
    let expected = field("f=").expect("a text");
    assert_eq!(if expected.contains('…') { shortened(&text) } else { text }, expected, "{line}");
    if let Some(text) = field("g10=") {
        assert_eq!(value.ten_digit_text(), text, "{line}");
    }
    let bytes = msgpack::encode(&Value::number(value.clone()), &Type::Number).expect("an encoding");
    assert_eq!(Some(shortened(&hex(&bytes))), field("mp="), "{line}");
}

/// Computes an operation of the recording: `P` is text, `I` a machine integer, `F` a double.
fn computed(label: &str) -> Option<Number> {
    let p = |text: &str| Number::parse(text).expect("a number");
    let i = |value: i64| Number::from(value);
    Some(match label {
        "P1/P3" => p("1").divide(&p("3"))?,
        "I1/I3" => i(1).divide(&i(3))?,
        "P0.1+P0.2" => p("0.1").add(&p("0.2"))?,
        "F0.1+F0.2" => Number::from(0.1).add(&Number::from(0.2))?,
        "F0.1+P0.2" => Number::from(0.1).add(&p("0.2"))?,
        "F0.1" => Number::from(0.1),
        "F1e23" => Number::from(1e23),
        "F0.3 eq" => Number::from(0.3),
        "I(2^62)*I(2^62)" => i(1 << 62).multiply(&i(1 << 62))?,
        "I9007199254740993*F0.5" => i(9_007_199_254_740_993).multiply(&Number::from(0.5))?,
        "I(max)+I(max)" => i(i64::MAX).add(&i(i64::MAX))?,
        "P(1e30)+I1" => p("1e30").add(&i(1))?,
        "10%3" => p("10").modulo(&p("3"))?,
        "-10%3" => p("-10").modulo(&p("3"))?,
        "10.5%3" => p("10.5").modulo(&p("3"))?,
        "1%0.1" => p("1").modulo(&p("0.1"))?,
        "neg" => p("0.1").negated(),
        "(1/3)*3" => p("1").divide(&p("3"))?.multiply(&p("3"))?,
        _ => return None,
    })
}

fn check_parse(line: &str) {
    let rest = line.strip_prefix("parse \"").expect("a quoted text");
    let (text, recorded) = rest.split_once("\" ").expect("a closing quote");
    if text.contains('…') {
        return;
    }
    let converted = convert::convert(&Value::string(text), &Type::Number);
    match recorded.strip_prefix("-> ") {
        Some(message) => assert_eq!(converted.expect_err("no number").message, message, "{line}"),
        None => check_number(
            line,
            converted.expect("a number").as_number().expect("a number"),
            recorded,
        ),
    }
}

fn check_json(line: &str) {
    let rest = line.strip_prefix("json ").expect("a JSON line");
    let (text, rest) = rest.split_once(" as ").expect("a type");
    let (ty, recorded) = rest.split_once(" -> ").expect("a result");
    let ty = json::type_from_json(format!("{ty:?}").as_bytes()).expect("a type");
    let shown = match json::decode(text.as_bytes(), &ty) {
        Err(error) => format!("ERR {}", error.message),
        Ok(value) => match value.kind() {
            Kind::String(text) => format!("cty.StringVal({text:?})"),
            Kind::Number(number) => format!("cty.NumberIntVal({number})"),
            Kind::Bool(true) => "cty.True".to_owned(),
            Kind::Bool(false) => "cty.False".to_owned(),
            _ => {
                let name = ty.friendly_name();
                format!("cty.NullVal(cty.{}{})", name[..1].to_uppercase(), &name[1..])
            }
        },
    };
    assert_eq!(shown, recorded, "{line}");
}

fn check_type(line: &str) {
    let (_, text) = line.split_once(": ").expect("a type");
    let ty = json::type_from_json(text.as_bytes()).expect("a type");
    assert_eq!(json::type_to_json(&ty), text, "{line}");
}

fn check(line: &str) {
    if line.starts_with("parse ") {
        return check_parse(line);
    }
    if line.starts_with("json ") {
        return check_json(line);
    }
    if line.starts_with("type") {
        return check_type(line);
    }
    if let Some((label, recorded)) = line.split_once(" prec=") {
        let value = computed(label).unwrap_or_else(|| panic!("unknown line {line}"));
        return check_number(line, &value, &format!("prec={recorded}"));
    }
    let (name, recorded) =
        line.split_once(": mp=").unwrap_or_else(|| panic!("unknown line {line}"));
    let (value, ty) = named(name).unwrap_or_else(|| panic!("unknown line {line}"));
    check_encoding(line, &value, &ty, &format!("mp={recorded}"));
}

#[test]
fn every_recorded_cty_vector_is_reproduced() {
    // The equalities and the set of objects have their own formats and their own tests below.
    let lines = VECTORS
        .lines()
        .filter(|line| !line.starts_with("F0.1==P0.1") && !line.starts_with("set objs"));
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("  ")).collect();
    assert!(lines.len() > 100);
    lines.into_iter().for_each(check);
}

#[test]
fn decimal_texts_decide_equality_of_fractions() {
    let p = |text: &str| Number::parse(text).expect("a number");
    let f = |value: f64| Number::from(value);
    let sum = f(0.1).add(&f(0.2)).expect("a number");
    let exact = p("0.1").add(&p("0.2")).expect("a number");
    let third = Number::from(3_i64).divide(&Number::from(10_i64)).expect("a number");
    let line = format!(
        "F0.1==P0.1 {} F(.1)+F(.2)==P(.3) {} P.1+P.2==P.3 {} I3/I10==P.3 {}",
        f(0.1) == p("0.1"),
        sum == p("0.3"),
        exact == p("0.3"),
        third == p("0.3")
    );
    assert!(VECTORS.lines().any(|recorded| recorded == line), "{line}");
}

#[test]
fn set_of_objects_has_the_recorded_order() {
    let object = |n: Value, name: &str| Value::object_from([("n", n), ("name", name.into())]);
    let ty = Type::Object(ObjectType::new([("n", Type::Number), ("name", Type::String)]).into());
    let items = vec![
        object(Value::null(Type::Number), "a"),
        object(Value::int(2), "a\n"),
        object(Value::int(1), "b"),
        object(Value::unknown(Type::Number), "A"),
        object(Value::int(10), "é"),
        object(Value::int(2), "a"),
        object(Value::int(1), "\u{200b}"),
        object(Value::int(10), "a"),
    ];
    let set = Value::set(ty, items);
    let recorded = VECTORS.lines().skip_while(|line| *line != "set objs:").skip(1);
    let recorded: Vec<&str> = recorded.take_while(|line| line.starts_with("  ")).collect();
    let ours: Vec<String> = set.as_slice().expect("elements").iter().map(as_go).collect();
    assert_eq!(ours, recorded);
}

fn as_go(object: &Value) -> String {
    let n = object.get_attr("n").expect("n");
    let n = match n.kind() {
        Kind::Null => "cty.NullVal(cty.Number)".to_owned(),
        Kind::Unknown(_) => "cty.UnknownVal(cty.Number)".to_owned(),
        _ => format!("cty.NumberIntVal({})", n.as_number().expect("a number")),
    };
    let mut name = String::new();
    crate::go_quote::write(
        object.get_attr("name").expect("name").as_str().expect("text"),
        &mut name,
    );
    format!("  cty.ObjectVal(map[string]cty.Value{{\"n\":{n}, \"name\":cty.StringVal({name})}})")
}
