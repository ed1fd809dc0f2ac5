//! The server thread, which owns the database.
//!
//! **Invariant:** nothing here waits for the client, for a worker or for a program. An edit waits only for
//! snapshots, which it cancels first.

mod folders;
mod providers;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender},
    },
    thread::JoinHandle,
    time::Duration,
};

use addr::ProviderSource;
use db::{Directory, System};
use hir::Workspace;
use parallel::{Workers, on_deep_stack};
use project::{Database, Handle, SourceTree};
use rustc_hash::FxHashMap;
use tokio::sync::{mpsc::UnboundedSender, oneshot};
use tower_lsp_server::ls_types::*;

use crate::{
    capabilities::{self, Client},
    checks::{self, Check, Checked, Checks},
    documents::{Document, Documents, is_configuration, is_variables_file, path_of, uri_of},
    installation::Installation,
    outgoing::{Outgoing, Refresh, Status},
    position::Encoding,
    reading::{Read, Reading},
    settings::Settings,
    snapshot::{Ask, Edits, Needs, Snapshot, Target},
    tfvars::Unfit,
    watcher::{self, OwnWatcher},
};

/// The number of workers for requests and for checks of edited files.
const WORKERS: usize = 4;

/// The paths that `init` writes, and their directories, whose creation also counts.
const INSTALLATION: [&str; 4] = [
    "/.terraform.lock.hcl",
    "/.terraform",
    "/.terraform/modules",
    "/.terraform/modules/modules.json",
];

/// The idle time before the check of all modules. Without it, every key of a fast typist would start and cancel
/// that check.
const PAUSE: Duration = Duration::from_millis(5);

/// A message to the server thread.
pub(crate) enum Message {
    Initialize(Box<InitializeParams>, oneshot::Sender<InitializeResult>),
    Initialized,
    Open(TextDocumentItem),
    Change(DidChangeTextDocumentParams),
    Close(Uri),
    /// Files that another program wrote, created or removed.
    Watched(Vec<String>),
    Folders(WorkspaceFoldersChangeEvent),
    /// The new settings of the user.
    Settings(serde_json::Value),
    /// A workspace-wide search needs all modules.
    LoadEverything,
    Ask(Box<dyn Ask>),
    Checked(Checked),
    /// The result of a background read.
    Read(Read),
    Exit,
}

/// Starts the server thread.
pub(crate) fn start(
    system: Arc<dyn System>,
    installation: Arc<dyn Installation>,
    messages: Sender<Message>,
    inbox: Receiver<Message>,
    outgoing: UnboundedSender<Outgoing>,
) -> Option<JoinHandle<()>> {
    let run = move || Server::new(system, installation, messages, outgoing).run(&inbox);
    parallel::thread("server", || on_deep_stack(run)).ok()
}

struct Server {
    system: Arc<dyn System>,
    installation: Arc<dyn Installation>,
    messages: Sender<Message>,
    outgoing: UnboundedSender<Outgoing>,
    tree: SourceTree,
    documents: Documents,
    client: Arc<Client>,
    settings: Settings,
    /// True while a request for the user's settings is unanswered.
    has_asked: bool,
    encoding: Encoding,
    folders: Vec<String>,
    /// The state of the background reads.
    reading: Reading,
    /// The directories of the workspace that are known to contain modules.
    modules: Arc<BTreeSet<String>>,
    /// The requests that wait for background reads.
    deferred: Vec<Box<dyn Ask>>,
    edits: Edits,
    /// The diagnostics of files of modules that the database rejects.
    unfit: Arc<Unfit>,
    /// The configurations, by the directory of their root module.
    roots: BTreeMap<String, Root>,
    /// The configuration to which each module belongs. `None` after modules were added or removed.
    homes: Option<FxHashMap<Directory, Workspace>>,
    /// True if modules were added or removed since the last check.
    are_modules_new: bool,
    checks: Checks,
    /// The status that was sent last.
    status: Status,
    /// The configurations that were not inferred yet.
    new: Vec<Workspace>,
    /// The server's own watcher, if the client does not watch files.
    watcher: Option<OwnWatcher>,
    quick: Workers,
    slow: Workers,
}

struct Root {
    workspace: Workspace,
    /// The providers whose schemas were requested.
    asked: BTreeSet<ProviderSource>,
    /// The providers without schemas, each with the reason.
    missing: BTreeMap<ProviderSource, String>,
    /// True until the first requested schemas have arrived.
    is_unread: bool,
}

impl Root {
    fn new(workspace: Workspace) -> Root {
        Root { workspace, asked: BTreeSet::new(), missing: BTreeMap::new(), is_unread: false }
    }
}

impl Server {
    fn new(
        system: Arc<dyn System>,
        installation: Arc<dyn Installation>,
        messages: Sender<Message>,
        outgoing: UnboundedSender<Outgoing>,
    ) -> Server {
        let tree = SourceTree::new(Database::default(), Arc::clone(&system), PathBuf::from("/"));
        let reading = Reading::new(messages.clone());
        Server {
            system,
            installation,
            messages,
            outgoing,
            tree,
            documents: Documents::new(),
            client: Arc::default(),
            settings: Settings::default(),
            has_asked: false,
            encoding: Encoding::default(),
            folders: Vec::new(),
            reading,
            modules: Arc::default(),
            deferred: Vec::new(),
            edits: Edits::default(),
            unfit: Arc::default(),
            roots: BTreeMap::new(),
            homes: None,
            are_modules_new: false,
            checks: Checks::default(),
            status: Status::fine(),
            new: Vec::new(),
            watcher: None,
            quick: Workers::start("quick", WORKERS),
            slow: Workers::start("slow", 1),
        }
    }

    fn run(mut self, inbox: &Receiver<Message>) {
        while let Some(message) = self.wait(inbox) {
            let mut next = Some(message);
            // Handles all waiting messages before a check, so that several edits cost one check.
            while let Some(message) = next {
                if matches!(message, Message::Exit) {
                    return;
                }
                let (message, following) = gathered(message, inbox);
                self.guarded(|it| it.handle(message));
                next = following;
            }
            self.guarded(|it| {
                it.ask_deferred();
                it.check();
            });
        }
    }

    fn guarded(&mut self, run: impl FnOnce(&mut Server)) {
        if catch_unwind(AssertUnwindSafe(|| run(self))).is_err() {
            self.begin_again();
        }
    }

    /// The next message. Uses idle times for the check of all modules, and for checks that have waited too long.
    fn wait(&mut self, inbox: &Receiver<Message>) -> Option<Message> {
        while let Some(pause) = self.pause() {
            match inbox.recv_timeout(pause) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => self.guarded(Server::use_pause),
            }
        }
        inbox.recv().ok()
    }

    /// The time after which there is work to do without a message. `None` if there is no such work.
    fn pause(&self) -> Option<Duration> {
        let patience = self.reading.patience().filter(|_| self.is_reading());
        patience.or_else(|| self.checks.are_modules_next().then_some(PAUSE))
    }

    fn use_pause(&mut self) {
        if self.is_reading() && self.reading.patience().is_some() {
            self.reading.lose_patience();
            self.ask_deferred();
            self.check();
        } else {
            self.check_modules();
        }
    }

    /// Returns true if a background read is running for which first checks wait.
    fn is_reading(&self) -> bool {
        self.reading.looks_for_modules() || self.roots.values().any(|root| root.is_unread)
    }

    /// Rebuilds all state after a panic. Keeps only the open documents.
    fn begin_again(&mut self) {
        let text_of =
            |path: &String| catch_unwind(AssertUnwindSafe(|| self.text(path))).ok().flatten();
        let documents: Vec<(String, Document, String)> = self
            .documents
            .iter()
            .filter_map(|(path, document)| Some((path.clone(), document.clone(), text_of(path)?)))
            .collect();
        self.tree =
            SourceTree::new(Database::default(), Arc::clone(&self.system), PathBuf::from("/"));
        self.documents = Documents::new();
        self.roots = BTreeMap::new();
        self.homes = None;
        self.new = Vec::new();
        self.checks.begin_again();
        let message = "Mayfly's language server had to restart because of a bug in Mayfly";
        self.tell(Outgoing::Message(MessageType::WARNING, message.to_owned()));
        for (path, document, text) in documents {
            let document = Document { text: None, ..document };
            drop(catch_unwind(AssertUnwindSafe(|| self.open(path, document, &text))));
        }
    }

    /// The text of a document.
    fn text(&self, path: &str) -> Option<String> {
        let own = self.documents.get(path).and_then(|it| it.text.as_deref());
        own.map(str::to_owned).or_else(|| self.tree.text(path))
    }

    fn tell(&self, outgoing: Outgoing) {
        // Sending fails only if the connection is closed.
        let _ = self.outgoing.send(outgoing);
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Initialize(params, reply) => {
                let _ = reply.send(self.initialize(&params));
            }
            Message::Initialized => {
                if self.client.tells_settings {
                    self.tell(Outgoing::AskForSettings(self.messages.clone()));
                }
                match self.client.watches_files {
                    true => self.tell(Outgoing::Register(capabilities::watched())),
                    false => self.watcher = Some(OwnWatcher::new(self.messages.clone())),
                }
            }
            Message::Open(TextDocumentItem { uri, version, text, .. }) => {
                if let Some(path) = path_of(&uri) {
                    self.open(path, Document { version, uri, text: None }, &text);
                }
            }
            Message::Change(params) => self.change(params),
            Message::Close(uri) => self.close(&uri),
            Message::Watched(paths) => {
                if let Some(watcher) = &mut self.watcher {
                    paths.iter().for_each(|path| watcher.forget(Path::new(path)));
                }
                self.reload(&paths);
            }
            Message::Folders(event) => self.change_folders(event),
            Message::Settings(options) => self.configure(&options),
            Message::LoadEverything => self.load_everything(),
            Message::Ask(question) => self.ask(question),
            Message::Checked(checked) => self.publish(checked),
            Message::Read(Read::CallGraph(graph)) => self.take_graph(graph),
            Message::Read(Read::Schemas(schemas)) => self.take_schemas(schemas),
            Message::Exit => {}
        }
    }

    #[expect(deprecated, reason = "older clients name a root, no folders")]
    fn initialize(&mut self, params: &InitializeParams) -> InitializeResult {
        self.client = Arc::new(Client::of(params));
        if let Some(options) = &params.initialization_options {
            self.settings = self.settings.with(options);
        }
        let offered = params.capabilities.general.as_ref();
        let offered = offered.and_then(|it| it.position_encodings.as_deref());
        self.encoding = Encoding::negotiate(offered);
        let folders = params.workspace_folders.as_deref().unwrap_or_default();
        self.folders = folders.iter().filter_map(|it| path_of(&it.uri)).collect();
        if self.folders.is_empty() {
            self.folders.extend(params.root_uri.as_ref().and_then(path_of));
        }
        InitializeResult {
            capabilities: capabilities::server(self.encoding, &self.client),
            server_info: Some(ServerInfo {
                name: "mayfly".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            offset_encoding: None,
        }
    }

    fn open(&mut self, path: String, document: Document, text: &str) {
        if is_variables_file(&path) {
            return self.open_tfvars(path, document, text);
        }
        if !is_configuration(&path) {
            return;
        }
        self.edits.add_one();
        self.documents.insert(path.clone(), document);
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        self.tree.open(&path, text);
        self.load(parent);
        self.homes = None;
        self.checks.close(&path);
        self.follow_documents();
    }

    /// Opens a file that is not part of a module.
    fn open_tfvars(&mut self, path: String, document: Document, text: &str) {
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        self.load(parent);
        self.documents.insert(path, Document { text: Some(Arc::from(text)), ..document });
        self.checks.tfvars_changed();
    }

    /// Registers the open files that are part of modules for checks, and unregisters the others. An open file may
    /// hide another one.
    fn follow_documents(&mut self) {
        for path in self.documents.keys() {
            match self.tree.file(path) {
                Some((file, directory)) => {
                    self.tree.follow(directory);
                    self.checks.open(path, file);
                }
                None => self.checks.close(path),
            }
        }
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let Some(path) = path_of(&params.text_document.uri) else { return };
        let Some(document) = self.documents.get_mut(&path) else { return };
        document.version = params.text_document.version;
        self.edits.add_one();
        self.deferred =
            std::mem::take(&mut self.deferred).into_iter().filter_map(|it| it.outdated()).collect();
        if let Some(text) = &document.text {
            let changes = params.content_changes.iter();
            let edited =
                changes.fold(text.to_string(), |text, change| edited(&text, change, self.encoding));
            document.text = Some(Arc::from(edited));
            return self.checks.tfvars_changed();
        }
        let mut sources = self.sources();
        for change in params.content_changes {
            let edit = match change.range {
                None => self.tree.set_text(&path, &change.text),
                Some(range) => {
                    let Some(text) = self.tree.edited_text(&path) else { return };
                    let start = self.encoding.offset(text, range.start);
                    let end = self.encoding.offset(text, range.end).max(start);
                    self.tree.edit(&path, start..end, &change.text)
                }
            };
            // An edit of a file that is not part of a module has no further effects.
            let Some(edit) = edit else { continue };
            if edit.changes_modules() {
                self.give();
                self.homes = None;
            }
            // Other modules may now be part of the configuration, and a diagnostic about a source may be in
            // another file.
            let now = self.sources();
            if now != sources {
                sources = now;
                self.homes = None;
                self.checks.everything_changed();
            }
            self.ask_for_providers(&edit);
            let reached = self.tree.reached(&edit);
            let db = self.tree.db();
            self.checks.edited(&edit, reached, |block| block.file(db));
        }
    }

    fn close(&mut self, uri: &Uri) {
        let Some(path) = path_of(uri) else { return };
        if self.documents.remove(&path).is_some() {
            self.tree.close(&path);
            self.homes = None;
            self.checks.close(&path);
            // The closed file may have hidden another one.
            self.follow_documents();
        }
    }

    fn reload(&mut self, paths: &[String]) {
        let is_installation = |path: &String| INSTALLATION.iter().any(|it| path.ends_with(it));
        let is_text = |path: &&String| is_configuration(path) || self.tree.is_above_modules(path);
        let texts: Vec<&String> = paths.iter().filter(is_text).collect();
        let is_reinstalled = paths.iter().any(is_installation);
        let gives_values =
            paths.iter().any(|it| it.ends_with(".tfvars") || it.ends_with(".tfvars.json"));
        if texts.is_empty() && !is_reinstalled && !gives_values {
            return;
        }
        if !texts.is_empty() {
            self.reading.files_changed();
            self.find_modules(&texts);
            self.tree.reload(texts.iter().map(|path| path.as_str()));
        }
        if is_reinstalled {
            let roots: Vec<String> = self.roots.keys().cloned().collect();
            roots.iter().for_each(|root| self.reload_installation(root));
            self.say_what_is_missing();
        }
        self.give();
        self.homes = None;
        self.follow_documents();
        self.checks.everything_changed();
    }

    fn configure(&mut self, options: &serde_json::Value) {
        // Some clients only report that the settings changed, so the server has to request them.
        if options.is_null() && self.client.tells_settings && !self.has_asked {
            self.has_asked = true;
            return self.tell(Outgoing::AskForSettings(self.messages.clone()));
        }
        self.has_asked = false;
        let settings = self.settings.with(options);
        if settings != self.settings {
            self.settings = settings;
            self.refresh();
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            db: self.tree.db().handle(),
            encoding: self.encoding,
            client: Arc::clone(&self.client),
            settings: self.settings,
            workspaces: self.tree.workspaces().to_vec(),
            documents: self.documents.clone(),
            unfit: Arc::clone(&self.unfit),
            modules: Arc::clone(&self.modules),
            edits: self.edits.taken(),
            outgoing: self.outgoing.clone(),
        }
    }

    /// The file at a path, with the configuration to which it belongs.
    fn target(&mut self, path: &str) -> Option<Target> {
        let (file, directory) = self.tree.file(path)?;
        self.settle_modules();
        let home = self.homes.as_ref().and_then(|homes| homes.get(&directory));
        let workspace = *home.or(self.tree.workspaces().first())?;
        Some(Target { workspace, directory, file })
    }

    /// Returns true if the first check of a file still waits for background reads.
    fn is_held(&self, path: &str) -> bool {
        if self.reading.patience().is_none() {
            return false;
        }
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        let home = || {
            let directory = self.tree.directory(parent)?;
            self.homes.as_ref()?.get(&directory)
        };
        let is_unread = |home: &Workspace| {
            self.roots.values().any(|root| root.is_unread && root.workspace == *home)
        };
        self.reading.is_unplaced(parent) || home().is_some_and(is_unread)
    }

    fn is_early(&self, question: &dyn Ask) -> bool {
        match question.needs() {
            Needs::File => false,
            Needs::Configuration => question.path().is_some_and(|path| self.is_held(path)),
            Needs::Callers => self.reading.looks_for_modules(),
        }
    }

    /// Retries the requests that waited for background reads.
    fn ask_deferred(&mut self) {
        for question in std::mem::take(&mut self.deferred) {
            self.ask(question);
        }
    }

    fn ask(&mut self, question: Box<dyn Ask>) {
        // A document that was just opened may have to be loaded first.
        self.settle();
        if self.is_early(&*question) {
            return self.deferred.push(question);
        }
        let path = question.path().map(str::to_owned);
        let target = path.and_then(|path| self.target(&path));
        let snapshot = self.snapshot();
        let messages = self.messages.clone();
        self.quick.spawn(move || {
            if let Some(question) = question.answer(snapshot, target) {
                let _ = messages.send(Message::Ask(question));
            }
        });
    }

    /// Watches the directories of the loaded modules.
    fn watch(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted = watcher::directories(self.tree.directories().map(|path| &**path));
        let new = watcher.set(&wanted);
        let new: Vec<String> = new.iter().filter_map(|it| it.to_str()).map(str::to_owned).collect();
        // These may have changed before the watch began.
        self.reload(&new);
    }

    /// Updates the state after modules were added or removed.
    fn settle(&mut self) {
        self.settle_modules();
        if std::mem::take(&mut self.are_modules_new) {
            self.watch();
            self.forget_files();
        }
    }

    /// Starts the checks of edited files.
    fn check(&mut self) {
        self.settle();
        let generation = self.checks.generation;
        let held: Vec<String> =
            self.documents.keys().filter(|path| self.is_held(path)).cloned().collect();
        for (path, blocks) in self.checks.begin(|path| held.iter().any(|it| it == path)) {
            if let Some(target) = self.target(&path) {
                let check = Check::Blocks { path, target, blocks };
                self.start(check, generation);
            }
        }
        let is_any_beside =
            !self.unfit.is_empty() || self.documents.values().any(|it| it.text.is_some());
        if is_any_beside && self.checks.begin_tfvars() {
            self.start(Check::Beside, generation);
        }
    }

    /// Starts the check of all modules.
    fn check_modules(&mut self) {
        if let Some(edited) = self.checks.begin_modules() {
            let modules = self.modules(&edited);
            let new = std::mem::take(&mut self.new);
            self.start(Check::Modules { modules, new }, self.checks.generation);
        }
    }

    fn start(&self, check: Check, generation: u64) {
        let snapshot = self.snapshot();
        let messages = self.messages.clone();
        let tell = move |checked| drop(messages.send(Message::Checked(checked)));
        let workers = match check {
            Check::Blocks { .. } | Check::Beside => &self.quick,
            Check::Modules { .. } => &self.slow,
        };
        workers.spawn(move || checks::run(snapshot, check, generation, tell));
    }

    /// Every module once: first the edited ones, then their callers, then the rest.
    fn modules(&mut self, edited: &[Directory]) -> Vec<(Workspace, Directory)> {
        self.settle_modules();
        let homes = self.homes.iter().flatten();
        let mut modules: Vec<(Workspace, Directory)> =
            homes.map(|(directory, workspace)| (*workspace, *directory)).collect();
        let db = self.tree.db();
        modules.sort_by_cached_key(|(workspace, directory)| {
            let calls_edited = || {
                hir::module_calls::module_calls(db, *workspace, *directory)
                    .any(|(_, called)| edited.contains(&called))
            };
            let turn = match () {
                () if edited.contains(directory) => 0,
                () if calls_edited() => 1,
                () => 2,
            };
            (turn, directory.path(db).clone())
        });
        modules
    }

    fn publish(&mut self, checked: Checked) {
        let published = self.checks.finish(checked);
        if self.client.pulls_diagnostics {
            return self.refresh_diagnostics(!published.is_empty());
        }
        for (path, diagnostics) in published {
            self.publish_of(&path, diagnostics);
        }
    }

    fn publish_of(&self, path: &str, diagnostics: Vec<Diagnostic>) {
        let (uri, version) = match self.documents.get(path) {
            Some(document) => (Some(document.uri.clone()), Some(document.version)),
            None => (uri_of(path), None),
        };
        if let Some(uri) = uri {
            self.tell(Outgoing::Diagnostics(uri, diagnostics, version));
        }
    }

    fn refresh_diagnostics(&self, are_others: bool) {
        if are_others && self.client.refreshes_diagnostics {
            self.tell(Outgoing::Refresh(Refresh { diagnostics: true, ..Refresh::default() }));
        }
    }
}

/// The text after a change from the client.
pub(crate) fn edited(
    text: &str,
    change: &TextDocumentContentChangeEvent,
    encoding: Encoding,
) -> String {
    let Some(range) = change.range else { return change.text.clone() };
    let start = encoding.offset(text, range.start);
    let end = encoding.offset(text, range.end).max(start);
    let (before, after) = (text.get(..start), text.get(end..));
    [before.unwrap_or_default(), &change.text, after.unwrap_or_default()].concat()
}

/// A message and the next one. Joins consecutive file change messages into one.
fn gathered(mut message: Message, inbox: &Receiver<Message>) -> (Message, Option<Message>) {
    let mut next = inbox.try_recv().ok();
    if let Message::Watched(paths) = &mut message {
        while let Some(Message::Watched(more)) = next {
            paths.extend(more);
            next = inbox.try_recv().ok();
        }
    }
    (message, next)
}

/// The configuration to which each module belongs: the first one that calls it, else the one whose root module it
/// is.
pub(crate) fn homes(db: &dyn Handle, workspaces: &[Workspace]) -> FxHashMap<Directory, Workspace> {
    let mut homes = FxHashMap::default();
    for &workspace in workspaces {
        let root = workspace.root(db);
        let called = hir::reachable(db, workspace).into_iter().filter(|it| *it != root);
        for directory in called {
            homes.entry(directory).or_insert(workspace);
        }
    }
    for &workspace in workspaces {
        homes.entry(workspace.root(db)).or_insert(workspace);
    }
    homes
}

#[cfg(test)]
mod tests;
