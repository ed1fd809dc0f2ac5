use super::{map::TreeMap, order::Place};

/// A key in a map, present or not, as [`std::collections::btree_map::Entry`].
pub enum Entry<'m, K, V> {
    Occupied(OccupiedEntry<'m, K, V>),
    Vacant(VacantEntry<'m, K, V>),
}

/// A key that is in the map.
pub struct OccupiedEntry<'m, K, V> {
    pub(super) map: &'m mut TreeMap<K, V>,
    pub(super) place: Place,
}

/// A key that is not in the map.
pub struct VacantEntry<'m, K, V> {
    pub(super) map: &'m mut TreeMap<K, V>,
    pub(super) place: Place,
    pub(super) key: K,
}

impl<'m, K, V> Entry<'m, K, V> {
    /// Returns the value, after inserting `value` if there is none.
    pub fn or_insert(self, value: V) -> &'m mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(value),
        }
    }

    /// Returns the value, after inserting the result of `value` if there is none.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(value()),
        }
    }

    /// Returns the value, after inserting the result of `value` for the key if there is none.
    pub fn or_insert_with_key(self, value: impl FnOnce(&K) -> V) -> &'m mut V {
        match self {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let value = value(&entry.key);
                entry.insert(value)
            }
        }
    }

    /// Changes the value if there is one.
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Entry::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }
}

impl<'m, K, V: Default> Entry<'m, K, V> {
    /// Returns the value, after inserting the default if there is none.
    pub fn or_default(self) -> &'m mut V {
        self.or_insert_with(V::default)
    }
}

impl<'m, K, V> OccupiedEntry<'m, K, V> {
    /// The key in the map.
    #[must_use]
    pub fn key(&self) -> &K {
        self.map.key_at(self.place)
    }

    /// The value.
    #[must_use]
    pub fn get(&self) -> &V {
        self.map.value_at(self.place)
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut V {
        self.map.value_at_mut(self.place)
    }

    /// The value.
    #[must_use]
    pub fn into_mut(self) -> &'m mut V {
        self.map.value_at_mut(self.place)
    }

    /// Replaces the value.
    pub fn insert(&mut self, value: V) -> V {
        std::mem::replace(self.get_mut(), value)
    }

    /// Removes the entry.
    pub fn remove(self) -> V {
        self.map.remove_at(self.place).1
    }
}

impl<'m, K, V> VacantEntry<'m, K, V> {
    /// Inserts a value.
    pub fn insert(self, value: V) -> &'m mut V {
        let position = self.map.insert_at(self.place, self.key, value);
        self.map.value_of_position(position)
    }
}
