//! The block or argument at an offset whose planned change the last plan may explain.

use syntax::{
    AstNode, SyntaxKind,
    ast::{self, Block},
};

use crate::{Document, scheme::blocks_around};

/// A resource or output block, or one of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSubject {
    /// The address of the block in its module: `TYPE.NAME`, `data.TYPE.NAME` or `output.NAME`.
    pub block: String,
    /// The argument; `None` for the header of the block.
    pub argument: Option<String>,
}

/// Returns the header or argument of a resource or output at an offset. `None` for any other text.
pub fn planned_subject(document: Document<'_>, offset: u32) -> Option<PlannedSubject> {
    let token = document.cursor(offset)?.token()?;
    let parent = token.parent()?;
    match parent.kind() {
        SyntaxKind::BLOCK => of_header(&Block::cast(parent)?),
        SyntaxKind::LABEL => of_header(&Block::cast(parent.parent()?)?),
        SyntaxKind::ATTRIBUTE => {
            let attribute = ast::Attribute::cast(parent)?;
            let blocks = blocks_around(attribute.syntax());
            let [block] = blocks.as_slice() else { return None };
            let argument = Some(attribute.name()?.to_string());
            Some(PlannedSubject { argument, ..of_header(block)? })
        }
        _ => None,
    }
}

fn of_header(block: &Block) -> Option<PlannedSubject> {
    if !blocks_around(block.syntax()).is_empty() {
        return None;
    }
    let labels: Vec<String> = block.labels().map(|it| it.text().to_string()).collect();
    let block = match (&*block.block_type()?, labels.as_slice()) {
        ("resource", [kind, name]) => format!("{kind}.{name}"),
        ("data", [kind, name]) => format!("data.{kind}.{name}"),
        ("output", [name]) => format!("output.{name}"),
        _ => return None,
    };
    Some(PlannedSubject { block, argument: None })
}
