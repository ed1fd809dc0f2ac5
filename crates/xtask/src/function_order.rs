//! `cargo xtask function-order`: writes the linker script that places the functions together which commands execute.
//!
//! ```text
//!   release build, with the linker's map ──┐
//!                                          ├──► functions by uses ──► patterns ──► crates/cli/function_order.ld
//!   runs of `training` under valgrind ─────┘
//! ```
//!
//! A command executes a tenth of the machine code. The linker orders functions by crate and module, so the executed
//! ones are everywhere, and Linux maps 64 KiB around each page that a process touches: most of the executable. The
//! script has a place for each set of commands, so `plan` does not map what only `init` executes.
//!
//! **Invariant:** no pattern contains a hash of the compiler, so the script remains valid if the dependencies change,
//! and for other versions of the compiler that name functions in the same way. Newer ones, from Rust 1.97 on, use
//! another form of names; for them, most patterns match nothing, which has no effect.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};

use crate::{bench, training};

/// The linker script.
const SCRIPT: &str = "crates/cli/function_order.ld";

/// The commands whose functions have places of their own.
const COMMANDS: [&str; 5] = ["version", "init", "validate", "plan", "apply"];

/// The commands that execute a function: a bit for each of [`COMMANDS`], and one for all others.
type Uses = u8;

/// A function in the executable.
#[derive(Debug)]
struct Section {
    address: u64,
    size: u64,
    /// The pattern of the object files of its crate.
    files: String,
    /// The name without `.text.`.
    name: String,
}

/// Writes the script.
///
/// # Errors
/// Returns an error if the build or a run fails, or if valgrind is missing.
pub(crate) fn run(root: &Path) -> Result<()> {
    let valgrind = Command::new("valgrind").arg("--version").output();
    ensure!(valgrind.is_ok_and(|it| it.status.success()), "valgrind is missing");
    let target = bench::target_folder(root)?.canonicalize()?;
    let work = target.join("function-order");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(&work)?;
    println!("building …");
    // It stays, because a build that is up to date does not link again.
    let map = target.join("function-order.map");
    let program = build(root, &target, &map)?;
    println!("running it under valgrind …");
    let counts = work.join("counts");
    let counted = counting(&program, &work, &counts)?;
    training::run_usual(root, &counted, &work.join("runs"))?;
    let sections = sections(&fs::read_to_string(&map)?);
    ensure!(!sections.is_empty(), "{} has another form than that of rust-lld", map.display());
    let uses = uses(&counts, &program, &sections)?;
    let executed = uses.iter().filter(|it| **it != 0).count();
    println!("{executed} of {} functions are executed", sections.len());
    ensure!(executed > sections.len() / 20, "the addresses of the map are not those that ran");
    fs::write(root.join(SCRIPT), script(&sections, &uses))?;
    Ok(())
}

/// Builds the executable, and lets the linker write its map.
fn build(root: &Path, target: &Path, map: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["rustc", "--locked", "--release", "-p", "cli", "--bin", "mayfly", "--"]);
    command.arg(format!("-Clink-arg=-Wl,-Map={}", map.display())).current_dir(root);
    ensure!(command.status().context("failed to start cargo")?.success(), "cargo failed");
    Ok(target.join("release/mayfly"))
}

/// Writes a program that runs the executable under valgrind, which writes a file into `counts` for each process.
fn counting(program: &Path, work: &Path, counts: &Path) -> Result<PathBuf> {
    fs::create_dir_all(counts)?;
    let path = work.join("mayfly");
    let text = format!(
        "#!/bin/sh\nexec valgrind --quiet --tool=callgrind --dump-instr=yes --trace-children=yes \
         --trace-children-skip='/bin/*,/usr/*' --callgrind-out-file='{}/%p' '{}' \"$@\"\n",
        counts.display(),
        program.display()
    );
    fs::write(&path, text)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// Returns the functions in the map of rust-lld, in the order of their addresses. Code without a section for each
/// function, such as that of assemblers, is not among them.
fn sections(map: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = map.lines().filter_map(section).collect();
    sections.sort_by_key(|it| it.address);
    sections
}

fn section(line: &str) -> Option<Section> {
    let mut fields = line.split_ascii_whitespace();
    let mut number = || u64::from_str_radix(fields.next()?, 16).ok();
    let (address, _, size) = (number()?, number()?, number()?);
    let (file, name) = fields.nth(1)?.rsplit_once(":(")?;
    let name = name.strip_suffix(')')?.strip_prefix(".text.")?.to_owned();
    Some(Section { address, size, files: files_of(file)?, name })
}

/// The pattern of the object files of a crate. `None` for a file that no crate has.
fn files_of(file: &str) -> Option<String> {
    let name = file.rsplit('/').next()?;
    // A member of an archive is written as `libaddr-0123456789abcdef.rlib(addr.o)`.
    let library = file.split_once(".rlib(").and_then(|(it, _)| it.rsplit('/').next());
    match library.and_then(|it| it.rsplit_once('-')) {
        Some((library, _)) => Some(format!("*/{library}-*.rlib:*")),
        None => {
            let is_own = name.starts_with("mayfly-") && name.ends_with(".rcgu.o");
            is_own.then(|| "*/mayfly-*.rcgu.o".to_owned())
        }
    }
}

/// Returns the uses of each section.
fn uses(counts: &Path, program: &Path, sections: &[Section]) -> Result<Vec<Uses>> {
    let mut uses = vec![0; sections.len()];
    for entry in fs::read_dir(counts)? {
        let profile = fs::read_to_string(entry?.path())?;
        let command = command(&profile);
        for address in addresses(&profile, &program.to_string_lossy()) {
            let after = sections.partition_point(|it| it.address <= address);
            let Some(index) = after.checked_sub(1) else { continue };
            if address - sections[index].address < sections[index].size {
                uses[index] |= command;
            }
        }
    }
    Ok(uses)
}

/// The command that a profile of callgrind is from.
fn command(profile: &str) -> Uses {
    let line = profile.lines().find_map(|it| it.strip_prefix("cmd:")).unwrap_or_default();
    let name = line.split_ascii_whitespace().skip(1).find(|it| !it.starts_with('-'));
    let name = name.map(|it| if it == "destroy" { "apply" } else { it });
    let known = COMMANDS.iter().position(|it| Some(*it) == name);
    1 << known.unwrap_or(COMMANDS.len())
}

/// The name that valgrind gives to machine code whose file it does not know, as it happens to a part of the program.
const UNKNOWN: &str = "???";

/// Returns the addresses of executed instructions of a program, from a profile of callgrind: an address is absolute,
/// relative to the last one, or the same.
fn addresses<'p>(profile: &'p str, program: &'p str) -> impl Iterator<Item = u64> + 'p {
    let mut is_program: HashMap<&str, bool> = HashMap::new();
    let (mut counts, mut last) = (false, 0_u64);
    profile.lines().filter_map(move |line| {
        let own = line.strip_prefix("ob=");
        if let Some(object) = own.or_else(|| line.strip_prefix("cob=")) {
            let (id, name) = object.split_once(' ').unwrap_or((object, ""));
            if !name.is_empty() {
                is_program.insert(id, name == program || name == UNKNOWN);
            }
            if own.is_some() {
                counts = is_program.get(id).copied().unwrap_or_default();
            }
            return None;
        }
        let (position, _) = line.split_once(' ')?;
        last = match position.split_at_checked(1)? {
            ("+", offset) => last.wrapping_add(offset.parse().ok()?),
            ("-", offset) => last.wrapping_sub(offset.parse().ok()?),
            ("*", "") => last,
            _ => u64::from_str_radix(position.strip_prefix("0x")?, 16).ok()?,
        };
        counts.then_some(last)
    })
}

/// Functions by the commands that execute them, `0` for those that none executes.
type Sizes = BTreeMap<Uses, Size>;

/// The size of several functions.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    functions: u64,
    bytes: u64,
}

/// The bytes for which one more pattern is worth its time: the linker of LLVM compares each pattern with each
/// function, which takes half a millisecond.
const BYTES_OF_PATTERN: u64 = 512;

/// The bytes that a command maps around an executed function outside of the place of that command: the system maps
/// 64 KiB, in which there may be other such functions.
const BYTES_AROUND_STRAY: u64 = 2048;

/// The best place of functions with one pattern, and what a command maps more for each of them than it executes,
/// for all commands together. The place is `0` if no pattern is worth its time.
fn place(sizes: &Sizes) -> (u64, Uses) {
    let bits = (0..=COMMANDS.len()).map(|bit| 1 << bit);
    let of_bit = |bit: Uses| {
        let executed = sum(sizes.iter().filter(|it| it.0 & bit != 0).map(|it| it.1));
        let others = sum(sizes.values()).bytes - executed.bytes;
        (bit, executed.bytes + executed.functions * BYTES_AROUND_STRAY, others)
    };
    let bits: Vec<(Uses, u64, u64)> = bits.map(of_bit).collect();
    let uses = bits.iter().filter(|it| it.1 > it.2).fold(0, |uses, it| uses | it.0);
    let cost = BYTES_OF_PATTERN + bits.iter().map(|it| it.1.min(it.2)).sum::<u64>();
    let stray = bits.iter().map(|it| it.1).sum();
    if cost < stray { (cost, uses) } else { (stray, 0) }
}

fn sum<'s>(sizes: impl Iterator<Item = &'s Size>) -> Size {
    sizes.fold(Size::default(), |sum, it| Size {
        functions: sum.functions + it.functions,
        bytes: sum.bytes + it.bytes,
    })
}

fn add_function(sizes: &mut Sizes, bytes: u64, uses: Uses) {
    let size = sizes.entry(uses).or_default();
    size.functions += 1;
    size.bytes += bytes;
}

/// The functions below a path, as `6engine` in `_ZN6engine4walk`.
#[derive(Default)]
struct Module<'s> {
    children: BTreeMap<&'s str, Module<'s>>,
    all: Sizes,
    /// The functions with exactly this path.
    own: Sizes,
}

impl<'s> Module<'s> {
    fn add(&mut self, path: &[&'s str], size: u64, uses: Uses) {
        add_function(&mut self.all, size, uses);
        match path.split_first() {
            Some((first, rest)) => self.children.entry(first).or_default().add(rest, size, uses),
            None => add_function(&mut self.own, size, uses),
        }
    }

    /// The patterns that cost least, and what they cost as in [`place`]: one for the module, or those of its parts.
    fn patterns(&self, path: &str) -> (u64, Patterns) {
        let mut patterns = Patterns::new();
        let mut parts = 0;
        for (name, module) in &self.children {
            let (cost, inner) = module.patterns(&format!("{path}{name}"));
            parts += cost;
            for (uses, inner) in inner {
                patterns.entry(uses).or_default().extend(inner);
            }
        }
        let (own, uses) = place(&self.own);
        add_pattern(&mut patterns, uses, format!("{path}17h*"));
        let (whole, uses) = place(&self.all);
        if self.children.is_empty() || parts + own <= whole {
            return (parts + own, patterns);
        }
        let mut patterns = Patterns::new();
        add_pattern(&mut patterns, uses, format!("{path}*"));
        (whole, patterns)
    }
}

fn add_pattern(patterns: &mut Patterns, uses: Uses, pattern: String) {
    if uses != 0 {
        patterns.entry(uses).or_default().insert(pattern);
    }
}

/// The patterns by the uses of their functions.
type Patterns = BTreeMap<Uses, BTreeSet<String>>;

/// The functions of the object files of one crate.
#[derive(Default)]
struct Crate<'s> {
    /// The paths, below what precedes them in the names of sections.
    modules: BTreeMap<&'static str, Module<'s>>,
    /// The functions whose names have another form, by their patterns.
    others: BTreeMap<String, Sizes>,
}

impl<'s> Crate<'s> {
    fn add(&mut self, section: &'s Section, uses: Uses) {
        let (prefix, name) = match section.name.strip_prefix("unlikely.") {
            Some(name) => (".text.unlikely.", name),
            None => (".text.", section.name.as_str()),
        };
        match path(name) {
            Some(path) => {
                self.modules.entry(prefix).or_default().add(&path, section.size, uses);
            }
            None => {
                let pattern = format!("{prefix}{}", without_crate_hashes(name));
                let sizes = self.others.entry(pattern).or_default();
                add_function(sizes, section.size, uses);
            }
        }
    }

    fn patterns(&self) -> Patterns {
        let mut patterns = Patterns::new();
        for (pattern, sizes) in &self.others {
            add_pattern(&mut patterns, place(sizes).1, pattern.clone());
        }
        for (prefix, module) in &self.modules {
            for (uses, inner) in module.patterns(&format!("{prefix}_ZN")).1 {
                patterns.entry(uses).or_default().extend(inner);
            }
        }
        patterns
    }
}

/// The parts of a name such as `_ZN4addr5parse17h0123456789abcdefE`, each with its length, and without the hash.
/// `None` if it has another form.
fn path(name: &str) -> Option<Vec<&str>> {
    let mut rest = name.strip_prefix("_ZN")?;
    let mut parts = Vec::new();
    while let Some(digits) = rest.find(|it: char| !it.is_ascii_digit()).filter(|it| *it > 0) {
        let length: usize = rest[..digits].parse().ok()?;
        let (part, after) = rest.split_at_checked(digits.checked_add(length)?)?;
        parts.push(part);
        rest = after;
    }
    parts.pop().filter(|it| it.starts_with("17h"))?;
    Some(parts)
}

/// Replaces the hashes of crates in a name with the newer form, such as `Cs1a2b_` in `_RNvCs1a2b_4core3abs`.
fn without_crate_hashes(name: &str) -> String {
    if !name.starts_with("_R") {
        return name.to_owned();
    }
    let mut parts = name.split("Cs");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut text, part| {
        match part.split_once('_') {
            Some((hash, rest)) if hash.bytes().all(|it| it.is_ascii_alphanumeric()) => {
                text.push_str("Cs*_");
                text.push_str(rest);
            }
            _ => {
                text.push_str("Cs");
                text.push_str(part);
            }
        }
        text
    })
}

/// The linker script for these sections. What most commands use comes first.
fn script(sections: &[Section], uses: &[Uses]) -> String {
    let mut crates: BTreeMap<&str, Crate<'_>> = BTreeMap::new();
    for (section, uses) in sections.iter().zip(uses) {
        crates.entry(&section.files).or_default().add(section, *uses);
    }
    let mut places: BTreeMap<(u32, Uses), BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for (files, functions) in crates {
        for (uses, patterns) in functions.patterns() {
            let place = places.entry((uses.count_zeros(), uses)).or_default();
            place.insert(files, patterns);
        }
    }
    let mut text =
        "/* Written by `cargo xtask function-order`: the functions that commands run. */\n\
                    SECTIONS\n{\n  .text.executed :\n  {\n"
            .to_owned();
    for ((_, uses), crates) in places {
        let _ = writeln!(text, "    /* {} */", commands(uses).join(", "));
        for (files, patterns) in crates {
            let _ = writeln!(text, "    {files}(");
            for pattern in patterns {
                let _ = writeln!(text, "      {pattern}");
            }
            text.push_str("    )\n");
        }
    }
    text + "  }\n}\nINSERT BEFORE .text;\n"
}

fn commands(uses: Uses) -> Vec<&'static str> {
    let names = COMMANDS.iter().chain(&["others"]).enumerate();
    names.filter(|(bit, _)| uses >> bit & 1 == 1).map(|(_, name)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map with functions in crates and in the executable, and lines that are no functions.
    fn map() -> String {
        let addr = "/t/libaddr-0123456789abcdef.rlib(a-1.addr.2-cgu.0.rcgu.o)";
        let ring = "/t/libring-fedcba9876543210.rlib(c-1.o)";
        let own = "/t/mayfly-fedcba9876543210.mayfly.1-cgu.0.rcgu.o";
        let hash = "17h0123456789abcdefE";
        let functions = [
            (0x10000, 0x2000, addr, format!("_ZN4addr5parse{hash}")),
            (0x12000, 0x1000, addr, format!("_ZN4addr4text4read{hash}")),
            (0x13000, 0x1000, addr, format!("_ZN4addr4text4show{hash}")),
            (0x14000, 0x20000, addr, format!("_ZN4addr4rest{hash}")),
            (0x34000, 0x1000, ring, "ring_core".to_owned()),
            (0x35000, 0x1000, own, "unlikely._RNvXCs1a2b_4coreCs3c_5alloc4fail".to_owned()),
            (0x36000, 0x100, ring, "ring_several".to_owned()),
            (0x36100, 0x2000, ring, "ring_several".to_owned()),
        ];
        let mut map = "  VMA  LMA  Size Align Out     In      Symbol\n\
                       cfcd40 cfcd40 20c6450 64 .text\n\
                       cfcd40 cfcd40 31 16         /usr/lib/crt1.o:(.text)\n"
            .to_owned();
        for (address, size, file, name) in functions {
            let _ = writeln!(map, "{address:x} {address:x} {size:x} 1    {file}:(.text.{name})");
            let _ = writeln!(map, "{address:x} {address:x} {size:x} 1            a::symbol");
        }
        map
    }

    /// Runs [`script`] for functions at these addresses with these uses.
    fn check(executed: &[(u64, Uses)], expected: &[&str]) {
        let sections = sections(&map());
        let uses = |section: &Section| {
            executed.iter().find(|it| it.0 == section.address).map_or(0, |it| it.1)
        };
        let text = script(&sections, &sections.iter().map(uses).collect::<Vec<_>>());
        let begin = text.find(".text.executed :\n  {\n").expect("a section") + 21;
        let inner = &text[begin..text.find("  }\n").expect("an end")];
        let lines: Vec<&str> = inner.lines().map(str::trim).collect();
        assert_eq!(lines, expected, "{text}");
    }

    /// The beginning of names that a pattern for a crate in the script has.
    fn pattern_of(files: &str) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SCRIPT);
        let text = fs::read_to_string(script).expect("is readable");
        let lines = text.lines().map(str::trim).skip_while(|it| *it != format!("{files}("));
        let mut patterns = lines.skip(1).take_while(|it| *it != ")");
        let pattern = patterns.find(|it| it.starts_with(".text._ZN")).expect("a pattern");
        pattern.trim_end_matches("17h*").trim_end_matches('*').to_owned()
    }

    /// Tests build no release, so nothing else in them reads the script.
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    #[test]
    fn linker_places_executed_functions_before_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let section = pattern_of("*/libaddr-*.rlib:*") + "17h0123456789abcdefE";
        let library = format!(
            "int first(void) {{ return 1; }}\n__attribute__((section(\"{section}\"))) int last(void) {{ return 2; }}\n"
        );
        let program = "int first(void); int last(void); \
                       int main(void) { return (char *)last < (char *)first ? 7 : 8; }";
        fs::write(folder.path().join("library.c"), library).expect("is written");
        fs::write(folder.path().join("program.c"), program).expect("is written");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(SCRIPT);
        let script = format!("-T{}", script.canonicalize().expect("exists").display());
        let run = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).current_dir(folder.path()).output();
            let output = output.expect("starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run("cc", &["-c", "-ffunction-sections", "library.c"]);
        run("ar", &["rc", "./libaddr-0123456789abcdef.rlib", "library.o"]);
        let archive = "./libaddr-0123456789abcdef.rlib";
        for (flags, expected) in [(&[script.as_str()][..], 7), (&[], 8)] {
            run("cc", &[&["-no-pie", "program.c", archive, "-o", "program"][..], flags].concat());
            let status = Command::new(folder.path().join("program")).status().expect("starts");
            assert_eq!(status.code(), Some(expected), "{flags:?}");
        }
    }

    #[test]
    fn executed_functions_become_patterns_without_hashes() {
        check(&[], &[]);
        let version = "/* version */";
        let addr = "*/libaddr-*.rlib:*(";
        check(&[(0x10000, 1)], &[version, addr, ".text._ZN4addr5parse17h*", ")"]);
        check(&[(0x34000, 1)], &[version, "*/libring-*.rlib:*(", ".text.ring_core", ")"]);
        let own = ".text.unlikely._RNvXCs*_4coreCs*_5alloc4fail";
        check(&[(0x35000, 1)], &[version, "*/mayfly-*.rcgu.o(", own, ")"]);
    }

    #[test]
    fn function_among_large_ones_of_its_name_has_no_pattern() {
        check(&[(0x36000, 1)], &[]);
        let ring = "*/libring-*.rlib:*(";
        check(&[(0x36100, 1)], &["/* version */", ring, ".text.ring_several", ")"]);
    }

    #[test]
    fn module_of_which_most_is_used_equally_has_one_pattern() {
        let addr = "*/libaddr-*.rlib:*(";
        let text = ".text._ZN4addr4text*";
        check(&[(0x12000, 8), (0x13000, 8)], &["/* plan */", addr, text, ")"]);
        let read = ".text._ZN4addr4text4read17h*";
        check(&[(0x12000, 8)], &["/* plan */", addr, read, ")"]);
        check(
            &[(0x10000, 8), (0x12000, 8), (0x13000, 8), (0x14000, 8)],
            &["/* plan */", addr, ".text._ZN4addr*", ")"],
        );
    }

    #[test]
    fn functions_of_most_commands_precede_those_of_one() {
        let addr = "*/libaddr-*.rlib:*(";
        let (parse, rest) = (".text._ZN4addr5parse17h*", ".text._ZN4addr4rest17h*");
        let expected = ["/* plan, others */", addr, rest, ")", "/* version */", addr, parse, ")"];
        check(&[(0x10000, 1), (0x14000, 40)], &expected);
    }

    #[test]
    fn command_of_a_profile_is_its_first_word() {
        assert_eq!(
            commands(command("version: 1\ncmd:  /a/mayfly -chdir=x plan -out y\n")),
            ["plan"]
        );
        assert_eq!(commands(command("cmd: /a/mayfly destroy")), ["apply"]);
        assert_eq!(commands(command("cmd: /a/mayfly state list")), ["others"]);
    }

    #[test]
    fn profile_has_absolute_and_relative_addresses_of_several_objects() {
        let profile = "ob=(1) /bin/mayfly\nfn=(1) a\n0x1000 1 5\n+16 * 1\ncob=(2) /lib/libc.so\n\
                       calls=1 0x9000 1\n* * 3\nob=(2)\n0x9000 1 1\nob=(3) ???\n-8 1 1\n";
        let found: Vec<u64> = addresses(profile, "/bin/mayfly").collect();
        assert_eq!(found, [0x1000, 0x1010, 0x1010, 0x8ff8]);
    }
}
