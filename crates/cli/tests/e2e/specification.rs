//! Runs the part of the specification that is about commands. In the Markdown files of `tests/spec`, a `files`
//! block describes a directory, and the following `session` blocks are commands in it. The README in that folder
//! describes the notation.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::bench::Bench;

/// A command of a session.
struct Step {
    /// The line in the Markdown file.
    line: usize,
    /// The text after the shell prompt.
    command: String,
    /// The input of the command.
    input: String,
    /// The expected output.
    printed: Vec<String>,
}

/// A directory with the commands that run in it.
#[derive(Default)]
struct Scene {
    files: Vec<(String, String)>,
    steps: Vec<Step>,
}

#[test]
fn sessions_of_the_specification_hold() {
    let (mut steps, mut wrong) = (0, String::new());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/spec");
    for path in markdown_below(&folder) {
        let text = fs::read_to_string(&path).expect("can be read");
        let shown = path.strip_prefix(&folder).unwrap_or(&path).display();
        for scene in scenes(&text) {
            steps += scene.steps.len();
            let found = play(&scene);
            wrong.extend(found.iter().map(|it| format!("tests/spec/{shown}:{it}\n")));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(steps > 0, "the specification has sessions");
}

#[test]
fn failed_session_is_reported_with_its_line() {
    let text = "```files\nlocals {\n  a = 1\n}\n```\n\n```session\n$ mayfly console\n< local.a\n< 2\n1\n3\n```\n";
    let found: Vec<String> = scenes(text).iter().flat_map(play).collect();
    assert_eq!(found, ["8: `mayfly console` prints\n1\n2\n"]);
}

fn markdown_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("can be listed") {
        let path = entry.expect("can be listed").path();
        match path.is_dir() {
            true => found.extend(markdown_below(&path)),
            false if path.extension().is_some_and(|it| it == "md") => found.push(path),
            false => {}
        }
    }
    found.sort();
    found
}

fn scenes(markdown: &str) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    let mut open = "";
    for (index, line) in markdown.lines().enumerate() {
        if let Some(word) = line.strip_prefix("```") {
            open = word.trim();
            if open == "files" {
                let files = vec![("main.tf".to_owned(), String::new())];
                scenes.push(Scene { files, steps: Vec::new() });
            }
            continue;
        }
        let Some(scene) = scenes.last_mut() else { continue };
        match open {
            "files" => scene.add_to_files(line),
            "session" => scene.add_to_session(index + 1, line),
            _ => {}
        }
    }
    scenes
}

impl Scene {
    fn add_to_files(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix("# file: ") {
            self.files.push((path.to_owned(), String::new()));
            return;
        }
        let (_, text) = self.files.last_mut().expect("there is a first file");
        *text += line;
        text.push('\n');
    }

    fn add_to_session(&mut self, number: usize, line: &str) {
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_owned();
            self.steps.push(Step {
                line: number,
                command,
                input: String::new(),
                printed: Vec::new(),
            });
            return;
        }
        let step = self.steps.last_mut().expect("a session begins with a command");
        let typed = if line == "<" { Some("") } else { line.strip_prefix("< ") };
        match typed {
            Some(typed) => step.input += &format!("{typed}\n"),
            None => step.printed.push(line.to_owned()),
        }
    }
}

/// The differences between a scene and its actual run, each with the line of its command.
fn play(scene: &Scene) -> Vec<String> {
    let bench = Bench::new();
    let all = scene.files.iter();
    all.filter(|(_, text)| !text.trim().is_empty())
        .for_each(|(path, text)| bench.write(path, text));
    let printed = scene.steps.iter().filter_map(|step| {
        let found = run(&bench, step);
        let lines: Vec<&str> = found.trim_end().lines().map(str::trim_end).collect();
        let expected: Vec<&str> = step.printed.iter().map(String::as_str).collect();
        let is_so = is_like(&lines, &expected);
        (!is_so).then(|| format!("{}: `{}` prints\n{found}", step.line, step.command))
    });
    printed.collect()
}

/// The output of a command on both streams, with the exit code if it fails.
fn run(bench: &Bench, step: &Step) -> String {
    let words = words(&step.command);
    let is_setting = |word: &&String| word.split_once('=').is_some() && !word.starts_with('-');
    let settings = words.iter().take_while(is_setting).count();
    let (program, arguments) = words[settings..].split_first().expect("a command has a name");
    let shows_file = program == "cat";
    if shows_file {
        return String::from_utf8_lossy(&bench.read(&arguments[0])).into_owned();
    }
    assert_eq!(program, "mayfly", "line {}", step.line);
    let mut run = bench.mayfly(".", arguments).env("NO_COLOR", "1");
    for setting in &words[..settings] {
        let (name, value) = setting.split_once('=').expect("is a setting");
        run = run.env(name, value);
    }
    let ended = run.input(&step.input).end();
    let end = match ended.code {
        0 => String::new(),
        code => format!("[ends with {code}]\n"),
    };
    // If both streams have output, stderr begins with a blank line.
    format!("{}{}{end}", ended.out, ended.err)
}

/// The words of a command. A text in single quotes is one word.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut is_quoted) = (vec![String::new()], false);
    for character in command.chars() {
        match character {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            character => words.last_mut().expect("there is one").push(character),
        }
    }
    words
}

/// Returns true if the lines match. The line `...` in `expected` matches any number of lines.
fn is_like(lines: &[&str], expected: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|at| is_like(&lines[at..], rest)),
        Some((first, rest)) => lines.first() == Some(first) && is_like(&lines[1..], rest),
    }
}
