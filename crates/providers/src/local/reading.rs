//! `local_file` and `local_sensitive_file` as data sources.

use std::{fs, path::PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use provider::BoxFuture;

use super::{CONTENT_HASHES, with_hashes};
use crate::files::{Digests, beside, file_error};
use mayfly_sdk::erased::{DataRead, DataSource, StepResult};
use mayfly_sdk::schema::{Attribute, Block, Schema, string};

/// The data source of a file that the configuration does not manage.
pub(super) struct FileData {
    type_name: &'static str,
    sensitive: bool,
}

impl FileData {
    pub(super) const PLAIN: FileData = FileData { type_name: "local_file", sensitive: false };
    pub(super) const SENSITIVE: FileData =
        FileData { type_name: "local_sensitive_file", sensitive: true };

    fn content(&self) -> Attribute {
        if self.sensitive { string().computed().sensitive() } else { string().computed() }
    }
}

impl DataSource<()> for FileData {
    fn type_name(&self) -> &'static str {
        self.type_name
    }

    fn schema(&self) -> Schema {
        Schema::new(with_hashes(
            Block::new()
                .description("What is in a file.")
                .attribute("filename", string().required())
                .attribute("content", self.content())
                .attribute("content_base64", self.content()),
        ))
    }

    fn read<'a>(&'a self, _: &'a (), read: &'a mut DataRead) -> BoxFuture<'a, StepResult> {
        Box::pin(async move {
            let path = PathBuf::from(&*read.state.string("filename").unwrap_or_default());
            let found = path.clone();
            let content = beside(move || fs::read(found)).await.map_err(|error| {
                let attribute = read.state.path_of("filename");
                file_error(&attribute, "File Cannot Be Read", &path, error)
            })?;
            if let Ok(digests) = Digests::of(&*content) {
                digests.show(&mut read.state, &CONTENT_HASHES);
            }
            read.state.set("content_base64", STANDARD.encode(&content));
            // For bytes that are not valid UTF-8, `content_base64` has the exact content.
            read.state.set("content", String::from_utf8_lossy(&content).as_ref());
            Ok(())
        })
    }
}
