//! Properties that hold for all bytes that are read as a list of objects or a file of profiles. The fuzz targets
//! (`fuzz/`) and `tests/hostile` run these functions.

use crate::list::Page;
use crate::{google, s3};

/// Checks that a list of objects has no more text than its bytes.
///
/// # Panics
/// If the property does not hold.
pub fn check_object_list(bytes: &[u8]) {
    for page in [s3::page(bytes), google::page(bytes)].into_iter().flatten() {
        let Page { objects, next } = page;
        let names = objects.iter().map(|it| it.name.len()).sum::<usize>();
        let next = next.map_or(0, |it| it.len());
        assert!(names + next + objects.len() <= bytes.len(), "a list has more than its bytes");
    }
}

/// Checks that the settings of profiles are parts of single lines.
///
/// # Panics
/// If the property does not hold.
pub fn check_profiles(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for (section, settings) in s3::sections(text) {
        assert!(!section.contains('\n'), "the section {section:?} has a line break");
        for (name, value) in settings {
            let is_plain = |it: &str| it == it.trim() && !it.contains('\n');
            assert!(is_plain(&name) && is_plain(&value), "the setting {name:?} is not trimmed");
            assert!(text.contains(&value), "the value of {name:?} is not in the text");
        }
    }
}
