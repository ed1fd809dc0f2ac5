//! The schema of the managed `restful_resource`, version 2 (`docs/restful.md`, "`restful_resource`").

use values::Type;

use crate::restful::schema::{
    dynamic, ephemeral_body, expression_of_path, flag, headers, method, nested_one,
    path_expression, polling, prechecks, query, with_output,
};
use mayfly_sdk::schema::{Block, ObjectNesting, Schema, nested, string, typed};

/// The version of the schema, which the upstream provider has too.
pub(super) const VERSION: i64 = 2;

pub(super) fn schema() -> Schema {
    let block = paths(Block::new().description("An object of an HTTP API."));
    let block = bodies(methods(block));
    let block = waits(parameters(block));
    Schema::new(with_output(block, flag().requires_replace())).version(VERSION)
}

fn paths(block: Block) -> Block {
    let path = "The path of the request that creates the object.";
    let read = "The path of the object; by default `path`. It can use $(path) and $(body.x).";
    block
        .attribute("id", string().computed().keeps_state().description("The path of the object."))
        .attribute("path", string().required().requires_replace().description(path))
        .attribute("read_path", path_expression().description(read))
        .attribute("update_path", path_expression().description("By default the `id`."))
        .attribute("delete_path", path_expression().description("By default the `id`."))
}

fn methods(block: Block) -> Block {
    let by_default = "By default that of the provider.";
    let merge_patch = "Send the whole body in updates by PATCH, in place of a merge patch.";
    block
        .attribute("create_method", method(&["PUT", "POST", "PATCH"]).description(by_default))
        .attribute("update_method", method(&["PUT", "PATCH", "POST"]).description(by_default))
        .attribute(
            "delete_method",
            method(&["DELETE", "POST", "PUT", "PATCH"]).description(by_default),
        )
        .attribute("merge_patch_disabled", flag().description(merge_patch))
        .attribute("check_existance", flag().description("Fail if the object exists already."))
}

fn bodies(block: Block) -> Block {
    let strings = |ty: fn(Type) -> Type, text| typed(ty(Type::String)).optional().description(text);
    let patches = [
        ("path", string().required().description("A path in the language of sjson.")),
        ("raw_json", string().optional().description("The new part as JSON; $(body.x) works.")),
        ("removed", flag().description("True removes the part.")),
    ];
    block
        .attribute(
            "body",
            typed(Type::Dynamic).required().description("The properties of the object."),
        )
        .attribute("ephemeral_body", ephemeral_body())
        .attribute(
            "create_selector",
            string().optional().description("The part of the answer that is the object (gjson)."),
        )
        .attribute("read_selector", string().optional().description("As `create_selector`."))
        .attribute(
            "read_response_template",
            string().optional().description("A text with $(body) that replaces the answer."),
        )
        .attribute(
            "update_body_patches",
            nested(ObjectNesting::List, patches)
                .optional()
                .description("Changes of the body of updates, in order."),
        )
        .attribute("delete_body", dynamic().description("The body of the deletion."))
        .attribute(
            "delete_body_raw",
            string().optional().description("The body of the deletion as a text; $(body.x) works."),
        )
        .attribute(
            "write_only_attrs",
            strings(Type::list, "Parts of `body` that the API does not return (gjson)."),
        )
        .attribute(
            "force_new_attrs",
            strings(Type::set, "Parts of `body` whose change replaces the object (gjson)."),
        )
}

fn parameters(block: Block) -> Block {
    let operations = ["create", "read", "update", "delete"];
    let block = block.attribute("query", query()).attribute("header", headers());
    operations.into_iter().fold(block, |block, operation| {
        block
            .attribute(&format!("{operation}_query"), query())
            .attribute(&format!("{operation}_header"), headers())
    })
}

fn waits(block: Block) -> Block {
    let post_create_read = nested_one([
        ("path", expression_of_path(string().required().description("The path to read."))),
        ("query", query()),
        ("header", headers()),
        ("selector", string().optional().description("The part of the answer to use (gjson).")),
    ]);
    block
        .attribute("precheck_create", prechecks(false))
        .attribute("precheck_update", prechecks(true))
        .attribute("precheck_delete", prechecks(true))
        .attribute("poll_create", polling())
        .attribute("poll_update", polling())
        .attribute("poll_delete", polling())
        .attribute(
            "post_create_read",
            post_create_read.description("A read between the creation and the first `read_path`."),
        )
}
