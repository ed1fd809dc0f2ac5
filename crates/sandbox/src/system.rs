//! The parts of the system that every process needs: libraries, certificates, the names of hosts.

use std::path::{Path, PathBuf};

/// Directories with programs and libraries. They may also be executed if other programs may be started.
pub(crate) const PROGRAMS: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
];

/// Settings that may be read. These are single files and directories, because `/etc` also has secrets, such as
/// password hashes, private keys of certificates, and the access of an administrator to a cluster.
pub(crate) const SETTINGS: &[&str] = &[
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/machine-info",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/meminfo",
    "/proc/self",
    "/proc/stat",
    "/proc/sys",
    "/proc/version",
    "/run/systemd/resolve",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/var/lib/ca-certificates",
];

/// Devices that may be read and written. Writing to them changes nothing.
pub(crate) const DEVICES: &[&str] =
    &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// Returns true if a directory is the root of the file system, the home directory, or an ancestor of it. Such a
/// directory is too much to permit it without a request.
#[must_use]
pub fn contains_home(directory: &Path, home: Option<&Path>) -> bool {
    let real = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
    let directory = real(directory);
    directory.parent().is_none() || home.is_some_and(|it| real(it).starts_with(&directory))
}

/// Returns true if everything in this place may always be read. `path` has no links.
pub(crate) fn is_always_readable(path: &Path) -> bool {
    let listed = PROGRAMS.iter().chain(SETTINGS).chain(DEVICES).map(PathBuf::from);
    listed.into_iter().any(|it| {
        // Rules follow links: a setting may be a link into another directory.
        path.starts_with(&it) || it.canonicalize().is_ok_and(|it| path.starts_with(it))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_around_the_home_directory_are_recognized() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("home/me/project")).expect("writable");
        std::os::unix::fs::symlink(path("home"), path("link")).expect("links");
        let home = path("link/me");
        for (directory, expected) in [
            (path("home/me"), true),
            (path("home"), true),
            (path("link"), true),
            (path("home/me/project/.."), true),
            (path("home/me/project"), false),
            ("/".into(), true),
        ] {
            assert_eq!(contains_home(&directory, Some(&home)), expected, "{directory:?}");
        }
        assert!(contains_home(Path::new("/"), None) && !contains_home(folder.path(), None));
    }
}
