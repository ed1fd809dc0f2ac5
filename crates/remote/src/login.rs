//! Authentication: with a key, a certificate, a password or the keys of an agent.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine::{Agent, ConnectError, Endpoint};
use russh::{
    AgentAuthError, MethodKind, MethodSet, Signer,
    client::{AuthResult, KeyboardInteractiveAuthResponse},
    keys::{
        Certificate, HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKey,
        agent::{AgentIdentity, client::AgentClient},
        signature::Signer as _,
        ssh_encoding::Encode as _,
        ssh_key::{Signature, private::KeypairData},
    },
};
use tokio::net::UnixStream;

use crate::{
    failure::{lasting, passing},
    keys,
    server::Session,
};

/// The number of questions of a server that are answered with the password. A server that asks without end is
/// given up.
const MOST_QUESTIONS: usize = 8;

/// The credentials for one server. No `Debug`, because they are secret.
pub(crate) struct Credentials {
    key: Option<(Arc<PrivateKey>, Option<Box<Certificate>>)>,
    password: Option<String>,
}

impl Credentials {
    /// Reads the key and the certificate.
    pub(crate) fn read(endpoint: &Endpoint) -> Result<Credentials, ConnectError> {
        let key = match &endpoint.private_key {
            None => None,
            Some(text) => {
                let key = keys::private_key(text)?;
                let certificate = endpoint.certificate.as_deref();
                let certificate = certificate.map(|it| keys::certificate(it, &key)).transpose()?;
                Some((Arc::new(key), certificate.map(Box::new)))
            }
        };
        Ok(Credentials { key, password: endpoint.password.clone() })
    }
}

/// A way to authenticate.
enum Method {
    Key(Arc<PrivateKey>, Option<Box<Certificate>>),
    Password(String),
    /// Every question is answered with the password.
    Questions(String),
    Agent(Agent),
}

impl Method {
    fn kind(&self) -> MethodKind {
        match self {
            Method::Key(..) | Method::Agent(_) => MethodKind::PublicKey,
            Method::Password(_) => MethodKind::Password,
            Method::Questions(_) => MethodKind::KeyboardInteractive,
        }
    }
}

/// Authenticates with the methods that the server accepts, in the order of OpenTofu. The keys of the agent are used
/// only if there is no private key.
pub(crate) async fn authenticate(
    session: &mut Session,
    user: &str,
    credentials: Credentials,
    agent: Option<&Agent>,
) -> Result<(), ConnectError> {
    let has_key = credentials.key.is_some();
    let mut methods = Vec::new();
    methods.extend(credentials.key.map(|(key, certificate)| Method::Key(key, certificate)));
    if let Some(password) = credentials.password {
        methods.push(Method::Password(password.clone()));
        methods.push(Method::Questions(password));
    }
    methods.extend(agent.filter(|_| !has_key).cloned().map(Method::Agent));
    let mut accepted = match session.handle.authenticate_none(user).await {
        Ok(AuthResult::Success) => return Ok(()),
        Ok(AuthResult::Failure { remaining_methods, .. }) => remaining_methods,
        Err(error) => return Err(lost(session, &error)),
    };
    let mut tried = Vec::new();
    while let Some(next) = methods.iter().position(|it| accepted.contains(&it.kind())) {
        let method = methods.remove(next);
        tried.push(method.kind());
        match attempt(session, user, method).await? {
            AuthResult::Success => return Ok(()),
            // An empty list comes from a connection that was lost.
            AuthResult::Failure { remaining_methods, .. } if !remaining_methods.is_empty() => {
                accepted = remaining_methods
            }
            AuthResult::Failure { .. } if session.handle.is_closed() => {
                return Err(passing(session.end()));
            }
            AuthResult::Failure { .. } => break,
        }
    }
    Err(passing(unable(&tried, &accepted)))
}

fn unable(tried: &[MethodKind], accepted: &MethodSet) -> String {
    let list = |kinds: &[MethodKind]| {
        let names: Vec<&str> = kinds.iter().map(<&str>::from).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let mut tried = tried.to_vec();
    tried.dedup();
    format!(
        "the server did not accept the credentials (methods tried: {}; accepted by the server: {})",
        list(&tried),
        list(accepted)
    )
}

fn lost(session: &Session, error: &russh::Error) -> ConnectError {
    match session.handle.is_closed() {
        true => passing(session.end()),
        false => passing(error.to_string()),
    }
}

async fn attempt(
    session: &mut Session,
    user: &str,
    method: Method,
) -> Result<AuthResult, ConnectError> {
    let answered = match method {
        Method::Key(key, Some(certificate)) if key.algorithm().is_rsa() => {
            let hash = rsa_hash(session, true).await;
            let mut signer = RsaSigner(key);
            let handle = &mut session.handle;
            return handle
                .authenticate_certificate_with(user, *certificate, hash, &mut signer)
                .await
                .map_err(|error| passing(error.to_string()));
        }
        Method::Key(key, Some(certificate)) => {
            session.handle.authenticate_openssh_cert(user, key, *certificate).await
        }
        Method::Key(key, None) => {
            let hash = rsa_hash(session, key.algorithm().is_rsa()).await;
            let key = PrivateKeyWithHashAlg::new(key, hash);
            session.handle.authenticate_publickey(user, key).await
        }
        Method::Password(password) => session.handle.authenticate_password(user, password).await,
        Method::Questions(password) => answer_questions(session, user, &password).await,
        Method::Agent(agent) => return with_agent(session, user, &agent).await,
    };
    answered.map_err(|error| lost(session, &error))
}

/// Signs with an RSA key, for a certificate. The library itself signs for certificates with SHA-1 only, which servers
/// refuse.
struct RsaSigner(Arc<PrivateKey>);

impl Signer for RsaSigner {
    type Error = AgentAuthError;

    async fn auth_sign(
        &mut self,
        _: &AgentIdentity,
        hash: Option<HashAlg>,
        mut message: Vec<u8>,
    ) -> Result<Vec<u8>, AgentAuthError> {
        let invalid = || russh::keys::Error::InvalidParameters;
        let KeypairData::Rsa(keypair) = self.0.key_data() else { return Err(invalid().into()) };
        let signed: Result<Signature, _> = (keypair, hash).try_sign(&message);
        let signature = signed.map_err(|_| invalid())?;
        signature.encode_prefixed(&mut message).map_err(russh::keys::Error::from)?;
        Ok(message)
    }
}

/// The hash of an RSA signature: the strongest that the server names. A server that names none is old, and has only
/// SHA-1.
async fn rsa_hash(session: &Session, is_rsa: bool) -> Option<HashAlg> {
    if !is_rsa {
        return None;
    }
    session.handle.best_supported_rsa_hash().await.ok().flatten().flatten()
}

async fn answer_questions(
    session: &mut Session,
    user: &str,
    password: &str,
) -> Result<AuthResult, russh::Error> {
    let handle = &mut session.handle;
    let mut asked = handle.authenticate_keyboard_interactive_start(user, None).await?;
    for _ in 0..MOST_QUESTIONS {
        match asked {
            KeyboardInteractiveAuthResponse::Success => return Ok(AuthResult::Success),
            KeyboardInteractiveAuthResponse::Failure { remaining_methods, partial_success } => {
                return Ok(AuthResult::Failure { remaining_methods, partial_success });
            }
            KeyboardInteractiveAuthResponse::InfoRequest { prompts, .. } => {
                let answers = prompts.iter().map(|_| password.to_owned()).collect();
                asked = handle.authenticate_keyboard_interactive_respond(answers).await?;
            }
        }
    }
    Ok(AuthResult::Failure { remaining_methods: MethodSet::empty(), partial_success: false })
}

/// Tries the keys of the agent. Begins with the one that the connection names.
async fn with_agent(
    session: &mut Session,
    user: &str,
    agent: &Agent,
) -> Result<AuthResult, ConnectError> {
    let stream = UnixStream::connect(&agent.socket).await.map_err(|error| {
        lasting(format!(
            "cannot connect to the SSH agent that the environment variable SSH_AUTH_SOCK names: \
             {error}. Start an agent, or set agent = false and give a private_key or a password"
        ))
    })?;
    let mut client = AgentClient::connect(stream);
    if let Some(binding) = session.handle.agent_session_binding() {
        // Agents that do not know this request need no binding.
        let _ = client.bind_session(binding, false).await;
    }
    let listed = client.request_identities().await;
    let mut identities =
        listed.map_err(|error| passing(format!("the SSH agent failed: {error}")))?;
    first_named(&mut identities, agent).await;
    let mut last =
        AuthResult::Failure { remaining_methods: MethodSet::empty(), partial_success: false };
    for identity in identities {
        let is_rsa = identity.public_key().algorithm().is_rsa();
        let hash = rsa_hash(session, is_rsa).await;
        let handle = &mut session.handle;
        let answered = match identity {
            AgentIdentity::PublicKey { key, .. } => {
                handle.authenticate_publickey_with(user, key, hash, &mut client).await
            }
            AgentIdentity::Certificate { certificate, .. } => {
                handle.authenticate_certificate_with(user, certificate, hash, &mut client).await
            }
        };
        match answered {
            Ok(AuthResult::Success) => return Ok(AuthResult::Success),
            Ok(failure) => last = failure,
            // The agent may refuse to use one of its keys. The others are tried too.
            Err(_) if !handle.is_closed() => {}
            Err(error) => return Err(passing(error.to_string())),
        }
        if session.handle.is_closed() {
            return Err(passing(session.end()));
        }
    }
    Ok(last)
}

/// Moves the key that the connection names to the front: the key in the named file or with that comment, or one whose
/// comment ends with the name.
async fn first_named(identities: &mut [AgentIdentity], agent: &Agent) {
    let Some(name) = agent.identity.clone() else { return };
    let directory = agent.directory.clone();
    let read = tokio::task::spawn_blocking({
        let name = name.clone();
        move || key_in_file(&directory.join(name))
    });
    let named = read.await.ok().flatten();
    identities.sort_by_key(|it| {
        let is_named = |key: &PublicKey| it.public_key().key_data() == key.key_data();
        if named.as_ref().is_some_and(is_named) || it.comment() == name {
            0
        } else if it.comment().ends_with(&name) {
            1
        } else {
            2
        }
    });
}

/// The public key in a file, or in the file beside it with the ending `.pub`.
fn key_in_file(path: &Path) -> Option<PublicKey> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".pub");
    [path.to_owned(), PathBuf::from(beside)].iter().find_map(|path| {
        let bytes = read_key_file(path)?;
        let text = String::from_utf8(bytes).ok()?;
        let public = PublicKey::from_openssh(text.trim()).ok();
        public.or_else(|| Some(keys::private_key(&text).ok()?.public_key().clone()))
    })
}

/// The largest file that is read as a key, in bytes.
const LARGEST_KEY: u64 = 1 << 20;

fn read_key_file(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read as _;
    let file: fs::File = db::system::open_regular(path).ok()?;
    let mut bytes = Vec::new();
    file.take(LARGEST_KEY).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
