//! Web pages that name the address of a package, in a header or in a `meta` element.

use addr::ModulePackage;
use http_client::{Credentials, ErrorKind, Request, Url};

use super::error::FetchError;
use super::registry::{LOCATION_HEADER, RegistryLocation, indirect};
use crate::network::Network;

/// The largest accepted page, in bytes.
const MAX_PAGE: u64 = 1 << 20;

/// The name of the `meta` element.
const META: &str = "terraform-get";

/// Requests a page and returns the place that it names.
pub(super) async fn location(
    package: &ModulePackage,
    network: &Network,
) -> Result<RegistryLocation, FetchError> {
    let mut asking = package.clone();
    asking.query.insert(META.to_owned(), "1".to_owned());
    let (url, credentials) = Credentials::split_from(&asking.url_without(&["archive"]));
    let url = Url::parse(&url).map_err(|error| FetchError::Refused(error.to_string()))?;
    let mut request = Request::get(url, MAX_PAGE);
    request.credentials = credentials;
    let response = network.client.send(&request).await?.success()?;
    let document = response.url.clone();
    let header = response.headers.get(LOCATION_HEADER).and_then(|it| it.to_str().ok());
    let named = match header {
        Some(location) => Some(location.to_owned()),
        None => match response.body.bytes().await {
            Ok(page) => in_page(&String::from_utf8_lossy(&page)),
            // A larger answer is no page.
            Err(error) if matches!(error.kind, ErrorKind::TooLarge { .. }) => None,
            Err(error) => return Err(error.into()),
        },
    };
    let Some(named) = named else {
        let why = "the address ends with the name of no archive, and the page there names no package; \
                   add \"?archive=zip\" or \"?archive=tar.gz\" if it is an archive";
        return Err(FetchError::Refused(why.to_owned()));
    };
    indirect(&named, &document).map_err(|why| FetchError::Refused(format!("the page there: {why}")))
}

/// Finds the content of the `meta` element in the head of a page. `None` if there is none.
fn in_page(page: &str) -> Option<String> {
    // ASCII letters alone change, so that places in both texts are the same.
    let lower = page.to_ascii_lowercase();
    let end = lower.find("</head").or(lower.find("<body")).unwrap_or(lower.len());
    let mut at = 0;
    while let Some(found) = lower[at..end].find("<meta") {
        let begin = at + found + "<meta".len();
        let close = begin + lower[begin..end].find('>')?;
        let attributes = attributes(&page[begin..close]);
        let value = |name: &str| {
            attributes.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.clone())
        };
        if value("name").as_deref() == Some(META) {
            return value("content").filter(|it| !it.is_empty());
        }
        at = close;
    }
    None
}

/// The quoted attributes of an element.
fn attributes(text: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|it| matches!(it, '"' | '\'')) else { break };
        let Some((value, behind)) = after[1..].split_once(quote) else { break };
        let name = name.split_whitespace().next_back().unwrap_or_default();
        found.push((name, unescaped(value)));
        rest = behind;
    }
    found
}

fn unescaped(text: &str) -> String {
    text.replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meta_element_of_the_head_names_the_package() {
        for (page, expected) in [
            (
                "<html><HEAD><meta charset=\"x\"><meta name=\"terraform-get\" content=\"a?b&amp;c\"></HEAD>",
                Some("a?b&c"),
            ),
            ("<meta content='./x.zip' name='terraform-get' />", Some("./x.zip")),
            ("<head></head><body><meta name=\"terraform-get\" content=\"a\">", None),
            ("<meta name=\"terraform-get\" content=\"\">", None),
            ("<meta name=\"terraform-get\" content=\"a", None),
            ("<meta name=terraform-get content=a>", None),
            ("<meta", None),
            ("", None),
        ] {
            assert_eq!(in_page(page).as_deref(), expected, "{page}");
        }
    }
}
