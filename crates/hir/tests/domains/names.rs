//! The variables of the expressions: many types, with marks at various depths. Each has an abstract value, and
//! random runtime values that conform to it.

use std::{collections::BTreeMap, sync::Arc};

use hir::{
    ExprId, Interrupt, Ref, Scope,
    analysis::{
        Abstract, ItemProblem, Tri, TriMarks,
        infer::InferEnv,
        origin::Origin,
        value::{Inside, Presence},
    },
    expr::{At, NodeId},
    names::{ItemKey, Keys},
    provider_function::Lookup,
};
use provider::{FunctionParameter, FunctionSignature};
use values::{
    Mark, MarkKind, Str, Type, Value, ValueMap,
    functions::{FunctionEnv, RenderError},
};

use crate::rng::Rng;

/// The message of the last link of every chain.
pub(crate) const DECLARED: &str = "declared here";

/// The static description of a variable.
#[derive(Clone)]
pub(crate) struct Shape {
    parts: Parts,
    marks: TriMarks,
    presence: Presence,
}

#[derive(Clone)]
enum Parts {
    /// Any value of the type.
    Leaf(Type),
    /// A value of unknown type.
    Any,
    Object(Vec<(&'static str, Shape)>),
    Tuple(Vec<Shape>),
    /// A list of such elements.
    List(Box<Shape>),
    /// A map of such elements.
    Map(Box<Shape>),
    /// A value of the type, with these marks anywhere inside.
    Somewhere(Type, TriMarks),
}

impl Shape {
    fn new(parts: Parts) -> Shape {
        Shape { parts, marks: TriMarks::NONE, presence: Presence::Open }
    }

    fn of(ty: Type) -> Shape {
        Shape::new(Parts::Leaf(ty))
    }

    fn object<const N: usize>(parts: [(&'static str, Shape); N]) -> Shape {
        Shape::new(Parts::Object(parts.to_vec()))
    }

    fn tuple<const N: usize>(parts: [Shape; N]) -> Shape {
        Shape::new(Parts::Tuple(parts.to_vec()))
    }

    fn list(element: Shape) -> Shape {
        Shape::new(Parts::List(Box::new(element)))
    }

    fn map(element: Shape) -> Shape {
        Shape::new(Parts::Map(Box::new(element)))
    }

    fn ephemeral(self, certainty: Tri) -> Shape {
        Shape { marks: self.marks.with(MarkKind::Ephemeral, certainty), ..self }
    }

    fn sensitive(self, certainty: Tri) -> Shape {
        Shape { marks: self.marks.with(MarkKind::Sensitive, certainty), ..self }
    }

    fn known(self) -> Shape {
        Shape { presence: Presence::Known, ..self }
    }

    fn ty(&self) -> Type {
        match &self.parts {
            Parts::Leaf(ty) | Parts::Somewhere(ty, _) => ty.clone(),
            Parts::Any => Type::Dynamic,
            Parts::Object(parts) => Type::object(parts.iter().map(|(name, it)| (*name, it.ty()))),
            Parts::Tuple(parts) => Type::tuple(parts.iter().map(Shape::ty)),
            Parts::List(element) => Type::list(element.ty()),
            Parts::Map(element) => Type::map(element.ty()),
        }
    }

    /// The abstract value of the variable.
    fn abstract_value(&self) -> Abstract {
        let plain = Abstract::of_type(self.ty());
        let inside = match &self.parts {
            Parts::Leaf(_) | Parts::Any => Inside::PLAIN,
            Parts::Object(parts) => Inside::attrs(
                parts.iter().map(|(name, it)| (Str::from(*name), it.abstract_value())).collect(),
            ),
            Parts::Tuple(parts) => Inside::items(parts.iter().map(Shape::abstract_value).collect()),
            Parts::List(element) | Parts::Map(element) => {
                Inside::Each(Arc::new(element.abstract_value()))
            }
            Parts::Somewhere(_, marks) => Inside::Opaque(*marks),
        };
        Abstract { inside, marks: self.marks, presence: self.presence, ..plain }
            .ephemeral_as_marked()
    }

    /// A random value that conforms to the description. `nulls` is the percentage of nulls.
    fn value(&self, rng: &mut Rng, nulls: usize) -> Value {
        let value = match self.presence {
            Presence::Open if rng.percent(nulls) => Value::null(self.ty()),
            _ => self.present(rng, nulls),
        };
        put(self.marks, value, rng)
    }

    /// The value during planning. `unknowns` is the percentage of unknown parts.
    fn planned(&self, value: &Value, rng: &mut Rng, unknowns: usize) -> Value {
        let (bare, marks) = value.unmark();
        // An unknown value hides the marks inside of it, so a value with such marks stays known.
        let hides = self.presence < Presence::Known && !self.has_marks_inside();
        let planned = match self.presence {
            Presence::NotNull if hides && rng.percent(unknowns) => {
                Value::unknown(bare.ty()).refined_not_null()
            }
            Presence::Open if hides && rng.percent(unknowns) => Value::unknown(self.ty()),
            _ => self.planned_parts(&bare, rng, unknowns),
        };
        planned.with_marks(&marks)
    }

    fn planned_parts(&self, value: &Value, rng: &mut Rng, unknowns: usize) -> Value {
        let mut position = 0;
        match &self.parts {
            Parts::Leaf(_) | Parts::Any => masked(value, rng, unknowns),
            Parts::Somewhere(..) => value.clone(),
            Parts::Object(parts) => value.map_parts(|step, part| {
                let named =
                    |(name, _): &&(&str, Shape)| *step == values::Step::Attr((*name).into());
                parts
                    .iter()
                    .find(named)
                    .map_or(part.clone(), |(_, it)| it.planned(part, rng, unknowns))
            }),
            Parts::Tuple(parts) => value.map_parts(|_, part| {
                position += 1;
                parts[position - 1].planned(part, rng, unknowns)
            }),
            Parts::List(element) | Parts::Map(element) => {
                value.map_parts(|_, part| element.planned(part, rng, unknowns))
            }
        }
    }

    fn has_marks_inside(&self) -> bool {
        self.abstract_value().inside.marks() != TriMarks::NONE
    }

    fn present(&self, rng: &mut Rng, nulls: usize) -> Value {
        match &self.parts {
            Parts::Leaf(ty) => random(ty, rng, nulls, TriMarks::NONE),
            Parts::Any => {
                let ty = random_type(rng, 2);
                random(&ty, rng, nulls, TriMarks::NONE)
            }
            Parts::Object(parts) => {
                Value::object_from(parts.iter().map(|(name, it)| (*name, it.value(rng, nulls))))
            }
            Parts::Tuple(parts) => {
                Value::tuple(parts.iter().map(|it| it.value(rng, nulls)).collect())
            }
            Parts::List(element) => {
                let items = (0..rng.below(4)).map(|_| element.value(rng, nulls)).collect();
                Value::list(element.ty(), items)
            }
            Parts::Map(element) => {
                Value::map(element.ty(), random_keys(rng, |rng| element.value(rng, nulls)))
            }
            Parts::Somewhere(ty, marks) => random(ty, rng, nulls, *marks),
        }
    }
}

/// The percentages of null and unknown values.
#[derive(Clone, Copy)]
pub(crate) struct Phase {
    pub(crate) nulls: usize,
    pub(crate) unknowns: usize,
}

impl Phase {
    /// The phases in which each expression is evaluated.
    pub(crate) const ALL: &[Phase] = &[
        Phase { nulls: 0, unknowns: 30 },
        Phase { nulls: 0, unknowns: 100 },
        Phase { nulls: 15, unknowns: 15 },
        Phase { nulls: 8, unknowns: 50 },
        Phase { nulls: 0, unknowns: 15 },
    ];
}

/// A value with some parts unknown. The elements of sets stay known.
fn masked(value: &Value, rng: &mut Rng, unknowns: usize) -> Value {
    if matches!(value.kind(), values::Kind::Set(_)) {
        return value.clone();
    }
    value.map_parts(|_, part| match rng.percent(unknowns / 2) {
        true => Value::unknown(part.ty()),
        false => masked(part, rng, unknowns),
    })
}

fn put(marks: TriMarks, value: Value, rng: &mut Rng) -> Value {
    let mut value = value;
    for mark in [Mark::Sensitive, Mark::Ephemeral] {
        let is_there = match marks.get(mark.kind()) {
            Tri::No => false,
            Tri::Maybe => rng.percent(50),
            Tri::Yes => true,
        };
        if is_there {
            value = value.with_mark(mark);
        }
    }
    value
}

/// A random value of a type, with marks anywhere inside.
fn random(ty: &Type, rng: &mut Rng, nulls: usize, marks: TriMarks) -> Value {
    let part = |ty: &Type, rng: &mut Rng| {
        let value = match rng.percent(nulls) {
            true => Value::null(ty.clone()),
            false => random(ty, rng, nulls, marks),
        };
        put(marks, value, rng)
    };
    match ty {
        Type::Dynamic => Value::string("dynamic"),
        Type::Bool => Value::bool(rng.percent(50)),
        Type::Number => Value::number((*rng.pick(&[0.0, 1.0, 2.0, 3.0, -1.0, 1.5])).into()),
        Type::String => Value::string(*rng.pick(&["", "a", "b", "k", "1", "true", "hush"])),
        Type::List(element) => Value::list(
            Type::clone(element),
            (0..rng.below(4)).map(|_| part(element, rng)).collect(),
        ),
        Type::Set(element) => {
            let items = (0..rng.below(4)).map(|_| part(element, rng).without_all_marks());
            Value::set(Type::clone(element), items.collect())
        }
        Type::Map(element) => {
            Value::map(Type::clone(element), random_keys(rng, |rng| part(element, rng)))
        }
        Type::Tuple(types) => Value::tuple(types.iter().map(|ty| part(ty, rng)).collect()),
        Type::Object(object) => {
            Value::object(object.iter().map(|(name, ty)| (name.clone(), part(ty, rng))).collect())
        }
    }
}

fn random_keys(rng: &mut Rng, mut value: impl FnMut(&mut Rng) -> Value) -> ValueMap {
    let mut entries = ValueMap::new();
    for key in ["a", "b", "k"] {
        if rng.percent(60) {
            entries.insert(key.into(), value(rng));
        }
    }
    entries
}

fn random_type(rng: &mut Rng, depth: usize) -> Type {
    if depth == 0 || rng.percent(50) {
        return rng.pick(&[Type::Bool, Type::Number, Type::String, Type::String]).clone();
    }
    match rng.below(5) {
        0 => Type::list(random_type(rng, depth - 1)),
        1 => Type::set(random_type(rng, depth - 1)),
        2 => Type::map(random_type(rng, depth - 1)),
        3 => {
            Type::tuple((0..rng.below(3)).map(|_| random_type(rng, depth - 1)).collect::<Vec<_>>())
        }
        _ => {
            let names: &[&str] = if rng.percent(50) { &["a", "b"] } else { &["a"] };
            Type::object(
                names.iter().map(|name| (*name, random_type(rng, depth - 1))).collect::<Vec<_>>(),
            )
        }
    }
}

/// A variable with its name, so that the generator can pick a suitable one.
pub(crate) struct Name {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
}

/// All variables.
pub(crate) fn all() -> Vec<Name> {
    use Tri::{Maybe, Yes};
    let string = || Shape::of(Type::String);
    let number = || Shape::of(Type::Number);
    let bool = || Shape::of(Type::Bool);
    let pair = || Type::object([("a", Type::String), ("b", Type::Number)]);
    let secret = TriMarks::NONE.with(MarkKind::Ephemeral, Maybe);
    let both = secret.with(MarkKind::Sensitive, Maybe);
    let mixed = || {
        Shape::object([
            ("p", string()),
            ("h", string().ephemeral(Yes)),
            ("s", number().sensitive(Yes)),
        ])
    };
    let names = [
        ("s", string()),
        ("n", number()),
        ("t", bool()),
        ("l", Shape::of(Type::list(Type::String))),
        ("ln", Shape::of(Type::list(Type::Number))),
        ("st", Shape::of(Type::set(Type::String))),
        ("m", Shape::of(Type::map(Type::String))),
        ("o", Shape::of(pair())),
        ("lo", Shape::of(Type::list(pair()))),
        ("tu", Shape::of(Type::tuple([Type::String, Type::Number]))),
        ("any", Shape::new(Parts::Any)),
        ("any2", Shape::new(Parts::Any)),
        ("lany", Shape::tuple([Shape::new(Parts::Any), number()]).known()),
        ("e", string().ephemeral(Yes)),
        ("en", number().ephemeral(Yes)),
        ("et", bool().ephemeral(Yes)),
        ("el", Shape::of(Type::list(Type::String)).ephemeral(Yes)),
        ("est", Shape::of(Type::set(Type::String)).ephemeral(Yes)),
        ("eo", Shape::of(pair()).ephemeral(Yes)),
        ("eany", Shape::new(Parts::Any).ephemeral(Yes)),
        ("x", string().sensitive(Yes)),
        ("xn", number().sensitive(Yes)),
        ("xt", bool().sensitive(Yes)),
        ("xm", Shape::of(Type::map(Type::String)).sensitive(Yes)),
        ("ex", string().ephemeral(Yes).sensitive(Yes)),
        ("me", string().ephemeral(Maybe)),
        ("ml", Shape::of(Type::list(Type::String)).ephemeral(Maybe)),
        ("mx", bool().sensitive(Maybe)),
        ("mixed", mixed().known()),
        ("open", mixed()),
        (
            "deep",
            Shape::object([
                ("in", mixed().known()),
                ("l", Shape::list(string().ephemeral(Yes)).known()),
            ])
            .known(),
        ),
        ("pair", Shape::tuple([string(), string().ephemeral(Yes)]).known()),
        ("objs", Shape::tuple([mixed().known(), mixed().known().sensitive(Maybe)]).known()),
        ("each", Shape::list(string().ephemeral(Yes)).known()),
        ("eacho", Shape::list(mixed().known()).known()),
        ("eachm", Shape::map(number().ephemeral(Maybe)).known()),
        ("some", Shape::new(Parts::Somewhere(Type::map(Type::String), secret)).known()),
        ("somel", Shape::new(Parts::Somewhere(Type::list(Type::String), both))),
        (
            "someo",
            Shape::new(Parts::Somewhere(
                Type::object([("a", Type::String), ("l", Type::list(Type::String))]),
                both,
            ))
            .known(),
        ),
    ];
    names.map(|(name, shape)| Name { name, shape }).into()
}

/// The variables in the tables of the specification.
pub(crate) fn of_the_specification() -> Vec<Name> {
    use Tri::Yes;
    let text = || Shape::of(Type::String);
    let texts = || Shape::of(Type::list(Type::String));
    let map = || Shape::of(Type::map(Type::String));
    let object = || Type::object([("a", Type::String), ("b", Type::Number)]);
    let names = [
        ("secret", text().ephemeral(Yes)),
        ("code", Shape::of(Type::Number).ephemeral(Yes)),
        ("armed", Shape::of(Type::Bool).ephemeral(Yes)),
        ("secrets", texts().ephemeral(Yes)),
        ("secret_map", map().ephemeral(Yes)),
        ("secret_any", Shape::new(Parts::Any).ephemeral(Yes)),
        ("text", text()),
        ("n", Shape::of(Type::Number)),
        ("flag", Shape::of(Type::Bool)),
        ("other", Shape::of(Type::Bool)),
        ("list", texts()),
        ("numbers", Shape::of(Type::list(Type::Number))),
        ("lists", Shape::of(Type::list(Type::list(Type::String)))),
        ("names", Shape::of(Type::set(Type::String))),
        ("m", map()),
        ("o", Shape::of(object())),
        ("objects", Shape::of(Type::list(object()))),
        ("any", Shape::new(Parts::Any)),
    ];
    names.map(|(name, shape)| Name { name, shape }).into()
}

/// The abstract values of the variables.
pub(crate) struct Declared {
    values: BTreeMap<&'static str, Abstract>,
    item: ItemKey,
}

#[salsa::db]
#[derive(Clone, Default)]
pub(crate) struct Database {
    symbols: hir::Symbols,
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl db::Db for Database {}

#[salsa::db]
impl hir::Db for Database {
    fn symbols(&self) -> &hir::Symbols {
        &self.symbols
    }

    fn symbols_mut(&mut self) -> &mut hir::Symbols {
        &mut self.symbols
    }

    fn projections(&self) -> &'static hir::Projections {
        &hir::projections::SEPARATE
    }
}

impl Declared {
    /// Computes the abstract values of these variables.
    pub(crate) fn new(names: &[Name]) -> Declared {
        Declared::of(names.iter().map(|it| (it.name, it.shape.abstract_value())).collect())
    }

    pub(crate) fn of(values: BTreeMap<&'static str, Abstract>) -> Declared {
        // Only the identity of the item matters here.
        let db = &mut Database::default();
        let file = db::input::file_from_text(db, "main.tf".into(), "x = 1", None);
        let block = file.blocks(db)[0];
        Declared { values, item: ItemKey { block, index: 0 } }
    }
}

impl InferEnv for Declared {
    fn reference(&self, reference: &Ref, at: ExprId, _: &mut Vec<ItemProblem>) -> Abstract {
        let Ref::Variable(name) = reference else { panic!("{reference:?} is not among the names") };
        let value = self.values[&**name].clone();
        let declared = self.link(At::Node(NodeId(0)), DECLARED, None);
        value.with_origin(self.link(at.into(), "used here", declared))
    }

    fn module_output(
        &self,
        _: &str,
        _: &str,
        _: ExprId,
        _: &mut Vec<ItemProblem>,
    ) -> Option<Abstract> {
        None
    }

    fn module_keys(&self, _: &str) -> Keys {
        Keys::None
    }

    fn provider_function(&self, _: &str) -> Lookup {
        let anything = FunctionParameter {
            name: Str::default(),
            ty: Type::Dynamic,
            allow_null_value: true,
            allow_unknown_values: true,
            description: Str::default(),
            description_kind: Default::default(),
        };
        let signature = FunctionSignature {
            parameters: Vec::new(),
            variadic: Some(anything),
            returns: Type::String,
            summary: Str::default(),
            description: Str::default(),
            description_kind: Default::default(),
            deprecation_message: Str::default(),
        };
        Lookup::Known(signature)
    }

    fn item(&self) -> ItemKey {
        self.item
    }

    fn link(&self, at: At, message: &str, from: Option<Arc<Origin>>) -> Option<Arc<Origin>> {
        Some(Origin::new(self.item, at, message, from))
    }
}

/// The runtime values of the variables.
pub(crate) struct Values {
    values: BTreeMap<&'static str, Value>,
}

impl Values {
    pub(crate) fn of(values: BTreeMap<&'static str, Value>) -> Values {
        Values { values }
    }

    /// Random values for the variables that occur in a text: the known values, and their values during planning.
    pub(crate) fn random(
        names: &[Name],
        text: &str,
        rng: &mut Rng,
        phase: Phase,
    ) -> (Values, Values) {
        let (mut known, mut planned) = (BTreeMap::new(), BTreeMap::new());
        for Name { name, shape } in names.iter().filter(|it| mentions(text, it.name)) {
            let value = shape.value(rng, phase.nulls);
            planned.insert(*name, shape.planned(&value, rng, phase.unknowns));
            known.insert(*name, value);
        }
        (Values { values: known }, Values { values: planned })
    }

    pub(crate) fn shown(&self) -> String {
        let line = |(name, value): (&&str, &Value)| {
            format!("  var.{name} = {}\n", crate::relation::show(value))
        };
        self.values.iter().map(line).collect()
    }
}

/// Returns true if `var.name` occurs in the text.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let name = format!("var.{name}");
    text.match_indices(&name)
        .any(|(at, _)| !text[at + name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric()))
}

impl Scope for Values {
    fn reference(&self, reference: &Ref) -> Result<Value, Interrupt> {
        match reference {
            Ref::Variable(name) => Ok(self.values[&**name].clone()),
            other => panic!("{other:?} is not among the names"),
        }
    }

    fn provider_function(&self, _: &str, args: &[Value]) -> Result<Value, Interrupt> {
        Ok(match args.iter().all(Value::is_wholly_known) {
            true => Value::string("answer"),
            false => Value::unknown(Type::String),
        })
    }

    fn functions(&self) -> &dyn FunctionEnv {
        &NoWorld
    }
}

struct NoWorld;

impl FunctionEnv for NoWorld {
    fn read_file(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(b"text of a file".to_vec())
    }

    fn file_exists(&self, _: &str) -> Result<bool, String> {
        Ok(true)
    }

    fn render_template(&self, _: &str, _: &str, _: &Value) -> Result<Value, RenderError> {
        Ok(Value::from("rendered"))
    }

    fn list_directory(&self, _: &str) -> Result<Vec<(String, bool)>, String> {
        Ok(vec![("a".to_owned(), false)])
    }

    fn base_directory(&self) -> Option<String> {
        Some("/here".to_owned())
    }

    fn home_directory(&self) -> Option<String> {
        Some("/home/me".to_owned())
    }

    fn plan_time(&self) -> Option<String> {
        Some("2025-01-01T00:00:00Z".to_owned())
    }

    fn salt(&self) -> Option<[u8; 16]> {
        Some([7; 16])
    }

    fn now(&self) -> Option<String> {
        Some("2025-01-01T00:00:00Z".to_owned())
    }

    fn uuid(&self) -> Option<String> {
        Some("b5ee72a3-54dd-c4b8-551c-4bdc0204cedb".to_owned())
    }
}
