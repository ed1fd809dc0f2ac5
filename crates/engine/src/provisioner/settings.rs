//! The arguments of a `connection`, with the defaults of OpenTofu.

use std::time::Duration;

use db::System;
use hir::provisioner::{WINRM, check_connection_text, check_port, is_port, port};
use values::{MarkKind, Value, functions};

use crate::machine::{Agent, Connection, Endpoint, Platform, Proxy, ProxyScheme};

const DEFAULT_PORT: u16 = 22;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The part of a script's path that a random number replaces.
const RANDOM: &str = "%RAND%";

/// A connection, and the settings of a provisioner that uses it. No `Debug`, because it contains secrets.
pub(super) struct Settings {
    pub(super) connection: Connection,
    /// The time to try to connect.
    pub(super) timeout: Duration,
    script_path: String,
    /// The lines that say how the connection is made: one list for each machine on the way.
    pub(super) description: Vec<Vec<String>>,
}

impl Settings {
    /// Reads the value of a `connection` block, which still has its marks.
    ///
    /// # Errors
    /// Fails with the detail of a diagnostic if a value is unknown, or if it cannot be used.
    pub(super) fn read(value: &Value, system: &dyn System) -> Result<Settings, String> {
        if !value.is_wholly_known() {
            return Err("The connection has parts that are not known.".to_owned());
        }
        check(value)?;
        let arguments = Arguments { value };
        let platform = match arguments.text("target_platform").as_deref() {
            Some("windows") => Platform::Windows,
            _ => Platform::Unix,
        };
        let target = arguments.target();
        let bastion = arguments.bastion(&target);
        let connection = Connection {
            bastion,
            proxy: arguments.proxy(),
            agent: arguments.agent(system)?,
            platform,
            target,
        };
        let timeout = arguments.text("timeout").and_then(|it| functions::duration(&it));
        let script_path = arguments.text("script_path").unwrap_or_else(|| {
            let default = match platform {
                Platform::Unix => "/tmp/terraform_%RAND%.sh",
                Platform::Windows => "C:/windows/temp/terraform_%RAND%.cmd",
            };
            default.to_owned()
        });
        Ok(Settings {
            timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
            script_path,
            description: arguments.description(&connection),
            connection,
        })
    }

    /// Returns the path for one script: the random number in it differs each time.
    pub(super) fn script_path(&self) -> String {
        let random = uuid::Uuid::new_v4().as_u128() & u128::from(u32::MAX >> 1);
        self.script_path.replace(RANDOM, &random.to_string())
    }
}

/// Applies the checks of the analysis, which may not have known all values.
fn check(value: &Value) -> Result<(), String> {
    let plain = value.without_all_marks();
    let kind = plain.get_attr("type").and_then(|it| it.as_str().map(str::to_owned));
    if kind.as_deref() == Some("winrm") {
        return Err(WINRM.to_owned());
    }
    for (name, argument) in plain.as_map().into_iter().flatten() {
        let invalid = match is_port(name) {
            true => check_port(argument),
            false => argument.as_str().and_then(|text| check_connection_text(name, text)),
        };
        if let Some(invalid) = invalid.filter(|it| !it.is_ignored) {
            let why = invalid.why;
            return Err(format!("The \"{name}\" of this connection cannot be used: {why}."));
        }
    }
    Ok(())
}

struct Arguments<'a> {
    value: &'a Value,
}

impl Arguments<'_> {
    /// An argument without its marks. An empty text counts as not set.
    fn text(&self, name: &str) -> Option<String> {
        let value = self.value.get_attr(name)?.without_all_marks();
        value.as_str().filter(|it| !it.is_empty()).map(str::to_owned)
    }

    /// A name or an address. Brackets around an address of IPv6 are removed.
    fn host(&self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        let inner = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        Some(inner.map(str::to_owned).unwrap_or(text))
    }

    fn port(&self, name: &str) -> Option<u16> {
        let value = self.value.get_attr(name)?.without_all_marks();
        port(&value).filter(|it| *it != 0)
    }

    fn target(&self) -> Endpoint {
        Endpoint {
            host: self.host("host").unwrap_or_default(),
            port: self.port("port").unwrap_or(DEFAULT_PORT),
            user: self.text("user").unwrap_or_else(|| "root".to_owned()),
            password: self.text("password"),
            private_key: self.text("private_key"),
            certificate: self.text("certificate"),
            host_key: self.text("host_key"),
        }
    }

    /// The bastion. It has the credentials of the target unless it has its own, but never its host key.
    fn bastion(&self, target: &Endpoint) -> Option<Endpoint> {
        let own = |name: &str, default: &Option<String>| self.text(name).or(default.clone());
        Some(Endpoint {
            host: self.host("bastion_host")?,
            port: self.port("bastion_port").unwrap_or(target.port),
            user: self.text("bastion_user").unwrap_or_else(|| target.user.clone()),
            password: own("bastion_password", &target.password),
            private_key: own("bastion_private_key", &target.private_key),
            certificate: own("bastion_certificate", &target.certificate),
            host_key: self.text("bastion_host_key"),
        })
    }

    fn proxy(&self) -> Option<Proxy> {
        let scheme = match self.text("proxy_scheme").as_deref() {
            Some("socks5" | "socks5h") => ProxyScheme::Socks5,
            _ => ProxyScheme::Http,
        };
        Some(Proxy {
            scheme,
            host: self.host("proxy_host")?,
            port: self.port("proxy_port").unwrap_or_default(),
            user: self.text("proxy_user_name"),
            password: self.text("proxy_user_password"),
        })
    }

    fn agent(&self, system: &dyn System) -> Result<Option<Agent>, String> {
        let asked = self.value.get_attr("agent").and_then(|it| it.without_all_marks().as_bool());
        let socket = system.variable("SSH_AUTH_SOCK").filter(|it| !it.is_empty());
        match (asked, socket) {
            (Some(false), _) | (None, None) => Ok(None),
            (Some(true), None) => Err("The connection asks for the SSH agent (agent = true), but \
                                       the environment variable SSH_AUTH_SOCK is not set. Start \
                                       an agent, or give a private_key or a password."
                .to_owned()),
            (_, Some(socket)) => Ok(Some(Agent {
                socket: socket.into(),
                identity: self.text("agent_identity"),
                directory: system.base_directory(),
            })),
        }
    }

    /// An argument that is shown, or the notice that it is secret.
    fn shown(&self, name: &str, text: &str) -> String {
        let value = self.value.get_attr(name);
        let is = |mark: MarkKind| value.as_ref().is_some_and(|it| it.has_deep(mark));
        if is(MarkKind::Ephemeral) {
            "(ephemeral value)".to_owned()
        } else if is(MarkKind::Sensitive) {
            "(sensitive value)".to_owned()
        } else {
            text.to_owned()
        }
    }

    fn description(&self, connection: &Connection) -> Vec<Vec<String>> {
        let agent = connection.agent.is_some();
        let target = &connection.target;
        let mut first = vec!["Connecting to remote host via SSH...".to_owned()];
        first.extend(self.endpoint(["host", "user"], target, agent));
        let platform = match connection.platform {
            Platform::Unix => "unix",
            Platform::Windows => "windows",
        };
        first.push(format!("  Target Platform: {platform}"));
        let mut description = vec![first];
        if let Some(bastion) = &connection.bastion {
            let user = if self.text("bastion_user").is_some() { "bastion_user" } else { "user" };
            let mut lines = vec!["Using configured bastion host...".to_owned()];
            lines.extend(self.endpoint(["bastion_host", user], bastion, agent));
            description.push(lines);
        }
        if let Some(proxy) = &connection.proxy {
            let user = proxy.user.as_deref().unwrap_or_default();
            description.push(vec![
                "Using configured proxy host...".to_owned(),
                format!("  ProxyHost: {}", self.shown("proxy_host", &proxy.host)),
                format!("  ProxyPort: {}", self.shown("proxy_port", &proxy.port.to_string())),
                format!("  ProxyUserName: {}", self.shown("proxy_user_name", user)),
                format!("  ProxyUserPassword: {}", proxy.password.is_some()),
            ]);
        }
        description
    }

    fn endpoint(&self, names: [&str; 2], endpoint: &Endpoint, agent: bool) -> [String; 7] {
        let [host, user] = names;
        let is_address_of_v6 = endpoint.host.parse::<std::net::Ipv6Addr>().is_ok();
        let written =
            if is_address_of_v6 { format!("[{}]", endpoint.host) } else { endpoint.host.clone() };
        [
            format!("  Host: {}", self.shown(host, &written)),
            format!("  User: {}", self.shown(user, &endpoint.user)),
            format!("  Password: {}", endpoint.password.is_some()),
            format!("  Private key: {}", endpoint.private_key.is_some()),
            format!("  Certificate: {}", endpoint.certificate.is_some()),
            format!("  SSH Agent: {agent}"),
            format!("  Checking Host Key: {}", endpoint.host_key.is_some()),
        ]
    }
}
