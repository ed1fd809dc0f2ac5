//! The storage of tokens: a file of the user, or a credentials helper.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, ErrorKind},
    os::unix::fs::DirBuilderExt,
    path::Path,
};

use db::{Diagnostic, Summary};
use packages::{
    Token,
    hosts::{CredentialsPlace, HostCredentials, HostName},
};

use crate::{
    private_file::{self, Durable},
    session::{Failure, Session},
};

/// Stores a token.
pub(super) fn store(
    session: &Session,
    credentials: &HostCredentials,
    host: &HostName,
    token: &Token,
) -> Result<(), Failure> {
    update(session, credentials, host, Some(token)).map_err(|cause| {
        let detail =
            format!("The host issued a token, but it could not be saved, and is lost: {cause}.");
        Diagnostic::new(Summary::TOKEN_NOT_SAVED, detail).into()
    })
}

/// Removes a token.
pub(super) fn forget(
    session: &Session,
    credentials: &HostCredentials,
    host: &HostName,
) -> Result<(), Failure> {
    update(session, credentials, host, None).map_err(|cause| {
        let detail = format!("The stored token could not be removed: {cause}.");
        Diagnostic::new(Summary::TOKEN_NOT_REMOVED, detail).into()
    })
}

/// Replaces or removes a token where it is. The error is a sentence fragment without the token.
fn update(
    session: &Session,
    credentials: &HostCredentials,
    host: &HostName,
    token: Option<&Token>,
) -> Result<(), String> {
    if credentials.place(host) == CredentialsPlace::Helper {
        return session.runtime.block_on(credentials.tell_helper(host, token));
    }
    let Some(file) = credentials.file() else {
        return Err(
            "the environment variable HOME, which names the directory of the file, is not set"
                .to_owned(),
        );
    };
    let failed =
        |action: &str, error: io::Error| format!("{} cannot be {action}: {error}", file.display());
    let directory = file.parent().unwrap_or(Path::new("."));
    let created = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    created.map_err(|error| failed("created", error))?;
    // Two commands at once must not lose an entry. The lock ends with the file.
    let lock = File::open(directory).and_then(|it| it.lock().map(|()| it));
    let _lock = lock.map_err(|error| failed("locked", error))?;
    let old = match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| failed("read", error))?,
    };
    let new = HostCredentials::updated_file(&old, host, token)
        .map_err(|cause| format!("{} is not changed, because {cause}", file.display()))?;
    private_file::write(file, new.as_bytes(), Durable::Yes)
        .map_err(|error| failed("written", error))
}
