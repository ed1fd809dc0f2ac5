//! Measures a plan with ten aliased configurations of the real AWS provider, if the machine has a mirror of it. No
//! configuration asks the network for anything. The memory is that of all processes at once, because each
//! configuration has a process of its own.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Result, ensure};

use super::{
    Place,
    aws::{self, Mirror},
    budget,
    options::Options,
    report::{Measured, Row},
    tool::{self, Tool, Usage},
};

/// The title of the row.
const TITLE: &str = "plan with ten configurations of the AWS provider";

/// The number of aliases.
const ALIASES: usize = 10;

/// The number of resources of each type for each alias.
const PER_TYPE: usize = 2;

/// The pause between two looks at the processes.
const PAUSE: Duration = Duration::from_millis(50);

/// Measures the row, if the options select it and the provider is available.
///
/// # Errors
/// Returns an error if the mirror lacks the provider, or if a tool fails or has a wrong result.
pub(crate) fn measure(options: &Options, place: &Place, references: &[Tool]) -> Result<Vec<Row>> {
    let Some(mirror) = aws::mirror(options, &[TITLE], place)? else { return Ok(Vec::new()) };
    println!("measuring {TITLE} …");
    let tools = std::iter::once(&place.mayfly).chain(references);
    let mut contenders = tools
        .map(|tool| Ok((prepare(tool, place, &mirror)?, Vec::new())))
        .collect::<Result<Vec<_>>>()?;
    for _ in 0..options.runs {
        for (contender, usages) in &mut contenders {
            usages.push(contender.plan()?);
        }
    }
    let figures = contenders.iter().map(|(it, usages)| Measured::median(&it.tool.name, usages));
    Ok(vec![Row::new(TITLE.to_owned(), resources(), figures.collect(), budget::of_aliases())])
}

fn resources() -> usize {
    ALIASES * PER_TYPE * aws::TYPES.len()
}

/// A tool with its own copy of the configuration.
struct Contender<'a> {
    tool: &'a Tool,
    folder: std::path::PathBuf,
}

fn prepare<'a>(tool: &'a Tool, place: &Place, mirror: &Mirror) -> Result<Contender<'a>> {
    let folder = place.work.join(format!("aliases-{}", tool.name));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("cli.tfrc"), mirror.configuration())?;
    fs::write(folder.join("main.tf"), configuration(&mirror.version))?;
    tool.run_to(0, &folder, &folder.join("cli.tfrc"), &["init", "-no-color", "-input=false"])?;
    Ok(Contender { tool, folder })
}

impl Contender<'_> {
    fn plan(&self) -> Result<Usage> {
        let arguments = ["plan", "-no-color", "-input=false"];
        let command = self.tool.command(&self.folder, &self.folder.join("cli.tfrc"), &arguments);
        let ended = AtomicBool::new(false);
        let (run, peak) = std::thread::scope(|scope| {
            let mut observer = None;
            let observe = |root| {
                let ended = &ended;
                observer = Some(scope.spawn(move || peak_of(root, ended)));
            };
            let run = tool::run(command, &self.folder, observe);
            ended.store(true, Ordering::Relaxed);
            (run, observer.and_then(|it| it.join().ok()).unwrap_or_default())
        });
        let run = run?.expect(0, &format!("{} plan", self.tool.name))?;
        let expected = format!("Plan: {} to add, 0 to change, 0 to destroy.", resources());
        ensure!(run.stdout.contains(&expected), "{} planned something else", self.tool.name);
        ensure!(peak.bytes > 0, "the memory of other processes cannot be read here");
        println!(
            "  {}: {:.1} s, at most {} processes of the provider and {:.0} MB at once",
            self.tool.name,
            run.usage.wall.as_secs_f64(),
            peak.providers,
            peak.bytes as f64 / 1e6
        );
        Ok(Usage { bytes: peak.bytes, ..run.usage })
    }
}

/// The largest figures while a tool runs.
#[derive(Clone, Copy, Default)]
struct Peak {
    /// The memory of all processes at once. Pages that processes share count once.
    bytes: u64,
    /// The number of provider processes at once.
    providers: usize,
}

/// Looks at a process and its descendants until `ended`.
fn peak_of(root: u32, ended: &AtomicBool) -> Peak {
    let mut peak = Peak::default();
    while !ended.load(Ordering::Relaxed) {
        let family = family_of(root);
        let bytes = family.keys().filter_map(|it| proportional(*it)).sum();
        let providers = family.values().filter(|name| name.starts_with("terraform-provi")).count();
        peak.bytes = peak.bytes.max(bytes);
        peak.providers = peak.providers.max(providers);
        std::thread::sleep(PAUSE);
    }
    peak
}

/// Returns a process and its descendants, with their names.
fn family_of(root: u32) -> BTreeMap<u32, String> {
    let mut processes = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|it| it.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some((name, parent)) = parsed(&stat) {
            processes.insert(id, (name.to_owned(), parent));
        }
    }
    let is_member = |id: u32| {
        let ancestors = std::iter::successors(Some(id), |it| Some(processes.get(it)?.1));
        ancestors.take(processes.len()).any(|it| it == root)
    };
    let members = processes.iter().filter(|(id, _)| is_member(**id));
    members.map(|(id, (name, _))| (*id, name.clone())).collect()
}

/// Parses the name and the parent from a line of `/proc/PID/stat`. A name may contain blanks and parentheses.
fn parsed(stat: &str) -> Option<(&str, u32)> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    let parent = after.split_whitespace().nth(1)?.parse().ok()?;
    Some((name, parent))
}

/// Returns the memory of a process in bytes, with its share of pages that are shared.
fn proportional(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the configuration. The accounts and regions are never asked for.
fn configuration(version: &str) -> String {
    let mut text = aws::required(version);
    for alias in 0..ALIASES {
        let _ = write!(
            text,
            r#"
provider "aws" {{
  alias                       = "team_{alias}"
  region                      = "eu-central-1"
  access_key                  = "team-{alias}"
  secret_key                  = "none"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_region_validation      = true
  skip_requesting_account_id  = true
}}
"#
        );
        for (ty, name, arguments) in aws::TYPES {
            for index in 0..PER_TYPE {
                let _ = write!(
                    text,
                    r#"
resource "{ty}" "item_{alias}_{index}" {{
  provider = aws.team_{alias}

  {name} = "item-{alias}-{index}"
  {arguments}
}}
"#
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_name_with_blanks_and_parentheses_is_parsed() {
        assert_eq!(parsed("12 (a (b) c) S 7 12 12 0"), Some(("a (b) c", 7)));
        assert_eq!(parsed("nothing"), None);
    }

    #[test]
    fn process_family_contains_the_process() {
        let own = std::process::id();
        if fs::exists("/proc/self/stat").unwrap_or_default() {
            assert!(family_of(own).contains_key(&own));
        }
    }
}
