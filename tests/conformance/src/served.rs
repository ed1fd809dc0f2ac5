//! A configuration in an editor: a language server in this process, connected by a pair of sockets.

use std::{os::unix::net::UnixStream, path::Path, sync::Arc, thread};

use addr::ProviderSource;
use db::{Diagnostic, MemorySystem, Severity, System};
use editor::Editor;
use lsp::{Installation, Installed};
use project::Manifest;
use serde_json::{Value, json};
use sorted::TreeMap;
use values::Str;

use crate::{World, environment};

/// The directory of the configuration in the file system of the language server.
const ROOT: &str = "/work";

/// A language server with an editor that has every file of a configuration open.
pub struct Served {
    editor: Editor,
    open: Vec<String>,
}

/// An installation with the schemas of all providers that fixtures may use, and without modules.
struct Everything;

impl Installation for Everything {
    fn modules(&self, _: &Path) -> Manifest {
        Manifest::new()
    }

    fn schemas(
        &self,
        _: &Path,
        requirements: &TreeMap<ProviderSource, Vec<Str>>,
    ) -> Vec<(ProviderSource, Installed)> {
        let known = environment::schemas().into_iter();
        let required = known.filter(|(source, _)| requirements.contains_key(source));
        required.map(|(source, schemas)| (source, Installed::Schemas(schemas))).collect()
    }
}

impl Served {
    /// Serves the original files of a world.
    ///
    /// # Panics
    /// If the sockets or the threads cannot be created.
    pub fn new(world: &World) -> Served {
        let system = MemorySystem::new();
        for (path, text) in world.files() {
            system.write(format!("{ROOT}/{path}"), text.as_str());
        }
        let (ours, theirs) = UnixStream::pair().expect("sockets can be made");
        thread::spawn(move || serve(theirs, Arc::new(system)));
        let reader = ours.try_clone().expect("a socket has two ends");
        let capabilities = editor::usual_capabilities();
        let mut editor = Editor::connect(reader, ours, Path::new(ROOT), capabilities);
        let open: Vec<String> = world.files().iter().map(|(path, _)| path.clone()).collect();
        for (path, text) in world.files() {
            editor.open(path, text);
        }
        Served { editor, open }
    }

    /// Edits the open files so that they equal those of another world.
    pub fn type_over(&mut self, world: &World) {
        for (path, text) in world.files() {
            match self.open.contains(path) {
                true if self.editor.text(path) != text => self.editor.set(path, text),
                true => {}
                false => {
                    self.editor.open(path, text);
                    self.open.push(path.clone());
                }
            }
        }
        let gone = |path: &String| !world.files().iter().any(|(it, _)| it == path);
        let (gone, open) = std::mem::take(&mut self.open).into_iter().partition(gone);
        self.open = open;
        let gone: Vec<String> = gone;
        for path in gone {
            self.editor.set(&path, "");
            self.editor.close(&path);
        }
    }

    /// Compares the diagnostics of the server with those of the analysis: severity, summary and range, file by
    /// file.
    ///
    /// # Errors
    /// If they differ; the error describes the difference.
    pub fn agrees(&mut self, expected: &[Diagnostic]) -> Result<(), String> {
        for path in self.open.clone() {
            let expected = self.in_file(&path, expected);
            let found = self.editor.pull(&path);
            let found: Vec<Value> = found.iter().map(essence).collect();
            if found != expected {
                return Err(format!(
                    "in {path} the server says {found:#?} in place of {expected:#?}"
                ));
            }
        }
        Ok(())
    }

    fn in_file(&self, path: &str, expected: &[Diagnostic]) -> Vec<Value> {
        let here = expected.iter().filter_map(|it| {
            let location = it.location.as_ref().filter(|at| *at.path == *path)?;
            let severity = match it.severity() {
                Severity::Error => 1,
                Severity::Warning => 2,
                Severity::Hint => 4,
            };
            let bytes = location.range.start as usize..location.range.end as usize;
            Some(json!([severity, &*it.summary, self.editor.range(path, bytes)]))
        });
        here.collect()
    }

    /// Shuts the server down.
    pub fn leave(self) {
        self.editor.leave();
    }
}

fn essence(it: &Value) -> Value {
    let summary = it["message"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
    json!([it["severity"], summary, it["range"]])
}

fn serve(socket: UnixStream, system: Arc<dyn System>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let runtime = runtime.expect("a runtime can be made");
    runtime.block_on(async {
        socket.set_nonblocking(true).expect("a socket need not wait");
        let socket = tokio::net::UnixStream::from_std(socket).expect("a socket is a socket");
        let (reader, writer) = socket.into_split();
        lsp::serve(reader, writer, system, Arc::new(Everything)).await;
    });
}
