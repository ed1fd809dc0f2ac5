//! The evidence for a package, and the hashes that are worth locking because of it.

use sorted::TreeSet;

use std::fmt;

use crate::hash::Hash;

/// The evidence for a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// The source told no hash.
    Unauthenticated,
    /// The package has a hash that its source told.
    VerifiedChecksum,
    /// The registry told the hash, and has no key of the author.
    SigningSkipped,
    /// The author signed the hash.
    Signed {
        /// The ID of the author's key: 16 hexadecimal digits.
        key_id: String,
        /// True if the key or the signature has expired.
        is_expired: bool,
    },
}

impl fmt::Display for Authentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Authentication::Unauthenticated => f.write_str("unauthenticated"),
            Authentication::VerifiedChecksum => f.write_str("verified checksum"),
            Authentication::SigningSkipped => f.write_str("signing skipped"),
            Authentication::Signed { key_id, is_expired: false } => {
                write!(f, "signed, key ID {key_id}")
            }
            Authentication::Signed { key_id, is_expired: true } => {
                write!(f, "signed, expired key ID {key_id}")
            }
        }
    }
}

/// The result of a comparison of a package with its proof.
#[derive(Debug)]
pub(crate) struct Evidence {
    /// The hashes that the source told and that are worth locking.
    pub(crate) told: TreeSet<Hash>,
    pub(crate) authentication: Authentication,
    /// True if the source told the hashes of packages for other platforms, too.
    pub(crate) covers_platforms: bool,
}

impl Evidence {
    /// The evidence for a package of which nothing is told.
    pub(crate) fn none() -> Evidence {
        Evidence {
            told: TreeSet::new(),
            authentication: Authentication::Unauthenticated,
            covers_platforms: false,
        }
    }
}
