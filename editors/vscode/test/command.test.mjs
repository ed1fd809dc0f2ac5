import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import test from "node:test";
import { build } from "esbuild";

const bundle = await build({
    entryPoints: [fileURLToPath(new URL("../src/command.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
});
const source = Buffer.from(bundle.outputFiles[0].contents).toString("base64");
const { initCommand, serverCommand } = await import(`data:text/javascript;base64,${source}`);

test("the executable is a bare name or an absolute path", () => {
    assert.equal(serverCommand("mayfly", "/home/a"), "mayfly");
    assert.equal(serverCommand(" /opt/mayfly ", "/home/a"), "/opt/mayfly");
    assert.equal(serverCommand("~/bin/mayfly", "/home/a"), "/home/a/bin/mayfly");
});

test("what would be found in the workspace is refused", () => {
    for (const path of ["./mayfly", "../mayfly", "bin/mayfly", "..", "bin\\mayfly"]) {
        assert.throws(() => serverCommand(path, "/home/a"), /relative path/, path);
    }
    assert.throws(() => serverCommand("  ", "/home/a"), /is empty/);
});

test("a folder's name is one word to the shell", () => {
    assert.equal(initCommand("mayfly", "/a/b-c"), "mayfly -chdir=/a/b-c init");
    assert.equal(initCommand("mayfly", "/a/it's $(x)"), "mayfly '-chdir=/a/it'\\''s $(x)' init");
});
