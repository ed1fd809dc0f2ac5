//! Measures `init` of many providers from a registry on this machine, over TLS, with signed packages.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use registry::{AuthorKey, PLATFORMS, Pages, Release, Server, discovery, packed, pages_of};

use super::{
    Place, budget,
    options::Options,
    report::{Measured, Row},
    tool::{self, Tool, Usage},
};

/// The number of providers.
const PROVIDERS: usize = 40;

/// The size of an unpacked package. A third of it does not get smaller when it is packed.
const UNPACKED: usize = 20 << 20;

const VERSION: &str = "1.2.0";

/// The work of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    /// Programs that the machine cannot run, so that only the installation is measured: OpenTofu starts no provider
    /// in `init`.
    Foreign,
    /// The bench's own provider. Mayfly starts each to read its schema.
    Plugin,
}

impl Content {
    fn title(self) -> String {
        match self {
            Content::Foreign => format!("init of {PROVIDERS} providers"),
            Content::Plugin => format!("init of {PROVIDERS} providers that are read ahead"),
        }
    }

    /// The file with the plugin. `None` for [`filler`].
    fn plugin(self, place: &Place) -> Option<PathBuf> {
        (self == Content::Plugin).then(|| place.plugins.join(super::FLEET))
    }
}

/// Returns bytes that are packed to about a third.
fn filler() -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut bytes = Vec::with_capacity(UNPACKED);
    while bytes.len() < UNPACKED {
        let part: Vec<u8> = (0..1 << 10).map(|_| random.u8(..)).collect();
        bytes.extend_from_slice(&part);
        bytes.extend(part.iter().cycle().take(2 << 10));
    }
    bytes.truncate(UNPACKED);
    bytes
}

/// Measures the rows that the options select.
///
/// # Errors
/// Returns an error if a tool fails, or does not install and lock every provider.
pub(crate) fn measure(options: &Options, place: &Place, references: &[Tool]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for content in [Content::Foreign, Content::Plugin] {
        let title = content.title();
        if !options.wants(&title) {
            continue;
        }
        println!("measuring {title} …");
        let registry = Registry::start(place, content)?;
        let tools = std::iter::once(&place.mayfly).chain(references);
        let mut contenders: Vec<(&Tool, Vec<Usage>)> = tools.map(|it| (it, Vec::new())).collect();
        for _ in 0..options.runs {
            for (tool, usages) in &mut contenders {
                let usage = registry.install(tool);
                usages.push(usage.with_context(|| format!("{} init", tool.name))?);
            }
        }
        let figures = contenders.iter().map(|(tool, it)| Measured::median(&tool.name, it));
        rows.push(Row::new(title, PROVIDERS, figures.collect(), budget::of_init()));
    }
    Ok(rows)
}

/// A registry of [`PROVIDERS`] providers, and the folder in which they are installed.
struct Registry {
    process: Child,
    port: u16,
    folder: PathBuf,
}

impl Registry {
    /// Starts the registry in a process of its own: the system counts the memory of a process that starts another
    /// one for that one, too.
    fn start(place: &Place, content: Content) -> Result<Registry> {
        let folder = place.work.join("init");
        fs::create_dir_all(&folder)?;
        let mut process = Command::new(std::env::current_exe()?)
            .arg(SERVE)
            .arg(folder.join("ca.pem"))
            .args(content.plugin(place))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let stdout = process.stdout.take().context("stdout is piped")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let port = line.trim().parse().context("the registry did not start")?;
        Ok(Registry { process, port, folder })
    }

    /// Runs `init` in a new folder, with empty caches.
    fn install(&self, tool: &Tool) -> Result<Usage> {
        let folder = self.folder.join(&tool.name);
        let _missing = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("cli.tfrc"), "")?;
        fs::write(folder.join("main.tf"), self.configuration())?;
        let arguments = ["init", "-no-color", "-input=false"];
        let mut command = tool.command(&folder, &folder.join("cli.tfrc"), &arguments);
        command
            .env("SSL_CERT_FILE", self.folder.join("ca.pem"))
            .env("SSL_CERT_DIR", self.folder.join("none"))
            .env("XDG_CACHE_HOME", folder.join("cache"));
        let run = tool::run(command, &folder, |_| ())?.expect(0, "init")?;
        self.check(&folder, &run.stdout)?;
        Ok(run.usage)
    }

    fn configuration(&self) -> String {
        let mut text = "terraform {\n  required_providers {\n".to_owned();
        for name in names() {
            let port = self.port;
            let _ = writeln!(text, "    {name} = {{ source = \"localhost:{port}/tests/{name}\" }}");
        }
        text + "  }\n}\n"
    }

    /// Checks that every provider is authenticated, installed and locked.
    fn check(&self, folder: &Path, stdout: &str) -> Result<()> {
        let signed = stdout.matches(&format!(" v{VERSION} (signed, key ID ")).count();
        ensure!(signed == PROVIDERS, "{signed} packages are signed:\n{stdout}");
        let locks = fs::read_to_string(folder.join(".terraform.lock.hcl"))?;
        for (scheme, expected) in [("\"h1:", PROVIDERS), ("\"zh:", 2 * PROVIDERS)] {
            let found = locks.matches(scheme).count();
            ensure!(found == expected, "{found} hashes of the scheme {scheme} are locked");
        }
        let installed = folder.join(format!(".terraform/providers/localhost:{}", self.port));
        for name in names() {
            let version = installed.join(format!("tests/{name}/{VERSION}"));
            let platform = PLATFORMS.iter().find(|it| is_current(it)).context("no platform")?;
            let plugin = version.join(platform).join(format!("terraform-provider-{name}"));
            ensure!(plugin.is_file(), "{} is missing", plugin.display());
        }
        Ok(())
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // The process ends with its input.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

/// The command of `xtask` that serves the registry.
pub(crate) const SERVE: &str = "bench-registry";

/// Serves packages with this plugin until the input ends, and prints the port. Writes the certificate of the server to
/// `authority`.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub(crate) fn serve(authority: &str, plugin: Option<&str>) -> Result<()> {
    let key = AuthorKey::new();
    let mut pages: Pages = discovery();
    let package = packed(ANY, plugin.map_or_else(|| Ok(filler()), fs::read)?);
    for name in names() {
        let release = Release { version: VERSION, key: Some(&key), ..Release::default() };
        let of_platform = |_: &str, platform: &str| match is_current(platform) {
            true => renamed(&package, &name),
            false => packed(&format!("terraform-provider-{name}"), platform),
        };
        pages.extend(pages_of(&name, &[release], of_platform));
    }
    let server = Server::start(Path::new(authority), pages);
    println!("{}", server.port);
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

/// The names of the providers. Each is as long as that in [`ANY`].
fn names() -> impl Iterator<Item = String> {
    (0..PROVIDERS).map(|it| format!("p{it:02}"))
}

/// The name of the plugin in the package that all packages are copies of, because packing takes long.
const ANY: &str = "terraform-provider-any";

/// A copy of the package whose plugin has the name of this provider.
fn renamed(package: &[u8], name: &str) -> Vec<u8> {
    let mut renamed = package.to_vec();
    let places: Vec<usize> = package
        .windows(ANY.len())
        .enumerate()
        .filter(|(_, it)| *it == ANY.as_bytes())
        .map(|(at, _)| at + ANY.len() - name.len())
        .collect();
    for at in places {
        renamed[at..at + name.len()].copy_from_slice(name.as_bytes());
    }
    renamed
}

fn is_current(platform: &str) -> bool {
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    platform.starts_with(os)
}
