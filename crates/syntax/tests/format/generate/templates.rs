//! Generation of quoted templates and heredocs.

use super::{LINES, LITERALS, MARKERS, Text};

impl Text {
    pub(super) fn quoted(&mut self, sequences: bool) {
        self.token("\"");
        let newlines = std::mem::replace(&mut self.newlines, false);
        for _ in 0..self.random.u32(..4) {
            if sequences && self.one_in(2) {
                self.sequence();
            } else {
                self.one_of(LITERALS);
            }
        }
        self.newlines = newlines;
        self.close_quote();
    }

    pub(super) fn sequence(&mut self) {
        if self.out.ends_with(['$', '%']) {
            self.out.push('_');
        }
        if !self.one_in(4) || self.depth > 5 {
            return self.interpolation();
        }
        if self.one_in(2) {
            self.directive(|it| {
                it.token("if");
                it.expr();
            });
            self.interpolation();
            if self.one_in(2) {
                self.directive(|it| it.token("else"));
            }
            self.directive(|it| it.token("endif"));
        } else {
            self.directive(|it| {
                it.token("for");
                it.out.push(' ');
                it.token("x");
                it.out.push(' ');
                it.token("in");
                it.expr();
            });
            self.directive(|it| it.token("endfor"));
        }
    }

    pub(super) fn interpolation(&mut self) {
        self.one_of(&["${", "${", "${~"]);
        self.depth += 1;
        self.with_newlines(true, Self::expr);
        self.depth -= 1;
        self.sequence_end();
    }

    pub(super) fn directive(&mut self, write: impl FnOnce(&mut Self)) {
        self.one_of(&["%{", "%{ ", "%{~"]);
        self.depth += 1;
        self.with_newlines(true, write);
        self.depth -= 1;
        self.sequence_end();
    }

    pub(super) fn sequence_end(&mut self) {
        self.trivia();
        self.one_of(&["}", "}", "~}"]);
    }

    pub(super) fn heredoc(&mut self) {
        let marker = self.pick(MARKERS);
        let intro = self.pick(&["<<", "<<-"]);
        self.token(intro);
        self.out.push_str(marker);
        self.out.push_str(self.newline);
        let outer = std::mem::replace(&mut self.newlines, false);
        for _ in 0..self.random.u32(..3) {
            self.one_of(LINES);
            if self.one_in(3) && self.depth < 5 {
                self.sequence();
                self.one_of(&["", " x"]);
            }
            self.out.push_str(self.newline);
        }
        self.newlines = outer;
        self.one_of(&["", "  ", "\t"]);
        self.out.push_str(marker);
        self.newline_is_due = true;
    }
}
