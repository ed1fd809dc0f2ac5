//! Conversion of signature help.

use tower_lsp_server::ls_types::*;

use crate::{
    position::Encoding,
    snapshot::{Snapshot, Target},
};

pub(crate) fn signature_help(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
) -> Option<SignatureHelp> {
    let lines = snapshot.lines(target.file);
    let found = ide::signature_help(snapshot.document(target), lines.offset(position))?;
    // The protocol counts these offsets in UTF-16, whatever encoding was negotiated.
    let units =
        |end: u32| found.label.get(..end as usize).map_or(0, |it| Encoding::Utf16.columns(it));
    let parameters = found.parameters.iter().map(|parameter| ParameterInformation {
        label: ParameterLabel::LabelOffsets([
            units(parameter.label.start),
            units(parameter.label.end),
        ]),
        documentation: None,
    });
    // An index beyond the last parameter marks none as active.
    let active = found.active.unwrap_or(found.parameters.len()) as u32;
    let signature = SignatureInformation {
        parameters: Some(parameters.collect()),
        active_parameter: Some(active),
        documentation: Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: found.documentation.clone(),
        })),
        label: found.label.clone(),
    };
    Some(SignatureHelp {
        signatures: vec![signature],
        active_signature: Some(0),
        active_parameter: Some(active),
    })
}
