//! Memoization between runs: only the nodes that an edit affects run again.
//!
//! A node is memoized with the versions of its inputs. If its item and those versions are unchanged, the node does
//! not run. If it runs and its value is equal to the old one, its version stays, so its dependents do not run
//! either.
//!
//! A run that no other run follows has a memo that keeps nothing ([`Memo::for_one_run`]). It hashes only the
//! configurations of providers, by which processes are shared: in a plan of 5,000 instances of a block, hashing the
//! values took about an eighth of the processor time.
//!
//! **Invariant:** an ephemeral value is not stored, only a hash of it under a key that exists in this process
//! only.
//! **Invariant:** a result is reused only if values are equal, or at least 128 bits of a hash under that key. No
//! configuration can be constructed to collide under it.

use std::{rc::Rc, sync::Arc};

use addr::ModuleInstance;
use hir::Item;
use hmac::{Hmac, KeyInit, Mac};
use rustc_hash::FxHashMap;
use sha2::Sha256;
use state::{Action, Object, ObjectAddress, ResourceChange};
use values::{CodecError, MarkKind, Str, Type, Value, msgpack};

/// The version of a result. In a memo that is kept, equal versions mean equal values; zero means no version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Version(u128);

/// The epoch of the memo. In another epoch, a result may differ even if no input has another version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Epoch(u64);

/// A hash of the versions of a node's inputs, under the memo's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Inputs(u128);

/// A keyed hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Digest([u8; 32]);

/// The bit that is set in versions that are hashes, so that no hash equals a counted version.
const HASHED: u128 = 1 << 127;

impl Inputs {
    /// Equals the inputs of no node: a result with it is computed again.
    const NONE: Inputs = Inputs(u128::MAX);
}

impl Digest {
    /// The first 128 bits.
    fn short(&self) -> u128 {
        u128::from_le_bytes(std::array::from_fn(|index| self.0[index]))
    }
}

impl Version {
    /// An input of the plan for a deletion, so that its inputs equal those of no other plan.
    pub(crate) const END: Version = Version(u128::MAX);
    /// The version of the instances of a block without repetition.
    pub(crate) const ONE: Version = Version(u128::MAX - 1);
    /// An input of the plan for an instance that waits for a pending change.
    pub(crate) const PENDING: Version = Version(u128::MAX - 2);
    /// An input of the plan for an instance whose replacement creates the new object first.
    pub(crate) const CREATE_FIRST: Version = Version(u128::MAX - 3);
}

/// The results that the runs of one session reuse. A run with an empty memo computes everything.
pub(crate) struct Memo {
    /// An HMAC that has processed the key; each hash begins with a copy of it.
    keyed: Hmac<Sha256>,
    /// True if a later run may reuse the results of this one.
    is_kept: bool,
    last_version: u128,
    epoch: Epoch,
    /// True if a value with a secret is stored that is not stale.
    has_secrets: bool,
    /// A digest of everything besides the program that the whole run depends on, such as settings.
    surroundings: Option<Digest>,
    nodes: FxHashMap<NodeKey, NodeMemo>,
    objects: FxHashMap<ObjectAddress, ObjectMemo>,
}

/// The name of a node across runs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct NodeKey {
    pub(crate) module: ModuleInstance,
    pub(crate) node: NodeName,
}

/// The name of a node in its module instance.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum NodeName {
    Variable(Str),
    Local(Str),
    Output(Str),
    Resource(addr::Resource),
    Provider(Str, Option<Str>),
}

/// The memoized result of a node.
pub(crate) struct NodeMemo {
    pub(crate) item: Arc<Item>,
    /// The hash of the versions of its inputs.
    pub(crate) inputs: Inputs,
    pub(crate) version: Version,
    value: Remembered,
    /// True if the value must be computed again even if its inputs are unchanged.
    stale: bool,
}

/// The value of a node, or only its digest if the value is ephemeral.
enum Remembered {
    Value(Value),
    Hidden(Digest),
}

/// The memoized plan of an object.
#[derive(Clone)]
pub(crate) struct ObjectMemo {
    /// The block; `None` for an object that only the state has, and for a deposed object.
    pub(crate) item: Option<Arc<Item>>,
    pub(crate) inputs: Inputs,
    /// The digest of the evaluated configuration and of the provider's configuration.
    pub(crate) config: Digest,
    /// The digest of the provider's configuration; `None` for a deletion.
    pub(crate) provider: Option<Digest>,
    pub(crate) prior: Option<Arc<Object>>,
    pub(crate) planned: Rc<Planned>,
}

/// The result of planning an object.
#[derive(Clone)]
pub(crate) struct Planned {
    pub(crate) change: Option<Arc<ResourceChange>>,
    pub(crate) drift: Option<Arc<ResourceChange>>,
    pub(crate) refreshed: Option<Arc<Object>>,
    pub(crate) value: Value,
}

impl Planned {
    /// The planned action.
    pub(crate) fn action(&self) -> Action {
        self.change.as_ref().map_or(Action::NoOp, |it| it.change.action)
    }
}

impl Memo {
    /// Creates an empty memo for the runs of one session.
    pub(crate) fn new() -> Memo {
        Memo {
            keyed: Hmac::new_from_slice(&process_key()).expect("a key of any length makes an HMAC"),
            is_kept: true,
            last_version: 0,
            epoch: Epoch::default(),
            has_secrets: false,
            surroundings: None,
            nodes: FxHashMap::default(),
            objects: FxHashMap::default(),
        }
    }

    /// Creates the memo of a run that no other run follows. It keeps no result, and its versions, which only a later
    /// run compares, say nothing about values.
    pub(crate) fn for_one_run() -> Memo {
        Memo { is_kept: false, ..Memo::new() }
    }

    /// Returns true if a later run may reuse the results of this one.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Forgets all results.
    fn clear(&mut self) {
        self.epoch.0 += 1;
        self.nodes.clear();
        self.objects.clear();
    }

    /// Forgets the plans of objects, so that providers are called again. Computed values stay.
    pub(crate) fn forget_objects(&mut self) {
        self.epoch.0 += 1;
        self.objects.clear();
    }

    /// Makes all nodes run again. The plans of objects stay, and are reused if their configuration is the same.
    pub(crate) fn compute_again(&mut self) {
        self.epoch.0 += 1;
        self.nodes.values_mut().for_each(|node| node.stale = true);
        self.objects.values_mut().for_each(|object| object.inputs = Inputs::NONE);
    }

    /// Makes nodes run again whose values contain secrets. The redactor has forgotten these secrets, and learns
    /// them and their origins only when the value is computed.
    pub(crate) fn forget_secrets(&mut self) {
        if !std::mem::take(&mut self.has_secrets) {
            return;
        }
        self.epoch.0 += 1;
        self.nodes.values_mut().for_each(|node| {
            node.stale |=
                matches!(&node.value, Remembered::Value(value) if value.has_deep_secret());
        });
    }

    /// Begins a run. Forgets all results of a run with other surroundings.
    pub(crate) fn begin(&mut self, surroundings: &[&[u8]]) {
        let digest = self.digest(surroundings);
        if self.surroundings != Some(digest) {
            self.clear();
            self.surroundings = Some(digest);
        }
    }

    /// The current epoch.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub(crate) fn next_version(&mut self) -> Version {
        self.last_version += 1;
        Version(self.last_version)
    }

    /// The version of a value; equal values have the same.
    pub(crate) fn version_of_value(&self, value: &Value) -> Version {
        if !self.is_kept {
            return Version(HASHED);
        }
        Version(self.value_digest(value).short() | HASHED)
    }

    /// Hashes the versions of inputs.
    pub(crate) fn inputs(&self, versions: impl Iterator<Item = Version>) -> Inputs {
        if !self.is_kept {
            return Inputs::NONE;
        }
        let mut mac = self.mac();
        versions.for_each(|version| mac.update(&version.0.to_le_bytes()));
        Inputs(digest(mac).short())
    }

    /// The version of a result that changes only if its inputs do.
    pub(crate) fn version_of_inputs(&self, inputs: Inputs) -> Version {
        Version(inputs.0 | HASHED)
    }

    /// Returns true if no node is memoized.
    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The memoized version and value of a node; `None` if its item or inputs changed or the value is stale. The
    /// value is `None` if it is ephemeral.
    pub(crate) fn unchanged(
        &self,
        key: &NodeKey,
        item: &Arc<Item>,
        inputs: Inputs,
    ) -> Option<(Version, Option<Value>)> {
        let memo = self.nodes.get(key)?;
        if memo.inputs != inputs || memo.stale || !is_same(&memo.item, item) {
            return None;
        }
        let value = match &memo.value {
            Remembered::Value(value) => Some(value.clone()),
            Remembered::Hidden(_) => None,
        };
        Some((memo.version, value))
    }

    /// Memoizes a node and returns the version of its value. If the value is unchanged, this is the old version.
    pub(crate) fn remember(
        &mut self,
        key: NodeKey,
        item: &Arc<Item>,
        inputs: Inputs,
        value: &Value,
    ) -> Version {
        if !self.is_kept {
            return self.next_version();
        }
        let remembered = if value.has_deep(MarkKind::Ephemeral) {
            Remembered::Hidden(self.value_digest(value))
        } else {
            Remembered::Value(value.clone())
        };
        self.has_secrets |= value.has_deep_secret();
        let same = self.nodes.get(&key).is_some_and(|old| match (&old.value, &remembered) {
            (Remembered::Value(old), Remembered::Value(new)) => old.raw_equals(new),
            (Remembered::Hidden(old), Remembered::Hidden(new)) => old == new,
            _ => false,
        });
        let version = if same { self.nodes[&key].version } else { self.next_version() };
        let item = Arc::clone(item);
        self.nodes.insert(key, NodeMemo { item, inputs, version, value: remembered, stale: false });
        version
    }

    /// The memoized plan of an object.
    pub(crate) fn object(&self, address: &ObjectAddress) -> Option<&ObjectMemo> {
        self.objects.get(address)
    }

    pub(crate) fn remember_object(&mut self, address: ObjectAddress, memo: ObjectMemo) {
        if self.is_kept {
            self.objects.insert(address, memo);
        }
    }

    /// The digest of the configurations of an instance and of its provider, by which a later run finds out that
    /// both are the same.
    pub(crate) fn config_digest(&self, config: &Value, provider: Option<Digest>) -> Digest {
        if !self.is_kept {
            return Digest([0; 32]);
        }
        let config = self.value_digest(config);
        match provider {
            Some(provider) => self.combine(&[config, provider]),
            None => config,
        }
    }

    /// Hashes a value together with its type and the paths of its marks.
    pub(crate) fn value_digest(&self, value: &Value) -> Digest {
        let (plain, marks) = value.unmark_deep();
        let marks: Vec<String> =
            marks.into_iter().map(|(path, marks)| format!("{path}{marks:?}")).collect();
        // Every value can be encoded with the dynamic type, and its own type is then part of the bytes.
        self.encoded_digest(msgpack::encode(&plain, &Type::Dynamic), &marks)
    }

    /// The digest of an encoded value. A value that cannot be encoded has a random digest, a different one each
    /// time, so that results derived from it are computed again.
    fn encoded_digest(&self, encoded: Result<Vec<u8>, CodecError>, marks: &[String]) -> Digest {
        let encoded = encoded.unwrap_or_else(|_| process_key().to_vec());
        let marks = marks.iter().map(String::as_bytes);
        self.digest(&std::iter::once(&*encoded).chain(marks).collect::<Vec<_>>())
    }

    pub(crate) fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut mac = self.mac();
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        digest(mac)
    }

    pub(crate) fn combine(&self, digests: &[Digest]) -> Digest {
        let mut mac = self.mac();
        digests.iter().for_each(|it| mac.update(&it.0));
        digest(mac)
    }

    fn mac(&self) -> Hmac<Sha256> {
        self.keyed.clone()
    }
}

fn digest(mac: Hmac<Sha256>) -> Digest {
    Digest(mac.finalize().into_bytes().into())
}

/// Returns true if two items are equal. An item that was read again may be equal at another place in memory.
pub(crate) fn is_same(a: &Arc<Item>, b: &Arc<Item>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// A random key that is not known outside of this process.
pub(crate) fn process_key() -> [u8; 32] {
    let mut key = [0; 32];
    for half in key.chunks_exact_mut(16) {
        half.copy_from_slice(uuid::Uuid::new_v4().as_bytes());
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_memo_hashes_inputs_under_its_own_key() {
        let (memo, other) = (Memo::new(), Memo::new());
        let versions = || [1, 2, 3].into_iter().map(Version);
        assert_eq!(memo.inputs(versions()), memo.inputs(versions()));
        assert_ne!(memo.inputs(versions()), memo.inputs(versions().rev()));
        assert_ne!(memo.inputs(versions()), memo.inputs(versions().take(2)));
        // Without the key, colliding versions cannot be constructed.
        assert_ne!(memo.inputs(versions()), other.inputs(versions()));
    }

    #[test]
    fn memo_of_one_run_keeps_nothing() {
        let mut memo = Memo::for_one_run();
        let address = ObjectAddress::from(
            addr::parse_resource_instance("terraform_data.a").expect("an address"),
        );
        let planned = Planned { change: None, drift: None, refreshed: None, value: Value::int(1) };
        let object = ObjectMemo {
            item: None,
            inputs: memo.inputs([Version::ONE].into_iter()),
            config: memo.config_digest(&Value::int(1), None),
            provider: None,
            prior: None,
            planned: Rc::new(planned),
        };
        memo.remember_object(address.clone(), object);
        assert!(memo.object(&address).is_none());
    }

    #[test]
    fn configurations_of_providers_have_digests_in_each_memo() {
        let memo = Memo::for_one_run();
        let digest = |value: &str| memo.value_digest(&Value::string(value));
        assert!(digest("one") == digest("one"));
        assert!(digest("one") != digest("two"));
    }

    #[test]
    fn only_equal_values_have_equal_versions() {
        let memo = Memo::new();
        let version = |value: &Value| memo.version_of_value(value);
        let one = Value::string("one");
        assert_eq!(version(&one), version(&Value::string("one")));
        assert_ne!(version(&one), version(&Value::string("two")));
        assert_ne!(version(&one), version(&one.clone().with_mark(values::Mark::Sensitive)));
        assert_ne!(version(&Value::int(1)), version(&Value::string("1")));
    }

    #[test]
    fn digest_of_an_unencodable_value_equals_no_other() {
        let memo = Memo::new();
        // A marked value has no encoding.
        let marked = Value::string("").with_mark(values::Mark::Sensitive);
        let failed = || memo.encoded_digest(msgpack::encode(&marked, &Type::Dynamic), &[]);
        let empty = memo.encoded_digest(Ok(Vec::new()), &[]);
        assert!(failed() != failed());
        assert!(failed() != empty);
    }
}
