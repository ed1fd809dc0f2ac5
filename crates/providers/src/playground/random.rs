//! `playground_random`, ephemeral: a new password at every opening.

use provider::BoxFuture;

use super::{
    client::Client,
    fault::Fault,
    names::unique,
    store::{Record, random},
};
use mayfly_sdk::erased::{EphemeralResource, Opening, StepResult};
use mayfly_sdk::{
    AttributeValue as _, Diagnostics, EphemeralCall as Later, Object,
    schema::{Block, Schema, boolean, number, string},
    validate::{LengthBetween, WholeBetween},
};

const TYPE: &str = "playground_random";
const LENGTH: i64 = 20;
const SPECIAL: &str = "!@#$%&*()-_=+[]{}<>:?";

/// The character classes: the attribute that can exclude the class, and its characters.
const CLASSES: &[(&str, &str)] = &[
    ("lower", "abcdefghijklmnopqrstuvwxyz"),
    ("upper", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("numeric", "0123456789"),
    ("special", SPECIAL),
];

pub(super) struct Random;

impl EphemeralResource<Client> for Random {
    fn type_name(&self) -> &'static str {
        TYPE
    }

    fn schema(&self) -> Schema {
        let length = "Number of characters; 20 by default.";
        let block = Block::new()
            .description("A new random password.")
            .attribute(
                "length",
                number().optional().validator(WholeBetween(1, 4096)).description(length),
            )
            .attribute("override_special", string().optional().validator(LengthBetween(1, 256)))
            .attribute("result", string().computed().sensitive())
            .attribute("fault", Fault::attribute().optional());
        let optional =
            |block: Block, &(name, _): &(&str, _)| block.attribute(name, boolean().optional());
        Schema::new(CLASSES.iter().fold(block, optional))
    }

    fn validate(&self, config: &Object, diagnostics: &mut Diagnostics) {
        if CLASSES.iter().all(|(name, _)| config.bool(name) == Some(false)) {
            let detail = "At least one class of characters must be allowed.";
            diagnostics.error_at(
                config.path_of("special"),
                "Invalid Attribute Combination",
                detail,
            );
        }
    }

    fn open<'a>(
        &'a self,
        client: &'a Client,
        opening: &'a mut Opening,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let length = opening.result.int("length")?.unwrap_or(LENGTH);
            let special = opening.result.string("override_special");
            let allowed =
                CLASSES.iter().filter(|(name, _)| opening.result.bool(name) != Some(false));
            let alphabet = allowed.map(|(name, class)| match (*name, &special) {
                ("special", Some(special)) => &**special,
                _ => *class,
            });
            let alphabet: Vec<char> = alphabet.flat_map(|class| class.chars()).collect();
            let length = usize::try_from(length).unwrap_or_default();
            opening.result.set("result", password(&alphabet, length));
            let id = format!("random-{}", unique());
            opening.private.set("id", id.as_str());
            client.record("opened", TYPE, &Record::new("random", "", id), [])
        })
    }

    fn close<'a>(
        &'a self,
        client: &'a Client,
        closing: &'a mut Later,
    ) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let id = closing.private.text("id").unwrap_or_default();
            client.record("closed", TYPE, &Record::new("random", "", id), [])
        })
    }
}

/// Returns `length` random characters with equal probability.
fn password(alphabet: &[char], length: usize) -> String {
    let count = u32::try_from(alphabet.len()).unwrap_or(u32::MAX);
    let fair = u32::MAX - u32::MAX % count.max(1);
    let mut password = String::with_capacity(length);
    while password.chars().count() < length && count > 0 {
        let drawn = u32::from_le_bytes(random());
        // Skip numbers beyond the last whole multiple of the alphabet's size: they would favour its first
        // characters.
        if drawn < fair {
            password.push(alphabet[(drawn % count) as usize]);
        }
    }
    password
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_its_length_and_only_allowed_characters() {
        let alphabet: Vec<char> = "abé".chars().collect();
        let drawn = password(&alphabet, 200);
        assert_eq!(drawn.chars().count(), 200);
        assert!(drawn.chars().all(|it| alphabet.contains(&it)));
        assert!(alphabet.iter().all(|it| drawn.contains(*it)));
        assert_ne!(drawn, password(&alphabet, 200));
    }
}
