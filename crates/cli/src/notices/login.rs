//! The words of `login` and `logout`.

use operations::view::{LoginQuestion, LoginStep, Mechanism, TokenStore};

use crate::ui::Ui;

/// Shows a step: as text, which refers to the lines above it, or as a JSON message, which stands alone.
pub(super) fn show(ui: &Ui, step: &LoginStep<'_>) {
    match words(step) {
        Some((text, Some(message))) => ui.message(&render::success(&text, &ui.out), &message),
        Some((text, None)) if ui.prints_text() => ui.line(&text),
        _ => {}
    }
}

/// The text and the JSON message of a step. `None` for a message that only people need.
fn words(step: &LoginStep<'_>) -> Option<(String, Option<String>)> {
    let both = |text: String, message: String| Some((text, Some(message)));
    match step {
        LoginStep::Separator => Some((SEPARATOR.to_owned(), None)),
        LoginStep::Requesting { host, mechanism } => {
            let by = match mechanism {
                Mechanism::OAuth => "OAuth",
                Mechanism::Browser => "your browser",
            };
            let message = format!("Mayfly will request an API token for {host} using {by}");
            both(format!("{message}.\n"), message)
        }
        LoginStep::NeedsBrowser => both(NEEDS_BROWSER.to_owned(), message_of(NEEDS_BROWSER)),
        LoginStep::WillStore { store } => {
            let text =
                format!("If login is successful, Mayfly will store the token {}", place(*store));
            both(text.clone(), message_of(&text))
        }
        LoginStep::Stores { store } => {
            let text = format!("Mayfly will store the token {}", place(*store));
            both(text.clone(), message_of(&text))
        }
        LoginStep::OpeningLoginPage { host, url } => opening("login page", host, url),
        LoginStep::LoginPage { host, url } => page("login page", host, url),
        LoginStep::OpeningTokensPage { host, url } => opening("tokens page", host, url),
        LoginStep::TokensPage { host, url } => page("tokens page", host, url),
        LoginStep::Waiting => both(
            "Mayfly will now wait for the host to signal that login was successful.\n".to_owned(),
            "Waiting for the host to signal that login was successful".to_owned(),
        ),
        LoginStep::UsesPassword => both(USES_PASSWORD.to_owned(), message_of(USES_PASSWORD)),
        LoginStep::CreateToken => {
            let text = "Generate a token using your browser, and copy-paste it into this prompt.\n";
            both(text.to_owned(), message_of(text))
        }
        LoginStep::TokenOfUser { user } => {
            let message = format!("Retrieved token for user {user}");
            both(format!("\n{message}\n"), message)
        }
        LoginStep::LoggedIn { .. }
        | LoginStep::LoggedInToCloud
        | LoginStep::LoggedInToEnterprise { .. } => success(step),
        LoginStep::NothingStored { .. }
        | LoginStep::Removing { .. }
        | LoginStep::LoggedOut { .. } => logout(step),
    }
}

fn success(step: &LoginStep<'_>) -> Option<(String, Option<String>)> {
    let text = match step {
        LoginStep::LoggedInToCloud => "\nSuccess! Logged in to cloud backend\n".to_owned(),
        LoginStep::LoggedInToEnterprise { host } => {
            format!("Success! Logged in to the cloud backend ({host})\n")
        }
        LoginStep::LoggedIn { host } => format!(
            "Success! Mayfly has obtained and saved an API token.\n\nThe new API token will be used for any future \
             Mayfly command that must make\nauthenticated requests to {host}.\n"
        ),
        _ => return None,
    };
    let message = message_of(&text);
    Some((text, Some(message)))
}

fn logout(step: &LoginStep<'_>) -> Option<(String, Option<String>)> {
    let text = match step {
        LoginStep::NothingStored { host } => format!("No credentials for {host} are stored.\n"),
        LoginStep::Removing { host, store: TokenStore::Helper(name) } => format!(
            "Removing the stored credentials for {host} from the configured\n{name:?} credentials helper.\n"
        ),
        LoginStep::Removing { host, store: TokenStore::File(file) } => format!(
            "Removing the stored credentials for {host} from the following file:\n    {}\n",
            file.display()
        ),
        LoginStep::LoggedOut { host } => {
            format!("Success! Mayfly has removed the stored API token for {host}.\n")
        }
        _ => return None,
    };
    let message = message_of(&text);
    Some((text, Some(message)))
}

fn place(store: TokenStore<'_>) -> String {
    match store {
        TokenStore::Helper(name) => {
            format!(
                "in the configured\n{name:?} credentials helper for use by subsequent commands.\n"
            )
        }
        TokenStore::File(file) => format!(
            "in plain text in\nthe following file for use by subsequent commands:\n    {}\n",
            file.display()
        ),
    }
}

fn opening(
    what: &str,
    host: &dyn std::fmt::Display,
    url: &str,
) -> Option<(String, Option<String>)> {
    let text = format!(
        "Mayfly must now open a web browser to the {what} for {host}.\n\nIf a browser does not open this \
         automatically, open the following URL to proceed:\n    {url}\n"
    );
    let message = message_of(&text);
    Some((text, Some(message)))
}

fn page(what: &str, host: &dyn std::fmt::Display, url: &str) -> Option<(String, Option<String>)> {
    let text = format!("Open the following URL to access the {what} for {host}:\n    {url}\n");
    let message = message_of(&text);
    Some((text, Some(message)))
}

/// A text as a message: one line, without the stop at its end.
fn message_of(text: &str) -> String {
    let mut message = super::one_line(text);
    if message.ends_with('.') {
        message.pop();
    }
    message
}

/// The text before an answer.
pub(super) fn prompt(question: &LoginQuestion<'_>) -> String {
    const ENTER: &str = "  Enter a value: ";
    match question {
        LoginQuestion::Proceed => {
            format!("Do you want to proceed?\n  Only 'yes' will be accepted to confirm.\n\n{ENTER}")
        }
        LoginQuestion::User { host } => format!("Username for {host}:\n{ENTER}"),
        LoginQuestion::Password { host } => format!("Password for {host}:\n{ENTER}"),
        LoginQuestion::Token { host } => format!("Token for {host}:\n{ENTER}"),
    }
}

const SEPARATOR: &str =
    "\n---------------------------------------------------------------------------------\n";

const NEEDS_BROWSER: &str = "\
This will work only if you are able to use a web browser on this computer to
complete a login process. If not, you must obtain an API token by another
means and configure it in the CLI configuration manually.
";

const USES_PASSWORD: &str = "\
Mayfly must temporarily use your password to request an API token.
This password will NOT be saved locally.
";
