//! Tests of the memory that functions charge to a budget.

use crate::{
    Budget, Exceeded, Type, Value,
    functions::{FunctionEnv, RenderError, lookup},
};

/// An environment with a budget.
struct Limited(Budget);

impl FunctionEnv for Limited {
    fn read_file(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("no files".to_owned())
    }

    fn file_exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }

    fn render_template(&self, _: &str, _: &str, _: &Value) -> Result<Value, RenderError> {
        Err("no templates".to_owned().into())
    }

    fn now(&self) -> Option<String> {
        None
    }

    fn salt(&self) -> Option<[u8; 16]> {
        Some([1; 16])
    }

    fn budget(&self) -> Option<&Budget> {
        Some(&self.0)
    }

    fn uuid(&self) -> Option<String> {
        None
    }
}

#[test]
fn interrupt_ends_an_expensive_bcrypt() {
    let bcrypt = lookup("bcrypt").expect("a function");
    let asked = std::cell::Cell::new(0);
    let env = Limited(Budget::new(1 << 20).until(move || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    }));
    let error = bcrypt.call(&["a".into(), Value::int(31)], &env).expect_err("is interrupted");
    assert_eq!(error.exceeded, Some(Exceeded::Interrupted));
}

/// Checks that a call fails with a limit of one megabyte, that it would need at least `expected` bytes, and that
/// it charges nothing.
#[track_caller]
fn exceeds(name: &str, args: &[Value], expected: u64) {
    let env = Limited(Budget::new(1 << 20));
    let error = lookup(name).expect("a function").call(args, &env).expect_err("does not fit");
    let Some(Exceeded::Memory { needed, limit }) = error.exceeded else {
        panic!("{name}: {error}")
    };
    assert_eq!(limit, 1 << 20);
    assert!(needed >= expected, "{name}: {needed}");
    assert_eq!(env.0.used(), 0, "{name} took nothing");
}

#[test]
fn function_results_are_charged_before_allocation() {
    let text = |length: usize| Value::string("x".repeat(length));
    let lines = Value::string("\n".repeat(1000));
    let list = Value::list(Type::String, vec![text(1000); 2000]);
    let many = |count: usize| Value::list(Type::Number, vec![Value::int(1); count]);
    let pairs = Value::tuple(vec![many(1000), many(1000)]);
    exceeds("join", &[",".into(), list.clone()], 2_000_000);
    exceeds("replace", &[text(2000), "x".into(), text(1000)], 2_000_000);
    exceeds("replace", &[text(2000), "/./".into(), text(1000)], 1 << 20);
    exceeds("format", &["%1000000000d".into(), Value::int(1)], 1_000_000_000);
    exceeds("format", &["%-1000000000s".into(), "a".into()], 1_000_000_000);
    exceeds("formatlist", &["%1000d".into(), many(2000)], 1 << 20);
    exceeds("indent", &[Value::int(1_000_000), lines], 1_000_000_000);
    exceeds("jsonencode", std::slice::from_ref(&list), 2_000_000);
    exceeds("yamlencode", std::slice::from_ref(&list), 2_000_000);
    exceeds("jsondecode", &[Value::string(format!("[{}1]", "1,".repeat(100_000)))], 1 << 20);
    exceeds("csvdecode", &[Value::string(format!("a,b\n{}", "1,2\n".repeat(100_000)))], 1 << 20);
    exceeds("split", &["".into(), text(100_000)], 1 << 20);
    exceeds("regexall", &[".".into(), text(100_000)], 1 << 20);
    exceeds("setproduct", &[many(1000), many(1000), many(1000)], 1 << 20);
    exceeds("base64encode", &[text(1_000_000)], 1_300_000);
    exceeds("urlencode", &[Value::string("%".repeat(900_000))], 1 << 20);
    exceeds("concat", &[many(20_000), many(20_000)], 1 << 20);
    exceeds("merge", &[pairs_of(20_000), pairs_of(20_000)], 1 << 20);
    exceeds("flatten", &[Value::tuple(vec![pairs; 1000])], 1 << 20);
    exceeds("chunklist", &[many(30_000), Value::int(1)], 1 << 20);
    exceeds("toset", &[Value::tuple(vec![many(1000); 1000])], 1 << 20);
    exceeds("strrev", &[text(2 << 20)], 1 << 20);
    let zipped = lookup("base64gzip")
        .expect("a function")
        .call(&[text(2 << 20)], &Limited(Budget::new(u64::MAX)));
    exceeds("base64gunzip", &[zipped.expect("is short")], 1 << 20);
}

fn pairs_of(count: usize) -> Value {
    let entries = (0..count).map(|it| (crate::Str::from(it.to_string()), Value::int(1)));
    Value::map(Type::Number, entries.collect())
}

#[test]
fn shared_parts_of_function_results_are_not_charged() {
    let large = Value::string("x".repeat(900_000));
    let list = Value::list(Type::String, vec![large; 1000]);
    let object = Value::object_from([("a", list.clone())]);
    let env = Limited(Budget::new(1 << 20));
    for (name, args) in [
        ("concat", vec![list.clone(), list.clone()]),
        ("reverse", vec![list.clone()]),
        ("slice", vec![list.clone(), Value::int(0), Value::int(900)]),
        ("flatten", vec![Value::tuple(vec![list.clone(), list.clone()])]),
        ("element", vec![list.clone(), Value::int(3)]),
        ("lookup", vec![object.clone(), "a".into()]),
        ("merge", vec![object.clone(), object.clone()]),
        ("values", vec![object]),
        ("length", vec![list.clone()]),
        ("sensitive", vec![list.clone()]),
        ("coalescelist", vec![list.clone()]),
        ("tolist", vec![list]),
    ] {
        let result = lookup(name).expect("a function").call(&args, &env);
        assert!(result.is_ok(), "{name}: {result:?}");
        env.0.settle(0, None);
    }
}
