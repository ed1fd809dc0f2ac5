// Runs the grammar as VS Code does.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
const grammarPath = new URL("../syntaxes/mayfly.tmLanguage.json", import.meta.url);

export const rootScope = "source.hcl.mayfly";

export async function loadGrammar() {
    const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
    await oniguruma.loadWASM(wasm);
    const registry = new textmate.Registry({
        onigLib: Promise.resolve({
            createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
            createOnigString: (text) => new oniguruma.OnigString(text),
        }),
        loadGrammar: async (scope) =>
            scope === rootScope
                ? textmate.parseRawGrammar(readFileSync(grammarPath, "utf8"), "mayfly.json")
                : null,
    });
    const grammar = await registry.loadGrammar(rootScope);
    if (grammar === null) {
        throw new Error("the grammar is missing");
    }
    return grammar;
}

/**
 * The lines of a text, each with its tokens: start, end and scopes without the root and without `.hcl`.
 * Also what is still open at the end.
 */
export function tokenize(grammar, text) {
    let state = textmate.INITIAL;
    const lines = text.replace(/\n$/, "").split("\n").map((line) => {
        const result = grammar.tokenizeLine(line, state);
        state = result.ruleStack;
        const tokens = result.tokens.map(({ startIndex, endIndex, scopes }) => ({
            start: startIndex,
            end: Math.min(endIndex, line.length),
            scopes: scopes.slice(1).map((scope) => scope.replace(/\.hcl$/, "")),
        }));
        return { line, tokens: tokens.filter(({ start, end }) => end > start) };
    });
    return { lines, depth: state.depth };
}
