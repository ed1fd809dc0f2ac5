//! The server thread, which owns the database.
//!
//! **Invariant:** nothing here waits for the client, for a worker or for a program. An edit waits only for
//! snapshots, which it cancels first.

mod checking;
mod edits;
mod folders;
mod providers;

use std::{
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
use file_watcher::FileWatcher;
use hir::Workspace;
use parallel::{Workers, on_deep_stack};
use project::{Database, EditableTree};
use rustc_hash::FxHashMap;
use sorted::{TreeMap, TreeSet};
use tokio::sync::mpsc::UnboundedSender;
use tower_lsp_server::ls_types::*;
use values::Str;

use crate::{
    capabilities,
    checks::Checks,
    client::{Client, InitializeParams},
    documents::{Document, Documents, path_of},
    installation::Installation,
    message::Message,
    outgoing::{Outgoing, Status},
    position::Encoding,
    reading::{Read, Reading},
    settings::Settings,
    snapshot::{Edits, Needs, QueuedRequest, RejectedFiles, Snapshot, Target, json_of},
};

/// The number of workers for requests and for checks of edited files.
const WORKERS: usize = 4;

/// The idle time before the check of all modules. Without it, every key of a fast typist would start and cancel
/// that check.
const PAUSE: Duration = Duration::from_millis(5);

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
    tree: EditableTree,
    documents: Documents,
    client: Arc<Client>,
    settings: Settings,
    /// True while a request for the user's settings is unanswered.
    has_requested_settings: bool,
    encoding: Encoding,
    folders: Vec<String>,
    /// The state of the background reads.
    reading: Reading,
    /// The directories of the workspace that are known to contain modules.
    modules: Arc<TreeSet<String>>,
    /// The requests that wait for background reads.
    deferred: Vec<QueuedRequest>,
    edits: Edits,
    /// The diagnostics of files of modules that the database rejects.
    rejected: Arc<RejectedFiles>,
    /// The configurations, by the directory of their root module.
    roots: TreeMap<String, Root>,
    /// The configuration to which each module belongs. `None` after modules were added or removed.
    owners: Option<FxHashMap<Directory, Workspace>>,
    /// True if modules were added or removed since the last check.
    are_modules_new: bool,
    checks: Checks,
    /// The status that was sent last.
    status: Status,
    /// The configurations that were not inferred yet.
    new: Vec<Workspace>,
    /// The server's own watcher, if the client does not watch files.
    watcher: Option<FileWatcher>,
    quick: Workers,
    slow: Workers,
}

struct Root {
    workspace: Workspace,
    /// The providers whose schemas were requested.
    asked: TreeSet<ProviderSource>,
    /// True if the provisioner plugins were requested.
    are_provisioners_asked: bool,
    /// The provisioners of edited blocks for which the plugins were requested again.
    asked_kinds: TreeSet<Str>,
    /// The providers without schemas, each with the reason.
    missing: TreeMap<ProviderSource, String>,
    /// True until the first requested schemas have arrived.
    is_unread: bool,
}

impl Root {
    fn new(workspace: Workspace) -> Root {
        Root {
            workspace,
            asked: TreeSet::new(),
            are_provisioners_asked: false,
            asked_kinds: TreeSet::new(),
            missing: TreeMap::new(),
            is_unread: false,
        }
    }
}

impl Server {
    fn new(
        system: Arc<dyn System>,
        installation: Arc<dyn Installation>,
        messages: Sender<Message>,
        outgoing: UnboundedSender<Outgoing>,
    ) -> Server {
        let tree = EditableTree::new(Database::default(), Arc::clone(&system), PathBuf::from("/"));
        let own = messages.clone();
        let reading = Reading::new(Arc::new(move |read| drop(own.send(Message::Read(read)))));
        Server {
            system,
            installation,
            messages,
            outgoing,
            tree,
            documents: Documents::new(),
            client: Arc::default(),
            settings: Settings::default(),
            has_requested_settings: false,
            encoding: Encoding::default(),
            folders: Vec::new(),
            reading,
            modules: Arc::default(),
            deferred: Vec::new(),
            edits: Edits::default(),
            rejected: Arc::default(),
            roots: TreeMap::new(),
            owners: None,
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
                let (message, following) = join_file_changes(message, inbox);
                self.guarded(|it| it.handle(message));
                next = following;
            }
            self.guarded(|it| {
                it.retry_deferred();
                it.check();
            });
        }
    }

    fn guarded(&mut self, run: impl FnOnce(&mut Server)) {
        if catch_unwind(AssertUnwindSafe(|| run(self))).is_err() {
            self.restart();
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
        let remaining_wait = self.reading.remaining_wait().filter(|_| self.is_reading());
        remaining_wait.or_else(|| self.checks.are_modules_next().then_some(PAUSE))
    }

    fn use_pause(&mut self) {
        if self.is_reading() && self.reading.remaining_wait().is_some() {
            self.reading.stop_waiting();
            self.retry_deferred();
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
    fn restart(&mut self) {
        let text_of =
            |path: &String| catch_unwind(AssertUnwindSafe(|| self.text(path))).ok().flatten();
        let documents: Vec<(String, Document, String)> = self
            .documents
            .iter()
            .filter_map(|(path, document)| Some((path.clone(), document.clone(), text_of(path)?)))
            .collect();
        self.tree =
            EditableTree::new(Database::default(), Arc::clone(&self.system), PathBuf::from("/"));
        self.documents = Documents::new();
        self.roots = TreeMap::new();
        self.owners = None;
        self.new = Vec::new();
        self.checks.reset();
        let message = "Mayfly's language server had to restart because of a bug in Mayfly";
        self.send(Outgoing::Message(MessageType::WARNING, message.to_owned()));
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

    fn send(&self, outgoing: Outgoing) {
        // Sending fails only if the connection is closed.
        let _ = self.outgoing.send(outgoing);
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Initialize(params, reply) => {
                let _ = reply.send(json_of(&self.initialize(&params)));
            }
            Message::Initialized => {
                if self.client.sends_settings {
                    self.send(self.settings_request());
                }
                match self.client.watches_files {
                    true => self.send(Outgoing::Register(capabilities::watched())),
                    false => self.watcher = Some(self.own_watcher()),
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
            Message::Request(request) => self.handle_request(request),
            Message::Checked(checked) => self.publish(checked),
            Message::Read(Read::CallGraph(graph)) => self.take_graph(graph),
            Message::Read(Read::Schemas(schemas)) => self.take_schemas(schemas),
            Message::Exit => {}
        }
    }

    fn settings_request(&self) -> Outgoing {
        let messages = self.messages.clone();
        let answer = move |settings| drop(messages.send(Message::Settings(settings)));
        Outgoing::AskForSettings(Box::new(answer))
    }

    fn own_watcher(&self) -> FileWatcher {
        let messages = self.messages.clone();
        FileWatcher::new(move |change| {
            let paths = change.paths.iter().filter_map(|it| it.to_str()).map(str::to_owned);
            // Sending fails only after the end of the server.
            let _ = messages.send(Message::Watched(paths.collect()));
        })
    }

    fn initialize(&mut self, params: &InitializeParams) -> InitializeResult {
        self.client = Arc::new(Client::of(params));
        if let Some(options) = &params.initialization_options {
            self.settings = self.settings.with(options);
        }
        self.encoding = Encoding::negotiate(&params.position_encodings());
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

    fn configure(&mut self, options: &serde_json::Value) {
        // Some clients only report that the settings changed, so the server has to request them.
        if options.is_null() && self.client.sends_settings && !self.has_requested_settings {
            self.has_requested_settings = true;
            return self.send(self.settings_request());
        }
        self.has_requested_settings = false;
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
            tests: self.tree.test_files().map(|(path, it)| (path.to_string(), it)).collect(),
            rejected: Arc::clone(&self.rejected),
            modules: Arc::clone(&self.modules),
            edits: self.edits.taken(),
            outgoing: self.outgoing.clone(),
            installation: Arc::clone(&self.installation),
        }
    }

    /// The file at a path, with the configuration to which it belongs.
    fn target(&mut self, path: &str) -> Option<Target> {
        let (file, directory) = self.tree.file(path)?;
        self.settle_modules();
        let owner = self.owners.as_ref().and_then(|owners| owners.get(&directory));
        let workspace = *owner.or(self.tree.workspaces().first())?;
        Some(Target { workspace, directory, file })
    }

    /// Returns true if the first check of a file still waits for background reads.
    fn is_held(&self, path: &str) -> bool {
        if self.reading.remaining_wait().is_none() {
            return false;
        }
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        let owner = || {
            let directory = self.tree.directory(parent)?;
            self.owners.as_ref()?.get(&directory)
        };
        let is_unread = |owner: &Workspace| {
            self.roots.values().any(|root| root.is_unread && root.workspace == *owner)
        };
        self.reading.is_unplaced(parent) || owner().is_some_and(is_unread)
    }

    fn must_wait(&self, request: &QueuedRequest) -> bool {
        match request.needs {
            Needs::File => false,
            Needs::Configuration => request.path.as_deref().is_some_and(|path| self.is_held(path)),
            Needs::Callers => self.reading.looks_for_modules(),
        }
    }

    /// Retries the requests that waited for background reads.
    fn retry_deferred(&mut self) {
        for request in std::mem::take(&mut self.deferred) {
            self.handle_request(request);
        }
    }

    fn handle_request(&mut self, request: QueuedRequest) {
        // A document that was just opened may have to be loaded first.
        self.settle();
        if self.must_wait(&request) {
            return self.deferred.push(request);
        }
        let target = request.path.as_deref().and_then(|path| self.target(path));
        let snapshot = self.snapshot();
        let messages = self.messages.clone();
        self.quick.spawn(move || {
            if let Some(request) = request.answer(snapshot, target) {
                let _ = messages.send(Message::Request(request));
            }
        });
    }

    /// Updates the state after modules were added or removed.
    fn settle(&mut self) {
        self.settle_modules();
        if std::mem::take(&mut self.are_modules_new) {
            self.watch();
            self.forget_files();
        }
    }
}

/// A message and the next one. Joins consecutive file change messages into one.
fn join_file_changes(
    mut message: Message,
    inbox: &Receiver<Message>,
) -> (Message, Option<Message>) {
    let mut next = inbox.try_recv().ok();
    if let Message::Watched(paths) = &mut message {
        while let Some(Message::Watched(more)) = next {
            paths.extend(more);
            next = inbox.try_recv().ok();
        }
    }
    (message, next)
}

#[cfg(test)]
mod tests;
