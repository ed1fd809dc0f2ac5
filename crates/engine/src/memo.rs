//! What a run remembers for the next one, so that only what an edit touched runs again.
//!
//! A node is remembered with the versions of what it read. If its item and those versions are the same, it is not run;
//! if it is run and its value comes out equal, its version stays, and whatever reads it is not run either.
//!
//! **Invariant:** an ephemeral value is not kept, only a hash of it under a key that exists in this process only.
//! **Invariant:** what decides that a result is used again is equality of values, or of at least 128 bits of a hash under
//! that key, for which no configuration can be made to collide.

use std::{rc::Rc, sync::Arc};

use addr::{InstanceKey, ModuleInstance};
use hir::Item;
use hmac::{Hmac, Mac};
use rustc_hash::FxHashMap;
use sha2::Sha256;
use state::{Action, Object, ResourceChange};
use values::{CodecError, MarkKind, Str, Type, Value, msgpack};

/// Says whether something changed: equal versions mean equal values. Zero is no version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) struct Version(u128);

/// Between two of these something may come out in another way although nothing that it was made from has another version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Epoch(u64);

/// The versions of what a node read, hashed under the memo's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Inputs(u128);

/// A keyed hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Digest([u8; 32]);

/// Set in versions that are hashes, so that none is equal to a counted one.
const HASHED: u128 = 1 << 127;

impl Inputs {
    /// Those of nothing: what has them is computed again.
    const NONE: Inputs = Inputs(u128::MAX);
}

impl Digest {
    /// The first 128 bits.
    fn short(&self) -> u128 {
        u128::from_le_bytes(std::array::from_fn(|index| self.0[index]))
    }
}

impl Version {
    /// Stands in the inputs of what is to end, which are then those of nothing else.
    pub(crate) const END: Version = Version(u128::MAX);
    /// That of exactly one instance, always.
    pub(crate) const ONE: Version = Version(u128::MAX - 1);
    /// Stands in the inputs of what waits for a pending change.
    pub(crate) const PENDING: Version = Version(u128::MAX - 2);
}

/// Everything that runs of one session remember. A run that begins with an empty memo does everything.
pub(crate) struct Memo {
    /// Has taken the key, so that each hash begins with a copy of it.
    keyed: Hmac<Sha256>,
    last_version: u128,
    epoch: Epoch,
    /// Whether a value with a secret in it is remembered that is not stale.
    has_secrets: bool,
    /// What the whole run depends on beside the program: settings and the like.
    surroundings: Option<Digest>,
    nodes: FxHashMap<NodeKey, NodeMemo>,
    instances: FxHashMap<(ModuleInstance, addr::Resource, InstanceKey), InstanceMemo>,
}

/// Names a node across runs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct NodeKey {
    pub(crate) module: ModuleInstance,
    pub(crate) node: NodeName,
}

/// Names a node in its module instance.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum NodeName {
    Variable(Str),
    Local(Str),
    Output(Str),
    Resource(addr::Resource),
    Provider(Str, Option<Str>),
}

/// What is remembered of a node.
pub(crate) struct NodeMemo {
    pub(crate) item: Arc<Item>,
    /// The versions of what it read.
    pub(crate) inputs: Inputs,
    pub(crate) version: Version,
    value: Remembered,
    /// Whether it must be computed once more because its secrets were forgotten where they are looked for.
    stale: bool,
}

enum Remembered {
    Value(Value),
    Hidden(Digest),
}

/// What is remembered of a resource instance: the plan for it.
#[derive(Clone)]
pub(crate) struct InstanceMemo {
    /// The block; none for what only the state has.
    pub(crate) item: Option<Arc<Item>>,
    pub(crate) inputs: Inputs,
    /// The configuration as it was evaluated, and the provider's.
    pub(crate) config: Digest,
    pub(crate) prior: Option<Arc<Object>>,
    pub(crate) planned: Rc<Planned>,
}

/// What planning an instance came to.
#[derive(Clone)]
pub(crate) struct Planned {
    pub(crate) change: Option<ResourceChange>,
    pub(crate) drift: Option<ResourceChange>,
    pub(crate) refreshed: Option<Arc<Object>>,
    pub(crate) value: Value,
}

impl Planned {
    /// What is to be done.
    pub(crate) fn action(&self) -> Action {
        self.change.as_ref().map_or(Action::NoOp, |it| it.change.action)
    }
}

impl Memo {
    /// Remembers nothing.
    pub(crate) fn new() -> Memo {
        Memo {
            keyed: Hmac::new_from_slice(&process_key()).expect("a key of any length makes an HMAC"),
            last_version: 0,
            epoch: Epoch::default(),
            has_secrets: false,
            surroundings: None,
            nodes: FxHashMap::default(),
            instances: FxHashMap::default(),
        }
    }

    /// Forgets everything.
    fn clear(&mut self) {
        self.epoch.0 += 1;
        self.nodes.clear();
        self.instances.clear();
    }

    /// Forgets what providers said, so that they are asked again. What was computed stays.
    pub(crate) fn forget_instances(&mut self) {
        self.epoch.0 += 1;
        self.instances.clear();
    }

    /// Lets everything be computed again. What providers were asked, and for which configuration, stays.
    pub(crate) fn compute_again(&mut self) {
        self.epoch.0 += 1;
        self.nodes.values_mut().for_each(|node| node.stale = true);
        self.instances.values_mut().for_each(|instance| instance.inputs = Inputs::NONE);
    }

    /// Lets values with secrets in them be computed again: the redactor learns secrets, and what they were made from,
    /// only where they are computed, and has forgotten them.
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

    /// Begins a run: what was remembered under other surroundings is forgotten.
    pub(crate) fn begin(&mut self, surroundings: &[&[u8]]) {
        let digest = self.digest(surroundings);
        if self.surroundings != Some(digest) {
            self.clear();
            self.surroundings = Some(digest);
        }
    }

    /// Now.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub(crate) fn next_version(&mut self) -> Version {
        self.last_version += 1;
        Version(self.last_version)
    }

    /// A version that equal values share.
    pub(crate) fn version_of_value(&self, value: &Value) -> Version {
        Version(self.value_digest(value).short() | HASHED)
    }

    /// Hashes the versions of what something reads.
    pub(crate) fn inputs(&self, versions: impl Iterator<Item = Version>) -> Inputs {
        let mut mac = self.mac();
        versions.for_each(|version| mac.update(&version.0.to_le_bytes()));
        Inputs(digest(mac).short())
    }

    /// A version of something that changes only when what it reads does.
    pub(crate) fn version_of_inputs(&self, inputs: Inputs) -> Version {
        Version(inputs.0 | HASHED)
    }

    /// What is remembered of a node, if its item and what it read are the same.
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

    /// Remembers a node; gives the version of its value, which is the old one if the value is the same.
    pub(crate) fn remember(
        &mut self,
        key: NodeKey,
        item: &Arc<Item>,
        inputs: Inputs,
        value: &Value,
    ) -> Version {
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

    pub(crate) fn instance(
        &self,
        module: &ModuleInstance,
        resource: &addr::Resource,
        key: &InstanceKey,
    ) -> Option<&InstanceMemo> {
        self.instances.get(&(module.clone(), resource.clone(), key.clone()))
    }

    pub(crate) fn remember_instance(
        &mut self,
        module: ModuleInstance,
        resource: addr::Resource,
        key: InstanceKey,
        memo: InstanceMemo,
    ) {
        self.instances.insert((module, resource, key), memo);
    }

    /// Hashes a value with its type and the places of its marks.
    pub(crate) fn value_digest(&self, value: &Value) -> Digest {
        let (plain, marks) = value.unmark_deep();
        let marks: Vec<String> =
            marks.into_iter().map(|(path, marks)| format!("{path}{marks:?}")).collect();
        // Every value can be encoded as one of unknown type; the type is then part of the bytes.
        self.encoded_digest(msgpack::encode(&plain, &Type::Dynamic), &marks)
    }

    /// A value that cannot be encoded has a digest that no other value has, itself another time included: what was made
    /// from it is computed again.
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

/// Whether an item is as it was. One that was read anew is another in memory, and may be the same all the same.
pub(crate) fn is_same(a: &Arc<Item>, b: &Arc<Item>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// A key that nobody can know outside of this process.
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
    fn inputs_are_hashed_under_a_key_of_their_own() {
        let (memo, other) = (Memo::new(), Memo::new());
        let versions = || [1, 2, 3].into_iter().map(Version);
        assert_eq!(memo.inputs(versions()), memo.inputs(versions()));
        assert_ne!(memo.inputs(versions()), memo.inputs(versions().rev()));
        assert_ne!(memo.inputs(versions()), memo.inputs(versions().take(2)));
        // Without the key, nobody can find versions that collide.
        assert_ne!(memo.inputs(versions()), other.inputs(versions()));
    }

    #[test]
    fn equal_values_have_one_version_and_others_another() {
        let memo = Memo::new();
        let version = |value: &Value| memo.version_of_value(value);
        let one = Value::string("one");
        assert_eq!(version(&one), version(&Value::string("one")));
        assert_ne!(version(&one), version(&Value::string("two")));
        assert_ne!(version(&one), version(&one.clone().with_mark(values::Mark::Sensitive)));
        assert_ne!(version(&Value::int(1)), version(&Value::string("1")));
    }

    #[test]
    fn a_value_that_cannot_be_encoded_equals_no_value() {
        let memo = Memo::new();
        // A marked value has no encoding.
        let marked = Value::string("").with_mark(values::Mark::Sensitive);
        let failed = || memo.encoded_digest(msgpack::encode(&marked, &Type::Dynamic), &[]);
        let empty = memo.encoded_digest(Ok(Vec::new()), &[]);
        assert!(failed() != failed());
        assert!(failed() != empty);
    }
}
