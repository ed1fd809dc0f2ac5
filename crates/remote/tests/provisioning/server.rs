//! An SSH server in this process. Commands run in the shell of the machine, in a directory of the test; `scp` is a part
//! of the server, because a machine may lack it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

use russh::{
    Channel, ChannelId, ChannelStream, MethodKind, MethodSet,
    keys::{Certificate, PrivateKey, PublicKey, decode_secret_key},
    server::{
        self, Auth, ChannelOpenHandle, Config, Handle, Msg, PublicKeyOffer, Response, Session,
        VerifiedPublicKey,
    },
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{data, sink};

pub(crate) const PASSWORD: &str = "correct-horse-battery";

/// The settings of a server, and what it has seen.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Seen>>);

#[derive(Default)]
pub(crate) struct Seen {
    /// The methods that the server accepts, in this order: each one is a step. Any one suffices if empty.
    pub(crate) steps: Vec<MethodKind>,
    /// True if passwords are accepted as answers of questions only.
    pub(crate) only_questions: bool,
    /// The commands that were run.
    pub(crate) commands: Vec<String>,
    /// The targets of connections through this server.
    pub(crate) forwarded: Vec<String>,
    /// True if a client has asked to forward its agent.
    pub(crate) has_agent: bool,
    /// The number of open connections.
    pub(crate) open: usize,
    /// The handle of the last session.
    pub(crate) last: Option<Handle>,
}

impl Shared {
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.0.lock().expect("not poisoned"))
    }
}

/// Starts a server on a free port.
pub(crate) async fn start(directory: &Path) -> (u16, Shared) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("is bound").port();
    let shared = Shared::default();
    let key = |name: &str| decode_secret_key(&data(name), None).expect("is a key");
    let config = Arc::new(Config {
        auth_rejection_time: Duration::ZERO,
        keys: vec![key("ecdsa"), key("rsa")],
        certificates: vec![Certificate::from_openssh(&data("host_cert.pub")).expect("is one")],
        ..Config::default()
    });
    let handler = Connection {
        shared: shared.clone(),
        directory: directory.to_owned(),
        channels: BTreeMap::new(),
        passed: Vec::new(),
    };
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(Arc::clone(&config), stream, handler.new_connection()));
        }
    });
    (port, shared)
}

async fn serve(config: Arc<Config>, stream: TcpStream, connection: Connection) {
    let shared = connection.shared.clone();
    shared.with(|it| it.open += 1);
    if let Ok(running) = server::run_stream(config, stream, connection).await {
        shared.with(|it| it.last = Some(running.handle()));
        let _ = running.await;
    }
    shared.with(|it| it.open -= 1);
}

/// The input and output of a command.
pub(crate) type Stream = BufReader<ChannelStream<Msg>>;

struct Connection {
    shared: Shared,
    directory: PathBuf,
    channels: BTreeMap<ChannelId, Channel<Msg>>,
    /// The methods that have succeeded.
    passed: Vec<MethodKind>,
}

impl Connection {
    fn new_connection(&self) -> Connection {
        Connection {
            shared: self.shared.clone(),
            directory: self.directory.clone(),
            channels: BTreeMap::new(),
            passed: Vec::new(),
        }
    }

    /// The answer to a valid credential: it may be one step of several.
    fn step(&mut self, kind: MethodKind) -> Auth {
        let steps = self.shared.with(|it| it.steps.clone());
        if steps.is_empty() {
            return Auth::Accept;
        }
        if steps.get(self.passed.len()) != Some(&kind) {
            return Auth::reject();
        }
        self.passed.push(kind);
        match steps.get(self.passed.len()) {
            None => Auth::Accept,
            Some(next) => Auth::Reject {
                proceed_with_methods: Some(MethodSet::from(&[*next][..])),
                partial_success: true,
            },
        }
    }
}

fn is_known(key: &PublicKey) -> bool {
    let known = ["ed25519.pub", "ecdsa.pub", "rsa.pub"];
    let same = |name: &str| {
        let known = PublicKey::from_openssh(&data(name)).expect("is a key");
        known.key_data() == key.key_data()
    };
    known.into_iter().any(same)
}

impl server::Handler for Connection {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        let only_questions = self.shared.with(|it| it.only_questions);
        let accepted = user == "tester" && password == PASSWORD && !only_questions;
        Ok(if accepted { self.step(MethodKind::Password) } else { Auth::reject() })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        _: &str,
        _: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, Self::Error> {
        let Some(mut response) = response else {
            return Ok(Auth::Partial {
                name: "".into(),
                instructions: "".into(),
                prompts: vec![("Password: ".into(), false)].into(),
            });
        };
        let answer = response.next();
        let accepted = answer.is_some_and(|it| it.as_ref() == PASSWORD.as_bytes());
        Ok(if accepted { self.step(MethodKind::KeyboardInteractive) } else { Auth::reject() })
    }

    async fn auth_publickey_offered(
        &mut self,
        _: &str,
        _: PublicKeyOffer<'_>,
    ) -> Result<Auth, Self::Error> {
        Ok(Auth::Accept)
    }

    async fn auth_publickey(
        &mut self,
        user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, Self::Error> {
        let accepted = user == "tester" && is_known(key.public_key);
        Ok(if accepted { self.step(MethodKind::PublicKey) } else { Auth::reject() })
    }

    async fn auth_openssh_certificate(
        &mut self,
        user: &str,
        certificate: &Certificate,
    ) -> Result<Auth, Self::Error> {
        let authority = PublicKey::from_openssh(&data("authority.pub")).expect("is a key");
        let accepted = certificate.signature_key() == authority.key_data()
            && certificate.valid_principals().iter().any(|it| it == user);
        Ok(if accepted { self.step(MethodKind::PublicKey) } else { Auth::reject() })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        self.channels.insert(channel.id(), channel);
        reply.accept().await;
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let target = format!("{host}:{port}");
        let Ok(mut stream) = TcpStream::connect(&target).await else { return Ok(()) };
        self.shared.with(|it| it.forwarded.push(target));
        reply.accept().await;
        tokio::spawn(async move {
            let mut channel = channel.into_stream();
            let _ = tokio::io::copy_bidirectional(&mut channel, &mut stream).await;
        });
        Ok(())
    }

    async fn agent_request(&mut self, _: ChannelId, _: &mut Session) -> Result<bool, Self::Error> {
        self.shared.with(|it| it.has_agent = true);
        Ok(true)
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        session: &mut Session,
    ) -> Result<(), Self::Error> {
        let command = String::from_utf8_lossy(command).into_owned();
        self.shared.with(|it| it.commands.push(command.clone()));
        let Some(channel) = self.channels.remove(&id) else { return Ok(()) };
        session.channel_success(id)?;
        tokio::spawn(run(channel, command, self.directory.clone(), session.handle()));
        Ok(())
    }
}

/// Runs a command, or the server's own `scp`.
async fn run(channel: Channel<Msg>, command: String, directory: PathBuf, handle: Handle) {
    // The channel must not be dropped, and closed, before the status is sent.
    let id = channel.id();
    let mut stream = BufReader::new(channel.into_stream());
    let status = match command.trim().strip_prefix("scp ") {
        Some(arguments) => sink::serve(&mut stream, arguments, &directory).await,
        None => run_shell(&mut stream, &command, &directory).await,
    };
    if let Some(status) = status {
        let _ = handle.exit_status_request(id, status).await;
    }
    let _ = handle.eof(id).await;
    let _ = handle.close(id).await;
}

async fn run_shell(stream: &mut Stream, command: &str, directory: &Path) -> Option<u32> {
    let mut child = tokio::process::Command::new("/bin/sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(directory)
        .env("HOME", directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("there is a shell");
    let mut output = child.stdout.take().expect("is piped");
    let mut bytes = vec![0; 4096];
    while let Ok(read @ 1..) = output.read(&mut bytes).await {
        stream.write_all(&bytes[..read]).await.ok()?;
    }
    let status = child.wait().await.expect("can be waited for");
    status.code().and_then(|it| u32::try_from(it).ok())
}

/// The private key of a test, as text.
pub(crate) fn key(name: &str) -> PrivateKey {
    decode_secret_key(&data(name), None).expect("is a key")
}
