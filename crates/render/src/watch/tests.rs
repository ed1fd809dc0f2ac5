use std::time::Duration;

use causes::{Fact, Finding, Place};
use db::ByteRange;
use expect_test::{Expect, expect};
use state::Action;

use super::*;
use crate::Style;

fn change(action: Action, address: &str, words: &'static str) -> ListedChange {
    ListedChange { action, address: address.to_owned(), words }
}

fn entry(action: Action, address: &str, before: Option<Action>) -> NewsEntry {
    NewsEntry { address: address.to_owned(), deposed: None, action, before, cause: None }
}

/// A change of an attribute to the value of a variable.
fn caused(subject: &str, value: &str) -> Finding {
    let range = ByteRange { start: 0, end: 0 };
    let place = |path: &str, line| Place { path: path.into(), range, line, column: 1 };
    let is = |subject: &str, value: &str, because, place| Finding {
        subject: subject.to_owned(),
        fact: Fact::Is { value: value.to_owned() },
        place: Some(place),
        because,
        more: 0,
    };
    let root = is("var.length", value, Vec::new(), place("main.tf", 3));
    let attribute = is(&format!("{subject}.length"), value, vec![root], place("main.tf", 12));
    let fact = Fact::Planned { action: Action::DeleteThenCreate, deposed: None };
    Finding { fact, ..is(subject, value, vec![attribute], place("main.tf", 11)) }
}

fn good() -> WatchScreen {
    let news = PlanNews {
        appeared: vec![entry(Action::Create, "random_pet.new", None)],
        gone: vec![entry(Action::Update, "random_pet.gone", None)],
        changed: vec![
            entry(Action::DeleteThenCreate, "random_pet.b", Some(Action::Update)),
            entry(Action::Create, "output.name", None),
        ],
    };
    let news = news.explained(&[caused("random_pet.b", "4"), caused("random_pet.gone", "4")]);
    let plan = WatchedPlan {
        at: "21:05:33".to_owned(),
        took: Duration::from_millis(41),
        summary: "Plan: 2 to add, 0 to change, 1 to destroy.".to_owned(),
        news: Some(news),
        changes: vec![
            change(Action::DeleteThenCreate, "random_pet.b", "replace"),
            change(Action::Create, "random_pet.new", "create"),
            change(Action::Create, "output.name", ""),
        ],
        details: None,
    };
    WatchScreen {
        directory: "shop".to_owned(),
        refreshed: Some(Duration::from_secs(12)),
        plan: Some(plan),
        ..WatchScreen::default()
    }
}

#[track_caller]
fn check(screen: &WatchScreen, rows: usize, columns: usize, expected: Expect) {
    let lines = watch_screen(screen, TerminalSize { rows, columns }, &Style::PLAIN);
    assert_eq!(lines.len(), rows);
    assert!(lines.iter().all(|line| line.chars().count() <= columns), "{lines:#?}");
    let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
    expected.assert_eq(&format!("{}\n", lines.join("\n")));
    // Colours do not change the text.
    let style = Style { color: true, ..Style::PLAIN };
    let painted = watch_screen(screen, TerminalSize { rows, columns }, &style);
    let plain = painted.iter().map(|line| without_colours(line));
    assert_eq!(plain.map(|it| it.trim_end().to_owned()).collect::<Vec<_>>(), lines);
}

fn without_colours(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |it| it.1))
}

#[test]
fn watch_screen_shows_a_plan() {
    check(
        &good(),
        16,
        60,
        expect![[r#"
            mayfly watch  shop                         refreshed 12s ago
            Plan: 2 to add, 0 to change, 1 to destroy.   21:05:33, 41 ms
            ────────────────────────────────────────────────────────────
            Since the last plan:
              + random_pet.new new
            -/+ random_pet.b changed: replace instead of update in-place
                  length is 4 <- var.length is 4  main.tf:3
              + output.name changed
              ~ random_pet.gone no longer in the plan

            The plan:
            -/+ random_pet.b replace
              + random_pet.new create
              + output.name
            ────────────────────────────────────────────────────────────
            a apply  r refresh  d details  ? help  q quit
        "#]],
    );
}

#[test]
fn watch_screen_shows_errors_above_the_outdated_plan() {
    let problems = Problems {
        errors: 1,
        at: "21:06:01".to_owned(),
        text: "Error: Unclosed block\n\n  on main.tf line 3:\n".to_owned(),
    };
    let screen = WatchScreen { problems: Some(problems), ..good() };
    check(
        &screen,
        18,
        60,
        expect![[r#"
            mayfly watch  shop                         refreshed 12s ago
            1 error since 21:06:01
            as of 21:05:33: Plan: 2 to add, 0 to change, 1 to destroy.
            ────────────────────────────────────────────────────────────
            Error: Unclosed block

              on main.tf line 3:

            Since the last plan:
              + random_pet.new new
            -/+ random_pet.b changed: replace instead of update in-place
                  length is 4 <- var.length is 4  main.tf:3
              + output.name changed
              ~ random_pet.gone no longer in the plan

            The plan:
            ────────────────────────────────────────────────────────────
            a apply  r refresh  d details  ? help  q quit     1-12 of 15
        "#]],
    );
}

#[test]
fn watch_screen_shows_activity_before_the_first_plan() {
    let screen = WatchScreen {
        directory: ".".to_owned(),
        activity: Some("data.http.a: Reading...".to_owned()),
        open: 1,
        ..WatchScreen::default()
    };
    check(
        &screen,
        6,
        60,
        expect![[r#"
        mayfly watch  .     1 ephemeral resource open, not refreshed
        Planning...
        ────────────────────────────────────────────────────────────

        ────────────────────────────────────────────────────────────
        data.http.a: Reading...
    "#]],
    );
}

#[test]
fn watch_screen_shows_the_approval_prompt() {
    let screen = WatchScreen { view: WatchView::Confirm("ye".to_owned()), ..good() };
    check(
        &screen,
        9,
        80,
        expect![[r#"
            mayfly watch  shop                                             refreshed 12s ago
            Plan: 2 to add, 0 to change, 1 to destroy.                       21:05:33, 41 ms
            ────────────────────────────────────────────────────────────────────────────────
            Since the last plan:
              + random_pet.new new
            -/+ random_pet.b changed: replace instead of update in-place
                  length is 4 <- var.length is 4  main.tf:3
            ────────────────────────────────────────────────────────────────────────────────
            Apply this plan? Only 'yes' will be accepted (Esc: no): ye_
        "#]],
    );
}

#[test]
fn watch_screen_scrolls_to_the_end_of_a_long_list() {
    let mut screen = good();
    screen.scroll = 100;
    check(
        &screen,
        9,
        60,
        expect![[r#"
            mayfly watch  shop                         refreshed 12s ago
            Plan: 2 to add, 0 to change, 1 to destroy.   21:05:33, 41 ms
            ────────────────────────────────────────────────────────────
            The plan:
            -/+ random_pet.b replace
              + random_pet.new create
              + output.name
            ────────────────────────────────────────────────────────────
            a apply  r refresh  d details  ? help  q quit     8-11 of 11
        "#]],
    );
}

#[test]
fn watch_screen_cuts_long_lines() {
    check(
        &good(),
        12,
        24,
        expect![[r#"
            mayfly watch  shop
            Plan: 2 to add, 0 to ch…
            ────────────────────────
            Since the last plan:
              + random_pet.new new
            -/+ random_pet.b change…
                  length is 4 <-
                  var.length is 4
                  main.tf:3
              + output.name changed
            ────────────────────────
            a apply  r refresh  d d…
        "#]],
    );
    for (rows, columns) in [(0, 0), (1, 1), (2, 5), (5, 3), (1, 200)] {
        let lines = watch_screen(&good(), TerminalSize { rows, columns }, &Style::PLAIN);
        assert!(lines.len() <= rows);
    }
}

#[test]
fn watch_screen_escapes_control_characters() {
    let screen = WatchScreen { directory: "a\u{1b}[2Jb".to_owned(), ..WatchScreen::default() };
    let lines = watch_screen(&screen, TerminalSize { rows: 5, columns: 80 }, &Style::PLAIN);
    assert!(!lines.concat().contains('\u{1b}'), "{lines:?}");
}

#[test]
fn watch_prints_a_finished_plan_as_json() {
    let news = good().plan.and_then(|it| it.news).expect("is there");
    let failed =
        PlanFinished { plan: 3, duration: Duration::from_micros(1250), errors: 2, good: None };
    let plan = crate::plan::tests::empty_plan();
    let causes = [caused("random_pet.b", "4")];
    let finished = PlanFinished {
        errors: 0,
        good: Some(NewPlan { plan: &plan, news: &news, causes: &causes }),
        ..failed
    };
    let text = [plan_finished_json(&failed, "T"), plan_finished_json(&finished, "T")].join("\n");
    expect![[r#"
        {"@level":"info","@message":"Plan 3 failed after 1.2 ms; the previous plan is kept","@module":"tofu.ui","@timestamp":"T","duration_ms":1.3,"errors":2,"ok":false,"plan":3,"type":"plan_finished"}
        {"@level":"info","@message":"Plan 3 finished after 1.2 ms","@module":"tofu.ui","@timestamp":"T","applyable":true,"causes":[{"address":"random_pet.b","text":"length is 4 \u003c- var.length is 4","place":{"file":"main.tf","line":3,"column":1}}],"duration_ms":1.3,"errors":0,"ok":true,"plan":3,"since_last":{"appeared":["random_pet.new"],"changed":["random_pet.b","output.name"],"gone":["random_pet.gone"]},"type":"plan_finished"}"#]].assert_eq(&text);
}
