//! Paths and addresses in the text of an error.

/// Characters before a part that do not belong to it. A path may begin with a dot.
const BEFORE: &[char] = &['"', '\'', '`', '(', '[', '{', '<', '“', '‘', '='];
/// Characters after a part that do not belong to it.
const AFTER: &[char] = &['"', '\'', '`', ')', ']', '}', '>', ',', ';', ':', '.', '…', '”', '’'];

/// Returns the parts of a line that may be a path or an address: its words, and its quotations, which may have spaces.
pub(crate) fn parts(line: &str) -> impl Iterator<Item = &str> {
    let words = line.split_whitespace();
    let quoted =
        ['"', '\'', '`'].into_iter().flat_map(|quote| line.split(quote).skip(1).step_by(2));
    let parts = words.chain(quoted);
    let parts = parts.map(|it| it.trim_start_matches(BEFORE).trim_end_matches(AFTER));
    parts.filter(|it| !it.is_empty())
}

/// The begins of a part that is certainly a path.
const PLACES: &[&str] = &["/", "./", "../", "~/"];
/// A word of Go about starting a program that looks like a path.
const START: &str = "fork/exec";

/// Returns the words of a line in lower case, without its paths, URLs and names of files. Each word is followed by a
/// space.
pub(crate) fn words(line: &str) -> String {
    let is_place = |it: &str| PLACES.iter().any(|place| it.starts_with(place));
    let mut line = line.to_lowercase();
    for quote in ['"', '\'', '`'] {
        // Every second part is a quotation.
        let parts = line.split(quote).enumerate();
        let parts = parts.filter(|(position, part)| position % 2 == 0 || !is_place(part));
        line = parts.map(|it| it.1).collect::<Vec<_>>().join(" ");
    }
    let is_word = |it: &&str| {
        let part = it.trim_start_matches(BEFORE).trim_end_matches(AFTER);
        part == START || !part.contains(['/', '.'])
    };
    line.split_whitespace().filter(is_word).flat_map(|it| [it, " "]).collect()
}

/// Returns the port of a URL or of `host:port`.
pub(crate) fn port(part: &str) -> Option<u16> {
    let (scheme, rest) = part.split_once("://").unwrap_or(("", part));
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let written = authority.rsplit_once(':').and_then(|(host, port)| {
        let is_host =
            |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '[' | ']' | ':');
        (!host.is_empty() && host.chars().all(is_host)).then(|| port.parse().ok())?
    });
    written.or(match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_with_and_without_quotes() {
        let parts = |line| parts(line).collect::<Vec<_>>();
        assert_eq!(
            parts("open ./a/b.txt: permission denied; see \"/x y/z\" and (/q)."),
            [
                "open",
                "./a/b.txt",
                "permission",
                "denied",
                "see",
                "/x",
                "y/z",
                "and",
                "/q",
                "/x y/z"
            ]
        );
        assert_eq!(parts(" :: \"\" "), Vec::<&str>::new());
    }

    #[test]
    fn words_are_not_those_of_paths_and_urls() {
        for (line, expected) in [
            ("Open /connect/bind.txt: Permission denied.", "open permission denied. "),
            ("open \"/dial tcp/b\" and 'no path'", "open and no path "),
            ("fork/exec /bin/x: bad", "fork/exec bad "),
            ("see https://dial.example.com:80 (http://connect), a/socket creat.txt", "see "),
            ("can't write `./exec`", "can t write "),
            ("", ""),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn ports_of_addresses_are_read() {
        for (part, expected) in [
            ("https://example.com/a:1", Some(443)),
            ("http://user:pw@example.com", Some(80)),
            ("https://example.com:8443/x", Some(8443)),
            ("127.0.0.1:9000", Some(9000)),
            ("[::1]:53", Some(53)),
            ("localhost:80", Some(80)),
            ("localhost:99999", None),
            (":80", None),
            ("/a/b:80", None),
            ("word", None),
        ] {
            assert_eq!(port(part), expected, "{part}");
        }
    }
}
