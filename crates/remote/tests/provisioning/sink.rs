//! The receiving side of `scp`, for the server in this process.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};

use crate::server::Stream;

/// Receives files. Returns the exit status; `None` if the connection was lost.
pub(crate) async fn serve(stream: &mut Stream, arguments: &str, directory: &Path) -> Option<u32> {
    let target = arguments.rsplit_once("-t ").map_or("", |it| it.1).trim().trim_matches('\'');
    let mut place = directory.join(target);
    if arguments.contains("-d ") && !place.is_dir() {
        let error = format!("\u{1}scp: {}: No such file or directory\n", place.display());
        stream.write_all(error.as_bytes()).await.ok()?;
        return Some(1);
    }
    stream.write_all(&[0]).await.ok()?;
    loop {
        let mut line = Vec::new();
        if stream.read_until(b'\n', &mut line).await.ok()? == 0 {
            return Some(0);
        }
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let mut parts = line.splitn(3, ' ');
        let (mode, size, name) = (parts.next()?, parts.next(), parts.next());
        match mode.chars().next()? {
            'C' => {
                let mut bytes = vec![0; size?.parse().ok()?];
                stream.write_all(&[0]).await.ok()?;
                stream.read_exact(&mut bytes).await.ok()?;
                stream.read_u8().await.ok()?;
                let answer = write(&in_directory(&place, name?), &mode[1..], &bytes);
                stream.write_all(answer.as_bytes()).await.ok()?;
            }
            'D' => {
                place = in_directory(&place, name?);
                fs::create_dir_all(&place).ok()?;
                stream.write_all(&[0]).await.ok()?;
            }
            _ => {
                place.pop();
                stream.write_all(&[0]).await.ok()?;
            }
        }
    }
}

fn in_directory(place: &Path, name: &str) -> PathBuf {
    if place.is_dir() { place.join(name) } else { place.to_owned() }
}

/// Writes a file as `scp` does: a new one gets the mode. Returns the answer.
fn write(path: &Path, mode: &str, bytes: &[u8]) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let is_new = !path.is_file();
    if let Err(error) = fs::write(path, bytes) {
        return format!("\u{1}scp: {}: {error}\n", path.display());
    }
    if is_new {
        let mode = u32::from_str_radix(mode, 8).unwrap_or(0o644);
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    }
    "\0".to_owned()
}
