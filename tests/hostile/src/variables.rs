//! Checks of variables files.

use hir::variables_file;

/// The quoted secret in the corpus, which no message may contain.
const SECRET: &str = "hunter2";

/// Checks a variables file: values and problems have places in the text, and no message contains the secret.
pub(crate) fn check_variables_file(bytes: &[u8]) {
    let (text, _) = syntax::decode(bytes);
    let file = variables_file::read("x.tfvars", bytes);
    for assignment in &file.assignments {
        let ranges = [assignment.name_range, assignment.location.range];
        for range in ranges {
            let inside = text.get(range.start as usize..range.end as usize);
            assert!(inside.is_some(), "{range:?} is not within {text:?}");
        }
        // A value that could not be read is unknown, and then there is a problem.
        assert!(
            !file.problems.is_empty() || assignment.value.is_wholly_known(),
            "a constant is known"
        );
    }
    for problem in &file.problems {
        let place = problem.location.as_ref().expect("a file is wrong somewhere");
        let range = place.range.start as usize..place.range.end as usize;
        assert!(text.get(range).is_some(), "{place:?} is not within {text:?}");
        for words in [&*problem.summary.to_string(), &*problem.detail] {
            assert!(!words.is_empty() && !words.contains(SECRET), "{words:?}");
        }
    }
}
