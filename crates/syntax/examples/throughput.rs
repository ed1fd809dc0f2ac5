//! Measures how fast the crate lexes, splits and parses a generated configuration. Run it with `--release`.
//!
//! The first argument selects one measurement, the second is a file to read instead of the generated configuration;
//! `text` alone prints that configuration.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark looks at the clock and prints"
)]

use std::fmt::Write as _;
use std::time::Instant;

/// The allocator of the executable: allocation is half of the cost of building a tree, so the measurement must use
/// the same one.
#[global_allocator]
static ALLOCATOR: zeroizing_alloc::ZeroAlloc<mimalloc::MiMalloc> =
    zeroizing_alloc::ZeroAlloc(mimalloc::MiMalloc);

const ROUNDS: u32 = 40;

/// Returns about 1 MB of typical configuration: resources with expressions, templates, heredocs, `for` and
/// comments.
fn configuration() -> String {
    let mut out = String::new();
    let mut n = 0;
    while out.len() < 1_000_000 {
        n += 1;
        let _ = write!(
            out,
            r#"# Service {n} of the fleet.
resource "aws_instance" "web_{n}" {{
  count         = var.enabled ? {n} : 0
  ami           = data.aws_ami.ubuntu[count.index].id
  instance_type = "t3.${{var.size}}"
  subnet_ids    = [for s in local.subnets_{n} : s.id if s.public && !s.private]

  tags = merge(local.tags, {{
    Name        = "web-${{count.index}}-{n}"
    Environment = var.environment
    Cost        = 1.5 * var.factor + {n}
  }})

  user_data = <<-EOT
    #!/bin/sh
    echo "instance {n} of ${{var.name}}"
    %{{ for key, value in var.settings ~}}
    export ${{key}}=${{value}}
    %{{ endfor ~}}
  EOT

  lifecycle {{
    ignore_changes        = [tags["Name"], ami]
    create_before_destroy = true
  }}
}}

variable "size_{n}" {{
  type        = object({{ a = string, b = optional(list(number), [1, 2]) }})
  description = "The size of service {n}"
  default     = null
}}

output "id_{n}" {{
  value     = aws_instance.web_{n}[*].id
  sensitive = false
}}

"#
        );
    }
    out
}

/// Measures `run` and prints its best throughput, unless the command line names another measurement. `check`
/// inspects each result outside the measured time.
fn measure<T>(name: &str, bytes: usize, run: impl Fn() -> T, check: impl Fn(&T)) {
    if std::env::args().nth(1).is_some_and(|only| only != name) {
        return;
    }
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let result = run();
        best = best.min(start.elapsed().as_secs_f64());
        check(&result);
    }
    println!("{name:<24} {:>7.1} MB/s", bytes as f64 / 1e6 / best);
}

fn main() {
    if std::env::args().nth(1).is_some_and(|only| only == "text") {
        print!("{}", configuration());
        return;
    }
    let text = match std::env::args().nth(2) {
        Some(file) => std::fs::read_to_string(file).expect("the file can be read"),
        None => configuration(),
    };
    let size = text.len();
    let chunks = syntax::split(&text);
    measure("split", size, || syntax::split(&text), |found| assert_eq!(found.len(), chunks.len()));
    measure(
        "parse_file",
        size,
        || syntax::parse_file(&text),
        |parse| assert!(parse.errors().is_empty()),
    );
    let parse_chunks =
        || chunks.iter().map(|range| syntax::parse_chunk(&text[*range])).collect::<Vec<_>>();
    measure("parse_chunk, each", size, parse_chunks, |parses| {
        assert!(parses.iter().all(|parse| parse.errors().is_empty()))
    });
    let state = syntax::Chunks::of(&text);
    let mut edited = text.clone();
    let middle = (0..=size / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    edited.insert(middle, 'x');
    let start = Instant::now();
    let followed = state.after_edit(&text, &edited);
    println!("after_edit in the middle {:>7.2} ms", start.elapsed().as_secs_f64() * 1e3);
    assert_eq!(followed, syntax::Chunks::of(&edited));
}
