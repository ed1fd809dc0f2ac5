//! The fixture format of tests: several files in one string.
//!
//! ```text
//! //- /main.tf
//! module "m" { source = "./mod" }
//! //- /mod/main.tf
//! output "o" { value = 1 }
//! ```

/// Splits a fixture into paths, without the leading slash, and texts. Text before the first header is `main.tf`.
pub fn split_fixture(fixture: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in fixture.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("//- /") {
            files.push((path.trim_end().to_owned(), String::new()));
            continue;
        }
        if files.is_empty() {
            files.push(("main.tf".to_owned(), String::new()));
        }
        if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        }
    }
    // The raw string of a fixture starts with a newline. That newline is not a file.
    if files.len() > 1 && files[0].1.trim().is_empty() {
        files.remove(0);
    }
    files
}
