//! Machines in memory, which record what provisioners do with them.

use std::sync::{Arc, Mutex};

use engine::*;
use provider::BoxFuture;

/// All machines. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Network(Arc<Mutex<Behaviour>>);

/// The behaviour of the machines, and what was done.
#[derive(Default)]
pub(crate) struct Behaviour {
    /// The number of attempts to connect that fail.
    pub(crate) refuses: u32,
    /// The error of every attempt to connect; no further attempt is made.
    pub(crate) fault: Option<&'static str>,
    /// True if an attempt to connect does not end.
    pub(crate) is_silent: bool,
    /// The lines that scripts print.
    pub(crate) prints: &'static str,
    /// True if scripts end with status 3.
    pub(crate) fails: bool,
    /// True if the connection is lost while a script runs.
    pub(crate) breaks: bool,
    /// The run that is interrupted while a script runs or an attempt to connect fails.
    pub(crate) interrupts: Option<CancelToken>,
    /// The reason why uploads fail.
    pub(crate) full: Option<&'static str>,
    log: Vec<String>,
}

impl Network {
    pub(crate) fn set(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.0.lock().expect("not poisoned"));
    }

    /// Takes the record of what was done.
    pub(crate) fn log(&self) -> String {
        std::mem::take(&mut self.0.lock().expect("not poisoned").log).join("\n")
    }

    fn did(&self, what: String) {
        self.set(|it| it.log.push(what));
    }
}

fn described(endpoint: &Endpoint) -> String {
    let Endpoint { host, port, user, .. } = endpoint;
    let given = [
        ("password", &endpoint.password),
        ("private_key", &endpoint.private_key),
        ("certificate", &endpoint.certificate),
        ("host_key", &endpoint.host_key),
    ];
    let given = given.iter().filter_map(|(name, it)| Some(format!(" {name}={}", it.as_ref()?)));
    format!("{user}@{host}:{port}{}", given.collect::<String>())
}

impl Machines for Network {
    fn connect<'a>(
        &'a self,
        connection: &'a Connection,
    ) -> BoxFuture<'a, Result<Box<dyn Machine>, ConnectError>> {
        let mut text = format!("connect {}", described(&connection.target));
        if let Some(bastion) = &connection.bastion {
            text += &format!(" over {}", described(bastion));
        }
        if let Some(it) = &connection.proxy {
            text += &format!(" by {:?} {}:{}", it.scheme, it.host, it.port);
        }
        if let Some(it) = &connection.agent {
            let socket = it.socket.display();
            text += &format!(" agent {socket} {}", it.identity.as_deref().unwrap_or_default());
        }
        self.did(text);
        Box::pin(self.answer())
    }
}

impl Network {
    async fn answer(&self) -> Result<Box<dyn Machine>, ConnectError> {
        let (mut is_silent, mut answer) = (false, Ok(()));
        self.set(|it| {
            is_silent = it.is_silent;
            let fault = it.fault.map(|it| ConnectError { reason: it.to_owned(), is_final: true });
            answer = fault.map_or(Ok(()), Err);
            if it.refuses > 0 {
                it.refuses -= 1;
                it.interrupts.iter().for_each(CancelToken::cancel);
                answer = Err(ConnectError { reason: "refused".to_owned(), is_final: false });
            }
        });
        if is_silent {
            return std::future::pending().await;
        }
        answer.map(|()| Box::new(Connected(self.clone())) as Box<dyn Machine>)
    }
}

struct Connected(Network);

impl Machine for Connected {
    fn run<'a>(
        &'a self,
        command: &'a str,
        output: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<CommandStatus, String>> {
        self.0.did(format!("run {command}"));
        let done = CommandStatus { success: true, text: "Process exited with status 0".to_owned() };
        if command.starts_with("chmod") {
            return Box::pin(async move { Ok(done) });
        }
        let mut ended = Ok(done);
        let mut interrupts = None;
        self.0.set(|it| {
            it.prints.lines().for_each(output);
            if it.fails {
                let text = "Process exited with status 3".to_owned();
                ended = Ok(CommandStatus { success: false, text });
            }
            if it.breaks {
                ended = Err("the connection was lost".to_owned());
            }
            interrupts = it.interrupts.clone();
        });
        if let Some(cancel) = interrupts {
            cancel.cancel();
            return Box::pin(std::future::pending());
        }
        Box::pin(async move { ended })
    }

    fn upload<'a>(
        &'a self,
        source: Source<'a>,
        destination: &'a str,
    ) -> BoxFuture<'a, Result<(), String>> {
        let source = match source {
            Source::Text { text, permissions } => {
                format!("{permissions:?} {:?}", String::from_utf8_lossy(text))
            }
            Source::File(path) => format!("file {}", path.display()),
            Source::Directory { path, contents_only: true } => {
                format!("contents of {}", path.display())
            }
            Source::Directory { path, contents_only: false } => {
                format!("directory {}", path.display())
            }
        };
        self.0.did(format!("upload to {destination}: {source}"));
        let mut full = None;
        self.0.set(|it| full = it.full);
        Box::pin(async move { full.map_or(Ok(()), |reason| Err(reason.to_owned())) })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.0.did("close".to_owned());
        Box::pin(async {})
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.did("closed".to_owned());
    }
}
