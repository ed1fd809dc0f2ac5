//! `mayfly/phrases`: a provider whose functions follow from its configuration, for the end-to-end tests.
//!
//! The schema has the function `shout`. Each key of `phrases` is another function, which joins the phrase and its
//! argument. An argument `bad …` is an error that quotes it, and `die …` ends the process with a panic that quotes it.
//! The provider writes everything that it is given to its log. An example target, so that no build of the product
//! contains it.

use std::{collections::BTreeMap, process::ExitCode};

use mayfly_sdk::{
    ConfigureCall, Definition, Diagnostic, Function, FunctionError, MaybeUnknown, Model, Str, Text,
    Types,
};

fn main() -> ExitCode {
    mayfly_sdk::main(Phrases)
}

struct Phrases;

/// The configuration.
#[derive(Model)]
struct Config {
    /// The phrases, by the names of the functions.
    phrases: MaybeUnknown<Option<BTreeMap<Str, MaybeUnknown<Option<Text>>>>>,
}

impl Definition for Phrases {
    type Config = Config;
    type Client = BTreeMap<Str, Text>;

    fn source(&self) -> &'static str {
        "registry.opentofu.org/mayfly/phrases"
    }

    async fn configure(
        &self,
        config: Config,
        _: &mut ConfigureCall,
    ) -> Result<Self::Client, Diagnostic> {
        let phrases = config.phrases.known().flatten().unwrap_or_default();
        let known = phrases.into_iter().filter_map(|(name, it)| Some((name, it.known()??)));
        let phrases = known.collect();
        log(&format!("the phrases are {phrases:?}"));
        Ok(phrases)
    }

    fn types(&self, types: &mut Types<Self::Client>) {
        let shout = |text: String| checked(text).map(|it| it.to_uppercase());
        types.function(Function::new("shout", shout).parameter("text", ""));
    }

    fn configured_functions(&self, client: &Self::Client) -> Vec<Function> {
        let function = |(name, phrase): (&Str, &Text)| {
            let phrase = phrase.clone();
            let joined = move |text: String| checked(text).map(|it| format!("{phrase}, {it}"));
            Function::new(name.clone(), joined).parameter("text", "")
        };
        client.iter().map(function).collect()
    }
}

#[expect(clippy::print_stderr, reason = "the standard error of a plugin is its log")]
fn log(text: &str) {
    eprintln!("{text}");
}

fn checked(text: String) -> Result<String, FunctionError> {
    log(&format!("the argument is {text}"));
    assert!(!text.starts_with("die"), "{text} is deadly");
    match text.starts_with("bad") {
        true => Err(FunctionError::argument(0, format!("{text} is no text"))),
        false => Ok(text),
    }
}
