//! The arguments of `login` and `logout`.

use clap::{ArgAction, Args};

use super::{
    json::JsonArgs,
    shared::{VarArgs, ViewArgs},
};

#[derive(Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// Accepted for compatibility with scripts, without effect.
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Ask for confirmation. A login needs it.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// The host, such as app.example.com.
    #[arg(value_name = "HOSTNAME")]
    pub(crate) host: String,
}

#[derive(Args)]
pub(crate) struct LogoutArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) json: JsonArgs,
    /// The host, such as app.example.com.
    #[arg(value_name = "HOSTNAME")]
    pub(crate) host: String,
}
