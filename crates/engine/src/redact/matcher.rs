//! Finds many texts at once.

use std::{ops::Range, sync::OnceLock};

use aho_corasick::AhoCorasick;

/// Finds texts in a small number of passes.
///
/// New texts form a set of their own, and sets of similar size are merged. There are thus few sets, and each text
/// is moved only a few times: neither adding nor finding takes time proportional to the product of both.
#[derive(Default)]
pub(super) struct Matcher {
    sets: Vec<Set>,
}

#[derive(Default)]
struct Set {
    texts: Vec<Box<[u8]>>,
    /// Built on first use; `None` if the texts are too many for an automaton.
    automaton: OnceLock<Option<AhoCorasick>>,
}

impl Matcher {
    pub(super) fn add<T: Into<Vec<u8>>>(&mut self, texts: Vec<T>) {
        let mut texts: Vec<Box<[u8]>> =
            texts.into_iter().map(|it| it.into().into_boxed_slice()).collect();
        while let Some(last) = self.sets.pop_if(|last| last.texts.len() <= 2 * texts.len()) {
            texts.extend(last.texts);
        }
        if !texts.is_empty() {
            self.sets.push(Set { texts, automaton: OnceLock::new() });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns the total length of all texts.
    #[cfg(test)]
    pub(super) fn length(&self) -> usize {
        self.sets.iter().flat_map(|set| &set.texts).map(|text| text.len()).sum()
    }

    /// Returns the ranges of the texts. The ranges of each set are sorted, and overlapping ranges are merged.
    pub(super) fn find(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for set in &self.sets {
            set.find(text, &mut found);
        }
        found
    }
}

impl Set {
    fn find(&self, text: &[u8], acc: &mut Vec<Range<usize>>) {
        let first = acc.len();
        let mut add = |mut place: Range<usize>| {
            while acc.len() > first
                && let Some(last) = acc.pop_if(|last| place.start <= last.end)
            {
                place = place.start.min(last.start)..place.end.max(last.end);
            }
            acc.push(place);
        };
        match self.automaton.get_or_init(|| AhoCorasick::new(&self.texts).ok()) {
            Some(automaton) => {
                automaton.find_overlapping_iter(text).for_each(|it| add(it.range()));
            }
            None => self.places(text).for_each(add),
        }
    }

    /// Finds the texts without an automaton, sorted by the end of the range.
    fn places<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
        (0..=text.len()).flat_map(move |end| {
            let ending = self.texts.iter().filter(move |it| text[..end].ends_with(it));
            ending.map(move |it| end - it.len()..end)
        })
    }
}
