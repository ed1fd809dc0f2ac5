//! The texts of command lines: words as a shell splits them, and the flags that set variables.

use operations::variables::flag::VarFlag;

use crate::args;

/// The flags that set variables in a text such as that of `TF_CLI_ARGS`. `None` if a quote is not closed.
pub(crate) fn flags(text: &str) -> Option<Vec<VarFlag>> {
    Some(ordered_flags(&args::normalize(shell_words(text)?)))
}

/// The variable flags of a normalized command line, in their order. Clap keeps the order within each kind of flag,
/// but not across both.
pub(crate) fn ordered_flags(args: &[String]) -> Vec<VarFlag> {
    let mut flags = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let flag = match arg.split_once('=') {
            Some(("--var", value)) => Some(VarFlag::Value(value.to_owned())),
            Some(("--var-file", value)) => Some(VarFlag::File(value.into())),
            _ if arg == "--var" => args.next().map(|value| VarFlag::Value(value.clone())),
            _ if arg == "--var-file" => args.next().map(|value| VarFlag::File(value.into())),
            _ => None,
        };
        flags.extend(flag);
    }
    flags
}

/// Splits a text into words like a shell, with blanks, single and double quotes, and backslashes. `None` if a
/// quote is not closed.
pub(crate) fn shell_words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {

    use operations::child_environment::gives_secret;
    use sorted::TreeSet;

    use super::*;

    #[test]
    fn environment_arguments_are_split_like_shell_words() {
        assert_eq!(
            shell_words(r#"-var 'a=b c' -x="y z" q\ r ''"#),
            Some(["-var", "a=b c", "-x=y z", "q r", ""].map(str::to_owned).to_vec())
        );
        assert_eq!(shell_words("-var 'a=b"), None);
    }

    #[test]
    fn arguments_that_set_a_secret_are_withheld() {
        let secrets = TreeSet::from(["token".into()]);
        let given = |text: &str| gives_secret(flags(text).as_deref(), &secrets);
        for text in [
            "-var token=x",
            "-no-color --var=token=x",
            "-var 'token = x'",
            "-var region=x -var=\"token=x\"",
            "-var token",
            "-var 'token=x",
        ] {
            assert!(given(text), "{text}");
        }
        for text in ["", "-no-color", "-var region=token=x", "-var-file=token", "-var Token=x"] {
            assert!(!given(text), "{text}");
        }
        assert!(gives_secret(None, &secrets));
    }

    #[test]
    fn variable_flags_keep_their_order() {
        let args: Vec<String> = [
            "mayfly",
            "plan",
            "--var",
            "a=1",
            "--var-file=f",
            "--var=b=x=y",
            "--out",
            "--var-file",
        ]
        .map(str::to_owned)
        .into();
        let flags = ordered_flags(&args);
        assert!(
            flags
                == [
                    VarFlag::Value("a=1".into()),
                    VarFlag::File("f".into()),
                    VarFlag::Value("b=x=y".into())
                ]
        );
    }
}
