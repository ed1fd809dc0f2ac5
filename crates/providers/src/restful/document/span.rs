//! A JSON document whose parts know their source text, for selections that return the text as it was written.

use std::borrow::Cow;

use values::{
    CodecError,
    json::{Json, parse},
};

/// A part of a document.
pub(super) struct Node<'a> {
    /// The source text of the part.
    pub(super) raw: &'a str,
    pub(super) children: Children<'a>,
}

/// The parts of an array or object.
pub(super) enum Children<'a> {
    /// A scalar has none.
    None,
    /// The elements of an array.
    Items(Vec<Node<'a>>),
    /// The members of an object in order, including duplicates.
    Members(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// Reads a document.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or nests deeper than any value.
    pub(super) fn parse(text: &'a str) -> Result<Node<'a>, CodecError> {
        let json = parse(text.as_bytes())?;
        Ok(Cursor { text, at: 0 }.node(json))
    }
}

/// A position in the text of a document that is valid, and whose structure is known.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn node(&mut self, json: Json<'a>) -> Node<'a> {
        self.skip_space();
        let start = self.at;
        let children = match json {
            Json::Null | Json::Bool(true) => self.skip_scalar("null".len()),
            Json::Bool(false) => self.skip_scalar("false".len()),
            Json::Number(text) => self.skip_scalar(text.len()),
            Json::String(_) => {
                self.skip_string();
                Children::None
            }
            Json::Array(items) => Children::Items(self.items(items)),
            Json::Object(members) => Children::Members(self.members(members)),
        };
        Node { raw: &self.text[start..self.at], children }
    }

    fn items(&mut self, items: Vec<Json<'a>>) -> Vec<Node<'a>> {
        self.skip_mark();
        if items.is_empty() {
            self.skip_mark();
        }
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            nodes.push(self.node(item));
            self.skip_mark();
        }
        nodes
    }

    fn members(&mut self, members: Vec<(Cow<'a, str>, Json<'a>)>) -> Vec<(Cow<'a, str>, Node<'a>)> {
        self.skip_mark();
        if members.is_empty() {
            self.skip_mark();
        }
        let mut nodes = Vec::with_capacity(members.len());
        for (key, value) in members {
            self.skip_space();
            self.skip_string();
            self.skip_mark();
            nodes.push((key, self.node(value)));
            self.skip_mark();
        }
        nodes
    }

    fn skip_space(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|it| b" \t\r\n".contains(it)).count();
    }

    /// Skips one punctuation mark, and the space before it.
    fn skip_mark(&mut self) {
        self.skip_space();
        self.at += 1;
    }

    fn skip_scalar(&mut self, length: usize) -> Children<'a> {
        self.at += length;
        Children::None
    }

    fn skip_string(&mut self) {
        self.at += 1;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raws<'a>(node: &Node<'a>, out: &mut Vec<&'a str>) {
        out.push(node.raw);
        match &node.children {
            Children::None => {}
            Children::Items(items) => items.iter().for_each(|it| raws(it, out)),
            Children::Members(members) => members.iter().for_each(|(_, it)| raws(it, out)),
        }
    }

    #[test]
    fn each_part_knows_its_source_text() {
        let text = " { \"a\\\"b\" : [ 1.50 , \"\\\\\" , [ ] ] ,\"é\":{ } , \"t\" : true,\"f\":false, \"n\" : null } ";
        let mut found = Vec::new();
        raws(&Node::parse(text).unwrap_or_else(|it| panic!("{it}")), &mut found);
        let expected = [
            text.trim(),
            "[ 1.50 , \"\\\\\" , [ ] ]",
            "1.50",
            "\"\\\\\"",
            "[ ]",
            "{ }",
            "true",
            "false",
            "null",
        ];
        assert_eq!(found, expected);
    }
}
