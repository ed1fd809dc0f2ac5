//! The certificate authorities that the client trusts.

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls_native_certs::{load_certs_from_paths, load_native_certs};

/// The places of trusted certificates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// A file of certificates (`SSL_CERT_FILE`), which are trusted in addition to the directories.
    pub file: Option<PathBuf>,
    /// Directories of certificates (`SSL_CERT_DIR`). The system's, if there are none.
    pub directories: Vec<PathBuf>,
}

/// The directories in which systems have their certificates.
const SYSTEM_DIRECTORIES: [&str; 2] = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

impl Trust {
    /// Reads `SSL_CERT_FILE` and `SSL_CERT_DIR`.
    pub fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> Trust {
        let read = |name| variable(name).filter(|it| !it.is_empty());
        let directories = read("SSL_CERT_DIR").unwrap_or_default();
        let directories = std::env::split_paths(&directories).filter(|it| *it != Path::new(""));
        Trust { file: read("SSL_CERT_FILE").map(PathBuf::from), directories: directories.collect() }
    }

    /// Loads the certificates. The error is a sentence fragment.
    pub(crate) fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(self.certificates()?);
        if roots.is_empty() {
            return Err("this machine has none; SSL_CERT_FILE can name a file of them".to_owned());
        }
        Ok(roots)
    }

    fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, String> {
        if *self == Trust::default() {
            return Ok(load_native_certs().certs);
        }
        let mut certificates = Vec::new();
        if let Some(file) = &self.file {
            let found = load_certs_from_paths(Some(file), None);
            if found.certs.is_empty() {
                let cause = found.errors.first().map(|it| crate::error::cause(it));
                let cause = cause.unwrap_or_else(|| "it contains none".to_owned());
                return Err(format!("SSL_CERT_FILE names {}: {cause}", file.display()));
            }
            certificates.extend(found.certs);
        }
        let system: Vec<PathBuf> = SYSTEM_DIRECTORIES.iter().map(PathBuf::from).collect();
        let directories = match self.directories.is_empty() {
            true => &system,
            false => &self.directories,
        };
        for directory in directories {
            certificates.extend(load_certs_from_paths(None, Some(directory)).certs);
        }
        Ok(certificates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_come_from_ssl_cert_file_and_dir() {
        let trust = Trust::from_environment(&|name| match name {
            "SSL_CERT_FILE" => Some("/a.pem".to_owned()),
            _ => Some("/b::/c".to_owned()),
        });
        assert_eq!(trust.file, Some("/a.pem".into()));
        assert_eq!(trust.directories, [PathBuf::from("/b"), PathBuf::from("/c")]);
        assert_eq!(Trust::from_environment(&|_| Some(String::new())), Trust::default());
    }

    #[test]
    fn certificate_file_without_certificates_is_an_error() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("none.pem");
        let trust = Trust { file: Some(file.clone()), directories: Vec::new() };
        let error = trust.roots().expect_err("the file is missing");
        assert!(error.contains("none.pem"), "{error}");
        assert!(!error.contains("contains none"), "{error}");
    }
}
