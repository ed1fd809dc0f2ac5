use sorted::SortedMap;
use values::{Kind, Str, Type, Value, ValueMap};

use super::attr_of;
use super::element_index::PriorElements;
use crate::schema::{Attribute, Block, NestedBlock, NestedObject, Nesting, ObjectNesting};

/// Merges the prior object and the configuration into the proposal for the provider.
///
/// Computed attributes that the configuration does not set keep their prior value; everything else comes from the
/// configuration. Elements of lists are paired by index, of maps by key, and of sets by their configured
/// attributes. Without a prior object, computed attributes are null. Write-only values are copied from the
/// configuration.
#[must_use]
pub fn proposed_new(block: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() && prior.is_null() {
        return prior.clone();
    }
    if prior.is_null() {
        return match is_own_proposal(block, config) {
            true => config.clone(),
            false => merge_block(block, &block.empty_value(), config),
        };
    }
    merge_block(block, prior, config)
}

/// Returns true if the merge with [`Block::empty_value`] is certain to give the configuration itself. Most new objects
/// have no nested values, and then nothing has to be merged.
fn is_own_proposal(block: &Block, config: &Value) -> bool {
    let Kind::Object(parts) = config.kind() else { return false };
    let attributes = block.attributes();
    block.blocks().is_empty()
        && parts.len() == attributes.len()
        && parts.iter().zip(attributes.iter()).all(
            |((name, value), (attribute_name, attribute))| {
                name == attribute_name && is_own_part(attribute, value)
            },
        )
}

/// Returns true if [`merge_attribute`] with a null prior value gives the configured value itself.
fn is_own_part(attribute: &Attribute, config: &Value) -> bool {
    match config.is_null() {
        true if attribute.computed => {
            config.marks().is_empty() && config.ty() == attribute.implied_type()
        }
        true => true,
        false => attribute.nested().is_none(),
    }
}

/// The planned value of an object that is only read during apply: configured attributes are copied, computed ones
/// are unknown.
///
/// Inside maps and sets, computed attributes stay null, as in OpenTofu 1.12.
#[must_use]
pub fn planned_unknown_object(block: &Block, config: &Value) -> Value {
    merge_block(block, &Value::unknown(block.implied_type().clone()), config)
}

fn merge_block(block: &Block, prior: &Value, config: &Value) -> Value {
    let Kind::Object(_) = config.kind() else { return prior.clone() };
    let mut merged = merge_attributes(block.attributes(), prior, config);
    for (position, (name, nested)) in block.blocks().iter().enumerate() {
        let ours = attr_of(prior, position, name, || nested.implied_type());
        let theirs = attr_of(config, position, name, || nested.implied_type());
        merged.insert(name.clone(), merge_nested_block(nested, &ours, &theirs));
    }
    Value::object(merged).with_marks(config.marks())
}

fn merge_attributes(
    attributes: &SortedMap<Str, Attribute>,
    prior: &Value,
    config: &Value,
) -> ValueMap {
    attributes
        .iter()
        .enumerate()
        .map(|(position, (name, attribute))| {
            let part = |of| attr_of(of, position, name, || attribute.implied_type()).into_owned();
            (name.clone(), merge_attribute(attribute, part(prior), part(config)))
        })
        .collect()
}

fn merge_attribute(attribute: &Attribute, prior: Value, config: Value) -> Value {
    if attribute.computed && config.is_null() {
        if attribute.optional && holds_configured_value(attribute, &prior) {
            return config;
        }
        return prior;
    }
    match attribute.nested() {
        Some(object) => merge_nested_object(object, &prior, &config),
        None => config,
    }
}

/// Returns true if the prior value of a nested attribute holds something that only a configuration can have set.
/// If the configuration lacks the attribute, that is then a removal; otherwise the prior value is kept.
fn holds_configured_value(attribute: &Attribute, prior: &Value) -> bool {
    let Some(object) = attribute.nested() else { return false };
    match object.nesting() {
        ObjectNesting::Single => object_holds_configured_value(object, prior),
        _ => prior.parts().any(|(_, element)| object_holds_configured_value(object, element)),
    }
}

fn object_holds_configured_value(object: &NestedObject, prior: &Value) -> bool {
    let Kind::Object(parts) = prior.kind() else { return false };
    object.attributes().iter().any(|(name, attribute)| {
        let Some(part) = parts.get(name).filter(|part| !part.is_null()) else { return false };
        !attribute.computed || holds_configured_value(attribute, part)
    })
}

fn merge_nested_object(object: &NestedObject, prior: &Value, config: &Value) -> Value {
    if !config.is_known() || config.is_null() {
        return config.clone();
    }
    let merge = |prior: Option<&Value>, config: &Value| merge_object_element(object, prior, config);
    match object.nesting() {
        ObjectNesting::Single => merge_object_element(object, Some(prior), config),
        ObjectNesting::List => merge_list(prior, config, merge),
        ObjectNesting::Map => merge_map(prior, config, merge),
        ObjectNesting::Set => {
            merge_set(config, PriorElements::of_objects(object, prior), |prior, config| {
                merge_object_element(object, prior, config)
            })
        }
    }
}

fn merge_object_element(object: &NestedObject, prior: Option<&Value>, config: &Value) -> Value {
    if config.is_null() {
        return config.clone();
    }
    let nothing = Value::null(config.ty());
    let merged = merge_attributes(object.attributes(), prior.unwrap_or(&nothing), config);
    Value::object(merged).with_marks(config.marks())
}

fn merge_nested_block(nested: &NestedBlock, prior: &Value, config: &Value) -> Value {
    if !config.is_known() {
        return config.clone();
    }
    let block = &nested.block;
    let merge = |prior: Option<&Value>, config: &Value| merge_block_element(block, prior, config);
    match nested.nesting {
        Nesting::Single if config.is_null() => config.clone(),
        Nesting::Single | Nesting::Group => proposed_new(block, prior, config),
        Nesting::List => merge_list(prior, config, merge),
        Nesting::Map => merge_map(prior, config, merge),
        Nesting::Set => {
            merge_set(config, PriorElements::of_blocks(block, prior), |prior, config| {
                merge_block_element(block, prior, config)
            })
        }
    }
}

fn merge_block_element(block: &Block, prior: Option<&Value>, config: &Value) -> Value {
    match prior {
        Some(prior) => proposed_new(block, prior, config),
        None => proposed_new(block, &Value::null(config.ty()), config),
    }
}

/// Merges by index. An element without a prior one is taken from the configuration.
fn merge_list(
    prior: &Value,
    config: &Value,
    merge: impl Fn(Option<&Value>, &Value) -> Value,
) -> Value {
    let Some(elements) = config.as_slice().filter(|it| !it.is_empty()) else {
        return config.clone();
    };
    let merged = elements.iter().enumerate().map(|(idx, element)| {
        if !prior.is_known() {
            return merge(Some(&Value::unknown(element.ty())), element);
        }
        match prior.as_slice().and_then(|it| it.get(idx)) {
            Some(prior) => merge(Some(prior), element),
            None => element.clone(),
        }
    });
    like(config, merged.collect())
}

/// Merges by key. An element without a prior one is taken from the configuration.
fn merge_map(
    prior: &Value,
    config: &Value,
    merge: impl Fn(Option<&Value>, &Value) -> Value,
) -> Value {
    let Some(elements) = config.as_map().filter(|it| !it.is_empty()) else {
        return config.clone();
    };
    let merged = elements
        .iter()
        .map(|(key, element)| {
            let merged = match prior.as_map().and_then(|it| it.get(key)) {
                Some(prior) => merge(Some(prior), element),
                None => element.clone(),
            };
            (key.clone(), merged)
        })
        .collect();
    let rebuilt = match config.kind() {
        Kind::Map(_) => Value::map(config.ty().element().cloned().unwrap_or(Type::Dynamic), merged),
        _ => Value::object(merged),
    };
    rebuilt.with_marks(config.marks())
}

/// Merges each element with the first matching prior element. Each prior element is used once.
fn merge_set(
    config: &Value,
    mut prior: PriorElements<'_>,
    merge: impl Fn(Option<&Value>, &Value) -> Value,
) -> Value {
    let Some(elements) = config.as_slice().filter(|it| !it.is_empty()) else {
        return config.clone();
    };
    let merged = elements.iter().map(|element| merge(prior.take_match(element), element)).collect();
    like(config, merged)
}

/// Returns a sequence with other elements, and with the kind, element type and marks of `sequence`.
fn like(sequence: &Value, elements: Vec<Value>) -> Value {
    let element = || sequence.ty().element().cloned().unwrap_or(Type::Dynamic);
    let rebuilt = match sequence.kind() {
        Kind::List(_) => Value::list(element(), elements),
        Kind::Set(_) => Value::set(element(), elements),
        _ => Value::tuple(elements),
    };
    rebuilt.with_marks(sequence.marks())
}

#[cfg(test)]
mod tests {
    use values::Mark;

    use super::*;

    /// A new object is not always merged. Checks that the proposal is that of the merge.
    #[test]
    fn proposal_for_a_new_object_is_that_of_the_merge() {
        let attributes = [
            ("any", Attribute::optional_computed(Type::Dynamic)),
            ("chosen", Attribute::optional_computed(Type::String)),
            ("given", Attribute::optional(Type::String)),
            ("id", Attribute::computed(Type::String)),
        ];
        let attributes = attributes.into_iter().map(|(name, it)| (Str::from(name), it)).collect();
        let block = Block::new(attributes, SortedMap::new());
        let text = || Value::string("a");
        let null = || Value::null(Type::String);
        let sensitive = |it: Value| it.with_mark(Mark::Sensitive);
        let new = Value::null(block.implied_type().clone());
        let parts = [
            [Value::dynamic(), null(), text(), null()],
            [text(), text(), text(), null()],
            // The merge gives these nulls their type and no marks.
            [null(), null(), text(), null()],
            [text(), sensitive(null()), sensitive(text()), null()],
            [text(), null(), sensitive(null()), null()],
        ];
        for [any, chosen, given, id] in parts {
            let parts = [("any", any), ("chosen", chosen), ("given", given), ("id", id)];
            let parts = parts.into_iter().map(|(name, it)| (Str::from(name), it));
            let config = Value::object(parts.collect());
            for config in [config.clone(), sensitive(config)] {
                let merged = merge_block(&block, &block.empty_value(), &config);
                assert!(proposed_new(&block, &new, &config).raw_equals(&merged), "{config:?}");
            }
        }
    }
}
