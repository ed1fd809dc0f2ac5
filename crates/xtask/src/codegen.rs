//! Generated code: lists the generated files, finds stale ones and writes them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{codegen_lexer, codegen_pages, codegen_proto, codegen_syntax, codegen_textmate, words};

/// Writes the stale files below `root`, the workspace's folder. Returns the paths of the files that changed.
///
/// # Errors
/// Returns an error if a source does not compile, or if a file cannot be written.
pub(crate) fn write(root: &Path) -> Result<Vec<PathBuf>> {
    let stale = stale(root)?;
    for (path, text) in &stale {
        fs::write(path, text).with_context(|| format!("failed to write {}", path.display()))?;
    }
    Ok(stale.into_iter().map(|(path, _)| path).collect())
}

/// Returns the generated files whose committed text is out of date, each with its new text.
///
/// # Errors
/// Returns an error if a source does not compile.
pub(crate) fn stale(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut files = codegen_proto::generate(root)?;
    files.extend(codegen_syntax::generate(root)?);
    files.extend(codegen_lexer::generate(root)?);
    files.extend(codegen_textmate::generate(root)?);
    files.extend(words::generate(root)?);
    files.extend(codegen_pages::generate(root)?);
    files.retain(|(path, text)| fs::read_to_string(path).ok().as_ref() != Some(text));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_fresh() {
        let stale = stale(&crate::root()).expect("the sources are sound");
        let paths: Vec<_> = stale.into_iter().map(|(path, _)| path).collect();
        assert!(paths.is_empty(), "stale: {paths:?}; run `cargo xtask codegen`");
    }
}
