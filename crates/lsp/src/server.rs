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
        mpsc::{Receiver, Sender},
    },
    thread::JoinHandle,
};

use addr::ProviderSource;
use db::{Directory, System};
use hir::{
    Workspace,
    names::{ItemName, item, lookup, provider_local_name, required_providers},
};
use project::{Database, Edit, SourceTree};
use rustc_hash::FxHashMap;
use tokio::sync::{mpsc::UnboundedSender, oneshot};
use tower_lsp_server::ls_types::*;

use crate::{
    capabilities::{self, Client},
    checks::{self, Check, Checked, Checks},
    documents::{Documents, is_configuration, path_of, uri_of},
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
            checks: Checks::default(),
            status: Status::fine(),
            new: Vec::new(),
            watcher: None,
            quick: Workers::start("quick", WORKERS),
            slow: Workers::start("slow", 1),
        }
    }

    fn run(mut self, inbox: &Receiver<Message>) {
        while let Ok(message) = inbox.recv() {
            let mut next = Some(message);
            // All that waits is taken before anything is checked, so that many edits are checked once.
            while let Some(message) = next {
                if matches!(message, Message::Exit) {
                    return;
                }
                if catch_unwind(AssertUnwindSafe(|| self.handle(message))).is_err() {
                    self.begin_again();
                }
                next = inbox.try_recv().ok();
            }
            if catch_unwind(AssertUnwindSafe(|| self.check())).is_err() {
                self.begin_again();
            }
        }
    }

    /// After a bug of ours nothing that is kept can be trusted but what the client said.
    fn begin_again(&mut self) {
        let documents: Vec<(String, i32, String)> = self
            .documents
            .iter()
            .filter_map(|(path, version)| Some((path.clone(), *version, self.tree.text(path)?)))
            .collect();
        self.tree =
            SourceTree::new(Database::default(), Arc::clone(&self.system), PathBuf::from("/"));
        self.documents = Documents::new();
        self.roots = BTreeMap::new();
        self.homes = None;
        self.new = Vec::new();
        self.checks = Checks::default();
        let message = "Mayfly's language server had to begin again because of a bug of its own";
        self.tell(Outgoing::Message(MessageType::WARNING, message.to_owned()));
        for (path, version, text) in documents {
            drop(catch_unwind(AssertUnwindSafe(|| self.open(path, version, &text))));
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
            Message::Open(document) => {
                if let Some(path) = path_of(&document.uri).filter(|it| is_configuration(it)) {
                    self.open(path, document.version, &document.text);
                }
            }
            Message::Change(params) => self.change(params),
            Message::Close(uri) => self.close(&uri),
            Message::Watched(paths) => self.reload(&paths),
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

    fn open(&mut self, path: String, version: i32, text: &str) {
        self.documents.insert(path.clone(), version);
        let (parent, _) = path.rsplit_once('/').unwrap_or_default();
        self.tree.open(&path, text);
        self.load(parent);
        self.homes = None;
        if let Some((file, directory)) = self.tree.file(&path) {
            self.tree.follow(directory);
            self.checks.open(&path, file);
        }
    }

    /// Loads the module in a directory, as part of every configuration that leads to it.
    fn load(&mut self, directory: &str) {
        if self.tree.directory(directory).is_some() {
            return;
        }
        let graph = self.graph.get_or_insert_with(|| CallGraph::scan(&*self.system, &self.folders));
        for root in graph.roots_of(directory) {
            self.add_root(&root);
        }
        // What looked like a call of it may be none.
        if self.tree.directory(directory).is_none() {
            self.add_root(directory);
        }
    }

    /// Loads every module of the workspace.
    fn load_everything(&mut self) {
        let graph = self.graph.get_or_insert_with(|| CallGraph::scan(&*self.system, &self.folders));
        for root in graph.roots() {
            self.add_root(&root);
        }
    }

    fn add_root(&mut self, path: &str) {
        if self.roots.contains_key(path) {
            return;
        }
        let manifest = self.installation.modules(Path::new(path));
        if let Ok(workspace) = self.tree.add_root(path, manifest) {
            self.roots.insert(path.to_owned(), Root::new(workspace));
            self.new.push(workspace);
            self.homes = None;
            self.load_schemas(path);
        }
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
        self.say_what_is_missing();
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
        roots.iter().for_each(|root| self.load_schemas(root));
    }

    fn say_what_is_missing(&mut self) {
        let missing: Vec<&(ProviderSource, String)> =
            self.roots.values().flat_map(|root| &root.missing).collect();
        let names: Vec<String> =
            missing.iter().map(|(source, _)| source.for_display().to_string()).collect();
        let status = match names.len() {
            0 => Status::fine(),
            count => Status {
                message: match count {
                    1 => format!("no schema of {}", names[0]),
                    _ => format!("no schemas of {count} providers"),
                },
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
        if !self.documents.contains_key(&path) {
            return;
        }
        self.documents.insert(path.clone(), params.text_document.version);
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
            let Some(edit) = edit else { return };
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
            self.forget_files();
        }
    }

    fn reload(&mut self, paths: &[String]) {
        let is_installation = |path: &String| {
            path.ends_with("/.terraform.lock.hcl") || path.ends_with("/modules/modules.json")
        };
        let texts: Vec<&String> = paths.iter().filter(|path| is_configuration(path)).collect();
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
        }
        self.homes = None;
        self.checks.everything_changed();
        self.forget_files();
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
    }

    /// Nothing is wrong any more with files that are gone.
    fn forget_files(&mut self) {
        let tree = &self.tree;
        for path in self.checks.forget(|path| tree.file(path).is_some()) {
            if let Some(uri) = uri_of(&path).filter(|_| !self.client.pulls_diagnostics) {
                self.tell(Outgoing::Diagnostics(uri, Vec::new(), None));
            }
        }
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

    /// The file at a path, and the configuration that counts for it: the first that its module is part of.
    fn target(&mut self, path: &str) -> Option<Target> {
        let (file, directory) = self.tree.file(path)?;
        let tree = &self.tree;
        let homes = self.homes.get_or_insert_with(|| homes(tree));
        let workspace = *homes.get(&directory).or(tree.workspaces().first())?;
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
        if let Some(watcher) = &mut self.watcher {
            watcher.set(watcher::directories(self.tree.directories().map(|path| &**path)));
        }
    }

    /// Starts the checks that are due.
    fn check(&mut self) {
        if self.homes.is_none() {
            self.watch();
        }
        let generation = self.checks.generation;
        for (path, blocks) in self.checks.begin() {
            if let Some(target) = self.target(&path) {
                let check = Check::Blocks { path, target, blocks };
                self.start(check, generation);
            }
        }
        if let Some(edited) = self.checks.begin_modules() {
            let modules = self.modules(&edited);
            let new = std::mem::take(&mut self.new);
            self.start(Check::Modules { modules, new }, generation);
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
        let tree = &self.tree;
        let homes = self.homes.get_or_insert_with(|| homes(tree));
        let mut modules: Vec<(Workspace, Directory)> =
            homes.iter().map(|(directory, workspace)| (*workspace, *directory)).collect();
        let db = &tree.db;
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
            if !published.is_empty() && self.client.refreshes_diagnostics {
                self.tell(Outgoing::Refresh {
                    diagnostics: true,
                    inlay_hints: false,
                    code_lenses: false,
                });
            }
            return;
        }
        for (path, diagnostics) in published {
            if let Some(uri) = uri_of(&path) {
                let version = self.documents.get(&path).copied();
                self.tell(Outgoing::Diagnostics(uri, diagnostics, version));
            }
        }
    }
}

/// For each module the first configuration that it is part of.
fn homes(tree: &SourceTree) -> FxHashMap<Directory, Workspace> {
    let mut homes = FxHashMap::default();
    for &workspace in tree.workspaces() {
        for directory in hir::reachable(&tree.db, workspace) {
            homes.entry(directory).or_insert(workspace);
        }
    }
    homes
}
