//! The `output` command.

use db::{Diagnostic, Summary};

use operations::{session::Failure, store};

use crate::{args::OutputArgs, exit::Exit, session::CommandSession};

/// Runs `output`: prints one or all output values of the root module from the state.
pub(crate) fn run(session: &CommandSession, args: &OutputArgs) -> Result<Exit, Failure> {
    let open = store::open_unlocked(session, args.state.as_deref())?;
    let state = &open.file.state;
    if args.raw && args.json.json {
        let detail = "The -raw and -json options are mutually exclusive. Choose one of them.";
        return Err(Diagnostic::new(Summary::OUTPUT_FORMAT, detail).into());
    }
    if args.raw && args.name.is_none() {
        let detail = "You must give the name of a single output value when using the -raw option.";
        return Err(Diagnostic::new(Summary::OUTPUT_NAME, detail).into());
    }
    let Some(name) = &args.name else {
        session.ui.document(&args.json, || render::outputs_json(state));
        if args.json.json {
            return Ok(Exit::Success);
        }
        if state.outputs.is_empty() {
            let detail = "The state file either has no outputs defined, or all the defined outputs \
                          are empty. Please define an output in your configuration with the \
                          `output` keyword and run `mayfly refresh` for it to become available. If \
                          you are using interpolation, please verify the interpolated value is not \
                          empty. You can use the `mayfly console` command to assist.";
            session.ui.diagnostics(
                &[Diagnostic::new(Summary::NO_OUTPUTS, detail)],
                &db::Sources::default(),
            );
        } else {
            session.ui.print(&render::outputs(state, args.show_sensitive));
        }
        return Ok(Exit::Success);
    };
    let Some(output) = state.outputs.get(name.as_str()) else {
        let detail = "The output variable requested could not be found in the state file. If you \
                      recently added this to your configuration, be sure to run `mayfly apply`, \
                      since the state won't be updated with new output variables until that command is run.";
        return Err(Diagnostic::new(Summary::no_such_output(format!("{name:?}")), detail).into());
    };
    session.ui.document(&args.json, || render::output_json(&output.value));
    if args.raw {
        let text = render::output_raw(&output.value)
            .map_err(|detail| Diagnostic::new(Summary::UNSUPPORTED_RAW, detail))?;
        session.ui.print(&text);
    } else if !args.json.json {
        session.ui.line(&render::value(&output.value.without_all_marks()));
    }
    Ok(Exit::Success)
}
