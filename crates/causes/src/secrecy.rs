//! The secrecy of attributes, as their schema declares it.

use provider::{Attribute, Block};
use sorted::SortedMap;
use values::{Path, Step, Str};

use crate::shown::Visibility;

/// The visibility of a value, and of the values that it is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Secrecy {
    pub(crate) of_value: Visibility,
    /// Also hidden if only a part of the value is secret, because it may come from any of them.
    pub(crate) of_parts: Visibility,
}

impl Secrecy {
    pub(crate) const NONE: Secrecy =
        Secrecy { of_value: Visibility::Shown, of_parts: Visibility::Shown };

    fn whole(visibility: Visibility) -> Secrecy {
        Secrecy { of_value: visibility, of_parts: visibility }
    }

    fn part(visibility: Visibility) -> Secrecy {
        Secrecy { of_value: Visibility::Shown, of_parts: visibility }
    }
}

/// The secrecy of the value at a path.
pub(crate) fn secrecy(block: &Block, path: &Path) -> Secrecy {
    let mut names = path.steps().iter().filter_map(|step| match step {
        Step::Attr(name) => Some(&**name),
        Step::Index(_) => None,
    });
    let Some(first) = names.next() else { return Secrecy::NONE };
    let (mut block, mut name) = (block, first);
    loop {
        if let Some(attribute) = block.attributes().get(name) {
            return of_attribute(attribute, names);
        }
        let Some(nested) = block.blocks().get(name) else { return Secrecy::NONE };
        block = &nested.block;
        name = match names.next() {
            Some(name) => name,
            None if block.has_write_only() => return Secrecy::part(Visibility::WriteOnly),
            None if block.has_sensitive() => return Secrecy::part(Visibility::Sensitive),
            None => return Secrecy::NONE,
        };
    }
}

fn of_attribute<'n>(attribute: &Attribute, names: impl Iterator<Item = &'n str>) -> Secrecy {
    let mut attribute = attribute;
    let mut names = names;
    loop {
        let own = own(attribute);
        if own != Visibility::Shown {
            return Secrecy::whole(own);
        }
        let Some(nested) = attribute.nested() else { return Secrecy::NONE };
        let Some(name) = names.next() else { return Secrecy::part(below(nested.attributes())) };
        let Some(inner) = nested.attributes().get(name) else { return Secrecy::NONE };
        attribute = inner;
    }
}

fn own(attribute: &Attribute) -> Visibility {
    match attribute {
        it if it.write_only => Visibility::WriteOnly,
        it if it.sensitive => Visibility::Sensitive,
        _ => Visibility::Shown,
    }
}

/// The visibility of attributes as a whole. Schemas are nested to a bounded depth.
fn below(attributes: &SortedMap<Str, Attribute>) -> Visibility {
    let of = |it: &Attribute| match own(it) {
        Visibility::Shown => it.nested().map_or(Visibility::Shown, |it| below(it.attributes())),
        secret => secret,
    };
    attributes.values().map(of).find(|it| *it != Visibility::Shown).unwrap_or(Visibility::Shown)
}
