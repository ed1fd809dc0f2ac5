//! Tests of both codecs against each other, on damaged bytes and on hostile bytes.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::{
    Mark, Number, Refinements, Type, Value,
    conform::{conforms, value_conforms},
    json, msgpack,
};

fn leaf() -> impl Strategy<Value = Value> {
    let number = |text: &str| Value::number(Number::parse(text).expect("a number"));
    let text = select(vec![
        "",
        "a",
        "é",
        "<&>",
        "\u{2028}",
        "\"\\\n\u{0}",
        "long long long long long long long text",
    ]);
    prop_oneof![
        any::<bool>().prop_map(Value::bool),
        any::<i64>().prop_map(Value::int),
        any::<u64>().prop_map(|value| Value::number(Number::from(value))),
        (-1e9_f64..1e9).prop_map(|value| Value::number(Number::from(value))),
        select(vec!["0.1", "-0", "1e30", "123456789012345678901234567890.5"]).prop_map(number),
        text.prop_map(Value::from),
        Just(Value::null(Type::String)),
        Just(Value::null(Type::Dynamic)),
    ]
}

fn known() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        let texts = vec(select(vec!["a", "b", "c"]), 0..4);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::tuple),
            vec((select(vec!["a", "b", "é"]), inner), 0..3).prop_map(Value::object_from),
            texts.clone().prop_map(|items| Value::list(
                Type::String,
                items.into_iter().map(Value::from).collect()
            )),
            texts.clone().prop_map(|items| Value::set(
                Type::String,
                items.into_iter().map(Value::from).collect()
            )),
            texts.prop_map(|items| {
                Value::map(
                    Type::Bool,
                    items.into_iter().map(|key| (key.into(), true.into())).collect(),
                )
            }),
        ]
    })
}

fn unknown() -> impl Strategy<Value = Value> {
    let bound = (-5_i64..5, 5_i64..9, any::<bool>());
    prop_oneof![
        select(vec![Type::String, Type::Bool, Type::list(Type::String), Type::Dynamic])
            .prop_map(Value::unknown),
        select(vec!["https://", "a-"]).prop_map(|prefix| {
            Value::unknown_with(Type::String, Refinements::non_null().with_prefix(prefix))
        }),
        bound.clone().prop_map(|(low, high, inclusive)| {
            let known = Refinements::NONE
                .with_lower(Number::from(low), inclusive)
                .with_upper(Number::from(high), false);
            Value::unknown_with(Type::Number, known)
        }),
        bound.prop_map(|(_, high, _)| {
            let known =
                Refinements::non_null().with_min_length(2).with_max_length(high.unsigned_abs());
            Value::unknown_with(Type::set(Type::Bool), known)
        }),
    ]
}

fn any_type() -> impl Strategy<Value = Type> {
    let leaf = select(vec![Type::Dynamic, Type::Bool, Type::Number, Type::String]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::set),
            inner.clone().prop_map(Type::map),
            vec(inner.clone(), 0..3).prop_map(Type::tuple),
            vec((select(vec!["a", "b"]), inner), 0..3).prop_map(Type::object),
        ]
    })
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn values_round_trip_in_msgpack_and_json(value in known()) {
        for ty in [value.ty(), Type::Dynamic] {
            let bytes = msgpack::encode(&value, &ty).expect("bytes");
            prop_assert_eq!(&msgpack::decode(&bytes, &ty).expect("a value"), &value);
            let text = json::encode(&value, &ty).expect("text");
            prop_assert_eq!(&json::decode(text.as_bytes(), &ty).expect("a value"), &value);
        }
    }

    #[test]
    fn unknown_values_round_trip_in_msgpack(value in unknown()) {
        for value in [value.clone(), Value::tuple(vec![value.clone(), Value::int(1)])] {
            let bytes = msgpack::encode(&value, &value.ty()).expect("bytes");
            prop_assert_eq!(&msgpack::decode(&bytes, &value.ty()).expect("a value"), &value);
            prop_assert_eq!(json::encode(&value, &value.ty()).expect_err("unknown").message, "value is not known");
        }
    }

    #[test]
    fn differences_from_a_type_do_not_depend_on_how_they_are_found(value in known(), ty in any_type()) {
        for want in [ty, value.ty()] {
            prop_assert_eq!(value_conforms(&value, &want), conforms(&value.ty(), &want));
        }
    }

    #[test]
    fn types_round_trip_in_json(ty in any_type()) {
        prop_assert_eq!(json::type_from_json(json::type_to_json(&ty).as_bytes()), Ok(ty));
    }

    #[test]
    fn decoders_never_panic_on_random_bytes(bytes in vec(any::<u8>(), 0..64), ty in any_type()) {
        if let Ok(value) = msgpack::decode(&bytes, &ty) {
            prop_assert!(conforms(&value.ty(), &ty).is_empty());
        }
        let _ = json::decode(&bytes, &ty);
        let _ = json::decode_implied(&bytes);
        let _ = json::type_from_json(&bytes);
    }

    #[test]
    fn decoders_never_panic_on_damaged_bytes(
        value in known(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let ty = value.ty();
        let mut bytes = msgpack::encode(&value, &Type::Dynamic).expect("bytes");
        let place = at.index(bytes.len());
        bytes[place] = byte;
        let _ = msgpack::decode(&bytes, &Type::Dynamic);
        let _ = msgpack::decode(&bytes[..place], &Type::Dynamic);
        let mut text = json::encode(&value, &ty).expect("text").into_bytes();
        let place = at.index(text.len());
        text[place] = byte;
        let _ = json::decode(&text, &ty);
    }
}

#[track_caller]
fn check_error(bytes: &[u8], ty: &Type, expected: &str) {
    assert_eq!(msgpack::decode(bytes, ty).expect_err("an error").to_string(), expected);
}

#[test]
fn claimed_msgpack_lengths_allocate_nothing() {
    check_error(
        &[0xdd, 0xff, 0xff, 0xff, 0xff],
        &Type::list(Type::String),
        "[0]: unexpected end of data",
    );
    check_error(
        &[0xdf, 0xff, 0xff, 0xff, 0xff],
        &Type::map(Type::String),
        "unexpected end of data",
    );
    check_error(&[0xdb, 0xff, 0xff, 0xff, 0xff], &Type::String, "unexpected end of data");
    check_error(&[0xc9, 0xff, 0xff, 0xff, 0xff, 0x0c], &Type::String, "unexpected end of data");
}

#[test]
fn refinements_that_contradict_each_other_are_errors() {
    let wrong = "inconsistent refinements of an unknown value";
    let ext = |body: &[u8]| {
        let length = u8::try_from(body.len()).expect("a short body");
        [&[0xc7, length, 0x0c], body].concat()
    };
    // A range of 3 to 1; both not null and null; a prefix for a number; a length of 5 to 2.
    check_error(&ext(&[0x82, 3, 0x92, 3, 0xc3, 4, 0x92, 1, 0xc3]), &Type::Number, wrong);
    check_error(&ext(&[0x82, 1, 0xc2, 1, 0xc3]), &Type::Number, wrong);
    check_error(&ext(&[0x81, 2, 0xa1, b'a']), &Type::Number, wrong);
    check_error(&ext(&[0x82, 5, 5, 6, 2]), &Type::list(Type::Bool), wrong);
    check_error(&ext(&[0x81, 5, 0xff]), &Type::list(Type::Bool), "a length is a whole number");
    let large = [vec![0xc8, 0x04, 0x01, 0x0c], vec![0xc0; 0x401]].concat();
    check_error(&large, &Type::String, "unknown value refinements are too large");
    // Unknown keys are skipped with their values; a length of two thousand million allocates nothing.
    let strange = ext(&[0x82, 0x7f, 0x92, 0xa1, b'x', 0x81, 1, 2, 1, 0xc2]);
    let value = msgpack::decode(&strange, &Type::String).expect("a value");
    assert!(!value.is_known() && value.is_definitely_not_null());
    let huge =
        ext(&[0x83, 1, 0xc2, 5, 0xce, 0x7f, 0xff, 0xff, 0xff, 6, 0xce, 0x7f, 0xff, 0xff, 0xff]);
    assert!(!msgpack::decode(&huge, &Type::list(Type::Bool)).expect("a value").is_known());
}

#[test]
fn unrefined_msgpack_extensions_decode_as_unknown() {
    for bytes in
        [&[0xd4, 0x00, 0x00][..], &[0xd4, 0x0c, 0x00], &[0xc7, 0x00, 0x0c], &[0xd5, 0x05, 1, 2]]
    {
        assert_eq!(msgpack::decode(bytes, &Type::String), Ok(Value::unknown(Type::String)));
    }
}

#[test]
fn decoders_limit_nesting() {
    let deep_arrays = vec![0x91; 100_000];
    let mut ty = Type::String;
    for _ in 0..300 {
        ty = Type::list(ty);
    }
    assert!(msgpack::decode(&deep_arrays, &ty).is_err());
    let text = "[".repeat(100_000);
    assert!(json::decode_implied(text.as_bytes()).is_err());
    assert!(json::type_from_json("[\"list\",".repeat(100_000).as_bytes()).is_err());
    let in_an_extension = [vec![0xc8, 0x04, 0x00, 0x0c, 0x81, 0x7f], vec![0x91; 0x3fe]].concat();
    assert!(msgpack::decode(&in_an_extension, &Type::String).is_err());
    let deepest = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let value = json::decode_implied(deepest.as_bytes()).expect("a value");
    let bytes = msgpack::encode(&value, &value.ty()).expect("bytes");
    assert_eq!(msgpack::decode(&bytes, &value.ty()).expect("a value"), value);
}

#[test]
fn marked_values_cannot_be_encoded() {
    let value = Value::tuple(vec![Value::string("hunter2").with_mark(Mark::Ephemeral)]);
    let message = "value has marks, so it cannot be serialized";
    assert_eq!(msgpack::encode(&value, &value.ty()).expect_err("marked").to_string(), message);
    assert_eq!(json::encode(&value, &value.ty()).expect_err("marked").to_string(), message);
}

#[test]
fn json_decoder_is_as_lenient_as_cty() {
    let ty = Type::object([("a", Type::String), ("b", Type::Number)]);
    let decode = |text: &str| match json::decode(text.as_bytes(), &ty) {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(decode(r#"{"a":1.0}"#), r#"{"a" = "1.0", "b" = tonumber(null)}"#);
    assert_eq!(decode(r#"{"a":"x","a":"y","b":"5"}"#), r#"{"a" = "y", "b" = 5}"#);
    assert_eq!(decode(r#"{"c":1}"#), "unsupported attribute");
    assert_eq!(decode(r#"{"b":"x"}"#), ".b: a number is required");
    assert_eq!(decode(r#"{"b":01}"#), "invalid character after object entry at offset 6");
    assert_eq!(
        decode(r#"{"a":"\ud83d\ude00\ud800x"}"#),
        "{\"a\" = \"😀\u{fffd}x\", \"b\" = tonumber(null)}"
    );
    let dynamic = json::decode(br#"{"type":"number","value":1}"#, &Type::Dynamic);
    assert_eq!(dynamic, Ok(Value::int(1)));
    assert!(json::decode(br#"{"value":1}"#, &Type::Dynamic).is_err());
    let nothing = json::implied_type(br#"{"a":[1,"x",null,true]}"#).expect("a type");
    assert_eq!(
        json::type_to_json(&nothing),
        r#"["object",{"a":["tuple",["number","string","dynamic","bool"]]}]"#
    );
}

#[test]
fn collections_of_open_type_must_agree() {
    let wrapped = |ty: &[u8], value: &[u8]| {
        let length = u8::try_from(ty.len()).expect("a short type");
        [&[0x92, 0xc4, length], ty, value].concat()
    };
    let items =
        [vec![0x92], wrapped(b"\"string\"", &[0xa1, b'a']), wrapped(b"\"bool\"", &[0xc3])].concat();
    check_error(&items, &Type::list(Type::Dynamic), "all elements must have the same type");
}
