//! Reads the lists and errors of AWS, which are XML.

use roxmltree::{Document, Node, ParsingOptions};

use crate::list::{ListedObject, Page};

/// The most nodes of a document: a list has at most a thousand objects of at most a dozen elements each.
const MOST_NODES: u32 = 100_000;

/// Parses a document without entities of its own. `None` if it is none.
pub(super) fn document(body: &[u8]) -> Option<Document<'_>> {
    let text = std::str::from_utf8(body).ok()?;
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).ok()
}

/// The text of the first element with a name among the children of a node.
pub(super) fn text<'d>(node: Node<'d, '_>, name: &str) -> Option<&'d str> {
    node.children().find(|it| it.tag_name().name() == name)?.text()
}

/// Reads a page of a list. `None` if it is none.
pub(crate) fn page(body: &[u8]) -> Option<Page> {
    let document = document(body)?;
    let root = document.root_element();
    if root.tag_name().name() != "ListBucketResult" {
        return None;
    }
    let entries = root.children().filter(|it| it.tag_name().name() == "Contents");
    let objects = entries.map(|it| {
        let name = text(it, "Key")?.to_owned();
        let size = text(it, "Size")?.trim().parse().ok()?;
        Some(ListedObject { name, size })
    });
    let objects = objects.collect::<Option<_>>()?;
    let is_truncated = text(root, "IsTruncated").is_some_and(|it| it.trim() == "true");
    let next = match is_truncated {
        true => Some(text(root, "NextContinuationToken")?.to_owned()),
        false => None,
    };
    Some(Page { objects, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                        <ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>";

    #[test]
    fn list_has_names_sizes_and_the_next_page() {
        let text = format!(
            "{HEAD}<IsTruncated>true</IsTruncated><NextContinuationToken>a+/=</NextContinuationToken>\
             <Contents><Key>net/a &amp; b.tf</Key><Size>7</Size><ETag>\"x\"</ETag></Contents>\
             <Contents><Key>net/</Key><Size>0</Size></Contents></ListBucketResult>"
        );
        let object = |name: &str, size| ListedObject { name: name.to_owned(), size };
        let objects = vec![object("net/a & b.tf", 7), object("net/", 0)];
        let expected = Page { objects, next: Some("a+/=".to_owned()) };
        assert_eq!(page(text.as_bytes()), Some(expected));
        let empty = format!("{HEAD}<IsTruncated>false</IsTruncated></ListBucketResult>");
        assert_eq!(page(empty.as_bytes()), Some(Page::default()));
    }

    #[test]
    fn other_documents_are_no_list() {
        let entity =
            "<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult><Name>&a;</Name></ListBucketResult>";
        let deep = "<a>".repeat(200_000);
        for text in [
            "",
            "<html>",
            "<Error><Code>NoSuchBucket</Code></Error>",
            "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
            "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
            "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
            entity,
            &deep,
        ] {
            assert_eq!(page(text.as_bytes()), None, "{}", &text[..text.len().min(80)]);
        }
    }
}
