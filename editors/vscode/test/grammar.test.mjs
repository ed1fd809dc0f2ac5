// Every fixture's scopes, line by line, as in the snapshot beside it.
// UPDATE_EXPECT=1 writes the snapshots again; then read the difference.

import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import test from "node:test";
import { loadGrammar, tokenize } from "./tokenize.mjs";

const fixtures = new URL("fixtures/", import.meta.url);
const grammar = await loadGrammar();

function snapshot(text) {
    const out = [];
    for (const { line, tokens } of tokenize(grammar, text).lines) {
        out.push(`>${line}`.trimEnd());
        for (const { start, end, scopes } of tokens) {
            if (line.slice(start, end).trim() !== "" && scopes.length > 0) {
                out.push(`#${" ".repeat(start)}${"^".repeat(end - start)} ${scopes.join(" ")}`);
            }
        }
    }
    return out.join("\n") + "\n";
}

function scopesOf(text, part) {
    const { lines } = tokenize(grammar, text);
    for (const { line, tokens } of lines) {
        const at = line.indexOf(part);
        if (at >= 0) {
            return tokens.find(({ end }) => end > at)?.scopes ?? [];
        }
    }
    throw new Error(`no ${part} in ${text}`);
}

for (const name of readdirSync(fixtures).filter((it) => /\.(tf|tofu|tfvars)$/.test(it))) {
    test(`scopes of ${name}`, () => {
        const found = snapshot(readFileSync(new URL(name, fixtures), "utf8"));
        const path = new URL(`${name}.snap`, fixtures);
        if (process.env.UPDATE_EXPECT) {
            writeFileSync(path, found);
        }
        assert.equal(found, readFileSync(path, "utf8"));
    });
}

test("nothing is left open after a correct file", () => {
    const open = (name) => tokenize(grammar, readFileSync(new URL(name, fixtures), "utf8")).depth;
    for (const name of readdirSync(fixtures).filter((it) => /\.(tf|tofu|tfvars)$/.test(it))) {
        if (!name.startsWith("unfinished")) {
            assert.equal(open(name), 1, name);
        }
    }
});

const unfinished = ['"', '"${', '"${f(', '"a ${b["', "[", "f(", "[for x in", "{ a = [ }", "(1 +", '"%{ if', "(]", "[)"];

test("the next attribute, a brace and a header end what is unfinished above them", () => {
    for (const expression of unfinished) {
        const text = `a "b" {\n  c = ${expression}\n  d = 1\n}\ndata "e" "f" {\n  c = ${expression}\n}\nmodule "g" {\n`;
        assert.equal(scopesOf(text, "d =").at(-1), "variable.other.property.declaration", expression);
        assert.equal(scopesOf(text, "data").at(-1), "storage.type.block", expression);
        assert.equal(scopesOf(text, "module").at(-1), "storage.type.block", expression);
    }
});

test("a header ends what has no closing brace", () => {
    for (const expression of [...unfinished, "{", "{ a = {", '"${{', "f({"]) {
        const text = `locals {\n  a = ${expression}\n\nresource "a" "b" {\n  c = 1\n}\n`;
        assert.equal(scopesOf(text, "resource").at(-1), "storage.type.block", expression);
        assert.equal(scopesOf(text, "c =").at(-1), "variable.other.property.declaration", expression);
    }
});
