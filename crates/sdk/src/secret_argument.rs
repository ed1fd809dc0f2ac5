//! Secrets that a configuration gives in one of two ways.

use values::{Number, ValueMap};

use crate::{
    data::Object,
    diagnostics::Diagnostic,
    model::{AttributeValue, Model, Secret, Unknowns},
    schema::Block,
    validate::{conflicting, requires},
};

/// The ends of the names of the attributes, after the prefix.
const PLAIN: &str = "";
const WRITE_ONLY: &str = "_wo";
const VERSION: &str = "_wo_version";

/// A secret that a configuration gives in one of two ways: as an attribute that states keep, or as a write-only
/// attribute with a version. With the prefix `password` the attributes are `password`, `password_wo` and
/// `password_wo_version`:
///
/// ```
/// use mayfly_sdk::{Model, Secret, SecretArgument, SecretChange};
///
/// #[derive(Model)]
/// struct Database {
///     name: String,
///     #[flatten(prefix = "password")]
///     password: SecretArgument,
/// }
///
/// trait Server {
///     fn set_password(&mut self, password: &Secret);
///     fn remove_password(&mut self);
/// }
///
/// fn update(prior: &Database, planned: &Database, server: &mut impl Server) {
///     match planned.password.change(Some(&prior.password)) {
///         SecretChange::Set { secret, .. } => server.set_password(secret),
///         SecretChange::Clear => server.remove_password(),
///         SecretChange::Keep => {}
///     }
/// }
/// ```
///
/// A configuration can set only one of the two secrets, and the version only with the write-only one. All are optional;
/// [`Block::with`] changes one of them, for example to add a description.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretArgument {
    /// The secret that states keep.
    pub plain: Option<Secret>,
    /// The secret that is only sent.
    pub write_only: Option<Secret>,
    /// The version of the secret that is only sent.
    pub version: Option<Number>,
}

/// The effect of a plan on the secret of an object.
pub enum SecretChange<'a> {
    /// The object keeps its secret, or has none.
    Keep,
    /// The object gets a secret.
    Set {
        /// The secret.
        secret: &'a Secret,
        /// True if it is the one that is only sent.
        is_write_only: bool,
    },
    /// The object has no secret any more.
    Clear,
}

impl SecretArgument {
    /// Compares the secret of a planned object with the prior one, which is `None` for a create.
    ///
    /// No state has a write-only secret, so it cannot be compared: it is set if its version changes, and without a
    /// version by each update. If one without a version is removed, the object keeps it: the state has no trace of it.
    #[must_use]
    pub fn change(&self, prior: Option<&SecretArgument>) -> SecretChange<'_> {
        if let Some(secret) = &self.plain {
            let is_current = prior.is_some_and(|it| it.plain.as_ref() == Some(secret));
            return if is_current { SecretChange::Keep } else { set(secret, false) };
        }
        if let Some(secret) = &self.write_only {
            let has_same_version =
                |it: &SecretArgument| it.plain.is_none() && it.version == self.version;
            let is_current = self.version.is_some() && prior.is_some_and(has_same_version);
            return if is_current { SecretChange::Keep } else { set(secret, true) };
        }
        match prior {
            Some(prior) if prior.plain.is_some() || prior.version.is_some() => SecretChange::Clear,
            _ => SecretChange::Keep,
        }
    }
}

fn set(secret: &Secret, is_write_only: bool) -> SecretChange<'_> {
    SecretChange::Set { secret, is_write_only }
}

impl SecretChange<'_> {
    /// Returns true if the object keeps its secret.
    #[must_use]
    pub fn keeps_secret(&self) -> bool {
        matches!(self, SecretChange::Keep)
    }
}

/// The names of the attributes are ends of names, so the struct is always flattened with a prefix.
impl Model for SecretArgument {
    fn describe(block: Block) -> Block {
        block
            .attribute(PLAIN, Secret::attribute().optional())
            .attribute(WRITE_ONLY, Secret::attribute().optional().write_only())
            .attribute(VERSION, Number::attribute().optional())
            .rule(|object, diagnostics| conflicting(object, PLAIN, WRITE_ONLY, diagnostics))
            .rule(|object, diagnostics| requires(object, VERSION, WRITE_ONLY, diagnostics))
    }

    fn decode(object: &Object, unknowns: Unknowns) -> Result<SecretArgument, Diagnostic> {
        Ok(SecretArgument {
            plain: object.field(PLAIN, unknowns)?,
            write_only: object.field(WRITE_ONLY, unknowns)?,
            version: object.field(VERSION, unknowns)?,
        })
    }

    fn encode_into(&self, parts: &mut ValueMap) {
        parts.insert(PLAIN.into(), self.plain.encode());
        parts.insert(WRITE_ONLY.into(), self.write_only.encode());
        parts.insert(VERSION.into(), self.version.encode());
    }
}
