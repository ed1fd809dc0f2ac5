// package.json against the files and the source that it speaks of.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import test from "node:test";

const root = new URL("../", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
const { capabilities, contributes } = JSON.parse(read("package.json"));
const source = readdirSync(new URL("src/", root)).map((name) => read(`src/${name}`)).join("\n");
const settings = Object.keys(contributes.configuration.properties);

test("files that are named exist", () => {
    const files = [...contributes.languages.map((it) => it.configuration), ...contributes.grammars.map((it) => it.path)];
    for (const file of files) {
        assert.ok(existsSync(new URL(file, root)), file);
    }
});

test("every command is registered", () => {
    for (const { command } of contributes.commands) {
        assert.ok(source.includes(`registerCommand("${command}"`), command);
    }
});

test("what decides which program is started is ignored where nobody trusts the workspace", () => {
    const restricted = capabilities.untrustedWorkspaces.restrictedConfigurations;
    assert.deepEqual(restricted, settings.filter((it) => it.startsWith("mayfly.server.")));
});

test("patterns of the language configuration are regular expressions that do what they should", () => {
    const { wordPattern, indentationRules, onEnterRules } = JSON.parse(read("language-configuration.json"));
    const words = "resource-a.b-c[1.5] größe".match(new RegExp(wordPattern.pattern, `g${wordPattern.flags}`));
    assert.deepEqual(words, ["resource-a", "b-c", "1.5", "größe"]);
    const increase = new RegExp(indentationRules.increaseIndentPattern);
    for (const line of ['resource "a" "b" {', "  x = [ # comment", "f( // {"]) {
        assert.match(line, increase);
    }
    for (const line of ["# a {", "a {}", "x = 1", "  // ["]) {
        assert.doesNotMatch(line, increase);
    }
    for (const rule of onEnterRules) {
        new RegExp(rule.beforeText);
        new RegExp(rule.afterText);
    }
});
