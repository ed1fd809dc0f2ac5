//! Inlay hints: the marks of values, values that are known only after apply, and the types of local values that
//! the text does not show.

use db::ByteRange;
use hir::{
    Expr, ExprId, ItemKind, NodeId,
    analysis::{Abstract, ExprValues, ItemValues, Tri, When, value::when::Condition},
    item::Body,
};
use values::Type;

use crate::{Document, ItemAt, Module, cursor::items_of, known};

/// A hint that the editor shows at a place; it is not part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayHint {
    /// The offset after which the hint is shown.
    pub offset: u32,
    /// The text of the hint.
    pub label: String,
    /// The kind of the hint.
    pub kind: InlayKind,
    /// The reason for the hint, in plain text.
    pub tooltip: Option<String>,
}

/// The kind of an inlay hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InlayKind {
    /// The type of the name before the hint.
    Type,
    /// The marks of the value before the hint.
    Mark,
    /// The value before the hint is unknown before the first apply.
    Unknown,
}

/// Returns the hints of a range of a file, in order.
pub fn inlay_hints(document: Document<'_>, range: ByteRange) -> Vec<InlayHint> {
    let mut values = ItemValues::new(document.db, document.workspace);
    let mut hints = Vec::new();
    for (block, start) in document.blocks_in(range) {
        for item in items_of(document.db, block) {
            let is_inside = |hint: &InlayHint| (range.start..=range.end).contains(&hint.offset);
            let sites = sites(item);
            if !sites.iter().any(|site| touches(item, *site, start, range)) {
                continue;
            }
            let exprs = values.exprs(document.directory, item.key);
            let module = document.module();
            let mut acc = Hints { module, item, start, values: exprs, out: Vec::new() };
            sites.into_iter().for_each(|site| acc.site(site));
            hints.extend(acc.out.into_iter().filter(is_inside));
        }
    }
    sorted::sort_by_key(&mut hints, |it| it.offset);
    hints
}

/// A place where a value is assigned.
#[derive(Clone, Copy)]
struct Site {
    value: ExprId,
    /// The name of a local value; the type hint follows it.
    name: Option<NodeId>,
}

/// The sites of an item.
fn sites(item: ItemAt<'_>) -> Vec<Site> {
    let plain = |value| Site { value, name: None };
    match &item.item.kind {
        ItemKind::Local(it) => vec![Site { value: it.value, name: Some(item.item.header) }],
        ItemKind::Output(it) => it.value.map(plain).into_iter().collect(),
        ItemKind::Resource(it) => {
            let mut sites = Vec::new();
            in_body(&it.body, &mut sites);
            it.provisioners.iter().for_each(|it| in_body(&it.body, &mut sites));
            sites
        }
        ItemKind::Provider(it) => {
            let mut sites = Vec::new();
            in_body(&it.body, &mut sites);
            sites
        }
        ItemKind::ModuleCall(it) => it.inputs.iter().map(|it| plain(it.value)).collect(),
        _ => Vec::new(),
    }
}

fn in_body(body: &Body, sites: &mut Vec<Site>) {
    sites.extend(body.attrs.iter().map(|it| Site { value: it.value, name: None }));
    for block in &body.blocks {
        if let Some(dynamic) = &block.dynamic {
            sites.push(Site { value: dynamic.for_each, name: None });
        }
        in_body(&block.body, sites);
    }
}

/// Returns true if a hint about a site can be inside a range.
fn touches(item: ItemAt<'_>, site: Site, start: u32, range: ByteRange) -> bool {
    let value = item.range(site.value);
    let name = site.name.and_then(|it| item.range(it));
    let places = value.into_iter().chain(name).map(|it| ByteRange::from(it).shifted(start));
    places.into_iter().any(|it| it.start <= range.end && range.start <= it.end)
}

/// Collects the hints of one item.
struct Hints<'db> {
    module: Module<'db>,
    item: ItemAt<'db>,
    /// The offset of the item's block in the file.
    start: u32,
    values: ExprValues,
    out: Vec<InlayHint>,
}

impl Hints<'_> {
    fn site(&mut self, site: Site) {
        if let Some(name) = site.name {
            self.ty(name, site.value);
        }
        self.marks(site.value);
        self.unknown(site.value);
    }

    /// Adds the type after the name of a local, unless the form of its value shows the type.
    fn ty(&mut self, name: NodeId, value: ExprId) {
        if is_obvious(&self.item.item.exprs[value]) {
            return;
        }
        let Some(ty) = self.values.expr(value).and_then(|it| short(&it.ty)) else { return };
        self.push(self.item.range(name), format!(": {ty}"), InlayKind::Type, None);
    }

    /// Adds the marks after a value; for an object or tuple constructor, after each element.
    fn marks(&mut self, id: ExprId) {
        match &self.item.item.exprs[id] {
            Expr::Object(items) => items.iter().for_each(|it| self.marks(it.value)),
            Expr::Tuple(items) => items.iter().for_each(|it| self.marks(*it)),
            _ => {
                let Some(value) = self.values.expr(id).cloned() else { return };
                let Some(label) = mark_label(&value) else { return };
                // The tooltip names only the end of the chain. The places of the whole chain, which hover shows,
                // would cost a search for each hint.
                let declared = value.origin.as_ref().and_then(|origin| origin.chain().last());
                let tooltip = declared.map(|link| link.message.to_string());
                self.push(self.item.range(id), label, InlayKind::Mark, tooltip);
            }
        }
    }

    /// Adds a hint after a value that is known only after apply; for an object or tuple constructor, after each
    /// element.
    fn unknown(&mut self, id: ExprId) {
        match &self.item.item.exprs[id] {
            Expr::Object(items) => items.iter().for_each(|it| self.unknown(it.value)),
            Expr::Tuple(items) => items.iter().for_each(|it| self.unknown(*it)),
            _ => {
                let is_constant = self.values.expr(id).is_none_or(|it| it.constant.is_some());
                if is_constant {
                    return;
                }
                let source = known::computed_attribute(self.module, self.item.item, id);
                let Some(attribute) = source else { return };
                let tooltip = format!(
                    "{attribute} is computed by its provider: its value is unknown until the \
                     object exists"
                );
                let label = "(known after apply)".to_owned();
                self.push(self.item.range(id), label, InlayKind::Unknown, Some(tooltip));
            }
        }
    }

    fn push(
        &mut self,
        range: Option<syntax::TextRange>,
        label: String,
        kind: InlayKind,
        tooltip: Option<String>,
    ) {
        let Some(range) = range else { return };
        let offset = ByteRange::from(range).shifted(self.start).end;
        self.out.push(InlayHint { offset, label, kind, tooltip });
    }
}

/// Returns true if the form of an expression shows its type.
fn is_obvious(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Missing
            | Expr::Literal(_)
            | Expr::Template(_)
            | Expr::TemplateJoin(_)
            | Expr::Object(_)
            | Expr::Tuple(_)
            | Expr::Unary { .. }
            | Expr::Binary { .. }
    )
}

/// A short form of a type. `None` if the type is dynamic.
fn short(ty: &Type) -> Option<String> {
    const LONG: usize = 40;
    let text = match ty {
        Type::Dynamic => return None,
        Type::Object(_) => "object({…})".to_owned(),
        Type::Tuple(_) => "tuple([…])".to_owned(),
        Type::List(element) => {
            format!("list({})", short(element).unwrap_or_else(|| "any".to_owned()))
        }
        Type::Set(element) => {
            format!("set({})", short(element).unwrap_or_else(|| "any".to_owned()))
        }
        Type::Map(element) => {
            format!("map({})", short(element).unwrap_or_else(|| "any".to_owned()))
        }
        ty => ty.to_string(),
    };
    Some(match ty.to_string() {
        whole if whole.chars().count() <= LONG => whole,
        _ => text,
    })
}

/// The marks of a value and of its parts, as a label. `None` if there are none.
fn mark_label(value: &Abstract) -> Option<String> {
    let marks = value.deep_marks();
    let word = |mark, word: &str| match mark {
        Tri::No => None,
        Tri::Maybe => Some(format!("maybe {word}")),
        Tri::Yes => Some(word.to_owned()),
    };
    let ephemeral = match value.ephemeral.somewhere() {
        When::Always => Some("ephemeral".to_owned()),
        When::If(condition) => under(&condition).or_else(|| word(marks.ephemeral, "ephemeral")),
        When::Never => word(marks.ephemeral, "ephemeral"),
    };
    let words = [ephemeral, word(marks.sensitive, "sensitive")];
    let words: Vec<String> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| format!("({})", words.join(", ")))
}

/// The conditional label, such as `ephemeral unless var.list is empty`. `None` if it is too long.
fn under(condition: &Condition) -> Option<String> {
    const LONG: usize = 40;
    let phrase = condition.phrase().filter(|it| it.chars().count() <= LONG)?;
    Some(format!("ephemeral {phrase}"))
}

#[cfg(test)]
mod tests {
    use db::ByteRange;
    use expect_test::{Expect, expect};

    use crate::fixture;

    /// Shows the text with each hint between « and ».
    #[track_caller]
    fn check_in(text: &str, range: ByteRange, expect: Expect) {
        let fixture = fixture::load(text);
        let hints = crate::inlay_hints(fixture.document(), range);
        let mut text = fixture.document().text();
        for hint in hints.iter().rev() {
            text.insert_str(hint.offset as usize, &format!("«{}»", hint.label));
        }
        expect.assert_eq(&text);
    }

    #[track_caller]
    fn check(text: &str, expect: Expect) {
        check_in(text, ByteRange { start: 0, end: u32::MAX }, expect);
    }

    #[test]
    fn inlay_hint_shows_known_after_apply() {
        check(
            "//- /main.tf\nresource \"test_thing\" \"r\" {\n  value = \"x\"\n}\nlocals {\n  id    \
             = test_thing.r.id\n  set   = test_thing.r.value\n  more  = { a = upper(local.id), b = \
             1 }\n  out   = module.m.out\n  whole = test_thing.r\n}\nresource \"test_thing\" \"s\" \
             {\n  value = \"${local.more.a}!\"\n}\n\
             module \"m\" {\n  source = \"./m\"\n}\n//- /m/main.tf\nresource \"test_thing\" \
             \"inner\" {}\noutput \"out\" {\n  value = test_thing.inner.id\n}\n",
            expect![[r#"
                resource "test_thing" "r" {
                  value = "x"
                }
                locals {
                  id«: string»    = test_thing.r.id«(known after apply)»
                  set«: string»   = test_thing.r.value
                  more  = { a = upper(local.id)«(known after apply)», b = 1 }
                  out«: string»   = module.m.out«(known after apply)»
                  whole«: object({…})» = test_thing.r«(sensitive)»
                }
                resource "test_thing" "s" {
                  value = "${local.more.a}!"«(known after apply)»
                }
                module "m" {
                  source = "./m"
                }
            "#]],
        );
    }

    const SECRETS: &str = r#"
variable "key" {
  type      = string
  ephemeral = true
}
variable "password" {
  type      = string
  sensitive = true
}
"#;

    #[test]
    fn inlay_hint_shows_the_condition_of_an_ephemeral_value() {
        check(
            "variable \"key\" {\n  ephemeral = true\n}\nvariable \"list\" {\n  type = \
             list(string)\n}\nlocals {\n  a = [for it in var.list : var.key]\n  b = \
             concat(var.list, [var.key])\n  c = [for it in var.list : it == \"a\" ? { x = var.key \
             } : { x = \"\" }]\n  d = [for it in var.list : it]\n}\n",
            expect![[r#"
                variable "key" {
                  ephemeral = true
                }
                variable "list" {
                  type = list(string)
                }
                locals {
                  a = [for it in var.list : var.key]«(ephemeral unless var.list is empty)»
                  b = concat(var.list, [var.key])«(ephemeral)»
                  c = [for it in var.list : it == "a" ? { x = var.key } : { x = "" }]«(maybe ephemeral)»
                  d = [for it in var.list : it]
                }
            "#]],
        );
    }

    #[test]
    fn inlay_hint_shows_types_of_locals() {
        check(
            "variable \"v\" {\n  type = map(object({ aaaaaaaaaaaaaaaaaa = string, \
             bbbbbbbbbbbbbbbbbbbbbb = number }))\n}\nlocals {\n  a = 1\n  b = local.a\n  c = \
             upper(\"x\")\n  d = { x = 1 }\n  e = local.d\n  f = var.v\n  g = var.v[\"x\"]\n  h = \
             [for it in [1] : it]\n  i = jsondecode(var.x)\n}\n",
            expect![[r#"
                variable "v" {
                  type = map(object({ aaaaaaaaaaaaaaaaaa = string, bbbbbbbbbbbbbbbbbbbbbb = number }))
                }
                locals {
                  a = 1
                  b«: number» = local.a
                  c«: string» = upper("x")
                  d = { x = 1 }
                  e«: object({ x = number })» = local.d
                  f«: map(object({…}))» = var.v
                  g«: object({…})» = var.v["x"]
                  h«: tuple([number])» = [for it in [1] : it]
                  i = jsondecode(var.x)
                }
            "#]],
        );
    }

    #[test]
    fn inlay_hints_show_marks() {
        check(
            &format!(
                "{SECRETS}locals {{\n  a = var.key\n  b = {{\n    x = 1\n    y = \
                 \"a-${{local.a}}\"\n    z = [var.password]\n  }}\n  c = local.b.x\n  d = \
                 local.b\n  e = true ? var.key : \"\"\n  f = can(var.key)\n}}\n"
            ),
            expect![[r#"

                variable "key" {
                  type      = string
                  ephemeral = true
                }
                variable "password" {
                  type      = string
                  sensitive = true
                }
                locals {
                  a«: string» = var.key«(ephemeral)»
                  b = {
                    x = 1
                    y = "a-${local.a}"«(ephemeral)»
                    z = [var.password«(sensitive)»]
                  }
                  c«: number» = local.b.x
                  d«: object({…})» = local.b«(ephemeral, sensitive)»
                  e«: string» = true ? var.key : ""«(ephemeral)»
                  f«: bool» = can(var.key)«(ephemeral)»
                }
            "#]],
        );
        check(
            &format!(
                "{SECRETS}resource \"test_thing\" \"a\" {{\n  name = var.password\n  value_wo = \
                 var.key\n  dynamic \"rule\" {{\n    for_each = [var.password]\n    content {{\n      \
                 port = rule.value\n    }}\n  }}\n}}\noutput \"o\" {{\n  value = test_thing.a.secret\n}}\n"
            ),
            expect![[r#"

                variable "key" {
                  type      = string
                  ephemeral = true
                }
                variable "password" {
                  type      = string
                  sensitive = true
                }
                resource "test_thing" "a" {
                  name = var.password«(sensitive)»
                  value_wo = var.key«(ephemeral)»
                  dynamic "rule" {
                    for_each = [var.password«(sensitive)»]
                    content {
                      port = rule.value«(sensitive)»
                    }
                  }
                }
                output "o" {
                  value = test_thing.a.secret«(sensitive)»«(known after apply)»
                }
            "#]],
        );
    }

    #[test]
    fn inlay_hints_cover_only_the_range() {
        let text = "locals {\n  a = upper(\"x\")\n  b = upper(\"x\")\n  c = upper(\"x\")\n}\n";
        let start = text.find("b =").expect("it is there") as u32;
        check_in(
            text,
            ByteRange { start, end: start + 3 },
            expect![[r#"
            locals {
              a = upper("x")
              b«: string» = upper("x")
              c = upper("x")
            }
        "#]],
        );
    }
}
