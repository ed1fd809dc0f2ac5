//! Files of the user with credentials.

use std::io;
use std::path::Path;

use tokio::io::AsyncReadExt;

use crate::error::StorageError;

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// Reads a file of the user. `None` if there is none.
///
/// # Errors
/// Returns a [`StorageError`] if it cannot be read, or is too large or no text.
pub(crate) async fn read(path: &Path) -> Result<Option<String>, StorageError> {
    let text = async {
        let mut text = String::new();
        let file = tokio::fs::File::open(path).await?;
        file.take(MAX_FILE + 1).read_to_string(&mut text).await?;
        match text.len() as u64 > MAX_FILE {
            true => Err(io::Error::other("it is too large")),
            false => Ok(text),
        }
    };
    match text.await {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(StorageError::Refused(format!("{} cannot be read: {error}", path.display())))
        }
    }
}
