//! The one thread that owns the database.
//!
//! **Invariant:** nothing here waits for the client, for a worker or for a program. An edit waits for snapshots that are
//! still held, which it cancels first.

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
use hir::{
    Workspace,
    names::{ItemName, item, lookup, provider_local_name, required_providers},
};
use project::{Database, Edit, SourceTree};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{mpsc::UnboundedSender, oneshot};
use tower_lsp_server::ls_types::*;

use crate::{
    capabilities::{self, Client},
    checks::{self, Check, Checked, Checks},
    documents::{Document, Documents, is_configuration, path_of, uri_of},
    installation::{Installation, Installed},
    outgoing::{Outgoing, Status},
    position::Encoding,
    roots::CallGraph,
    settings::Settings,
    snapshot::{Ask, Snapshot, Target},
    watcher::{self, OwnWatcher},
    workers::Workers,
};

/// Chains of references can be long, and lowering follows the tree by recursion.
const STACK: usize = 1 << 30;
/// Questions about what is on the screen, and checks of what is edited.
const WORKERS: usize = 4;

/// What `init` leaves, and what is there when it is there.
const INSTALLATION: [&str; 4] = [
    "/.terraform.lock.hcl",
    "/.terraform",
    "/.terraform/modules",
    "/.terraform/modules/modules.json",
];

/// How long nothing must come before everything is checked. Somebody who types fast would interrupt that with each key.
const PAUSE: Duration = Duration::from_millis(5);

/// What the server thread is told.
pub(crate) enum Message {
    Initialize(Box<InitializeParams>, oneshot::Sender<InitializeResult>),
    Initialized,
    Open(TextDocumentItem),
    Change(DidChangeTextDocumentParams),
    Close(Uri),
    /// Files that were written, made or removed by somebody else.
    Watched(Vec<String>),
    Folders(WorkspaceFoldersChangeEvent),
    /// What a person has set now.
    Settings(serde_json::Value),
    /// Somebody looks for something anywhere in the workspace.
    LoadEverything,
    Ask(Box<dyn Ask>),
    Checked(Checked),
    Exit,
}

/// Starts the thread.
pub(crate) fn start(
    system: Arc<dyn System>,
    installation: Arc<dyn Installation>,
    messages: Sender<Message>,
    inbox: Receiver<Message>,
    outgoing: UnboundedSender<Outgoing>,
) -> Option<JoinHandle<()>> {
    let run = move || Server::new(system, installation, messages, outgoing).run(&inbox);
    std::thread::Builder::new().name("server".to_owned()).stack_size(STACK).spawn(run).ok()
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
    /// Whether the client is about to say what a person has set.
    has_asked: bool,
    encoding: Encoding,
    folders: Vec<String>,
    /// Who calls whom, once somebody has asked.
    graph: Option<CallGraph>,
    /// The configurations by the directory of their root module.
    roots: BTreeMap<String, Root>,
    /// For each module the configuration that counts for it; made anew when modules come or go.
    homes: Option<FxHashMap<Directory, Workspace>>,
    /// Whether modules came or went since the last check.
    are_modules_new: bool,
    checks: Checks,
    /// What was said last.
    status: Status,
    /// Configurations that nobody has inferred yet.
    new: Vec<Workspace>,
    /// Where the client does not watch files.
    watcher: Option<OwnWatcher>,
    quick: Workers,
    slow: Workers,
}

struct Root {
    workspace: Workspace,
    /// The providers that were asked for.
    asked: BTreeSet<ProviderSource>,
    /// The providers whose schemas are not at hand, and why.
    missing: Vec<(ProviderSource, String)>,
}

impl Root {
    fn new(workspace: Workspace) -> Root {
        Root { workspace, asked: BTreeSet::new(), missing: Vec::new() }
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
            graph: None,
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
            // All that waits is taken before anything is checked, so that many edits are checked once.
            while let Some(message) = next {
                if matches!(message, Message::Exit) {
                    return;
                }
                let (message, following) = gathered(message, inbox);
                if catch_unwind(AssertUnwindSafe(|| self.handle(message))).is_err() {
                    self.begin_again();
                }
                next = following;
            }
            if catch_unwind(AssertUnwindSafe(|| self.check())).is_err() {
                self.begin_again();
            }
        }
    }

    /// The next message. When none comes for a moment, there is time for more than what is edited.
    fn wait(&mut self, inbox: &Receiver<Message>) -> Option<Message> {
        if self.checks.are_modules_next() {
            match inbox.recv_timeout(PAUSE) {
                Ok(message) => return Some(message),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    if catch_unwind(AssertUnwindSafe(|| self.check_modules())).is_err() {
                        self.begin_again();
                    }
                }
            }
        }
        inbox.recv().ok()
    }

    /// After a bug of ours nothing that is kept can be trusted but what the client said.
    fn begin_again(&mut self) {
        let text_of =
            |path: &String| catch_unwind(AssertUnwindSafe(|| self.tree.text(path))).ok().flatten();
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
        let message = "Mayfly's language server had to begin again because of a bug of its own";
        self.tell(Outgoing::Message(MessageType::WARNING, message.to_owned()));
        for (path, document, text) in documents {
            drop(catch_unwind(AssertUnwindSafe(|| self.open(path, document, &text))));
        }
    }

    fn tell(&self, outgoing: Outgoing) {
        // The other end is gone only when the connection is.
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
                if let Some(path) = path_of(&uri).filter(|it| is_configuration(it)) {
                    self.open(path, Document { version, uri }, &text);
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
        self.documents.insert(path.clone(), document);
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        self.tree.open(&path, text);
        self.load(parent);
        self.homes = None;
        self.checks.close(&path);
        self.follow_documents();
    }

    /// Checks those open files that are part of modules, and no others: a file may come to hide another one.
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

    /// Loads the module in a directory, as part of every configuration that leads to it.
    fn load(&mut self, directory: &str) {
        if self.tree.directory(directory).is_some() {
            return;
        }
        let graph = self.graph.get_or_insert_with(|| CallGraph::scan(&*self.system, &self.folders));
        let roots = graph.roots_of(directory);
        self.add_roots(roots);
        // What looked like a call of it may be none.
        if self.tree.directory(directory).is_none() {
            self.add_roots(vec![directory.to_owned()]);
        }
    }

    /// Loads every module of the workspace.
    fn load_everything(&mut self) {
        let graph = self.graph.get_or_insert_with(|| CallGraph::scan(&*self.system, &self.folders));
        let roots = graph.roots();
        self.add_roots(roots);
    }

    fn add_roots(&mut self, mut paths: Vec<String>) {
        paths.retain(|path| !self.roots.contains_key(path));
        if paths.is_empty() {
            return;
        }
        let with_manifest = |path: String| {
            let manifest = self.installation.modules(Path::new(&path));
            (path, manifest)
        };
        let roots = paths.into_iter().map(with_manifest).collect();
        let added = self.tree.add_roots(roots);
        for (path, workspace) in &added {
            self.roots.insert(path.clone(), Root::new(*workspace));
            self.new.push(*workspace);
        }
        self.homes = None;
        // What was being checked was cancelled by the reading.
        self.checks.changed(None);
        added.iter().for_each(|(path, _)| self.load_schemas(path));
        self.say_what_is_missing();
    }

    /// Asks for the schemas of the providers that a configuration requires and that were not asked for yet.
    fn load_schemas(&mut self, path: &str) {
        let Some(root) = self.roots.get_mut(path) else { return };
        let workspace = root.workspace;
        let mut requirements = hir::provider_requirements(&self.tree.db, workspace);
        root.missing.retain(|(source, _)| requirements.contains_key(source));
        requirements.retain(|source, _| root.asked.insert(source.clone()));
        if !requirements.is_empty() {
            for (source, installed) in self.installation.schemas(Path::new(path), &requirements) {
                match installed {
                    Installed::Schemas(schemas) => {
                        self.tree.set_schemas(workspace, source, schemas);
                    }
                    Installed::Missing(why) => root.missing.push((source, why)),
                }
            }
            self.checks.everything_changed();
        }
    }

    /// An edit may be the first to use a provider.
    fn ask_for_providers(&mut self, edit: &Edit) {
        let db = &self.tree.db;
        let directory = edit.directory;
        let is_about_providers = |name: &ItemName| {
            matches!(name, ItemName::Terraform | ItemName::Provider(..) | ItemName::Module(_))
        };
        let used = edit.names.iter().filter_map(|name| {
            let key = lookup(db, directory, name)?;
            let resource = item(db, key).kind.as_resource()?;
            Some(required_providers(db, directory).source(&provider_local_name(resource)))
        });
        let used: BTreeSet<ProviderSource> = used.collect();
        let is_any = edit.names.iter().any(is_about_providers);
        let roots = self.roots.iter().filter(|(_, root)| {
            (is_any || !used.is_subset(&root.asked))
                && hir::reachable(db, root.workspace).contains(&directory)
        });
        let roots: Vec<String> = roots.map(|(path, _)| path.clone()).collect();
        if !roots.is_empty() {
            roots.iter().for_each(|root| self.load_schemas(root));
            self.say_what_is_missing();
        }
    }

    fn say_what_is_missing(&mut self) {
        const WAY_OUT: &str = "run \"mayfly init\"";
        let missing: Vec<&(ProviderSource, String)> =
            self.roots.values().flat_map(|root| &root.missing).collect();
        let names: BTreeSet<String> =
            missing.iter().map(|(source, _)| source.for_display().to_string()).collect();
        let message = match names.first() {
            None => String::new(),
            Some(name) if names.len() == 1 => format!("no schema of {name}: {WAY_OUT}"),
            Some(_) => format!("no schemas of {} providers: {WAY_OUT}", names.len()),
        };
        let status = match message.is_empty() {
            true => Status::fine(),
            false => Status {
                message,
                severity: "warning".to_owned(),
                detail: missing.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>().join("\n"),
            },
        };
        if self.status != status {
            self.tell(Outgoing::Status(status.clone()));
            // Not every client has a line for it.
            if !self.client.shows_status && status.severity == "warning" {
                self.tell(Outgoing::Message(MessageType::WARNING, status.detail.clone()));
            }
            self.status = status;
        }
    }

    fn change(&mut self, params: DidChangeTextDocumentParams) {
        let Some(path) = path_of(&params.text_document.uri) else { return };
        let Some(document) = self.documents.get_mut(&path) else { return };
        document.version = params.text_document.version;
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
            // A file that is part of no module is edited all the same.
            let Some(edit) = edit else { continue };
            if edit.changes_modules() {
                self.homes = None;
            }
            self.ask_for_providers(&edit);
            let reached = self.tree.reached(&edit);
            let db = &self.tree.db;
            self.checks.edited(&edit, reached, |block| block.file(db));
        }
    }

    fn close(&mut self, uri: &Uri) {
        let Some(path) = path_of(uri) else { return };
        if self.documents.remove(&path).is_some() {
            self.tree.close(&path);
            self.homes = None;
            self.checks.close(&path);
            // What it hid may be there again.
            self.follow_documents();
        }
    }

    fn reload(&mut self, paths: &[String]) {
        let is_installation = |path: &String| INSTALLATION.iter().any(|it| path.ends_with(it));
        let is_text = |path: &&String| is_configuration(path) || self.tree.is_above_modules(path);
        let texts: Vec<&String> = paths.iter().filter(is_text).collect();
        let is_reinstalled = paths.iter().any(is_installation);
        if texts.is_empty() && !is_reinstalled {
            return;
        }
        if !texts.is_empty() {
            self.graph = None;
            self.tree.reload(texts.iter().map(|path| path.as_str()));
        }
        if is_reinstalled {
            let roots: Vec<String> = self.roots.keys().cloned().collect();
            roots.iter().for_each(|root| self.reload_installation(root));
            self.say_what_is_missing();
        }
        self.homes = None;
        self.follow_documents();
        self.checks.everything_changed();
    }

    /// What `init` has left is different.
    fn reload_installation(&mut self, root: &str) {
        let Some(workspace) = self.roots.get(root).map(|it| it.workspace) else { return };
        let manifest = self.installation.modules(Path::new(root));
        self.tree.set_manifest(workspace, manifest);
        if let Some(root) = self.roots.get_mut(root) {
            root.asked.clear();
            root.missing.clear();
        }
        self.load_schemas(root);
    }

    fn configure(&mut self, options: &serde_json::Value) {
        // That something was set, and no word of what.
        if options.is_null() && self.client.tells_settings && !self.has_asked {
            self.has_asked = true;
            return self.tell(Outgoing::AskForSettings(self.messages.clone()));
        }
        self.has_asked = false;
        let settings = self.settings.with(options);
        if settings != self.settings {
            self.settings = settings;
            self.tell(Outgoing::Refresh {
                diagnostics: false,
                inlay_hints: self.client.refreshes_inlay_hints,
                code_lenses: self.client.refreshes_code_lenses,
            });
        }
    }

    fn change_folders(&mut self, event: WorkspaceFoldersChangeEvent) {
        let removed: Vec<String> = event.removed.iter().filter_map(|it| path_of(&it.uri)).collect();
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(event.added.iter().filter_map(|it| path_of(&it.uri)));
        self.graph = None;
        self.remove_roots_below(&removed);
    }

    /// Forgets the configurations of folders that are gone, but for those that something is open of.
    fn remove_roots_below(&mut self, folders: &[String]) {
        let is_below = |path: &str, all: &[String]| {
            all.iter().any(|folder| Path::new(path).starts_with(folder))
        };
        let db = &self.tree.db;
        let edited: FxHashSet<Directory> =
            self.documents.keys().filter_map(|path| Some(self.tree.file(path)?.1)).collect();
        let is_edited = |workspace| {
            hir::reachable(db, workspace).iter().any(|directory| edited.contains(directory))
        };
        let gone: Vec<(String, Workspace)> = self
            .roots
            .iter()
            .map(|(path, root)| (path.clone(), root.workspace))
            .filter(|(path, _)| is_below(path, folders) && !is_below(path, &self.folders))
            .filter(|(_, workspace)| !is_edited(*workspace))
            .collect();
        for (path, workspace) in gone {
            self.roots.remove(&path);
            self.tree.remove_root(workspace);
        }
        self.homes = None;
        self.checks.changed(None);
        self.say_what_is_missing();
    }

    /// Nothing is wrong any more with files that are gone, nor with modules that nobody calls any more.
    fn forget_files(&mut self) {
        self.settle_modules();
        let (tree, homes) = (&self.tree, self.homes.as_ref());
        let is_there = |path: &str| {
            let directory = tree.file(path).map(|(_, directory)| directory);
            directory.is_some_and(|it| homes.is_some_and(|homes| homes.contains_key(&it)))
        };
        let gone = self.checks.forget(is_there);
        if self.client.pulls_diagnostics {
            return self.refresh_diagnostics(!gone.is_empty());
        }
        gone.iter().for_each(|path| self.publish_of(path, Vec::new()));
    }

    /// Finds out which configuration counts for each module, after modules came or went. One that somebody edits and nobody
    /// calls any more is a configuration of its own.
    fn settle_modules(&mut self) {
        if self.homes.is_some() {
            return;
        }
        let homes = homes(&self.tree.db, self.tree.workspaces());
        let edited = self.documents.keys().filter_map(|path| Some(self.tree.file(path)?.1));
        let uncalled: BTreeSet<String> = edited
            .filter(|directory| !homes.contains_key(directory))
            .map(|directory| directory.path(&self.tree.db).to_string())
            .collect();
        self.homes = Some(match uncalled.is_empty() {
            true => homes,
            false => {
                self.add_roots(uncalled.into_iter().collect());
                crate::server::homes(&self.tree.db, self.tree.workspaces())
            }
        });
        self.are_modules_new = true;
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            db: self.tree.db.clone(),
            encoding: self.encoding,
            client: Arc::clone(&self.client),
            settings: self.settings,
            workspaces: self.tree.workspaces().to_vec(),
            documents: self.documents.clone(),
            outgoing: self.outgoing.clone(),
        }
    }

    /// The file at a path, and the configuration that counts for it.
    fn target(&mut self, path: &str) -> Option<Target> {
        let (file, directory) = self.tree.file(path)?;
        self.settle_modules();
        let home = self.homes.as_ref().and_then(|homes| homes.get(&directory));
        let workspace = *home.or(self.tree.workspaces().first())?;
        Some(Target { workspace, directory, file })
    }

    fn ask(&mut self, question: Box<dyn Ask>) {
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

    /// Watches the directories of what is loaded now.
    fn watch(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let wanted = watcher::directories(self.tree.directories().map(|path| &**path));
        let new = watcher.set(&wanted);
        let new: Vec<String> = new.iter().filter_map(|it| it.to_str()).map(str::to_owned).collect();
        // They may have changed before.
        self.reload(&new);
    }

    /// Starts the checks of what is edited.
    fn check(&mut self) {
        self.settle_modules();
        if std::mem::take(&mut self.are_modules_new) {
            self.watch();
            self.forget_files();
        }
        let generation = self.checks.generation;
        for (path, blocks) in self.checks.begin() {
            if let Some(target) = self.target(&path) {
                let check = Check::Blocks { path, target, blocks };
                self.start(check, generation);
            }
        }
    }

    /// Starts the check of every module.
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
            Check::Blocks { .. } => &self.quick,
            Check::Modules { .. } => &self.slow,
        };
        workers.spawn(move || checks::run(snapshot, check, generation, tell));
    }

    /// Every module once: those that were edited, those that call them, the rest.
    fn modules(&mut self, edited: &[Directory]) -> Vec<(Workspace, Directory)> {
        self.settle_modules();
        let homes = self.homes.iter().flatten();
        let mut modules: Vec<(Workspace, Directory)> =
            homes.map(|(directory, workspace)| (*workspace, *directory)).collect();
        let db = &self.tree.db;
        modules.sort_by_cached_key(|(workspace, directory)| {
            let calls_edited = || {
                hir::names::module_calls(db, *workspace, *directory)
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
            self.tell(Outgoing::Refresh {
                diagnostics: true,
                inlay_hints: false,
                code_lenses: false,
            });
        }
    }
}

/// A message and what comes after it: of many changes of files in a row, one message is made.
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

/// For each module the configuration that counts for it: the first that calls it, or else the one that it is the root of.
pub(crate) fn homes(db: &Database, workspaces: &[Workspace]) -> FxHashMap<Directory, Workspace> {
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
