//! Validation of a configuration by its schema.

use provider::{Nesting, ObjectNesting};
use values::{Kind, Path, Value};

use crate::{
    data::Object,
    diagnostics::{Diagnostics, shown},
    schema::{Attribute, Block, Shape},
    walk::{Outcome, Places, rebuild_block},
};

/// Validates a configuration by its schema: required values, no values for attributes that only the provider sets,
/// deprecations, validators.
pub(crate) fn validate_block(block: &Block, config: &Value, diagnostics: &mut Diagnostics) {
    rebuild_block(
        block,
        &Path::root(),
        &Places::default(),
        config,
        &mut |path, attribute, _, value| {
            validate_attribute(path, attribute, value, diagnostics);
            Outcome { value: value.clone(), enter: value.is_known() }
        },
    );
    check_rules(block, &Object::new(config.clone()), diagnostics);
}

/// Checks the rules about several attributes, in an object and in the objects that it contains.
fn check_rules(block: &Block, config: &Object, diagnostics: &mut Diagnostics) {
    if !matches!(config.value().kind(), Kind::Object(_)) {
        return;
    }
    let ruled = without_empty_blocks(block, config);
    block.rules.iter().for_each(|rule| rule(&ruled, diagnostics));
    for (name, attribute) in &block.attributes {
        if let Shape::Nested(nesting, objects) = &attribute.shape {
            let is_one = *nesting == ObjectNesting::Single;
            check_rules_inside(objects, is_one, config, name, diagnostics);
        }
    }
    for (name, nested) in &block.blocks {
        let is_one = matches!(nested.nesting, Nesting::Single | Nesting::Group);
        check_rules_inside(&nested.block, is_one, config, name, diagnostics);
    }
}

/// Returns the object with null for blocks of which there are none.
fn without_empty_blocks(block: &Block, config: &Object) -> Object {
    let mut ruled = config.clone();
    for name in block.blocks.keys().filter(|it| config.attr(it).stored_length() == Some(0)) {
        ruled.clear(name);
    }
    ruled
}

fn check_rules_inside(
    block: &Block,
    is_one: bool,
    config: &Object,
    name: &str,
    diagnostics: &mut Diagnostics,
) {
    let objects = match is_one {
        true => config.object(name).into_iter().collect(),
        false => config.objects(name).into_iter().map(|(_, it)| it).collect::<Vec<_>>(),
    };
    objects.iter().for_each(|it| check_rules(block, it, diagnostics));
}

fn validate_attribute(
    path: &Path,
    attribute: &Attribute,
    value: &Value,
    diagnostics: &mut Diagnostics,
) {
    if value.is_null() {
        if attribute.required {
            let detail = format!("{} must be set, and not to null.", shown(path));
            diagnostics.error_at(
                path.clone(),
                "Missing Configuration for Required Attribute",
                detail,
            );
        }
        return;
    }
    if attribute.computed && !attribute.optional {
        let detail = format!(
            "{} is set by the provider; it cannot be set in the configuration.",
            shown(path)
        );
        diagnostics.error_at(path.clone(), "Invalid Configuration for Read-Only Attribute", detail);
    }
    if let Some(instead) = &attribute.deprecation {
        diagnostics.warn_at(path.clone(), "Attribute Deprecated", &**instead);
    }
    let before = diagnostics.count_errors();
    for validator in attribute.validators.iter().filter(|_| value.is_known()) {
        validator.validate(path, value, diagnostics);
        if diagnostics.count_errors() > before {
            // The later validators may rely on the earlier ones.
            break;
        }
    }
}
