//! Conversion of diagnostics, with positions in the client's encoding.

use std::cell::RefCell;

use db::{Diagnostic, File, Location, Severity};
use project::Handle;
use rustc_hash::FxHashMap;
use tower_lsp_server::ls_types::{
    self, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, NumberOrString, Range,
};

use crate::{documents::uri_of, position::Lines, snapshot::Snapshot};

/// Converts diagnostics. Caches the lines of each file that they mention.
pub(crate) struct Converter<'s> {
    snapshot: &'s Snapshot,
    lines: RefCell<FxHashMap<String, Option<Lines>>>,
}

impl<'s> Converter<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot) -> Converter<'s> {
        Converter { snapshot, lines: RefCell::default() }
    }

    /// Creates a converter for the diagnostics of a file that is not in the database.
    pub(crate) fn with_lines(snapshot: &'s Snapshot, path: &str, lines: Lines) -> Converter<'s> {
        let known = FxHashMap::from_iter([(path.to_owned(), Some(lines))]);
        Converter { snapshot, lines: RefCell::new(known) }
    }

    pub(crate) fn diagnostics(&self, found: &[Diagnostic]) -> Vec<ls_types::Diagnostic> {
        found.iter().map(|it| self.diagnostic(it)).collect()
    }

    fn diagnostic(&self, it: &Diagnostic) -> ls_types::Diagnostic {
        ls_types::Diagnostic {
            range: it.location.as_ref().and_then(|at| self.range(at)).unwrap_or_default(),
            severity: Some(severity(it.severity())),
            code: Some(NumberOrString::String(it.id().code().to_owned())),
            source: Some("mayfly".to_owned()),
            message: self.message(it),
            related_information: self.related(it),
            tags: it.is_deprecation().then(|| vec![DiagnosticTag::DEPRECATED]),
            ..ls_types::Diagnostic::default()
        }
    }

    fn message(&self, it: &Diagnostic) -> String {
        let mut paragraphs = vec![it.summary.to_string(), it.detail.clone()];
        if !self.snapshot.client.has_related_information {
            paragraphs.push(self.related_as_text(it));
        }
        paragraphs.retain(|it| !it.is_empty());
        paragraphs.join("\n\n")
    }

    /// The related places as text, for clients without a list for them. They show, for example, the origin of an
    /// ephemeral value.
    fn related_as_text(&self, it: &Diagnostic) -> String {
        let own = it.location.as_ref().map(|at| &*at.path).unwrap_or_default();
        let (directory, _) = own.rsplit_once('/').unwrap_or_default();
        let lines = it.related.iter().filter_map(|related| {
            let line = self.range(&related.location)?.start.line + 1;
            let path = &*related.location.path;
            let file =
                if path == own { String::new() } else { ide::path_from(directory, path) + " " };
            Some(format!("- {} ({file}line {line})", related.message))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The related places: the chain of an ephemeral value, the members of a cycle, the first of two declarations.
    /// `None` if there are none or the client cannot show them.
    fn related(&self, it: &Diagnostic) -> Option<Vec<DiagnosticRelatedInformation>> {
        if it.related.is_empty() || !self.snapshot.client.has_related_information {
            return None;
        }
        let related = it.related.iter().filter_map(|related| {
            let uri = uri_of(&related.location.path)?;
            let location = ls_types::Location::new(uri, self.range(&related.location)?);
            Some(DiagnosticRelatedInformation { location, message: related.message.clone() })
        });
        Some(related.collect())
    }

    fn range(&self, at: &Location) -> Option<Range> {
        let mut known = self.lines.borrow_mut();
        let lines = known.entry(at.path.to_string()).or_insert_with(|| {
            let file = file_at(self.snapshot, &at.path)?;
            Some(self.snapshot.lines(file))
        });
        let start = db::ByteRange { start: at.range.start, end: at.range.end };
        lines.as_ref().map(|lines| lines.range(start))
    }
}

/// The file at a path, in any loaded configuration.
fn file_at(snapshot: &Snapshot, path: &str) -> Option<File> {
    let (directory, _) = path.rsplit_once('/')?;
    let db: &dyn Handle = &*snapshot.db;
    snapshot.workspaces.iter().find_map(|workspace| {
        let files = workspace.directories(db).get(directory)?.files(db);
        files.iter().copied().find(|file| **file.path(db) == *path)
    })
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Hint => DiagnosticSeverity::HINT,
    }
}
