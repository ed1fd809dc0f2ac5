//! `cargo xtask dist`: builds the executables of a release, with profile-guided optimization.
//!
//! ```text
//!   build that counts ──► runs of `training` ──► profile ──► build that knows what is hot
//! ```
//!
//! Both builds use the profile `dist`, which has link-time optimization on top of `release`.
//!
//! **Invariant:** the result has the same behaviour as that of `cargo build --release`; a profile changes only its
//! speed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{bench, training};

/// Builds the executables into `target/dist`.
///
/// # Errors
/// Returns an error if a build fails, if a training run fails, or if the compiler's profiles cannot be
/// read.
pub(crate) fn run(root: &Path) -> Result<()> {
    let compiler = Compiler::find()?;
    let profdata = compiler.profdata()?;
    let target = bench::target_folder(root)?;
    let (counting, counts) = (target.join("dist-counting"), target.join("dist-counts"));
    if counts.exists() {
        fs::remove_dir_all(&counts)?;
    }
    println!("building what counts …");
    let flag = format!("-Cprofile-generate={}", counts.display());
    let executables = compiler.build(root, &counting, &flag)?;
    println!("running it …");
    training::run(root, &executables.join("mayfly"), &counting.join("work"))?;
    let profile = target.join("mayfly.profdata");
    merge(&profdata, &counts, &profile)?;
    println!("building what is released …");
    let flag = format!("-Cprofile-use={}", profile.display());
    let built = compiler.build(root, &target.join("dist-build"), &flag)?;
    let place = target.join("dist");
    fs::create_dir_all(&place)?;
    for name in executables_of(root)? {
        fs::copy(built.join(&name), place.join(&name)).with_context(|| format!("no {name}"))?;
        println!("{}", place.join(&name).display());
    }
    Ok(())
}

/// The compiler, and its host platform.
struct Compiler {
    sysroot: PathBuf,
    host: String,
}

impl Compiler {
    fn find() -> Result<Compiler> {
        let sysroot = PathBuf::from(rustc(&["--print", "sysroot"])?.trim());
        let version = rustc(&["-vV"])?;
        let host = version.lines().find_map(|it| it.strip_prefix("host: "));
        let host = host.context("rustc does not say what it compiles for")?.to_owned();
        Ok(Compiler { sysroot, host })
    }

    /// Returns the tool that reads profiles: the one in `LLVM_PROFDATA`, the compiler's own, or one on the PATH.
    fn profdata(&self) -> Result<PathBuf> {
        let named = std::env::var_os("LLVM_PROFDATA").map(PathBuf::from);
        let own = self.sysroot.join("lib/rustlib").join(&self.host).join("bin/llvm-profdata");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).map(|it| it.join("llvm-profdata"));
        let found = named.into_iter().chain([own]).chain(on_path).find(|it| it.is_file());
        found.context(
            "llvm-profdata is missing: run `rustup component add llvm-tools`, or set LLVM_PROFDATA",
        )
    }

    /// Builds the executables with one more flag. Returns their folder.
    fn build(&self, root: &Path, target: &Path, flag: &str) -> Result<PathBuf> {
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--locked", "--profile", "dist"]);
        command.args(["-p", "cli", "-p", "providers", "--bins"]);
        // With an explicit target, code that runs inside the compiler is not instrumented.
        command.args(["--target", &self.host]).arg("--target-dir").arg(target);
        command.env("RUSTFLAGS", format!("{flags} {flag}")).current_dir(root);
        ensure!(command.status().context("failed to start cargo")?.success(), "cargo failed");
        Ok(target.join(&self.host).join("dist"))
    }
}

fn rustc(arguments: &[&str]) -> Result<String> {
    let output = Command::new("rustc").args(arguments).output().context("failed to start rustc")?;
    Ok(String::from_utf8(output.stdout)?)
}

fn merge(profdata: &Path, counts: &Path, profile: &Path) -> Result<()> {
    let mut command = Command::new(profdata);
    command.arg("merge").arg("-o").arg(profile).arg(counts);
    let output = command.output().context("failed to start llvm-profdata")?;
    if !output.status.success() {
        bail!(
            "{} cannot read what was counted: {}\nThe one of `rustup component add llvm-tools` can.",
            profdata.display(),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(())
}

/// Returns the names of the executables.
fn executables_of(root: &Path) -> Result<Vec<String>> {
    let metadata = bench::metadata(root)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let released = packages.iter().filter(|it| ["cli", "providers"].contains(&text(&it["name"])));
    let targets = released.flat_map(|it| it["targets"].as_array().into_iter().flatten());
    let executables = targets.filter(|it| it["kind"][0] == "bin");
    Ok(executables.map(|it| text(&it["name"]).to_owned()).collect())
}

fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}
