//! The signature of the function whose call is typed.

use tower_lsp_server::ls_types::*;

use crate::snapshot::{Snapshot, Target};

pub(crate) fn signature_help(
    snapshot: &Snapshot,
    target: Target,
    position: Position,
) -> Option<SignatureHelp> {
    let lines = snapshot.lines(target.file);
    let found = ide::signature_help(snapshot.document(target), lines.offset(position))?;
    // The label is of our making, without letters that take more than one unit; even so it is counted as the protocol
    // says, in UTF-16.
    let units =
        |end: u32| found.label.get(..end as usize).map_or(0, |it| it.encode_utf16().count());
    let parameters = found.parameters.iter().map(|parameter| ParameterInformation {
        label: ParameterLabel::LabelOffsets([
            units(parameter.label.start) as u32,
            units(parameter.label.end) as u32,
        ]),
        documentation: None,
    });
    // One beyond the last is how the protocol says that none is meant.
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
