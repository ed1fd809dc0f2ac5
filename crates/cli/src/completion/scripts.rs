//! The scripts that make shells ask this program for candidates (`mayfly completion SHELL`).

use clap::ValueEnum;
use engine::quoted_for_shell;

/// A shell with completion.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// The script for a shell. `program` is the name or the path by which the shell runs this program.
pub(crate) fn script(shell: Shell, program: &str) -> String {
    let quoted = quoted_for_shell(program);
    match shell {
        Shell::Bash => bash_line(program),
        Shell::Zsh => ZSH.replace("PROGRAM", &quoted),
        Shell::Fish => FISH.replace("PROGRAM", &fish_quoted(program)),
    }
}

/// The line that registers the completion in bash.
pub(crate) fn bash_line(program: &str) -> String {
    // Bash evaluates the word as a command, so a path with blanks is quoted for that, and then as a word.
    let command = quoted_for_shell(program);
    let word = if command == program { command } else { quoted_for_shell(&command) };
    // Without candidates, bash completes paths.
    format!("complete -o default -C {word} mayfly\n")
}

fn fish_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

const ZSH: &str = r#"#compdef mayfly
_mayfly() {
    local -a candidates
    candidates=("${(@f)$(COMP_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" MAYFLY_SHELL=zsh PROGRAM)}")
    compadd -- "${(@)candidates:#}"
}
if [ "$funcstack[1]" = _mayfly ]; then
    _mayfly "$@"
else
    (( $+functions[compdef] )) || { autoload -U compinit && compinit }
    compdef _mayfly mayfly
fi
"#;

const FISH: &str = r#"function __complete_mayfly
    set -lx COMP_LINE (string join ' ' -- (commandline -opc) (commandline -ct))
    set -lx MAYFLY_SHELL fish
    PROGRAM
end
complete --no-files --command mayfly --arguments '(__complete_mayfly)'
"#;
