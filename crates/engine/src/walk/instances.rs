//! The instances of a resource or module call, derived from the value of its `count`, `for_each` or `enabled`.

use addr::InstanceKey;
use hir::repetition::{NULL_IN_SET, wrong_type};
use sorted::TreeMap;
use values::{Kind, MarkKind, Str, Type, Value, convert};

/// The most instances of one run: of resources, and of everything else that module instances declare. A typing
/// error in a `count` must not exhaust the memory.
pub(crate) const MAX_INSTANCES: usize = 1_000_000;

/// The form of repetition of a resource or module call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeated {
    /// No repetition: exactly one instance.
    Single,
    /// `enabled`: one instance or none.
    Enabled,
    /// `count`: instances with numbers as keys.
    Count,
    /// `for_each`: instances with strings as keys.
    ForEach,
}

/// The instances of a resource or module call.
pub(crate) struct Keys {
    pub(crate) repeated: Repeated,
    /// The instances in the order of their keys.
    pub(crate) instances: Vec<Each>,
    /// The instance of the provider configuration that each instance uses, if the block chooses it by a key.
    pub(crate) provider_keys: TreeMap<InstanceKey, InstanceKey>,
}

/// The repetition data of one instance: the values of `each` and `count`.
#[derive(Clone)]
pub(crate) struct Each {
    pub(crate) key: InstanceKey,
    /// The value of `each.value`; `None` without `for_each`.
    pub(crate) value: Option<Value>,
}

impl Each {
    /// The data of the only instance of a block without a key.
    pub(crate) fn single() -> Each {
        Each { key: InstanceKey::None, value: None }
    }

    /// The value of `each.key`; `None` without `for_each`.
    pub(crate) fn key_value(&self) -> Option<Value> {
        match &self.key {
            InstanceKey::String(key) => Some(Value::string(key.as_str())),
            // The `for_each` of an `import` block may be a tuple.
            InstanceKey::Int(index) if self.value.is_some() => Some(Value::int(*index)),
            InstanceKey::Int(_) | InstanceKey::None => None,
        }
    }

    /// The value of `count.index`; `None` without `count`.
    pub(crate) fn count_index(&self) -> Option<Value> {
        match self.key {
            InstanceKey::Int(index) => Some(Value::int(index)),
            InstanceKey::String(_) | InstanceKey::None => None,
        }
    }
}

impl Keys {
    pub(crate) fn new(repeated: Repeated, instances: Vec<Each>) -> Keys {
        Keys { repeated, instances, provider_keys: TreeMap::new() }
    }

    /// The keys of a block without repetition: exactly one instance.
    pub(crate) fn single() -> Keys {
        Keys::new(Repeated::Single, vec![Each::single()])
    }

    pub(crate) fn contains(&self, key: &InstanceKey) -> bool {
        match (self.repeated, key) {
            (Repeated::Single, InstanceKey::None) => true,
            (Repeated::Count, InstanceKey::Int(index)) => {
                usize::try_from(*index).is_ok_and(|it| it < self.instances.len())
            }
            _ => self.instances.binary_search_by(|it| it.key.cmp(key)).is_ok(),
        }
    }

    /// Combines the values of all instances into one value.
    pub(crate) fn shape(&self, instances: &TreeMap<InstanceKey, Value>) -> Value {
        self.shape_with(instances, None)
    }

    /// Like [`shape`](Keys::shape), with the value of instances that are missing although the block declares them. As
    /// in OpenTofu, a tuple ends with the last instance that is there.
    pub(crate) fn shape_with(
        &self,
        instances: &TreeMap<InstanceKey, Value>,
        absent: Option<&Value>,
    ) -> Value {
        let null = || Value::null(Type::Dynamic);
        let single = || instances.get(&InstanceKey::None).cloned();
        match self.repeated {
            Repeated::Single => single().or_else(|| absent.cloned()).unwrap_or_else(null),
            Repeated::Enabled => single().unwrap_or_else(null),
            Repeated::Count => Value::tuple(without_gaps(instances, absent)),
            Repeated::ForEach => Value::object(
                instances
                    .iter()
                    .filter_map(|(key, value)| match key {
                        InstanceKey::String(key) => Some((Str::from(key.as_str()), value.clone())),
                        _ => None,
                    })
                    .collect(),
            ),
        }
    }
}

/// The elements of a tuple of instances.
fn without_gaps(instances: &TreeMap<InstanceKey, Value>, absent: Option<&Value>) -> Vec<Value> {
    let mut elements = Vec::with_capacity(instances.len());
    for (key, value) in instances {
        // An object whose key belongs to another kind of block is no instance of this one.
        let InstanceKey::Int(index) = key else { continue };
        let gaps = usize::try_from(*index).unwrap_or(0).saturating_sub(elements.len());
        let absent = || absent.cloned().unwrap_or_else(Value::dynamic);
        elements.extend(std::iter::repeat_with(absent).take(gaps));
        elements.push(value.clone());
    }
    elements
}

/// The reason why the instances of a resource or of a module call are refused.
pub(crate) struct Refused {
    pub(crate) detail: String,
    /// The refused argument: `count`, `for_each`, `for_each set` or `enabled`. `module` for a call without any.
    pub(crate) subject: &'static str,
}

const EPHEMERAL: &str =
    "Ephemeral values, or values derived from ephemeral values, cannot be used as";

const SENSITIVE: &str =
    "Sensitive values, or values derived from sensitive values, cannot be used as";

pub(crate) fn count_keys(value: &Value) -> Result<Keys, Refused> {
    let refuse = |detail: String| Err(Refused { detail, subject: "count" });
    if value.has_deep(MarkKind::Ephemeral) {
        return refuse(format!(
            "{EPHEMERAL} count arguments. If used, the ephemeral value could be exposed as a resource instance key."
        ));
    }
    // A sensitive `count` is accepted, as OpenTofu does: the keys are consecutive numbers, whatever the value was
    // derived from.
    let value = match convert::convert(&value.without_all_marks(), &Type::Number) {
        Ok(value) => value,
        Err(error) => {
            return refuse(format!("The given \"count\" argument value is unsuitable: {error}."));
        }
    };
    match value.kind() {
        Kind::Null => refuse(
            "The given \"count\" argument value is null. An integer is required.".to_owned(),
        ),
        Kind::Number(number) => match number.to_usize() {
            Some(count) if count > MAX_INSTANCES => refuse(too_many("count", "by itself")),
            Some(count) => {
                let each = |index| Each { key: InstanceKey::Int(index), value: None };
                Ok(Keys::new(Repeated::Count, (0..count as i64).map(each).collect()))
            }
            None => refuse(
                "The given \"count\" argument value is unsuitable: it must be a whole number, zero \
                 or greater.".to_owned(),
            ),
        },
        _ => refuse(unknown("count")),
    }
}

pub(crate) fn too_many(what: &str, how: &str) -> String {
    let subject = match what {
        "module" => "This module call is unsuitable".to_owned(),
        what => format!("The given \"{what}\" argument value is unsuitable"),
    };
    format!(
        "{subject}: {how} it makes more than {MAX_INSTANCES} instances of resources and of what \
         modules declare, which is the most that Mayfly keeps in one run. Divide the \
         configuration, or correct the value."
    )
}

pub(crate) fn for_each_keys(value: &Value) -> Result<Keys, Refused> {
    let refuse = |detail: String| Err(Refused { detail, subject: "for_each" });
    let refuse_set = |detail: String| Err(Refused { detail, subject: "for_each set" });
    let (bare, marks) = value.unmark();
    // The type of an object grows with its attributes, so only other values are asked for theirs.
    let is_set = !matches!(bare.kind(), Kind::Object(_)) && matches!(bare.ty(), Type::Set(_));
    if marks.has(MarkKind::Ephemeral) || (is_set && value.has_deep(MarkKind::Ephemeral)) {
        return refuse(format!(
            "{EPHEMERAL} for_each arguments. If used, the ephemeral value could be exposed as a resource instance key."
        ));
    }
    if marks.has(MarkKind::Sensitive) {
        return refuse(format!(
            "{SENSITIVE} for_each arguments. If used, the sensitive value could be exposed as a resource instance key."
        ));
    }
    let each = |key: &str, value: &Value| Each {
        key: InstanceKey::string(key),
        value: Some(value.clone()),
    };
    let instances = match bare.kind() {
        Kind::Null => {
            return refuse(
                "The given \"for_each\" argument value is unsuitable: the given \"for_each\" \
                 argument value is null. A map, or set of strings is allowed."
                    .to_owned(),
            );
        }
        Kind::Unknown(_) => return refuse(unknown("for_each")),
        Kind::Map(entries) | Kind::Object(entries) => {
            entries.iter().map(|(key, value)| each(key, value)).collect()
        }
        Kind::Set(elements) if elements.iter().any(|it| !it.is_known()) => {
            return refuse(unknown("for_each"));
        }
        Kind::Set(elements) => {
            let mut instances = Vec::with_capacity(elements.len());
            for element in elements {
                match element.kind() {
                    Kind::String(key) => instances.push(each(key, element)),
                    Kind::Null => {
                        return refuse_set(unsuitable_for_each(NULL_IN_SET));
                    }
                    _ => return refuse_set(unsuitable_for_each(&wrong_type(&bare.ty()))),
                }
            }
            instances
        }
        _ => return refuse(unsuitable_for_each(&wrong_type(&bare.ty()))),
    };
    let mut instances: Vec<Each> = instances;
    sorted::sort_by(&mut instances, |a, b| a.key.cmp(&b.key));
    Ok(Keys::new(Repeated::ForEach, instances))
}

/// The elements of the `for_each` of an `import` block. Unlike that of a resource, it may be a tuple.
pub(crate) fn import_keys(value: &Value) -> Result<Vec<Each>, Refused> {
    let (bare, marks) = value.unmark();
    let has_secret = marks.has(MarkKind::Ephemeral) || marks.has(MarkKind::Sensitive);
    match bare.kind() {
        Kind::Tuple(items) if !has_secret => {
            let each = |(index, value): (usize, &Value)| Each {
                key: InstanceKey::Int(index as i64),
                value: Some(value.clone()),
            };
            Ok(items.iter().enumerate().map(each).collect())
        }
        Kind::List(_) | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) if !has_secret => {
            let detail = format!(
                "The given \"for_each\" argument value is unsuitable: the \"for_each\" argument \
                 must be a map, set of strings, or a tuple, and you have provided a value of type {}.",
                bare.ty().friendly_name()
            );
            Err(Refused { detail, subject: "for_each" })
        }
        _ => for_each_keys(value).map(|keys| keys.instances),
    }
}

fn unsuitable_for_each(why: &str) -> String {
    format!("The given \"for_each\" argument value is unsuitable: {why}.")
}

pub(crate) fn enabled_keys(value: &Value) -> Result<Keys, Refused> {
    let refuse = |why: &str| {
        let detail = format!("The given \"enabled\" argument value is unsuitable: {why}.");
        Err(Refused { detail, subject: "enabled" })
    };
    if value.has_deep(MarkKind::Ephemeral) {
        return refuse("the given value is ephemeral");
    }
    if value.has_deep(MarkKind::Sensitive) {
        return refuse("the given value is sensitive");
    }
    let value = match convert::convert(&value.without_all_marks(), &Type::Bool) {
        Ok(value) => value,
        Err(_) => return refuse("a bool is required"),
    };
    match value.kind() {
        Kind::Bool(true) => Ok(Keys::new(Repeated::Enabled, vec![Each::single()])),
        Kind::Bool(false) => Ok(Keys::new(Repeated::Enabled, Vec::new())),
        Kind::Null => refuse("the given value is null"),
        _ => refuse("the given value is derived from a value that is not known until apply"),
    }
}

fn unknown(what: &str) -> String {
    format!(
        "The \"{what}\" value depends on resource attributes that cannot be determined until apply, so Mayfly cannot \
         predict how many instances will be created. To work around this, let it depend on values that are \
         known, such as variables, or apply what it depends on first, from a configuration of its own."
    )
}
