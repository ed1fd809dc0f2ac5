//! Reads bodies: takes the arguments and blocks that the language defines, and lowers the rest for a schema.

use db::Summary;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use smol_str::SmolStr;
use syntax::{
    AstNode, SyntaxKind, TextRange, TreeNode as _,
    flat::{
        FlatNode,
        ast::{self, BodyItem},
    },
};
use values::Str;

use crate::{
    expr::{Expr, ExprId},
    fix::Fix,
    item::{Attr, Block, Body, Condition, DependsOn, Dynamic, RefPlace},
    lower::{
        header::header_range,
        item_ctx::{ItemCtx, Top},
        json::problem::extraneous,
        literal, override_rules,
        problem::Problem,
    },
    suggest,
};

/// A body whose arguments and blocks are taken by name. The rest is an error, or belongs to a schema.
pub(super) struct BodyReader<'t> {
    attrs: SmallVec<[ast::Attribute<'t>; 6]>,
    blocks: SmallVec<[ast::Block<'t>; 3]>,
    /// The names taken so far, for suggestions.
    known_attrs: SmallVec<[&'static str; 6]>,
    known_blocks: SmallVec<[&'static str; 6]>,
    block: ast::Block<'t>,
    /// Set for blocks of override files, whose required arguments may be missing.
    is_partial: bool,
    /// Set if the body is merged with override files.
    is_merged: bool,
    /// The `lifecycle` blocks of override files, which are merged argument by argument.
    lifecycles: Vec<ast::Block<'t>>,
}

impl<'t> BodyReader<'t> {
    pub(super) fn new(block: &ast::Block<'t>) -> BodyReader<'t> {
        let mut reader = BodyReader {
            attrs: SmallVec::new(),
            blocks: SmallVec::new(),
            known_attrs: SmallVec::new(),
            known_blocks: SmallVec::new(),
            block: block.clone(),
            is_partial: false,
            is_merged: false,
            lifecycles: vec![],
        };
        for item in block.body().into_iter().flat_map(|body| body.items()) {
            match item {
                // The parser reports the second of two attributes with the same name.
                BodyItem::Attribute(attr) => {
                    if reader.position(attr.name_token().map(|it| it.text())).is_none() {
                        reader.attrs.push(attr);
                    }
                }
                BodyItem::Block(block) => reader.blocks.push(block),
            }
        }
        reader
    }

    /// The body of a top-level block, merged with its overrides.
    pub(super) fn of_item(ctx: &mut ItemCtx<'_>, top: &Top<'_, 't>) -> BodyReader<'t> {
        let mut reader = BodyReader { is_partial: ctx.is_override, ..BodyReader::new(top.block) };
        if ctx.is_override {
            override_rules::refuse(ctx, reader.peek("depends_on"), &reader.blocks);
        }
        for block in top.overriding {
            reader.override_by(BodyReader::new(block));
        }
        reader
    }

    /// Merges an overriding body: arguments replace each other by name, blocks by type. Parts that cannot be
    /// overridden stay as they are.
    fn override_by(&mut self, other: BodyReader<'t>) {
        self.is_merged = true;
        for attr in other.attrs {
            match attr.name().as_deref() {
                Some("depends_on") => continue,
                // OpenTofu also uses `count` if the merged block has both.
                Some("count") => {
                    if let Some(for_each) = self.position(Some("for_each")) {
                        self.attrs.remove(for_each);
                    }
                }
                _ => {}
            }
            match self.position(attr.name().as_deref()) {
                Some(index) => self.attrs[index] = attr,
                None => self.attrs.push(attr),
            }
        }
        let (lifecycles, blocks): (Vec<_>, Vec<_>) = other
            .blocks
            .into_iter()
            .partition(|it| it.block_type().as_deref() == Some("lifecycle"));
        self.lifecycles.extend(lifecycles);
        let blocks: Vec<ast::Block> =
            blocks.into_iter().filter(|it| override_rules::condition(it).is_none()).collect();
        let replaced: FxHashSet<SmolStr> = blocks.iter().filter_map(generated_type).collect();
        let is_kept = |it: &ast::Block| {
            generated_type(it).is_none_or(|kind| kind == "_" || !replaced.contains(&kind))
        };
        self.blocks.retain(|it| is_kept(it));
        self.blocks.extend(blocks);
    }

    /// Returns an argument without taking it.
    pub(super) fn peek(&self, name: &str) -> Option<&ast::Attribute<'t>> {
        self.position(Some(name)).map(|index| &self.attrs[index])
    }

    /// The blocks that are not taken yet.
    pub(super) fn peek_blocks(&self) -> &[ast::Block<'t>] {
        &self.blocks
    }

    /// Takes the `lifecycle` block, merged with its overrides.
    pub(super) fn lifecycle(
        &mut self,
        ctx: &mut ItemCtx<'_>,
        inside: &str,
    ) -> Option<BodyReader<'t>> {
        let own = self.single_block(ctx, "lifecycle", inside);
        let mut all = own.into_iter().chain(std::mem::take(&mut self.lifecycles));
        let first = all.next()?;
        refuse_labels(ctx, &first);
        let mut reader = BodyReader::new(&first);
        all.for_each(|it| reader.override_by(BodyReader::new(&it)));
        Some(reader)
    }

    fn position(&self, name: Option<&str>) -> Option<usize> {
        self.attrs.iter().position(|attr| attr.name_token().map(|it| it.text()) == name)
    }

    pub(super) fn attr(&mut self, name: &'static str) -> Option<ast::Attribute<'t>> {
        self.known_attrs.push(name);
        let index = self.position(Some(name))?;
        Some(self.attrs.remove(index))
    }

    pub(super) fn blocks(&mut self, kind: &'static str) -> Vec<ast::Block<'t>> {
        self.known_blocks.push(kind);
        let is_kind = |block: &ast::Block| block.type_token().is_some_and(|it| it.text() == kind);
        let mut taken = Vec::new();
        self.blocks.retain(|block| {
            let is_taken = is_kind(block);
            if is_taken {
                taken.push(block.clone());
            }
            !is_taken
        });
        taken
    }

    /// Takes a block that may occur once. Reports further ones.
    pub(super) fn single_block(
        &mut self,
        ctx: &mut ItemCtx<'_>,
        kind: &'static str,
        inside: &str,
    ) -> Option<ast::Block<'t>> {
        let mut blocks = self.blocks(kind).into_iter();
        let first = blocks.next();
        for extra in blocks {
            ctx.problem(Problem::new(
                Summary::duplicate_block(kind),
                header_range(&extra),
                format!(
                    "This {inside} already has a {kind} block. Only one is allowed; merge the two."
                ),
            ));
        }
        first
    }

    /// Takes a required argument. Reports a missing one at the block's header.
    pub(super) fn required(
        &mut self,
        ctx: &mut ItemCtx<'_>,
        name: &'static str,
    ) -> Option<ast::Attribute<'t>> {
        let attr = self.attr(name);
        if attr.is_none() && !self.is_partial {
            ctx.problem(missing_argument(header_range(&self.block), name));
        }
        attr
    }

    /// Reports all arguments and blocks that were not taken.
    pub(super) fn finish(self, ctx: &mut ItemCtx<'_>) {
        for attr in &self.attrs {
            let Some(name) = attr.name_token() else { continue };
            if ctx.is_json {
                let known = self.known_attrs.iter().chain(&self.known_blocks).copied();
                ctx.problem(extraneous(name.text_range(), name.text(), known));
                continue;
            }
            ctx.problem(unsupported_argument(
                name.text_range(),
                name.text(),
                &self.known_attrs,
                &self.known_blocks,
            ));
        }
        for block in &self.blocks {
            let Some(kind) = block.type_token() else { continue };
            ctx.problem(unsupported_block(
                kind.text_range(),
                kind.text(),
                &self.known_attrs,
                &self.known_blocks,
            ));
        }
    }

    /// Lowers the remaining arguments and blocks as a body for a schema.
    pub(super) fn rest(self, ctx: &mut ItemCtx<'_>) -> Body {
        let attrs = self.attrs.iter().filter_map(|attr| attribute(ctx, attr)).collect();
        let blocks = self.blocks.iter().filter_map(|block| schema_block(ctx, block)).collect();
        Body { attrs, blocks, is_json: ctx.is_json }
    }

    /// Moves the content of `_ {}` blocks into this body. Such a block escapes arguments whose names are
    /// meta-arguments.
    pub(super) fn absorb_escape(&mut self, ctx: &mut ItemCtx<'_>) {
        for (index, escape) in self.blocks("_").into_iter().enumerate() {
            if index > 0 && !self.is_merged {
                ctx.problem(Problem::new(
                    Summary::duplicate_block("escaping"),
                    header_range(&escape),
                    "The special block type \"_\" can be used to force particular arguments to be \
                     interpreted as specific to the provider. There can be only one such block.",
                ));
            }
            let inner = BodyReader::new(&escape);
            for attr in inner.attrs {
                match self.position(attr.name().as_deref()) {
                    Some(index) if self.is_merged => self.attrs[index] = attr,
                    Some(_) => ctx.problem(repeated(&attr)),
                    None => self.attrs.push(attr),
                }
            }
            self.blocks.extend(inner.blocks);
        }
    }

    /// Lowers the remaining arguments. Reports the remaining blocks.
    pub(super) fn rest_attrs(mut self, ctx: &mut ItemCtx<'_>) -> Box<[Attr]> {
        let attrs = std::mem::take(&mut self.attrs);
        self.finish(ctx);
        attrs.iter().filter_map(|attr| attribute(ctx, attr)).collect()
    }
}

/// The problem of an argument that is both inside of the escaping block and outside of it.
fn repeated(attr: &ast::Attribute) -> Problem {
    let name = attr.name().unwrap_or_default();
    let range = attr.name_token().map_or(attr.syntax().text_range(), |it| it.text_range());
    let detail =
        format!("The argument \"{name}\" was already set. Each argument may be set only once.");
    Problem::new(Summary::DUPLICATE_ARGUMENT, range, detail)
}

/// The type of a block. For a `dynamic` block, the type of the blocks that it generates.
fn generated_type(block: &ast::Block) -> Option<SmolStr> {
    match block.block_type()? {
        kind if kind == "dynamic" => block.label_texts().next(),
        kind => Some(kind),
    }
}

fn missing_argument(range: TextRange, name: &str) -> Problem {
    Problem::new(
        Summary::MISSING_ARGUMENT,
        range,
        format!("The argument \"{name}\" is required, but no definition was found."),
    )
    .fixed_by(Some(Fix::MissingArgument(name.into())))
}

fn unsupported_argument(range: TextRange, name: &str, attrs: &[&str], blocks: &[&str]) -> Problem {
    let mut detail = format!("An argument named \"{name}\" is not expected here.");
    let mut fix = None;
    if blocks.contains(&name) {
        detail.push_str(&format!(" Did you mean to define a block of type \"{name}\"?"));
        fix = Some(Fix::ArgumentIsBlock);
    } else if let Some(close) = suggest::closest(name, attrs.iter().copied()) {
        detail.push_str(&format!(" Did you mean \"{close}\"?"));
        fix = Fix::first(name, Some(close));
    }
    Problem::new(Summary::UNSUPPORTED_ARGUMENT, range, detail).fixed_by(fix)
}

fn unsupported_block(range: TextRange, kind: &str, attrs: &[&str], blocks: &[&str]) -> Problem {
    let mut detail = format!("Blocks of type \"{kind}\" are not expected here.");
    let mut fix = None;
    if attrs.contains(&kind) {
        detail.push_str(&format!(
            " Did you mean to define argument \"{kind}\"? If so, use the equals sign to assign it a value."
        ));
        fix = Some(Fix::BlockIsArgument);
    } else if let Some(close) = suggest::closest(kind, blocks.iter().copied()) {
        detail.push_str(&format!(" Did you mean \"{close}\"?"));
        fix = Fix::first(kind, Some(close));
    }
    Problem::new(Summary::UNSUPPORTED_BLOCK, range, detail).fixed_by(fix)
}

/// Lowers an attribute, `name = value`.
pub(super) fn attribute(ctx: &mut ItemCtx<'_>, attr: &ast::Attribute) -> Option<Attr> {
    let name = attr.name_token()?;
    let node = ctx.node(name.text_range());
    let value = ctx.expr_opt(attr.value(), attr.syntax().text_range());
    Some(Attr { name: name.text().into(), value, node })
}

/// Lowers the value of an attribute.
pub(super) fn value(ctx: &mut ItemCtx<'_>, attr: &ast::Attribute) -> ExprId {
    ctx.expr_opt(attr.value(), attr.syntax().text_range())
}

/// Lowers the body of a block for a schema.
pub(super) fn schema_body(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Body {
    BodyReader::new(block).rest(ctx)
}

/// Lowers a nested block for a schema. `dynamic` blocks are included.
pub(super) fn schema_block(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<Block> {
    let kind = block.type_token()?;
    if kind.text() == "dynamic" {
        return dynamic_block(ctx, block);
    }
    let node = ctx.node(header_range(block));
    let labels = labels(block);
    let body = schema_body(ctx, block);
    Some(Block { kind: kind.text().into(), labels, body, dynamic: None, node })
}

/// The labels of a block, with escapes decoded.
pub(super) fn labels(block: &ast::Block) -> Box<[Str]> {
    block.label_texts().map(Str::from).collect()
}

/// Lowers `dynamic "kind" { for_each, iterator, labels, content {} }`.
fn dynamic_block(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<Block> {
    let node = ctx.node(header_range(block));
    let mut reader = BodyReader::new(block);
    expect_labels(ctx, block, ["type"])?;
    let kind = labels(block).first()?.clone();
    let for_each = reader.required(ctx, "for_each").map(|attr| value(ctx, &attr));
    let labels = reader.attr("labels");
    let depth = ctx.depth();
    let iterator = iterator_name(ctx, reader.attr("iterator")).unwrap_or_else(|| kind.clone());
    let content = dynamic_content(ctx, &mut reader, block);
    reader.finish(ctx);
    let iterator = ctx.bind(iterator);
    let labels = dynamic_labels(ctx, labels);
    let body = content.map(|content| schema_body(ctx, &content));
    ctx.leave(depth);
    let dynamic = Some(Box::new(Dynamic { for_each: for_each?, iterator, labels }));
    Some(Block { kind, labels: Box::default(), body: body?, dynamic, node })
}

fn dynamic_labels(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Box<[ExprId]> {
    match attr.and_then(|attr| attr.value()) {
        Some(ast::Expr::Tuple(tuple)) => {
            tuple.elements().map(|element| ctx.expr(&element)).collect()
        }
        Some(other) => {
            ctx.problem(Problem::new(
                Summary::INVALID_DYNAMIC_LABELS,
                other.syntax().text_range(),
                "A static list expression is required.",
            ));
            // The number of labels is unknown, so lower the expression as a single one.
            [ctx.expr(&other)].into()
        }
        None => Box::default(),
    }
}

fn iterator_name(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Option<Str> {
    let value = attr?.value()?;
    let name = literal::keyword(&value);
    if name.is_none() {
        ctx.problem(Problem::new(
            Summary::INVALID_DYNAMIC_ITERATOR,
            value.syntax().text_range(),
            "Dynamic iterator must be a single variable name.",
        ));
    }
    name.map(Str::from)
}

fn dynamic_content<'t>(
    ctx: &mut ItemCtx<'_>,
    reader: &mut BodyReader<'t>,
    block: &ast::Block,
) -> Option<ast::Block<'t>> {
    let mut contents = reader.blocks("content").into_iter();
    let first = contents.next();
    if first.is_none() {
        ctx.problem(Problem::new(
            Summary::MISSING_DYNAMIC_CONTENT,
            header_range(block),
            "A dynamic block must have a nested block of type \"content\" to describe the body of \
             each generated block.",
        ));
    }
    for extra in contents {
        ctx.problem(Problem::new(
            Summary::EXTRANEOUS_DYNAMIC_CONTENT,
            header_range(&extra),
            "Only one nested \"content\" block is allowed for each dynamic block.",
        ));
    }
    first
}

/// Lowers `depends_on = [a.b, module.c]`.
pub(super) fn depends_on(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Box<[DependsOn]> {
    let Some(value) = attr.and_then(|attr| attr.value()) else { return Box::default() };
    let ast::Expr::Tuple(tuple) = &value else {
        ctx.problem(Problem::new(
            Summary::DEPENDS_ON_NO_REFERENCE,
            value.syntax().text_range(),
            "A static list expression is required: write the references between brackets, as in [a.b, module.c].",
        ));
        return Box::default();
    };
    tuple.elements().filter_map(|element| depends_on_entry(ctx, &element)).collect()
}

fn depends_on_entry(ctx: &mut ItemCtx<'_>, element: &ast::Expr) -> Option<DependsOn> {
    let range = element.syntax().text_range();
    let before = ctx.problems.len();
    let target =
        super::reference::unquoted(ctx, element, |_, element| super::reference::target(element));
    if target.is_none() {
        // Drop the warning about quotes: the reference itself is invalid.
        ctx.problems.truncate(before);
        ctx.problem(Problem::new(
            Summary::INVALID_DEPENDS_ON,
            range,
            "References in depends_on must be to a whole object (resource, module, etc), not to an \
             attribute of one and not to an expression.",
        ));
    }
    let target = target?;
    let node = ctx.node(range);
    // The expression gives the reference a location, so that diagnostics of cycles can show it.
    let expr = ctx.alloc(Expr::Missing, range);
    ctx.add_ref(crate::item::StaticRef {
        target: target.clone(),
        place: RefPlace::DependsOn,
        expr,
    });
    Some(DependsOn { target, node })
}

/// Lowers `condition` and `error_message` of a condition block.
pub(super) fn condition(ctx: &mut ItemCtx<'_>, block: &ast::Block) -> Option<Condition> {
    let node = ctx.node(header_range(block));
    refuse_labels(ctx, block);
    let mut reader = BodyReader::new(block);
    let condition = reader.required(ctx, "condition");
    let message = reader.required(ctx, "error_message");
    let result = ctx.in_place(RefPlace::Condition, |ctx| {
        let condition = condition.map(|attr| value(ctx, &attr));
        let error_message = message.map(|attr| value(ctx, &attr));
        Some(Condition { condition: condition?, error_message: error_message?, node })
    });
    reader.finish(ctx);
    if let Some(condition) = &result {
        refuse_constant(ctx, block, condition.condition);
    }
    result
}

/// Reports a condition without references, which checks nothing.
fn refuse_constant(ctx: &mut ItemCtx<'_>, block: &ast::Block, condition: ExprId) {
    let is_reference = |it: &Expr| matches!(it, Expr::Ref(_) | Expr::Missing);
    if ctx.any_inside(condition, is_reference) {
        return;
    }
    let kind = block.block_type().unwrap_or_default();
    ctx.problem(Problem::new(
        Summary::constant_condition(kind),
        ctx.range_of(condition),
        "The condition expression must refer to at least one object from elsewhere in the \
         configuration, or else its result would not be checking anything.",
    ));
}

/// The value of an argument that must be a literal `true` or `false`.
pub(super) fn literal_bool(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Option<bool> {
    let attr = attr?;
    let value = attr.value()?;
    let quoted = || match literal::literal_string(&value).as_deref() {
        Some("true") => Some(true),
        Some("false") => Some(false),
        _ => None,
    };
    let operator =
        matches!(value, ast::Expr::Paren(_) | ast::Expr::Unary(_) | ast::Expr::Binary(_));
    let result = quoted().or_else(|| {
        let is_candidate = operator || literal::literal_bool(&value).is_some();
        is_candidate.then(|| constant_bool(ctx, &value)).flatten()
    });
    if result.is_none() {
        let detail = format!(
            "Unsuitable value: \"{}\" must be true or false as written; it may not be computed.",
            attr.name().unwrap_or_default()
        );
        ctx.problem(not_literal(&value, detail));
    }
    result
}

/// Evaluates an expression of literals. `None` if it has references or calls, or if its value is not a bool. A string
/// in the JSON syntax is no expression here.
pub(super) fn constant_bool(ctx: &mut ItemCtx<'_>, value: &ast::Expr) -> Option<bool> {
    if let Some(literal) = literal::literal_bool(value) {
        return Some(literal);
    }
    if ctx.is_json || refers(value.syntax()) || calls(value.syntax()) {
        return None;
    }
    let id = ctx.expr(value);
    let found = crate::eval::constant(&ctx.exprs_so_far(), id);
    let is_fine = found.diagnostics.is_empty();
    found.value.as_bool().filter(|_| is_fine)
}

/// Returns true if an expression contains a reference.
fn refers(node: &FlatNode<'_>) -> bool {
    let mut nodes = node.elements().filter_map(syntax::NodeOrToken::into_node);
    node.kind() == SyntaxKind::REFERENCE || nodes.any(|it| refers(&it))
}

/// Returns true if an expression contains a function call.
fn calls(node: &FlatNode<'_>) -> bool {
    let mut nodes = node.elements().filter_map(syntax::NodeOrToken::into_node);
    node.kind() == SyntaxKind::CALL || nodes.any(|it| calls(&it))
}

/// The problem of an argument that must be a literal.
fn not_literal(value: &ast::Expr, detail: String) -> Problem {
    let range = value.syntax().text_range();
    let refers = refers(value.syntax());
    match refers {
        true => {
            let detail = format!("Variables may not be used here. {detail}");
            Problem::new(Summary::VARIABLES_NOT_ALLOWED, range, detail)
        }
        false => Problem::new(Summary::UNSUITABLE_VALUE_TYPE, range, detail),
    }
}

/// The value of an argument that must be a string without interpolations.
pub(super) fn literal_text(ctx: &mut ItemCtx<'_>, attr: Option<ast::Attribute>) -> Option<Str> {
    let attr = attr?;
    let value = attr.value()?;
    let result = literal::literal_string(&value).or_else(|| match &value {
        ast::Expr::Heredoc(it) => syntax::template::heredoc(it).as_literal(),
        // Numbers and bools convert to strings.
        ast::Expr::Literal(it) => match it.kind()? {
            ast::LiteralKind::Number(text) => Some(values::Number::parse(&text)?.to_string()),
            ast::LiteralKind::Bool(value) => Some(value.to_string()),
            _ => None,
        },
        _ => None,
    });
    if result.is_none() {
        let name = attr.name().unwrap_or_default();
        let detail =
            format!("Unsuitable value: \"{name}\" must be a string without interpolation.");
        ctx.problem(not_literal(&value, detail));
    }
    result.map(Str::from)
}

/// Returns the `N` labels of a block. Reports missing and extraneous labels in OpenTofu's words; missing ones give
/// `None`.
pub(super) fn expect_labels<'t, const N: usize>(
    ctx: &mut ItemCtx<'_>,
    block: &ast::Block<'t>,
    names: [&str; N],
) -> Option<[ast::Label<'t>; N]> {
    let kind = block.type_token()?.text();
    let mut written = block.labels();
    let labels: [Option<ast::Label>; N] = std::array::from_fn(|_| written.next());
    let given = labels.iter().flatten().count();
    if given < N {
        let (plural, list) = (if N == 1 { "" } else { "s" }, names.join(", "));
        ctx.problem(Problem::new(
            Summary::missing_label(names[given], kind),
            header_range(block),
            format!("All {kind} blocks must have {N} label{plural} ({list})."),
        ));
        return None;
    }
    if let Some(extra) = written.next() {
        let (plural, list) = (if N == 1 { "" } else { "s" }, names.join(", "));
        let detail = match N {
            0 => format!("No labels are expected for {kind} blocks."),
            _ => format!("Only {N} label{plural} ({list}) are expected for {kind} blocks."),
        };
        ctx.problem(Problem::new(
            Summary::extraneous_label(kind),
            extra.syntax().text_range(),
            detail,
        ));
    }
    Some(labels.map(|it| it.expect("they were counted")))
}

/// Reports labels of a block type that has none.
pub(super) fn refuse_labels(ctx: &mut ItemCtx<'_>, block: &ast::Block) {
    let _: Option<[ast::Label<'_>; 0]> = expect_labels(ctx, block, []);
}

/// The text of a label that must be an identifier. Reports labels that are not.
pub(super) fn name(
    ctx: &mut ItemCtx<'_>,
    label: &ast::Label,
    kind: impl std::fmt::Display,
) -> SmolStr {
    let text = label.text();
    if !addr::is_identifier(&text) {
        ctx.problem(Problem::new(
            Summary::invalid_name(kind),
            label.syntax().text_range(),
            "A name must start with a letter or underscore and may contain only letters, digits, \
             underscores, and dashes.",
        ));
    }
    text
}

/// The range of an argument's name.
pub(super) fn name_range(attr: &ast::Attribute) -> TextRange {
    attr.name_token().map_or(attr.syntax().text_range(), |name| name.text_range())
}
