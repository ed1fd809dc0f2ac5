//! The operating system and processor architecture of a package.

use std::fmt;

/// A platform such as `linux_amd64`, with Go's names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Platform {
    /// The operating system, such as `linux`.
    pub os: String,
    /// The processor architecture, such as `amd64`.
    pub arch: String,
}

impl Platform {
    /// The platform that this program was built for.
    pub fn current() -> Self {
        let os = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            other => other,
        };
        Self { os: os.to_owned(), arch: arch.to_owned() }
    }

    /// Parses `os_arch`. `None` if the text does not have this form.
    pub fn parse(text: &str) -> Option<Self> {
        let (os, arch) = text.split_once('_')?;
        let is_plain = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric());
        (is_plain(os) && is_plain(arch)).then(|| Self { os: os.to_owned(), arch: arch.to_owned() })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}
