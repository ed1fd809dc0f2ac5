//! The JUnit report of a test, in the form that Terraform writes.

use std::fmt::Write as _;

use db::{Diagnostic, Sources, Summary};

use crate::{
    diagnostic::diagnostics,
    style::{Style, visible},
    test::TestStatus,
};

/// A file of the report.
#[derive(Clone, Debug)]
pub struct JunitSuite {
    /// The path.
    pub name: String,
    /// The runs, in order.
    pub cases: Vec<JunitCase>,
}

/// A run of the report.
#[derive(Clone, Debug)]
pub struct JunitCase {
    /// The name.
    pub name: String,
    /// The outcome.
    pub status: TestStatus,
    /// The number of assertions.
    pub assertions: usize,
    /// The time in seconds. `None` if the run was not executed.
    pub seconds: Option<f64>,
    /// The time of the end, in RFC 3339.
    pub timestamp: String,
    /// The messages of the failed assertions.
    pub failed: Vec<String>,
    /// The problems, as text.
    pub text: String,
}

impl JunitCase {
    /// Takes the messages of failed assertions and the text of all problems from the diagnostics of a run.
    pub fn with_problems(self, found: &[Diagnostic], sources: &Sources) -> JunitCase {
        let failed = found.iter().filter(|it| it.summary == Summary::TEST_ASSERTION);
        let failed = failed.map(|it| it.detail.clone()).collect();
        JunitCase { failed, text: diagnostics(found, sources, &Style::PLAIN), ..self }
    }
}

/// The report: an XML document.
pub fn junit_xml(suites: &[JunitSuite]) -> String {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><testsuites>\n".to_owned();
    suites.iter().for_each(|it| suite(it, &mut xml));
    xml.push_str("</testsuites>");
    xml
}

fn suite(suite: &JunitSuite, xml: &mut String) {
    let count = |wanted: TestStatus| suite.cases.iter().filter(|it| it.status == wanted).count();
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" failures=\"{}\" errors=\"{}\">",
        attribute(&suite.name),
        suite.cases.len(),
        count(TestStatus::Skip) + count(TestStatus::Pending),
        count(TestStatus::Fail),
        count(TestStatus::Error),
    );
    for (index, it) in suite.cases.iter().enumerate() {
        case(suite, index, it, xml);
    }
    xml.push_str("  </testsuite>\n");
}

fn case(suite: &JunitSuite, index: usize, case: &JunitCase, xml: &mut String) {
    let (name, class) = (attribute(&case.name), attribute(&suite.name));
    let _ = write!(xml, "    <testcase name=\"{name}\" classname=\"{class}\"");
    if let Some(seconds) = case.seconds {
        let _ = write!(xml, " time=\"{seconds}\" timestamp=\"{}\"", attribute(&case.timestamp));
    }
    xml.push('>');
    match case.status {
        TestStatus::Pass => {}
        TestStatus::Fail => {
            let (failed, all) = (case.failed.len(), case.assertions);
            let message =
                format!("{failed} of {all} assertions failed: {}", case.failed.join("; "));
            element(xml, "failure", &message, &case.text);
        }
        TestStatus::Error => element(xml, "error", "Encountered an error", &case.text),
        TestStatus::Skip | TestStatus::Pending => {
            let earlier = suite.cases[..index].iter().rev();
            let cause = earlier.clone().find(|it| it.status == TestStatus::Error);
            let (message, text) = match cause {
                Some(cause) => (
                    "Testcase skipped due to a previous testcase error",
                    format!(
                        "Previous testcase {} ended in error, which caused the remaining tests in \
                         the file to be skipped",
                        values::go_quoted(&cause.name)
                    ),
                ),
                None => ("Testcase skipped due to an interrupt", String::new()),
            };
            element(xml, "skipped", message, &text);
        }
    }
    xml.push_str("</testcase>\n");
}

fn element(xml: &mut String, name: &str, message: &str, text: &str) {
    let message = attribute(message);
    let _ = write!(
        xml,
        "\n      <{name} message=\"{message}\"><![CDATA[{}]]></{name}>\n    ",
        cdata(text)
    );
}

/// Escapes the value of an attribute.
fn attribute(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars().filter(|it| is_allowed(*it)) {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&#34;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' => escaped.push_str("&#xA;"),
            '\t' => escaped.push_str("&#x9;"),
            '\r' => escaped.push_str("&#xD;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Makes text fit into a CDATA section.
fn cdata(text: &str) -> String {
    let text: String = visible(text).chars().filter(|it| is_allowed(*it)).collect();
    text.replace("]]>", "]]]]><![CDATA[>")
}

/// Returns true if XML 1.0 allows the character.
fn is_allowed(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | '\r')
        || letter >= ' ' && !matches!(letter, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_texts_stay_inside_of_their_attribute_and_section() {
        let case = JunitCase {
            name: "a\"<b>&\u{1b}".to_owned(),
            status: TestStatus::Error,
            assertions: 0,
            seconds: Some(0.5),
            timestamp: "2026-01-01T00:00:00Z".to_owned(),
            failed: Vec::new(),
            text: "]]><x/>".to_owned(),
        };
        let xml = junit_xml(&[JunitSuite { name: "f".to_owned(), cases: vec![case] }]);
        assert!(xml.contains("name=\"a&#34;&lt;b&gt;&amp;\""), "{xml}");
        assert!(xml.contains("<![CDATA[]]]]><![CDATA[><x/>]]></error>"), "{xml}");
        assert!(xml.contains("tests=\"1\" skipped=\"0\" failures=\"0\" errors=\"1\""), "{xml}");
    }
}
