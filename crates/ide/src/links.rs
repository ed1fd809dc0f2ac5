//! Document links: module sources, documentation, and files that functions read.

use addr::{DEFAULT_HOST, ProviderSource, ResourceMode};
use db::{ByteRange, File};
use hir::{
    names::{provider_local_name, required_providers},
    workspace::{is_local_source, local_module_directory},
};
use syntax::{AstNode, SyntaxNode, ast};

use crate::{Cursor, Document, block_syntax, naming};

/// A link in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The range of the link, without quotes.
    pub range: ByteRange,
    /// The target of the link.
    pub target: LinkTarget,
}

/// The target of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkTarget {
    /// A file of the configuration.
    File(File),
    /// A file or directory that may not exist, in the form of the database's paths.
    Path(String),
    /// The address of a documentation page.
    Url(String),
}

/// The functions whose first argument is the path of a file.
const READING: &[&str] = &[
    "file",
    "filebase64",
    "filebase64sha256",
    "filebase64sha512",
    "filemd5",
    "filesha1",
    "filesha256",
    "filesha512",
    "fileexists",
    "templatefile",
];

/// Returns the links of a file, in order.
pub fn document_links(document: Document<'_>) -> Vec<Link> {
    let mut links = Vec::new();
    for tree in document.trees() {
        for node in tree.root.descendants() {
            links.extend(of_node(&tree, &node));
        }
    }
    links
}

fn of_node(tree: &Cursor<'_>, node: &SyntaxNode) -> Option<Link> {
    if let Some(call) = ast::Call::cast(node.clone()) {
        return of_call(tree, &call);
    }
    if let Some(attribute) = ast::Attribute::cast(node.clone()) {
        return of_module_source(tree, &attribute);
    }
    if let Some(item) = ast::ObjectItem::cast(node.clone()) {
        return of_provider_source(tree, &item);
    }
    of_type_label(tree, &ast::Label::cast(node.clone())?)
}

fn link(tree: &Cursor<'_>, text: &SyntaxNode, target: LinkTarget) -> Link {
    Link { range: tree.in_file(block_syntax::name_range(text)), target }
}

/// The link of a function call: `file("path")`, `file("${path.module}/path")`.
fn of_call(tree: &Cursor<'_>, call: &ast::Call) -> Option<Link> {
    let name = call.name()?;
    READING.contains(&name.strip_prefix("core::").unwrap_or(&name)).then_some(())?;
    let ast::Expr::QuotedTemplate(text) = call.args().next()? else { return None };
    let path = path_of(tree, &text)?;
    Some(link(tree, text.syntax(), LinkTarget::Path(path)))
}

/// The path that a string denotes, if its only interpolation is a leading `path.module` or `path.root`.
///
/// Other relative paths are relative to the working directory, which is usually the root module.
fn path_of(tree: &Cursor<'_>, text: &ast::QuotedTemplate) -> Option<String> {
    let parts = syntax::template::quoted(text).parts;
    let module = tree.document.directory.path(tree.document.db);
    let (base, rest) = match parts.as_slice() {
        [syntax::template::Part::Literal(path)] => ("", path.as_str()),
        [syntax::template::Part::Interpolation(first), syntax::template::Part::Literal(rest)] => {
            let base = match first.expr.as_ref()?.syntax().text().to_string().as_str() {
                "path.module" => module,
                "path.root" => ".",
                _ => return None,
            };
            (base, rest.strip_prefix('/')?)
        }
        _ => return None,
    };
    (!rest.is_empty()).then_some(())?;
    let path = std::path::Path::new(base).join(rest);
    Some(db::system::normalize(&path).to_string_lossy().into_owned())
}

/// The link of the `source` of a module call.
fn of_module_source(tree: &Cursor<'_>, attribute: &ast::Attribute) -> Option<Link> {
    (attribute.name()? == "source").then_some(())?;
    let block = ast::Block::cast(attribute.syntax().parent()?.parent()?)?;
    let document = tree.document;
    let is_call = document.is_test() || block_syntax::is_top_level(block.syntax());
    (is_call && block.block_type()? == "module").then_some(())?;
    let ast::Expr::QuotedTemplate(text) = attribute.value()? else { return None };
    let source = text.literal_text()?;
    let target = match is_local_source(&source) {
        true => {
            let called = match document.is_test() {
                true => document.directory_of(&source),
                false => naming::called(tree, &block),
            };
            let start = called.and_then(|it| document.module().with_directory(it).start());
            let directory =
                || local_module_directory(document.directory.path(document.db), &source);
            start.map_or_else(
                || LinkTarget::Path(directory().to_string()),
                |it| LinkTarget::File(it.name.file),
            )
        }
        false => LinkTarget::Url(module_documentation(&source)?),
    };
    Some(link(tree, text.syntax(), target))
}

/// The documentation page of a module of a registry, `[host/]namespace/name/system[//directory]`.
fn module_documentation(source: &str) -> Option<String> {
    let package = source.split_once("//").map_or(source, |(package, _)| package);
    let parts: Vec<&str> = package.split('/').collect();
    let (host, [namespace, name, system]) = match parts.as_slice() {
        [namespace, name, system] => (DEFAULT_HOST, [*namespace, *name, *system]),
        [host, namespace, name, system] => (*host, [*namespace, *name, *system]),
        _ => return None,
    };
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    [namespace, name, system].into_iter().all(is_part).then_some(())?;
    match host {
        DEFAULT_HOST => {
            Some(format!("https://search.opentofu.org/module/{namespace}/{name}/{system}/latest"))
        }
        "registry.terraform.io" => Some(format!(
            "https://registry.terraform.io/modules/{namespace}/{name}/{system}/latest"
        )),
        // The documentation pages of other registries are unknown.
        _ => None,
    }
}

/// The link of the `source` of an entry of `required_providers`.
fn of_provider_source(tree: &Cursor<'_>, item: &ast::ObjectItem) -> Option<Link> {
    (item.key()?.name_token()?.text() == "source").then_some(())?;
    let ast::Expr::QuotedTemplate(text) = item.value()? else { return None };
    let attribute = ast::Attribute::cast(item.syntax().parent()?.parent()?)?;
    let block = ast::Block::cast(attribute.syntax().parent()?.parent()?)?;
    (block.block_type()? == "required_providers").then_some(())?;
    let source = ProviderSource::parse(&text.literal_text()?).ok()?;
    Some(link(tree, text.syntax(), LinkTarget::Url(provider_documentation(&source)?)))
}

/// The documentation page of a provider. `None` if the registry is unknown.
fn provider_documentation(source: &ProviderSource) -> Option<String> {
    let ProviderSource { host, namespace, type_name } = source;
    match host.as_str() {
        DEFAULT_HOST => {
            Some(format!("https://search.opentofu.org/provider/{namespace}/{type_name}/latest"))
        }
        "registry.terraform.io" => {
            Some(format!("https://registry.terraform.io/providers/{namespace}/{type_name}/latest"))
        }
        _ => None,
    }
}

/// The link of the label of a `provider` block, or of the type label of a resource.
fn of_type_label(tree: &Cursor<'_>, label: &ast::Label) -> Option<Link> {
    let block = ast::Block::cast(label.syntax().parent()?)?;
    let is_first = block.labels().next()?.syntax() == label.syntax();
    (is_first && block_syntax::is_top_level(block.syntax())).then_some(())?;
    let module = tree.document.module();
    let required = required_providers(module.db, module.directory);
    let url = match block.block_type()?.as_str() {
        "provider" => provider_documentation(&required.source(&label.text()))?,
        "resource" | "data" | "ephemeral" => {
            let resource = tree.items().next()?.item.kind.as_resource()?;
            let source = required.source(provider_local_name(resource));
            type_documentation(&source, &resource.resource)?
        }
        _ => return None,
    };
    Some(link(tree, label.syntax(), LinkTarget::Url(url)))
}

fn type_documentation(source: &ProviderSource, resource: &addr::Resource) -> Option<String> {
    let base = provider_documentation(source)?;
    let prefix = format!("{}_", source.type_name);
    let name = resource.type_name.strip_prefix(prefix.as_str()).unwrap_or(&resource.type_name);
    let section = match (resource.mode, source.host.as_str()) {
        (ResourceMode::Managed, _) => "resources",
        (ResourceMode::Data, DEFAULT_HOST) => "datasources",
        (ResourceMode::Data, _) => "data-sources",
        (ResourceMode::Ephemeral, DEFAULT_HOST) => "ephemeral",
        (ResourceMode::Ephemeral, _) => "ephemeral-resources",
    };
    Some(format!("{base}/docs/{section}/{name}"))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{LinkTarget, document_links};
    use crate::{FileRange, fixture};

    /// Shows each link of the file with the cursor.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let document = fixture.document();
        let shown = document_links(document).into_iter().map(|link| {
            let target = match link.target {
                LinkTarget::File(file) => format!("file {}", file.path(document.db)),
                LinkTarget::Path(path) => format!("path {path}"),
                LinkTarget::Url(url) => url,
            };
            let range = FileRange { file: document.file, range: link.range };
            format!("{} -> {target}\n", fixture.text(range))
        });
        expect.assert_eq(&shown.collect::<String>());
    }

    #[test]
    fn document_links_lead_to_module_sources() {
        check(
            r#"
//- /main.tf
module "a" { source = "./mod" }
module "b" { source = "./nowhere/" }
module "c" { source = "terraform-aws-modules/vpc/aws" }
module "d" { source = "registry.terraform.io/terraform-aws-modules/vpc/aws//modules/x" }
module "e" { source = "example.com/a/b/c" }
module "f" { source = "git::https://example.com/vpc.git" }
module "g" { source = "${path.module}/x" }
//- /mod/main.tf
locals {}
"#,
            expect![[r#"
                ./mod -> file mod/main.tf
                ./nowhere/ -> path nowhere
                terraform-aws-modules/vpc/aws -> https://search.opentofu.org/module/terraform-aws-modules/vpc/aws/latest
                registry.terraform.io/terraform-aws-modules/vpc/aws//modules/x -> https://registry.terraform.io/modules/terraform-aws-modules/vpc/aws/latest
            "#]],
        );
    }

    #[test]
    fn document_links_lead_to_provider_documentation() {
        check(
            r#"
terraform {
  required_providers {
    aws  = { source = "hashicorp/aws" }
    old  = { source = "registry.terraform.io/a/old", version = "1" }
    mine = { source = "example.com/a/mine" }
  }
}
provider "aws" {}
resource "aws_s3_bucket" "a" {}
data "aws_ami" "a" {}
ephemeral "old_secret" "a" {}
data "old_thing" "a" {}
resource "mine_thing" "a" {}
resource "other_thing" "a" {
  provider = aws
}
resource "terraform_data" "a" {}
variable "x" {}
"#,
            expect![[r#"
                hashicorp/aws -> https://search.opentofu.org/provider/hashicorp/aws/latest
                registry.terraform.io/a/old -> https://registry.terraform.io/providers/a/old/latest
                aws -> https://search.opentofu.org/provider/hashicorp/aws/latest
                aws_s3_bucket -> https://search.opentofu.org/provider/hashicorp/aws/latest/docs/resources/s3_bucket
                aws_ami -> https://search.opentofu.org/provider/hashicorp/aws/latest/docs/datasources/ami
                old_secret -> https://registry.terraform.io/providers/a/old/latest/docs/ephemeral-resources/secret
                old_thing -> https://registry.terraform.io/providers/a/old/latest/docs/data-sources/thing
                other_thing -> https://search.opentofu.org/provider/hashicorp/aws/latest/docs/resources/other_thing
            "#]],
        );
    }

    #[test]
    fn document_links_lead_to_files_of_functions() {
        check(
            r#"
//- /main.tf
module "m" { source = "./mod" }
//- /mod/main.tf
locals {$0
  a = file("a.txt")
  b = templatefile("${path.module}/b.tftpl", { x = file("../c.txt") })
  c = filemd5("${path.root}/d/../e.txt")
  d = file("${var.x}/f")
  e = file("/g")
  f = upper("h")
  g = core::file("")
}
"#,
            expect![[r#"
                a.txt -> path a.txt
                ${path.module}/b.tftpl -> path mod/b.tftpl
                ../c.txt -> path ../c.txt
                ${path.root}/d/../e.txt -> path e.txt
                /g -> path /g
            "#]],
        );
    }
}
