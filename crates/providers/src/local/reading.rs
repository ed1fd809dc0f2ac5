//! `local_file` and `local_sensitive_file` as data sources.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mayfly_sdk::{
    DataCall, DataSource, Diagnostic, Model,
    schema::{Attribute, Schema},
};

use super::Hashes;
use crate::files::{Digests, beside, file_error};

/// A file that the configuration does not manage.
#[derive(Model)]
pub(super) struct FoundFile {
    /// The path of the file.
    filename: String,
    /// The content as a text. Bytes that are not UTF-8 are replaced; `content_base64` has them.
    #[attribute(computed)]
    content: Option<String>,
    /// The content in base64.
    #[attribute(computed)]
    content_base64: Option<String>,
    #[flatten]
    hashes: Hashes,
}

/// The data sources of a file.
pub(super) enum FileData {
    Plain,
    Sensitive,
}

impl DataSource<()> for FileData {
    type Model = FoundFile;

    fn type_name(&self) -> &'static str {
        match self {
            FileData::Plain => "local_file",
            FileData::Sensitive => "local_sensitive_file",
        }
    }

    fn schema(&self) -> Schema {
        let schema = FoundFile::schema();
        let hidden = [FoundFile::CONTENT, FoundFile::CONTENT_BASE64];
        match self {
            FileData::Plain => schema,
            FileData::Sensitive => schema.map_block(|block| {
                hidden.iter().fold(block, |block, it| block.with(it, Attribute::sensitive))
            }),
        }
    }

    async fn read(
        &self,
        (): &(),
        config: FoundFile,
        _: &mut DataCall,
    ) -> Result<FoundFile, Diagnostic> {
        let FoundFile { filename, .. } = config;
        let path = filename.clone();
        let (content, digests) = beside(move || {
            let content = fs::read(&path)?;
            Digests::of(&*content).map(|digests| (content, digests))
        })
        .await
        .map_err(|it| file_error(FoundFile::FILENAME, "File Cannot Be Read", &filename, it))?;
        Ok(FoundFile {
            filename,
            content: Some(String::from_utf8_lossy(&content).into_owned()),
            content_base64: Some(STANDARD.encode(&content)),
            hashes: digests.into(),
        })
    }
}
