//! What something is made from in its instances: `each.value`, and the iterator of a `dynamic` block.
//!
//! An element that an index picks is one of many. An instance is made from *every* element, so what surely holds of one
//! of them surely holds of one instance.

use values::Type;

use super::value::{Abstract, Inside};

/// What `each.value` is in one of the instances.
pub(crate) fn each_value(for_each: &Abstract) -> Abstract {
    match &for_each.ty {
        Type::Set(_) => Abstract::of_type(Type::String),
        _ => instance(for_each),
    }
}

/// The element that one of the instances is made from: marks that one element surely has are sure.
pub(crate) fn instance(collection: &Abstract) -> Abstract {
    let any = collection.any_element();
    let elements: Vec<&Abstract> = match &collection.inside {
        Inside::Attrs(attrs) => attrs.values().collect(),
        Inside::Items(items) => items.iter().collect(),
        Inside::Each(_) | Inside::Opaque(_) => return any,
    };
    strengthened(&any, &elements)
}

/// `joined` with each mark as sure as it is in the element where it is surest.
fn strengthened(joined: &Abstract, elements: &[&Abstract]) -> Abstract {
    let marks = elements.iter().fold(joined.marks, |marks, element| marks.union(&element.marks));
    let inside = match &joined.inside {
        Inside::Attrs(parts) => {
            let part = |(name, part): (&values::Str, &Abstract)| {
                let same: Vec<Abstract> = elements.iter().filter_map(|element| element.attr(name)).collect();
                (name.clone(), strengthened(part, &same.iter().collect::<Vec<_>>()))
            };
            Inside::attrs(parts.iter().map(part).collect())
        }
        Inside::Opaque(marks) => Inside::Opaque(elements.iter().fold(*marks, |all, it| all.union(&it.inner_marks()))),
        other => other.clone(),
    };
    Abstract { marks, inside, ..joined.clone() }
}
