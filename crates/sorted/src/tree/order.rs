use std::cmp::Ordering;

/// The largest number of entries that are moved for one that comes between them, and the length of new chunks.
pub(super) const FEW: usize = 64;

/// The length at which a chunk is divided.
const LONGEST: usize = 2 * FEW;

/// The positions of entries in the order of their keys, in chunks. Without chunks, the entries are in order themselves.
///
/// No function here knows the type of entries, so the compiler generates them once.
#[derive(Clone, Default)]
pub(super) struct Order {
    /// No chunk is empty.
    chunks: Vec<Vec<u32>>,
}

/// A place in an order. Without chunks, `chunk` is 0, and `index` is the position of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    chunk: usize,
    pub(super) index: usize,
}

impl Order {
    /// Returns true if the entries are in order themselves.
    pub(super) fn is_plain(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Finds an entry among `count` entries. `compare` compares the key of the entry at a position with the one that is
    /// searched.
    ///
    /// # Errors
    ///
    /// Returns the place where the entry would be.
    #[inline]
    pub(super) fn find(
        &self,
        count: usize,
        compare: &mut dyn FnMut(usize) -> Ordering,
    ) -> Result<Place, Place> {
        if self.is_plain() {
            let place = |index| Place { chunk: 0, index };
            return search(count, compare).map(place).map_err(place);
        }
        let first = |chunk: usize| self.chunks[chunk][0] as usize;
        let chunk = match search(self.chunks.len(), &mut |chunk| compare(first(chunk))) {
            Ok(chunk) => return Ok(Place { chunk, index: 0 }),
            Err(after) => after.saturating_sub(1),
        };
        let positions = &self.chunks[chunk];
        let place = |index| Place { chunk, index };
        let found = search(positions.len(), &mut |index| compare(positions[index] as usize));
        found.map(place).map_err(place)
    }

    /// The position of the entry at a place.
    pub(super) fn position(&self, place: Place) -> usize {
        match self.chunks.get(place.chunk) {
            Some(chunk) => chunk[place.index] as usize,
            None => place.index,
        }
    }

    /// Writes down that `count` entries are in order, and returns where `place` is now.
    pub(super) fn write_down(&mut self, count: usize, place: Place) -> Place {
        let count = u32::try_from(count).expect("less than 4 billion entries");
        let all: Vec<u32> = (0..count).collect();
        self.chunks = all.chunks(FEW).map(<[u32]>::to_vec).collect();
        // The end belongs to the last chunk.
        let chunk = (place.index / FEW).min(self.chunks.len() - 1);
        Place { chunk, index: place.index - chunk * FEW }
    }

    /// Inserts a position at a place.
    pub(super) fn insert(&mut self, place: Place, position: usize) {
        let position = u32::try_from(position).expect("less than 4 billion entries");
        let chunk = &mut self.chunks[place.chunk];
        chunk.insert(place.index, position);
        if chunk.len() == LONGEST {
            let rest = chunk.split_off(FEW);
            self.chunks.insert(place.chunk + 1, rest);
        }
    }

    /// Removes the position at a place.
    pub(super) fn remove(&mut self, place: Place) {
        let chunk = &mut self.chunks[place.chunk];
        chunk.remove(place.index);
        if chunk.is_empty() {
            self.chunks.remove(place.chunk);
        }
    }

    /// The first place.
    pub(super) fn begin(&self) -> Place {
        Place { chunk: 0, index: 0 }
    }

    /// The place after the last of `count` entries.
    pub(super) fn end(&self, count: usize) -> Place {
        match self.chunks.len() {
            0 => Place { chunk: 0, index: count },
            chunk => Place { chunk, index: 0 },
        }
    }

    /// The place after this one.
    pub(super) fn next(&self, place: Place) -> Place {
        self.begin_of_chunk(Place { index: place.index + 1, ..place })
    }

    /// The place before this one, which is not the first.
    pub(super) fn before(&self, place: Place) -> Place {
        match place.index {
            0 => Place { chunk: place.chunk - 1, index: self.chunks[place.chunk - 1].len() - 1 },
            index => Place { index: index - 1, ..place },
        }
    }

    /// The only name of a place for iterators: the end of a chunk is the begin of the next one.
    pub(super) fn begin_of_chunk(&self, place: Place) -> Place {
        match self.chunks.get(place.chunk) {
            Some(chunk) if chunk.len() == place.index => Place { chunk: place.chunk + 1, index: 0 },
            _ => place,
        }
    }
}

/// Searches in `count` things in order.
fn search(count: usize, compare: &mut dyn FnMut(usize) -> Ordering) -> Result<usize, usize> {
    let (mut low, mut high) = (0, count);
    // Keys often arrive in order.
    if let Some(last) = count.checked_sub(1) {
        match compare(last) {
            Ordering::Less => return Err(count),
            Ordering::Equal => return Ok(last),
            Ordering::Greater => high = last,
        }
    }
    while low < high {
        let middle = usize::midpoint(low, high);
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => high = middle,
        }
    }
    Err(low)
}
