//! The description of a process: enough to find it again, to know that it is still the same one, and to kill it.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};

use crate::{leftovers, process::remove_socket, sandboxed::remove_directory};

/// A process that is running or about to start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    /// The mark that the process and its descendants have in their environment.
    pub(super) mark: String,
    /// The name for messages, such as a provider's source address.
    pub(super) name: String,
    leads_group: bool,
    pub(super) identity: Option<Identity>,
    pub(super) socket: Option<PathBuf>,
    /// The directory for the temporary files of the process alone.
    pub(super) directory: Option<PathBuf>,
}

/// The identity of a process, which a later process with the same ID does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Identity {
    id: i32,
    /// The start time in the system's own format.
    started: String,
    /// The programs that the process has run, in order.
    programs: Vec<String>,
}

impl Identity {
    fn of(id: i32) -> Option<Identity> {
        let programs = Vec::from_iter(system::program(id));
        Some(Identity { id, started: system::started(id)?, programs })
    }

    /// Returns true if the recorded process is running. Another process may have its ID by now.
    fn is_there(&self) -> bool {
        system::started(self.id).is_some_and(|it| it == self.started)
    }

    /// Returns true if the process is running and its program is one of the recorded ones. For a list from a file.
    fn is_there_as_recorded(&self) -> bool {
        let is_known = |program: String| self.programs.contains(&program);
        self.is_there() && system::program(self.id).is_some_and(is_known)
    }
}

impl Entry {
    pub(super) fn new(mark: &str, name: &str, leads_group: bool) -> Entry {
        let (mark, name) = (mark.to_owned(), name.to_owned());
        Entry { mark, name, leads_group, identity: None, socket: None, directory: None }
    }

    pub(super) fn started(&mut self, id: Option<u32>) {
        self.identity = id.and_then(|it| i32::try_from(it).ok()).and_then(Identity::of);
    }

    /// Adds the program that the process runs now.
    pub(super) fn record_program(&mut self) {
        let Some(identity) = &mut self.identity else { return };
        let program = system::program(identity.id);
        identity.programs.extend(program.filter(|it| !identity.programs.contains(it)));
    }

    /// The line for this process in the list, with its newline.
    pub(super) fn line(&self) -> String {
        let identity = self.identity.as_ref();
        let line = json!({
            "mark": self.mark,
            "name": self.name,
            "leads_group": self.leads_group,
            "id": identity.map(|it| it.id),
            "started": identity.map(|it| &it.started),
            "programs": identity.map(|it| &it.programs),
            "socket": self.socket.as_deref().and_then(Path::to_str),
            "directory": self.directory.as_deref().and_then(Path::to_str),
        });
        format!("{line}\n")
    }

    fn parse(line: &Value) -> Option<Entry> {
        let text = |name: &str| line[name].as_str().map(str::to_owned);
        let programs = line["programs"].as_array().into_iter().flatten();
        let programs = programs.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        let id = line["id"].as_i64().and_then(|it| i32::try_from(it).ok()).filter(|it| *it > 1);
        let identity = id.zip(text("started"));
        Some(Entry {
            mark: text("mark").filter(|it| leftovers::is_mark(it))?,
            name: text("name").unwrap_or_default(),
            leads_group: line["leads_group"] == true,
            identity: identity.map(|(id, started)| Identity { id, started, programs }),
            socket: text("socket").map(PathBuf::from),
            directory: text("directory").map(PathBuf::from),
        })
    }
}

/// The line that removes a process from the list.
pub(super) fn ended_line(mark: &str) -> String {
    format!("{}\n", json!({ "ended": mark }))
}

/// Applies one line to a list. A truncated or damaged line changes nothing.
pub(super) fn read_line(running: &mut BTreeMap<String, Entry>, line: &str) {
    let Ok(line) = serde_json::from_str::<Value>(line) else { return };
    if let Some(mark) = line["ended"].as_str() {
        running.remove(mark);
    } else if let Some(entry) = Entry::parse(&line) {
        running.insert(entry.mark.clone(), entry);
    }
}

/// Kills processes that this run has started, or, in the supervisor, its parent. Returns true if one was running.
pub(super) fn kill(entries: &[Entry]) -> bool {
    if entries.is_empty() {
        return false;
    }
    let mut killed = false;
    for entry in entries {
        if let Some(identity) = entry.identity.as_ref().filter(|it| it.is_there()) {
            killed |= kill_identified(identity, entry.leads_group);
        }
    }
    let marks: Vec<&str> = entries.iter().map(|it| it.mark.as_str()).collect();
    killed | leftovers::kill_marked(&marks)
}

/// Kills a process of a list that was read from a file. Returns true if it was running.
pub(super) fn kill_recorded(entry: &Entry) -> bool {
    let identity = entry.identity.as_ref().filter(|it| {
        // The mark is the better proof, if the environment can be read.
        it.is_there_as_recorded() && leftovers::bears(it.id, &entry.mark) != Some(false)
    });
    let killed = identity.is_some_and(|it| kill_identified(it, entry.leads_group));
    let killed = killed | leftovers::kill_marked(&[&entry.mark]);
    if killed {
        remove_files_of(entry);
    }
    killed
}

/// Removes the socket and the temporary directory of a killed process.
pub(super) fn remove_files_of(entry: &Entry) {
    if let Some(socket) = &entry.socket {
        remove_socket(socket);
    }
    if let Some(directory) = &entry.directory {
        remove_directory(directory);
    }
}

fn kill_identified(identity: &Identity, leads_group: bool) -> bool {
    let Some(process) = Pid::from_raw(identity.id) else { return false };
    if leads_group {
        let _ended = kill_process_group(process, Signal::KILL);
    }
    kill_process(process, Signal::KILL).is_ok()
}

/// Process queries of Linux.
#[cfg(target_os = "linux")]
mod system {
    use super::fs;

    /// The start time of a process: the ticks since the boot, and the id of the boot. `None` if there is no such
    /// process, or only a zombie.
    pub(super) fn started(id: i32) -> Option<String> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name of the program is in brackets and may contain any character.
        let (_, fields) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let (state, ticks) = (fields.first()?, fields.get(19)?);
        (!matches!(*state, "Z" | "X")).then(|| format!("{} {ticks}", boot.trim()))
    }

    /// The program that a process runs. If its link cannot be read, as for a process that cannot be dumped, its
    /// first argument.
    pub(super) fn program(id: i32) -> Option<String> {
        let link = fs::read_link(format!("/proc/{id}/exe")).ok();
        if let Some(path) = link.as_ref().and_then(|it| it.to_str()) {
            return Some(path.trim_end_matches(" (deleted)").to_owned());
        }
        let line = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let first = line.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(first).into_owned())
    }
}

/// Process queries of other systems.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::process::Command;

    /// The start time of a process. `None` if there is no such process.
    pub(super) fn started(id: i32) -> Option<String> {
        ask(id, "lstart=")
    }

    /// The program that a process runs.
    pub(super) fn program(id: i32) -> Option<String> {
        ask(id, "comm=")
    }

    fn ask(id: i32, what: &str) -> Option<String> {
        let id = id.to_string();
        let asked = Command::new("ps").args(["-p", &id, "-o", what]).env("LC_ALL", "C").output();
        let text = String::from_utf8(asked.ok()?.stdout).ok()?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        process::{Child, Command},
        thread,
    };

    use super::*;

    /// A process with a mark, once its program is loaded: before that, the system shows an empty environment.
    fn sleeper(mark: &str) -> Child {
        let mut command = Command::new("sleep");
        command.arg("60").env(leftovers::KEY, mark);
        let child = command.spawn().expect("starts");
        let id = i32::try_from(child.id()).expect("is small");
        while cfg!(target_os = "linux") && leftovers::bears(id, mark).is_none() {
            thread::yield_now();
        }
        child
    }

    fn entry_of(child: &Child, mark: &str) -> Entry {
        let mut entry = Entry::new(mark, "test", false);
        entry.started(Some(child.id()));
        entry
    }

    fn ends(mut child: Child) {
        child.kill().expect("can be killed");
        child.wait().expect("is reaped");
    }

    #[test]
    fn supervision_line_round_trips() {
        let child = sleeper("1.2.3.");
        let mut entry = entry_of(&child, "1.2.3.");
        entry.socket = Some("/tmp/socket".into());
        entry.directory = Some("/tmp/mayfly-x".into());
        let mut running = BTreeMap::new();
        read_line(&mut running, &entry.line());
        assert_eq!(running.get("1.2.3."), Some(&entry));
        for damaged in ["", "{", "{\"mark\":1}", "{\"mark\":\"\"}", "{\"ended\":\"other\"}"] {
            read_line(&mut running, damaged);
        }
        assert_eq!(running.len(), 1);
        read_line(&mut running, &ended_line("1.2.3."));
        assert!(running.is_empty());
        ends(child);
    }

    #[test]
    fn process_is_killed_only_if_its_identity_matches_the_record() {
        let mut child = sleeper("4.4.4.");
        let entry = entry_of(&child, "4.4.4.");
        let with = |change: fn(&mut Identity)| {
            let mut other = Entry { mark: "5.5.5.".to_owned(), ..entry.clone() };
            change(other.identity.as_mut().expect("it runs"));
            other
        };
        let recycled = with(|it| it.started.push('1'));
        assert!(!kill(std::slice::from_ref(&recycled)), "it was started at another time");
        assert!(!kill_recorded(&recycled), "it was started at another time");
        let replaced = with(|it| it.programs = vec!["/usr/bin/other".to_owned()]);
        assert!(!kill_recorded(&replaced), "it is another program");
        assert!(!kill_recorded(&with(|_| {})), "it bears another mark");
        assert_eq!(child.try_wait().expect("is ours"), None, "it runs");
        assert!(kill_recorded(&entry));
        child.wait().expect("is reaped");
    }

    #[test]
    fn children_of_an_ended_recorded_process_are_killed() {
        let child = sleeper("6.6.6.");
        let mut orphan = sleeper("6.6.6.");
        let entry = entry_of(&child, "6.6.6.");
        ends(child);
        assert!(kill_recorded(&entry));
        assert!(!orphan.wait().expect("is reaped").success());
        assert!(!kill_recorded(&entry), "nothing is left");
    }
}
