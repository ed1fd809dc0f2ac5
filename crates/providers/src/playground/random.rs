//! `playground_random`, ephemeral: a new password at every opening.

use mayfly_sdk::{
    Diagnostic, Diagnostics, EphemeralCall, EphemeralResource, Model, Object, Secret,
};

use super::{client::Client, fault::Fault, names::unique, store::random};

const TYPE: &str = "playground_random";
const LENGTH: usize = 20;
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NUMERIC: &str = "0123456789";
const SPECIAL: &str = "!@#$%&*()-_=+[]{}<>:?";

pub(super) struct RandomType;

/// A new random password.
#[derive(Model)]
#[model(validate = allows_a_class)]
pub(super) struct Random {
    /// Number of characters; 20 by default.
    #[attribute(between(1, 4096))]
    length: Option<usize>,
    lower: Option<bool>,
    upper: Option<bool>,
    numeric: Option<bool>,
    special: Option<bool>,
    #[attribute(length(1, 256))]
    override_special: Option<String>,
    #[attribute(computed)]
    result: Option<Secret>,
    fault: Option<Fault>,
}

fn allows_a_class(config: &Object, diagnostics: &mut Diagnostics) {
    let classes = [Random::LOWER, Random::UPPER, Random::NUMERIC, Random::SPECIAL];
    if classes.iter().all(|it| config.bool(it) == Some(false)) {
        let detail = "At least one class of characters must be allowed.";
        let path = config.path_of(Random::SPECIAL);
        diagnostics.error_at(path, "Invalid Attribute Combination", detail);
    }
}

impl Random {
    /// The allowed characters.
    fn alphabet(&self) -> Vec<char> {
        let classes = [
            (self.lower, LOWER),
            (self.upper, UPPER),
            (self.numeric, NUMERIC),
            (self.special, self.override_special.as_deref().unwrap_or(SPECIAL)),
        ];
        let allowed = classes.into_iter().filter(|(is_allowed, _)| *is_allowed != Some(false));
        allowed.flat_map(|(_, class)| class.chars()).collect()
    }
}

impl EphemeralResource<Client> for RandomType {
    type Model = Random;

    fn type_name(&self) -> &'static str {
        TYPE
    }

    async fn open(
        &self,
        client: &Client,
        config: Random,
        call: &mut EphemeralCall,
    ) -> Result<Random, Diagnostic> {
        let drawn = password(&config.alphabet(), config.length.unwrap_or(LENGTH));
        let id = format!("random-{}", unique());
        call.private.set("id", id.as_str());
        client.record("opened", TYPE, "", &id)?;
        Ok(Random { result: Some(Secret::new(drawn)), ..config })
    }

    async fn close(&self, client: &Client, call: &mut EphemeralCall) -> Result<(), Diagnostic> {
        let id = call.private.text("id").unwrap_or_default();
        client.record("closed", TYPE, "", id)
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
