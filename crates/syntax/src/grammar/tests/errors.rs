//! Each of OpenTofu's syntax errors: its summary, its detail and, between the marks, its position. `⏎` is a
//! newline. A position that the detail names is given in bytes.
//!
//! One difference: a missing bracket after an index is reported where it is missing, while OpenTofu reports the
//! position at which it resumes.

use crate::parse_file;

/// Checks that the first error of the text without the marks is the given one.
#[track_caller]
fn check(marked: &str, summary: &str, detail: &str) {
    let marked = marked.replace('⏎', "\n");
    let start = marked.find('«').expect("the start is marked");
    let end = marked.find('»').expect("the end is marked") - '«'.len_utf8();
    let text = marked.replace(['«', '»'], "");
    let parse = parse_file(&text);
    let first = parse.errors().first().unwrap_or_else(|| panic!("{text:?} has no error"));
    let found = first.detail(|place| format!("{place:?}"));
    assert_eq!((&*first.summary, &*found), (summary, &*detail.replace('⏎', "\n")), "in {text:?}");
    assert_eq!(
        (usize::from(first.range.start()), usize::from(first.range.end())),
        (start, end),
        "in {text:?}"
    );
}

#[test]
fn first_syntax_errors_match_the_recorded_ones() {
    for (marked, summary, detail) in TABLE {
        check(marked, summary, detail);
    }
}

#[test]
fn unterminated_constructs_have_clear_errors() {
    check(
        "«/*» x",
        "Unterminated comment",
        "This comment begins with /* but has no */ before the end of the file.",
    );
    check(
        "a = 1 *«*» 2⏎",
        "Unsupported operator",
        "There is no operator \"**\". Use the function pow(base, exponent) instead.",
    );
    check(
        "a = «<»< EOT⏎x⏎EOT⏎",
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token. A heredoc \
         begins with \"<<\" and its marker, with nothing between them and nothing but a newline after the marker.",
    );
}

#[test]
fn unclosed_interpolation_is_reported_at_its_start() {
    const DETAIL: &str = "There is no closing brace or quote for the interpolation that begins \
                          here: the brace that ends it is on a later line, and no quote follows. \
                          Close both, as in \"${…}\".";
    check("locals {⏎ a = \"«${»x.y⏎}⏎", "Invalid multi-line string", DETAIL);
    check("a = \"${x} «${»y⏎}⏎b = 1⏎", "Invalid multi-line string", DETAIL);
    check(
        "locals {⏎ a = \"«${»x.y⏎ b = 1⏎}⏎",
        "Extra characters after interpolation expression",
        DETAIL,
    );
    check("a = \"«${»x⏎}z⏎b = 1⏎", "Invalid multi-line string", DETAIL);
}

#[test]
fn syntax_errors_are_reported_in_source_order() {
    check(
        "locals {⏎ a = 1 «b»⏎",
        "Missing newline after argument",
        "An argument definition must end with a newline.",
    );
    check(
        "locals {⏎«~}»⏎",
        "Argument or block definition required",
        "An argument or block definition is required here.",
    );
    check(
        "locals {«\"»a\" = 1}⏎",
        "Argument or block definition required",
        "An argument or block definition is required here.",
    );
}

const TABLE: &[(&str, &str, &str)] = &[
    (
        "locals «{»⏎",
        "Unclosed configuration block",
        "There is no closing brace for this block before the end of the file. This may be caused \
         by incorrect brace nesting elsewhere in this file.",
    ),
    (
        "locals {⏎ a = 1 «b» = 2⏎}⏎",
        "Missing newline after argument",
        "An argument definition must end with a newline.",
    ),
    (
        "locals {⏎ a = 1«,» b = 2⏎}⏎",
        "Unexpected comma after argument",
        "Argument definitions must be separated by newlines, not commas. An argument definition \
         must end with a newline.",
    ),
    (
        "locals {⏎ a = 1⏎}«}»⏎",
        "Missing newline after block definition",
        "A block definition must end with a newline.",
    ),
    (
        r#"locals {⏎ a = 1⏎} «variable» "x" {}⏎"#,
        "Missing newline after block definition",
        "A block definition must end with a newline.",
    ),
    (
        "«locals»⏎{⏎ a = 1⏎}⏎",
        "Argument or block definition required",
        r#"An argument or block definition is required here. To set an argument, use the equals sign "=" to introduce the argument value."#,
    ),
    (
        "locals {⏎ «a»⏎}⏎",
        "Argument or block definition required",
        r#"An argument or block definition is required here. To set an argument, use the equals sign "=" to introduce the argument value."#,
    ),
    (
        "locals {⏎ «a»: 1⏎}⏎",
        "Argument or block definition required",
        r#"An argument or block definition is required here. To set an argument, use the equals sign "=" to introduce the argument value."#,
    ),
    (
        "«1» = 1⏎",
        "Argument or block definition required",
        "An argument or block definition is required here.",
    ),
    (
        "«}»⏎",
        "Argument or block definition required",
        "An argument or block definition is required here.",
    ),
    (
        "«{»⏎",
        "Argument or block definition required",
        "An argument or block definition is required here.",
    ),
    (r#"«"»a" = 1⏎"#, "Invalid argument name", "Argument names must not be quoted."),
    (
        "locals {⏎ a = 1⏎ «a» = 2⏎}⏎",
        "Attribute redefined",
        r#"The argument "a" was already set at 10..11. Each argument may be set only once."#,
    ),
    (
        r#"variable "a"«⏎»{⏎}⏎"#,
        "Invalid block definition",
        r#"A block definition must have block content delimited by "{" and "}", starting on the same line as the block header."#,
    ),
    (
        r#"variable "a" «=» 1⏎"#,
        "Invalid block definition",
        r#"The equals sign "=" indicates an argument definition, and must not be used when defining a block."#,
    ),
    (
        "variable a«.»b {}⏎",
        "Invalid block definition",
        r#"Either a quoted string block label or an opening brace ("{") is expected here."#,
    ),
    (
        r#"variable "a«${»1}" {}⏎"#,
        "Invalid string literal",
        r#"Template sequences are not allowed in this string. To include a literal "$", double it (as "$$") to escape it."#,
    ),
    (
        r#"variable "a«»"#,
        "Unterminated string literal",
        "Unable to find the closing quote mark before the end of the file.",
    ),
    (
        r#"variable "a«⏎»"#,
        "Invalid multi-line string",
        r#"Quoted strings may not be split over multiple lines. To produce a multi-line string, either use the \n escape to represent a newline character or use the "heredoc" multi-line template syntax."#,
    ),
    (
        "locals { a = 1«⏎»}⏎",
        "Invalid single-argument block definition",
        "An argument definition on the same line as its containing block creates a single-line \
         block definition, which must also be closed on the same line. Place the block's closing \
         brace immediately after the argument definition.",
    ),
    (
        "locals { a = 1«,» b = 2 }⏎",
        "Invalid single-argument block definition",
        "Single-line block syntax can include only one argument definition. To define multiple \
         arguments, use the multi-line block syntax with one argument definition per line.",
    ),
    (
        "locals { a = 1 «b» = 2 }⏎",
        "Invalid single-argument block definition",
        "A single-line block definition must end with a closing brace immediately after its single \
         argument definition.",
    ),
    (
        "locals { a = 1 «~}»⏎",
        "Invalid single-argument block definition",
        "A single-line block definition must end with a closing brace immediately after its single \
         argument definition.",
    ),
    (
        r#"locals { «b "»x" {} }⏎"#,
        "Argument definition required",
        r#"A single-line block definition can contain only a single argument. If you meant to define argument "b", use an equals sign to assign it a value. To define a nested block, place it on a line of its own within its parent block."#,
    ),
    (
        r#"locals {⏎ a = "x«⏎»}⏎"#,
        "Invalid multi-line string",
        r#"Quoted strings may not be split over multiple lines. To produce a multi-line string, either use the \n escape to represent a newline character or use the "heredoc" multi-line template syntax."#,
    ),
    (
        r#"locals {⏎ a = "x«⏎⏎»  b⏎}⏎"#,
        "Invalid multi-line string",
        r#"Quoted strings may not be split over multiple lines. To produce a multi-line string, either use the \n escape to represent a newline character or use the "heredoc" multi-line template syntax."#,
    ),
    (
        "a = <<EOT⏎x⏎EOT«»",
        "Unterminated template string",
        "No closing marker was found for the string.",
    ),
    (
        r#"locals {⏎ a = "«x»${1"⏎}⏎"#,
        "Unclosed template interpolation sequence",
        "There is no closing brace for this interpolation sequence before the end of the quoted \
         template. This might be caused by incorrect nesting inside the given expression.",
    ),
    (
        r#"locals {⏎ a = "«x»${1"#,
        "Unclosed template interpolation sequence",
        "There is no closing brace for this interpolation sequence before the end of the file. \
         This might be caused by incorrect nesting inside the given expression.",
    ),
    (
        r#"locals {⏎ a = "x${1 «2»}"⏎}⏎"#,
        "Extra characters after interpolation expression",
        r#"Expected a closing brace to end the interpolation expression, but found extra characters.⏎⏎This can happen when you include interpolation syntax for another language, such as shell scripting, but forget to escape the interpolation start token. If this is an embedded sequence for another language, escape it by starting with "$${" instead of just "${"."#,
    ),
    (
        r#"locals {⏎ a = "x${1«:»2}"⏎}⏎"#,
        "Extra characters after interpolation expression",
        r#"Template interpolation doesn't expect a colon at this location. Did you intend this to be a literal sequence to be processed as part of another language? If so, you can escape it by starting with "$${" instead of just "${"."#,
    ),
    (
        "locals {⏎ a = 1 +«⏎»}⏎",
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token.",
    ),
    (
        "locals {⏎ a = [«,»]⏎}⏎",
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token.",
    ),
    (
        "locals {⏎ a = b[«]»⏎}⏎",
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token.",
    ),
    (
        "locals {⏎ a = {«,»}⏎}⏎",
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token.",
    ),
    (
        "locals {⏎ a = f(«,»)⏎}⏎",
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token.",
    ),
    (
        r#"locals {⏎ a = "${«}»"⏎}⏎"#,
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token.",
    ),
    (
        "a = «»",
        "Missing expression",
        "Expected the start of an expression, but there is nothing more: the text ends here, or another block begins.",
    ),
    (
        "locals {⏎ a = «»",
        "Missing expression",
        "Expected the start of an expression, but there is nothing more: the text ends here, or another block begins.",
    ),
    (
        "locals {⏎ a = (1 «2»)⏎}⏎",
        "Unbalanced parentheses",
        "Expected a closing parenthesis to terminate the expression.",
    ),
    (
        "locals {⏎ a = (1⏎«}»⏎",
        "Unbalanced parentheses",
        "Expected a closing parenthesis to terminate the expression.",
    ),
    (
        "locals {⏎ a = [1 «2»]⏎}⏎",
        "Missing item separator",
        "Expected a comma to mark the beginning of the next item.",
    ),
    (
        "locals {⏎ a = [1⏎«2»]⏎}⏎",
        "Missing item separator",
        "Expected a comma to mark the beginning of the next item.",
    ),
    (
        "locals {⏎ a = [1, 2⏎«}»⏎",
        "Missing item separator",
        "Expected a comma to mark the beginning of the next item.",
    ),
    (
        "locals {⏎ a = [1,⏎ b «=» 2⏎}⏎",
        "Missing item separator",
        "Expected a comma to mark the beginning of the next item.",
    ),
    (
        "locals {⏎ a = «[»1, 2",
        "Unterminated tuple constructor expression",
        "There is no corresponding closing bracket before the end of the file. This may be caused \
         by incorrect bracket nesting elsewhere in this file.",
    ),
    (
        "locals {⏎ a = «{»b = 1",
        "Unterminated object constructor expression",
        "There is no corresponding closing brace before the end of the file. This may be caused by \
         incorrect brace nesting elsewhere in this file.",
    ),
    (
        "locals {⏎ a = {b «1»}⏎}⏎",
        "Missing key/value separator",
        r#"Expected an equals sign ("=") to mark the beginning of the attribute value."#,
    ),
    (
        "locals {⏎ a = {b«}»⏎}⏎",
        "Missing key/value separator",
        r#"Expected an equals sign ("=") to mark the beginning of the attribute value."#,
    ),
    (
        "locals {⏎ a = {b «c» = 2}⏎}⏎",
        "Missing key/value separator",
        r#"Expected an equals sign ("=") to mark the beginning of the attribute value. If you intended to given an attribute name containing periods or spaces, write the name in quotes to create a string literal."#,
    ),
    (
        "locals {⏎ a = {b«⏎»}⏎}⏎",
        "Missing attribute value",
        r#"Expected an attribute value, introduced by an equals sign ("=")."#,
    ),
    (
        "locals {⏎ a = {b«,» c}⏎}⏎",
        "Missing attribute value",
        r#"Expected an attribute value, introduced by an equals sign ("=")."#,
    ),
    (
        "locals {⏎ a = {b = 1 «c» = 2}⏎}⏎",
        "Missing attribute separator",
        "Expected a newline or comma to mark the beginning of the next attribute.",
    ),
    (
        "locals {⏎ a = {b = 1⏎«,» c = 2}⏎}⏎",
        "Invalid expression",
        "Expected the start of an expression, but found an invalid expression token.",
    ),
    (
        "locals {⏎ a = f(1 «2»)⏎}⏎",
        "Missing argument separator",
        "A comma is required to separate each function argument from the next.",
    ),
    (
        "locals {⏎ a = «f(»1",
        "Unterminated function call",
        "There is no closing parenthesis for this function call before the end of the file. This \
         may be caused by incorrect parenthesis nesting elsewhere in this file.",
    ),
    (
        "locals {⏎ a = f(1«...», 2)⏎}⏎",
        "Missing closing parenthesis",
        "An expanded function argument (with ...) must be immediately followed by closing parentheses.",
    ),
    (
        "locals {⏎ a = f⏎«(»1)⏎}⏎",
        "Argument or block definition required",
        "An argument or block definition is required here.",
    ),
    (
        "locals {⏎ a = f.x«(»1)⏎}⏎",
        "Missing newline after argument",
        "An argument definition must end with a newline.",
    ),
    (
        "locals {⏎ a = true ? 1«⏎»}⏎",
        "Missing false expression in conditional",
        "The conditional operator (...?...:...) requires a false expression, delimited by a colon.",
    ),
    (
        "locals {⏎ a = b.«⏎»}⏎",
        "Invalid attribute name",
        "An attribute name is required after a dot.",
    ),
    (
        "locals {⏎ a = b.«0.1»⏎}⏎",
        "Invalid legacy index syntax",
        "When using the legacy index syntax, chaining two indexes together is not permitted. Use \
         the proper index syntax instead, like [0][1].",
    ),
    (
        "locals {⏎ a = b.«0.e2»⏎}⏎",
        "Invalid legacy index syntax",
        "When using the legacy index syntax, chaining two indexes together is not permitted. Use \
         the proper index syntax instead, like [0][e2].",
    ),
    (
        "locals {⏎ a = b[0 «1»]⏎}⏎",
        "Missing close bracket on index",
        r#"The index operator must end with a closing bracket ("]")."#,
    ),
    (
        "locals {⏎ a = b[*«⏎»}⏎",
        "Missing close bracket on splat index",
        r#"The star for a full splat operator must be immediately followed by a closing bracket ("]")."#,
    ),
    (
        "locals {⏎ a = b.*.c.«*».d⏎}⏎",
        "Nested splat expression not allowed",
        "A splat expression (*) cannot be used inside another attribute-only splat expression.",
    ),
    (
        "locals {⏎ a = foo::bar«⏎»}⏎",
        "Missing open parenthesis",
        "Function selector must be followed by an open parenthesis to begin the function call.",
    ),
    (
        "locals {⏎ a = foo::«(»1)⏎}⏎",
        "Missing function name",
        "Function scope resolution symbol :: must be followed by a function name in this scope.",
    ),
    (
        "locals {⏎ a = «1.2.3»⏎}⏎",
        "Invalid number literal",
        "Failed to recognize the value of this number literal.",
    ),
    (
        "locals {⏎ a = «1...5»⏎}⏎",
        "Invalid number literal",
        "Failed to recognize the value of this number literal.",
    ),
    (
        "locals {⏎ a = 1 «&» 2⏎}⏎",
        "Unsupported operator",
        r#"Bitwise operators are not supported. Did you mean boolean AND ("&&")?"#,
    ),
    (
        "locals {⏎ a = 1 «|» 2⏎}⏎",
        "Unsupported operator",
        r#"Bitwise operators are not supported. Did you mean boolean OR ("||")?"#,
    ),
    ("locals {⏎ a = 1 «^» 2⏎}⏎", "Unsupported operator", "Bitwise operators are not supported."),
    (
        "locals {⏎ a = «~»1⏎}⏎",
        "Unsupported operator",
        r#"Bitwise operators are not supported. Did you mean boolean NOT ("!")?"#,
    ),
    (
        "locals {⏎ a = «'»x'⏎}⏎",
        "Invalid character",
        r#"Single quotes are not valid. Use double quotes (") to enclose strings."#,
    ),
    (
        "locals {⏎ a = «`»x`⏎}⏎",
        "Invalid character",
        r#"The "`" character is not valid. To create a multi-line string, use the "heredoc" syntax, like "<<EOT"."#,
    ),
    (
        "locals {⏎ a = 1«;»⏎}⏎",
        "Invalid character",
        r#"The ";" character is not valid. Use newlines to separate arguments and blocks, and commas to separate items in collection values."#,
    ),
    (
        "locals {⏎ a = «“»x”⏎}⏎",
        "Invalid character",
        r#""Curly quotes" are not valid here. These can sometimes be inadvertently introduced when sharing code via documents or discussion forums. It might help to replace the character with a "straight quote"."#,
    ),
    (
        "locals {⏎ a = «@»@@⏎}⏎",
        "Invalid character",
        "This character is not used within the language.",
    ),
    (
        r#"locals {⏎ a = "«\q»"⏎}⏎"#,
        "Invalid escape sequence",
        r#"The symbol "q" is not a valid escape sequence selector."#,
    ),
    (
        r#"locals {⏎ a = "«\$»{x}"⏎}⏎"#,
        "Invalid escape sequence",
        r#"The symbol "$" is not a valid escape sequence selector."#,
    ),
    (
        r#"locals {⏎ a = "«\u12»"⏎}⏎"#,
        "Invalid escape sequence",
        r#"The \u escape sequence must be followed by four hexadecimal digits."#,
    ),
    (
        r#"locals {⏎ a = "«\U0001»"⏎}⏎"#,
        "Invalid escape sequence",
        r#"The \U escape sequence must be followed by eight hexadecimal digits."#,
    ),
    (
        r#"locals {⏎ a = "«\uD800»"⏎}⏎"#,
        "Invalid escape sequence",
        "Cannot encode character U+d800 in UTF-8.",
    ),
    (
        "locals {⏎ a = [for«]»⏎}⏎",
        "Invalid 'for' expression",
        "For expression requires variable name after 'for'.",
    ),
    (
        "locals {⏎ a = [for x«]»⏎}⏎",
        "Invalid 'for' expression",
        "For expression requires the 'in' keyword after its name declarations.",
    ),
    (
        "locals {⏎ a = [for x, «1» in y: x]⏎}⏎",
        "Invalid 'for' expression",
        "For expression requires value variable name after comma.",
    ),
    (
        "locals {⏎ a = [for x in y«]»⏎}⏎",
        "Invalid 'for' expression",
        "For expression requires a colon after the collection expression.",
    ),
    (
        "locals {⏎ a = [for x in y: x «z»]⏎}⏎",
        "Invalid 'for' expression",
        "Extra characters after the end of the 'for' expression.",
    ),
    (
        "locals {⏎ a = [for x in y: «x» => x]⏎}⏎",
        "Invalid 'for' expression",
        "Key expression is not valid when building a tuple.",
    ),
    (
        "locals {⏎ a = {for x in y: «x»}⏎}⏎",
        "Invalid 'for' expression",
        "Key expression is required when building an object.",
    ),
    (
        "locals {⏎ a = [for x in y: x«...»]⏎}⏎",
        "Invalid 'for' expression",
        "Grouping ellipsis (...) cannot be used when building a tuple.",
    ),
    (
        r#"locals {⏎ a = "%{if true}x«"»⏎}⏎"#,
        "Unexpected end of template",
        "The if directive at 15..25 is missing its corresponding endif directive.",
    ),
    (
        r#"locals {⏎ a = "«%{endif}»"⏎}⏎"#,
        "Unexpected endif directive",
        "The control directives within this template are unbalanced.",
    ),
    (
        r#"locals {⏎ a = "%{if true}x«%{endfor}»"⏎}⏎"#,
        "Unexpected endfor directive",
        "Expecting an endif directive for the if started at 15..25.",
    ),
    (
        r#"locals {⏎ a = "%{if true}x%{else}y«%{else}»z%{endif}"⏎}⏎"#,
        "Unexpected else directive",
        "Already in the else clause for the if started at 15..25.",
    ),
    (
        r#"locals {⏎ a = "%{for x in y}x«%{else}»y%{endfor}"⏎}⏎"#,
        "Unexpected else directive",
        "An else clause is not expected for a for directive.",
    ),
    (
        r#"locals {⏎ a = "%{for x in y}x«%{endif}»"⏎}⏎"#,
        "Unexpected endif directive",
        "Expecting an endfor directive corresponding to the for directive at 15..28.",
    ),
    (
        r#"locals {⏎ a = "%{«foo»}"⏎}⏎"#,
        "Invalid template control keyword",
        r#""foo" is not a valid template control keyword. Did you mean "for"?"#,
    ),
    (
        r#"locals {⏎ a = "%{«}»"⏎}⏎"#,
        "Invalid template directive",
        r#"A template directive keyword ("if", "for", etc) is expected at the beginning of a %{ sequence."#,
    ),
    (
        r#"locals {⏎ a = "%{if x «y»}"⏎}⏎"#,
        "Extra characters in if marker",
        "Expected a closing brace to end the sequence, but found extra characters.",
    ),
    (
        r#"locals {⏎ a = "%{for«}»"⏎}⏎"#,
        "Invalid 'for' directive",
        "For directive requires variable name after 'for'.",
    ),
    (
        r#"locals {⏎ a = "%{for x «y»}"⏎}⏎"#,
        "Invalid 'for' directive",
        "For directive requires 'in' keyword after names.",
    ),
];
