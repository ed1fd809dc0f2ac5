//! Property tests: values that are read and written again are unchanged.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*, sample::select};
use values::{Number, Path, Str, Text, Type, Value, ValueMap};

use crate::{
    AttributeValue, Choice, MaybeUnknown, Model, Object, Part, Secret, Set, Unknowns,
    schema::{Attribute, Block, NestedBlock, Nesting, ObjectNesting, Shape},
};

/// A field of each type, in each place.
#[derive(Model, Clone, PartialEq)]
struct Everything {
    text: String,
    shared: Text,
    secret: Secret,
    flag: bool,
    byte: u8,
    small: i8,
    size: usize,
    whole: i64,
    float: f64,
    exact: Number,
    any: Value,
    shade: Shade,
    maybe: Option<String>,
    open: MaybeUnknown<i64>,
    maybe_open: MaybeUnknown<Option<Shade>>,
    list: Vec<String>,
    set: Set<bool>,
    sorted: BTreeSet<i64>,
    map: BTreeMap<Str, u16>,
    maybe_list: Option<Vec<Shade>>,
    nested_lists: Vec<Vec<i64>>,
    map_of_sets: BTreeMap<String, BTreeSet<String>>,
    open_list: Vec<MaybeUnknown<Option<String>>>,
    part: Inner,
    maybe_part: Option<Inner>,
    part_list: Vec<Inner>,
    part_set: Set<Inner>,
    part_map: BTreeMap<Str, Inner>,
    open_part: MaybeUnknown<Option<Inner>>,
    plain: Plain,
    plain_list: Option<Vec<Plain>>,
    r#type: String,
    #[attribute(name = "fn", default = 3)]
    renamed: i64,
    #[flatten]
    flattened: Flattened,
    #[block]
    one: Option<Outer>,
    #[block]
    several: Vec<Outer>,
    #[block]
    unordered: Set<Inner>,
    #[block]
    labelled: BTreeMap<Str, Inner>,
    #[block]
    dynamic: Vec<Dynamic>,
    #[block]
    dynamic_map: BTreeMap<Str, Dynamic>,
}

#[derive(Choice, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Shade {
    Light,
    DarkGrey,
    #[choice("tar.gz")]
    Other,
}

#[derive(Model, Clone, PartialEq)]
struct Inner {
    name: Option<String>,
    #[attribute(optional, computed)]
    count: MaybeUnknown<Option<u8>>,
    tags: Vec<String>,
}

#[derive(Model, Clone, PartialEq)]
#[model(plain)]
struct Plain {
    name: String,
    shade: Option<Shade>,
}

#[derive(Model, Clone, PartialEq)]
struct Flattened {
    first: Option<bool>,
    #[block]
    deep: Vec<Inner>,
}

#[derive(Model, Clone, PartialEq)]
struct Outer {
    label: String,
    #[block]
    inner: Vec<Inner>,
    #[block(max = 1)]
    once: Set<Inner>,
}

#[derive(Model, Clone, PartialEq)]
struct Dynamic {
    any: Value,
    name: String,
}

fn of_type(ty: &Type) -> BoxedStrategy<Value> {
    match ty {
        Type::Bool => any::<bool>().prop_map(Value::bool).boxed(),
        // Each number fits into a byte.
        Type::Number => (0_i64..100).prop_map(Value::int).boxed(),
        Type::String => select(vec!["light", "dark_grey", "tar.gz"]).prop_map(Value::from).boxed(),
        Type::Dynamic => prop_oneof![
            (0_i64..9).prop_map(Value::int),
            vec(any::<bool>().prop_map(Value::bool), 0..3).prop_map(Value::tuple),
            Just(Value::null(Type::Dynamic)),
        ]
        .boxed(),
        Type::List(it) | Type::Set(it) | Type::Map(it) => collected(of_type(it), ty.clone()),
        Type::Object(parts) => {
            object(parts.iter().map(|(name, it)| (name.clone(), of_type(it))).collect())
        }
        _ => unreachable!("no field has this type"),
    }
}

/// Up to three elements in a collection of a type.
fn collected(element: BoxedStrategy<Value>, ty: Type) -> BoxedStrategy<Value> {
    let keyed = |it: Vec<Value>| -> ValueMap {
        it.into_iter().enumerate().map(|(index, it)| (format!("k{index}").into(), it)).collect()
    };
    let collect = move |elements: Vec<Value>| match &ty {
        Type::List(it) if it.has_dynamic() => Value::tuple(elements),
        Type::List(it) => Value::list((**it).clone(), elements),
        Type::Set(it) => Value::set((**it).clone(), elements),
        Type::Map(it) if it.has_dynamic() => Value::object(keyed(elements)),
        Type::Map(it) => Value::map((**it).clone(), keyed(elements)),
        _ => unreachable!("it is a collection"),
    };
    vec(element, 0..3).prop_map(collect).boxed()
}

fn object(parts: Vec<(Str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let (names, values): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    values.prop_map(move |it| Value::object(names.iter().cloned().zip(it).collect())).boxed()
}

fn of_attribute(attribute: &Attribute) -> BoxedStrategy<Value> {
    let ty = attribute.implied_type();
    let known = match &attribute.shape {
        Shape::Type(ty) => of_type(ty),
        Shape::Nested(ObjectNesting::Single, objects) => of_block(objects),
        Shape::Nested(_, objects) => collected(of_block(objects), ty.clone()),
    };
    match attribute.required || attribute.default.is_some() {
        true => known,
        false => prop_oneof![known, Just(Value::null(ty))].boxed(),
    }
}

fn of_blocks(blocks: &NestedBlock) -> BoxedStrategy<Value> {
    let one = of_block(&blocks.block);
    let ty = blocks.block.to_provider().implied_type().clone();
    match blocks.nesting {
        Nesting::Single | Nesting::Group => prop_oneof![one, Just(Value::null(ty))].boxed(),
        Nesting::List => collected(one, Type::list(ty)),
        Nesting::Set => collected(one, Type::set(ty)),
        Nesting::Map => collected(one, Type::map(ty)),
    }
}

fn of_block(block: &Block) -> BoxedStrategy<Value> {
    let attributes = block.attributes.iter().map(|(name, it)| (name.clone(), of_attribute(it)));
    let blocks = block.blocks.iter().map(|(name, it)| (name.clone(), of_blocks(it)));
    object(attributes.chain(blocks).collect())
}

fn part(value: &Value) -> Part<'_> {
    Part { value, path: Path::root().attr("a"), unknowns: Unknowns::Refused }
}

/// Checks that a value of Rust survives, in each of the places for attributes.
fn check<T: AttributeValue + PartialEq + Clone>(original: &T) -> Result<(), TestCaseError> {
    let encoded = original.encode();
    prop_assert_eq!(encoded.ty(), T::ty());
    let decoded = T::decode(&part(&encoded)).map_err(|it| TestCaseError::fail(it.detail))?;
    prop_assert!(decoded == *original);
    let list = vec![MaybeUnknown::Known(Some(original.clone())), MaybeUnknown::Known(None)];
    let list: Vec<_> = list.into_iter().chain([MaybeUnknown::Unknown]).collect();
    let encoded = list.encode();
    prop_assert_eq!(encoded.ty(), Type::list(T::ty()));
    let decoded = Vec::<MaybeUnknown<Option<T>>>::decode(&part(&encoded));
    prop_assert!(decoded.map_err(|it| TestCaseError::fail(it.detail))? == list);
    Ok(())
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn values_of_a_schema_are_unchanged_after_reading(
        value in of_block(&Everything::schema().block)
    ) {
        let read = |it: Value| Everything::decode(&Object::new(it), Unknowns::Refused);
        let model = read(value.clone()).map_err(|it| TestCaseError::fail(it.detail))?;
        prop_assert_eq!(&model.encode(), &value);
        let again = read(model.encode()).map_err(|it| TestCaseError::fail(it.detail))?;
        prop_assert!(again == model);
    }

    #[test]
    fn whole_numbers_are_unchanged(
        a: i8, b: i16, c: i32, d: i64, e: isize, f: u8, g: u16, h: u32, i: u64, j: usize
    ) {
        check(&a)?;
        check(&b)?;
        check(&c)?;
        check(&d)?;
        check(&e)?;
        check(&f)?;
        check(&g)?;
        check(&h)?;
        check(&i)?;
        check(&j)?;
    }

    #[test]
    fn floating_point_numbers_are_unchanged(bits: u64) {
        let float = f64::from_bits(bits);
        if float.is_finite() {
            check(&float)?;
        }
    }

    #[test]
    fn numbers_are_never_rounded(mantissa: i64, exponent in -20_i32..20) {
        let number = Number::parse(&format!("{mantissa}e{exponent}")).expect("is a number");
        let value = Value::number(number.clone());
        let power = 10_i128.pow(exponent.unsigned_abs());
        let whole = match exponent < 0 {
            true => Some(i128::from(mantissa) / power).filter(|it| it * power == i128::from(mantissa)),
            false => i128::from(mantissa).checked_mul(power),
        };
        prop_assert_eq!(i64::decode(&part(&value)).ok(), whole.and_then(|it| it.try_into().ok()));
        prop_assert_eq!(u64::decode(&part(&value)).ok(), whole.and_then(|it| it.try_into().ok()));
        prop_assert_eq!(i8::decode(&part(&value)).ok(), whole.and_then(|it| it.try_into().ok()));
        if let Ok(float) = f64::decode(&part(&value)) {
            prop_assert_eq!(float.encode(), value.clone());
        }
        check(&number)?;
    }

    #[test]
    fn texts_and_collections_are_unchanged(
        texts in vec(select(vec!["", "a", "é", "\u{0}", "\"\\\n"]), 0..4),
        flags in vec(any::<bool>(), 0..4),
        shade in select(vec![Shade::Light, Shade::DarkGrey, Shade::Other]),
    ) {
        let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
        check(&texts)?;
        check(&texts.iter().map(Secret::new).collect::<Vec<_>>())?;
        check(&texts.iter().cloned().collect::<BTreeSet<String>>())?;
        let entries = texts.iter().cloned().zip(flags.clone());
        check(&entries.collect::<BTreeMap<String, bool>>())?;
        check(&flags)?;
        check(&shade)?;
        check(&vec![shade; flags.len()])?;
    }
}
