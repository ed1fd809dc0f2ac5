//! Properties of all bytes that are decoded as values, types or numbers. The fuzz targets (`fuzz/`) and
//! `tests/hostile` call the same functions.

use crate::{
    Budget, Kind, Mark, Number, Type, Value, conform, convert,
    functions::{self, Function, FunctionEnv, RenderError},
    json, msgpack,
};

/// More digits than any number from a text of the permitted length has when its exponent is written out.
const MAX_DIGITS: usize = 700_000;

/// The budget of one function call.
const MAX_BYTES: u64 = 16 << 20;

/// Checks MessagePack after a type in JSON and a line feed. The decoded value has the type, and survives encoding
/// with that type and with the open type. No value has more parts than there are bytes.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_msgpack(bytes: &[u8]) {
    let (ty, bytes) = split(bytes);
    let Ok(value) = msgpack::decode(bytes, &ty) else { return };
    check_type(&value, &ty);
    assert!(parts(&value) <= bytes.len(), "{} bytes gave {} parts", bytes.len(), parts(&value));
    for ty in [&ty, &value.ty(), &Type::Dynamic] {
        let written = msgpack::encode(&value, ty).expect("what was read can be written");
        let read = msgpack::decode(&written, ty).expect("what was written can be read");
        assert!(
            read == value || has_short_number(&value),
            "{value:?} became {read:?} through {ty:?}"
        );
        assert_eq!(msgpack::encode(&read, ty).as_ref(), Ok(&written), "there is one way to write");
    }
}

/// Checks JSON after a type in JSON and a line feed. The decoded value has the type, and survives encoding with
/// that type and with the open type. A value decoded without a type survives with its own type.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_json(bytes: &[u8]) {
    let (ty, text) = split(bytes);
    if let Ok(value) = json::decode(text, &ty) {
        check_type(&value, &ty);
        check_json_of(&value, &[&ty, &value.ty(), &Type::Dynamic]);
    }
    if let Ok(value) = json::decode_implied(text) {
        assert_eq!(json::implied_type(text).as_ref(), Ok(&value.ty()));
        check_json_of(&value, &[&value.ty()]);
    }
}

fn check_json_of(value: &Value, types: &[&Type]) {
    if has_infinity(value) {
        // Infinity is the only value that decodes (from a text for a number) but cannot be encoded.
        return types.iter().for_each(|ty| assert!(json::encode(value, ty).is_err()));
    }
    for ty in types {
        let written = json::encode(value, ty).expect("what was read can be written");
        let read = json::decode(written.as_bytes(), ty).expect("what was written can be read");
        assert_eq!(read, *value, "through {ty:?}");
        assert_eq!(json::encode(&read, ty), Ok(written), "there is one way to write");
    }
}

/// Checks that a type in JSON survives encoding, and that its encoding is not much longer.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_type_json(bytes: &[u8]) {
    let Ok(ty) = json::type_from_json(bytes) else { return };
    let written = json::type_to_json(&ty);
    assert_eq!(json::type_from_json(written.as_bytes()).as_ref(), Ok(&ty));
    // `<` is escaped to six bytes, and NFC makes a character at most three times as long.
    assert!(written.len() <= 18 * bytes.len(), "{} bytes became {}", bytes.len(), written.len());
    let plain = ty.without_optional();
    assert!(!plain.has_optional() && conform::conforms(&plain, &ty).is_empty(), "{ty:?}");
}

/// Checks that the text of a number is the text of the same number, within bounds, and that arithmetic does not
/// panic.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_number(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (first, second) = text.split_once(' ').unwrap_or((text, "1.5"));
    let Some(number) = Number::parse(first) else { return };
    // The time to write a number in full depends on its exponent, which may be large.
    if is_ordinary(&number) {
        let shown = number.to_string();
        assert!(shown.len() < MAX_DIGITS, "{first} is {} digits", shown.len());
        if !number.is_infinite() && shown.len() < 2000 {
            let again = Number::parse(&shown).expect("what is shown is a number");
            assert_eq!(again.to_string(), shown);
        }
    }
    let Some(other) = Number::parse(second).filter(|_| is_ordinary(&number)) else { return };
    assert_eq!(number.compare(&other), other.compare(&number).reverse());
    assert_eq!(
        number.add(&other).map(|it| it.to_f64()),
        other.add(&number).map(|it| it.to_f64()),
        "addition commutes"
    );
    drop((number.subtract(&other), number.multiply(&other), number.divide(&other)));
    drop((number.modulo(&other), number.floor(), number.ceil(), number.to_i64()));
}

fn is_ordinary(number: &Number) -> bool {
    let magnitude = number.magnitude();
    let is_small = magnitude.compare(&Number::from(1e300)).is_lt();
    is_small && (number.signum() == 0 || magnitude.compare(&Number::from(1e-300)).is_gt())
}

fn split(bytes: &[u8]) -> (Type, &[u8]) {
    let end = bytes.iter().position(|it| *it == b'\n');
    let read = end.and_then(|end| {
        let ty = json::type_from_json(&bytes[..end]).ok()?;
        Some((ty, &bytes[end + 1..]))
    });
    read.unwrap_or((Type::Dynamic, bytes))
}

fn check_type(value: &Value, ty: &Type) {
    assert!(!value.is_marked_deep(), "no codec gives a mark");
    let mismatches = conform::conforms(&value.ty(), ty);
    assert_eq!(conform::value_conforms(value, ty), mismatches, "{value:?} {ty:?}");
    assert!(mismatches.is_empty(), "{mismatches:?}");
}

fn parts(value: &Value) -> usize {
    1 + value.parts().map(|(_, part)| parts(part)).sum::<usize>()
}

/// Returns true if the value contains a number whose text does not identify it: a whole number beyond 64 bits that
/// was decoded from a float with 53 bits. OpenTofu also encodes only its shortest text.
fn has_short_number(value: &Value) -> bool {
    let is_short = |number: &Number| Number::parse(&number.to_string()).as_ref() != Some(number);
    match value.kind() {
        Kind::Number(number) => is_short(number),
        Kind::Unknown(known) => {
            [known.lower(), known.upper()].into_iter().flatten().any(|it| is_short(&it.value))
        }
        _ => value.parts().any(|(_, part)| has_short_number(part)),
    }
}

fn has_infinity(value: &Value) -> bool {
    match value.kind() {
        Kind::Number(number) => number.is_infinite(),
        _ => value.parts().any(|(_, part)| has_infinity(part)),
    }
}

/// Checks conversions of JSON after a type in JSON and a line feed:
///
/// - the value converts to that type or is refused, and its own type allows to predict that;
/// - a second conversion changes nothing;
/// - an unknown value converts if any value of its type does;
/// - no mark is lost;
/// - each part of the value converts to the unified type of all parts.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_conversion(bytes: &[u8]) {
    let (want, text) = split(bytes);
    let Ok(value) = json::decode_implied(text) else { return };
    if has_extreme_number(&value) {
        return;
    }
    check_conversion_of(&value, &want);
    let types: Vec<Type> = value.parts().map(|(_, part)| part.ty()).collect();
    for (unified, is_safe) in [(convert::unify(&types), false), (convert::unify_safe(&types), true)]
    {
        let Some(unified) = unified else { continue };
        for (_, part) in value.parts() {
            let ty = part.ty();
            assert!(convert::can_convert(&ty, &unified), "{ty:?} does not become {unified:?}");
            assert!(
                !is_safe || convert::is_safe(&ty, &unified),
                "{ty:?} may not become {unified:?}"
            );
            check_conversion_of(part, &unified);
        }
    }
}

fn check_conversion_of(value: &Value, want: &Type) {
    let ty = value.ty();
    let converted = convert::convert(value, want);
    // The type does not describe the content of a part with an open type.
    if convert::is_safe(&ty, want) && !ty.has_dynamic() {
        assert!(converted.is_ok(), "{ty:?} always becomes {want:?}: {converted:?}");
    }
    let Ok(converted) = converted else { return };
    assert!(convert::can_convert(&ty, want), "{ty:?} became {want:?}");
    let mismatches = conform::conforms(&converted.ty(), &want.without_optional());
    assert!(mismatches.is_empty(), "{mismatches:?}: {converted:?}");
    assert_eq!(convert::convert(&converted, want).as_ref(), Ok(&converted), "the second time");
    let unknown = convert::convert(&Value::unknown(ty), want).expect("a value of the type did");
    assert!(!unknown.is_wholly_known() || unknown.is_null() || has_no_parts(&unknown));
    let marked = value.with_mark(Mark::Ephemeral);
    let marked = convert::convert(&marked, want).expect("a mark hinders nobody");
    assert_eq!(marked, converted.with_mark(Mark::Ephemeral), "with a mark");
}

/// Returns true for a value without parts. Its type allows only the empty tuple or object, even if it is unknown.
fn has_no_parts(value: &Value) -> bool {
    value.parts().next().is_none()
}

fn has_extreme_number(value: &Value) -> bool {
    let mut found = false;
    value.walk(&mut |_, part| {
        found |= part.as_number().is_some_and(|number| !is_ordinary(number));
        true
    });
    found
}

/// Checks calls: the name of a function, a line feed, and a JSON array of arguments. No call panics, whether all,
/// some or no arguments are known. A result has the type that `return_type` gave. If an argument is unknown or
/// ephemeral and the result depends on it, the result is too.
///
/// # Panics
///
/// Panics if one of these properties does not hold.
pub fn check_function(bytes: &[u8]) {
    let end = bytes.iter().position(|it| *it == b'\n').unwrap_or(bytes.len());
    let (name, text) = bytes.split_at(end);
    let Some(function) = std::str::from_utf8(name).ok().and_then(functions::lookup) else { return };
    let Ok(args) = json::decode_implied(text.get(1..).unwrap_or(b"")) else { return };
    let args = args.as_slice().unwrap_or(&[]);
    if function.is_form() || is_slow(function, args) {
        return;
    }
    let result = function.call(args, &Nowhere(Budget::new(MAX_BYTES)));
    if let (Ok(result), Ok(ty)) = (&result, function.return_type(args)) {
        let mismatches = conform::conforms(&result.ty(), &ty);
        assert!(mismatches.is_empty(), "{name:?}: {mismatches:?}");
    }
    for at in 0..args.len() {
        let with = |value: Value| {
            let mut args = args.to_vec();
            args[at] = value;
            function.call(&args, &Nowhere(Budget::new(MAX_BYTES)))
        };
        drop(with(Value::dynamic()));
        let partial = with(Value::unknown(args[at].ty()));
        if let (Ok(partial), Ok(result)) = (partial, &result) {
            let is_known = partial.is_wholly_known() && !result.is_null();
            assert!(!is_known || partial == *result, "{name:?} {at}: {partial:?} of {result:?}");
        }
        let marked = with(args[at].with_mark(Mark::Ephemeral));
        if let (Ok(marked), Ok(result)) = (marked, &result) {
            let is_same = marked.without_all_marks() == result.without_all_marks();
            assert!(is_same || function.name == "ephemeralasnull", "{name:?} {at}: {marked:?}");
        }
    }
}

/// Returns true if a call may take long: the time for extreme numbers depends on their size, as in OpenTofu.
fn is_slow(function: &Function, args: &[Value]) -> bool {
    args.iter().any(has_extreme_number) || function.name == "setproduct"
}

/// An environment without any content.
struct Nowhere(Budget);

impl FunctionEnv for Nowhere {
    fn budget(&self) -> Option<&Budget> {
        Some(&self.0)
    }

    fn read_file(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(b"text".to_vec())
    }

    fn file_exists(&self, _: &str) -> Result<bool, String> {
        Ok(true)
    }

    fn list_directory(&self, path: &str) -> Result<Vec<(String, bool)>, String> {
        let is_top = matches!(path, "." | "/");
        Ok(vec![("a.txt".to_owned(), false), ("d".to_owned(), is_top)])
    }

    fn render_template(&self, _: &str, text: &str, _: &Value) -> Result<Value, RenderError> {
        Ok(Value::string(text))
    }

    fn now(&self) -> Option<String> {
        None
    }

    fn uuid(&self) -> Option<String> {
        None
    }
}
