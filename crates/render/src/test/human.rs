//! The results of a test as lines for people.

use crate::{
    style::{Paint, Style, visible_line},
    test::{
        InterruptedTest, LeftObjects, TestCounts, TestPlace, TestStatus, conclusion, identifier,
        left_words,
    },
};

/// The line of a file: `main.tftest.hcl... pass`.
pub fn test_file(path: &str, status: TestStatus, style: &Style) -> String {
    format!("{}... {}\n", visible_line(path), painted(status, style))
}

/// The line of a run: `  run "a"... pass`.
pub fn test_run(name: &str, status: TestStatus, style: &Style) -> String {
    format!("  run {}... {}\n", values::go_quoted(name), painted(status, style))
}

/// The last line of a test.
pub fn test_conclusion(status: TestStatus, counts: TestCounts, style: &Style) -> String {
    let (word, rest) = conclusion(status, counts);
    let paint = if status == TestStatus::Pass { Paint::Green } else { Paint::Red };
    format!("\n{}{rest}\n", style.paint(paint, word))
}

fn painted(status: TestStatus, style: &Style) -> String {
    let paint = match status {
        TestStatus::Pass => Paint::Green,
        TestStatus::Fail | TestStatus::Error => Paint::Red,
        TestStatus::Skip | TestStatus::Pending => Paint::Dim,
    };
    style.paint(paint, status.shown())
}

/// The first lines about a clean-up that failed.
pub fn test_cleanup_failed(place: TestPlace<'_>, style: &Style) -> String {
    let text = format!(
        "Mayfly encountered an error destroying resources created while executing {}.\n",
        identifier(place)
    );
    style.wrap(&text, 1)
}

/// The list of the objects that a clean-up left.
pub fn test_left(left: &LeftObjects<'_>, style: &Style) -> String {
    let text = format!(
        "\nMayfly left the following resources in state after executing {}, {}\n",
        identifier(left.place),
        left_words(left)
    );
    style.wrap(&text, 1) + &list(left.addresses)
}

fn list(addresses: &[String]) -> String {
    addresses.iter().map(|it| format!("  - {}\n", visible_line(it))).collect()
}

/// The lists of the objects that an interrupted test leaves.
pub fn test_interrupted(test: &InterruptedTest<'_>, style: &Style) -> String {
    let mut text = style.wrap(
        &format!(
            "\nMayfly was interrupted while executing {}, and may not have performed the expected \
             cleanup operations.\n",
            test.place.file
        ),
        1,
    );
    let mut add = |head: String, addresses: &[String]| {
        if !addresses.is_empty() {
            text.push_str(&style.wrap(&head, 1));
            text.push_str(&list(addresses));
        }
    };
    let head = "\nMayfly has already created the following resources from the module under test:\n";
    add(head.to_owned(), test.main);
    for it in test.others {
        let (run, source) = (values::go_quoted(it.run), values::go_quoted(it.source));
        let head = format!(
            "\nMayfly has already created the following resources for {run} from {source}:\n"
        );
        add(head, it.addresses);
    }
    let run = values::go_quoted(test.place.run.unwrap_or_default());
    let module = test.module.map_or("the module under test".to_owned(), values::go_quoted);
    let head = format!(
        "\nMayfly was in the process of creating the following resources for {run} from {module}, \
         and they may not have been destroyed:\n"
    );
    add(head, test.creating);
    text
}
