use values::{Kind, Path, Step, Str, Type, Value, ValueMap};

use crate::schema::Block;

/// The changes of the configuration that `ignore_changes` excludes.
#[derive(Clone, Debug, PartialEq)]
pub enum IgnoreChanges {
    /// All changes.
    All,
    /// Changes at and below these paths. A path that ends in a string index selects one key of a map.
    Paths(Vec<Path>),
}

/// Returns the configuration with the ignored parts replaced by those of the prior object.
///
/// With [`IgnoreChanges::All`], the result is the whole prior object. If the schema is given, attributes that only
/// the provider sets become null in it. A path that exists in neither value is skipped. A map key that the prior
/// object lacks is removed from the configuration. Must only be called if there is a prior object.
#[must_use]
pub fn ignore_changes(
    prior: &Value,
    config: &Value,
    block: Option<&Block>,
    ignored: &IgnoreChanges,
) -> Value {
    match ignored {
        IgnoreChanges::All => without_computed_only(prior, block),
        IgnoreChanges::Paths(paths) => restore(prior, config, paths),
    }
}

fn without_computed_only(prior: &Value, block: Option<&Block>) -> Value {
    let Some(block) = block else { return prior.clone() };
    prior.transform(&mut |path, value| match block.attribute_by_path(path) {
        Some(attribute) if attribute.is_computed_only() => {
            Value::null(value.ty()).with_marks(value.marks())
        }
        _ => value.clone(),
    })
}

/// A place whose prior value is restored.
struct Restored {
    /// The prior value of the place. If `keys` is set, only these keys of the map there are restored.
    prior: Value,
    keys: Option<Vec<Str>>,
}

fn restore(prior: &Value, config: &Value, paths: &[Path]) -> Value {
    let mut places: Vec<(Path, Restored)> = Vec::new();
    for path in paths {
        let (path, key) = split_key(path);
        let (Some(ours), Some(theirs)) = (path.apply(prior), path.apply(config)) else {
            continue;
        };
        if !ours.raw_equals(&theirs) {
            remember(&mut places, path, ours, key);
        }
    }
    places.iter().fold(config.clone(), |config, (path, restored)| {
        replace_at(&config, path.steps(), &|value| restored.applied_to(value))
    })
}

fn remember(places: &mut Vec<(Path, Restored)>, path: Path, prior: Value, key: Option<Str>) {
    let keys = key.map(|key| vec![key]);
    match places.iter_mut().find(|(known, _)| *known == path) {
        None => places.push((path, Restored { prior, keys })),
        Some((_, restored)) => match (&mut restored.keys, keys) {
            (Some(known), Some(more)) => known.extend(more),
            (known, _) => *known = None,
        },
    }
}

/// Splits a string index off the end of a path.
fn split_key(path: &Path) -> (Path, Option<Str>) {
    let Some((Step::Index(key), rest)) = path.steps().split_last() else {
        return (path.clone(), None);
    };
    match key.kind() {
        Kind::String(key) => (rest.iter().cloned().collect(), Some(Str::from(key.clone()))),
        _ => (path.clone(), None),
    }
}

fn replace_at(value: &Value, steps: &[Step], replace: &dyn Fn(&Value) -> Value) -> Value {
    match steps.split_first() {
        None => replace(value),
        Some((step, rest)) => value.with_part(step, |part| replace_at(part, rest, replace)),
    }
}

impl Restored {
    fn applied_to(&self, config: &Value) -> Value {
        let is_map = matches!(config.ty(), Type::Map(_));
        if is_map && !config.is_known() {
            return config.clone();
        }
        let Some(keys) = self.keys.as_ref().filter(|_| is_map) else { return self.prior.clone() };
        let nothing = ValueMap::new();
        let prior = self.prior.as_map().unwrap_or(&nothing);
        let mut entries = config.as_map().cloned().unwrap_or_default();
        for key in keys {
            match prior.get(key) {
                Some(element) => entries.insert(key.clone(), element.clone()),
                None => entries.remove(key),
            };
        }
        if entries.is_empty() && config.is_null() {
            return config.clone();
        }
        let element = config.ty().element().cloned().unwrap_or(Type::Dynamic);
        Value::map(element, entries).with_marks(config.marks())
    }
}
