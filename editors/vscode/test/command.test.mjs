import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
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
const { findExecutable, initCommand, serverCommand } = await import(`data:text/javascript;base64,${source}`);

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

test("an executable that is not there is told with a way out", () => {
    const folder = mkdtempSync(join(tmpdir(), "mayfly-"));
    writeFileSync(join(folder, "mayfly"), "", { mode: 0o755 });
    writeFileSync(join(folder, "text"), "", { mode: 0o644 });
    assert.equal(findExecutable("mayfly", `/nowhere:${folder}`), join(folder, "mayfly"));
    assert.equal(findExecutable(join(folder, "mayfly"), ""), join(folder, "mayfly"));
    assert.throws(() => findExecutable("mayfly", "/nowhere"), /"mayfly" on the PATH\. Install/);
    assert.throws(() => findExecutable("text", folder), /on the PATH/);
    assert.throws(() => findExecutable(folder, ""), /no executable/);
    // A relative folder on the PATH would be the workspace's.
    assert.throws(() => findExecutable("mayfly", relative(process.cwd(), folder)), /on the PATH/);
    rmSync(folder, { recursive: true });
});

test("a folder's name is one word to the shell", () => {
    assert.equal(initCommand("mayfly", "/a/b-c"), "mayfly -chdir=/a/b-c init");
    assert.equal(initCommand("mayfly", "/a/it's $(x)"), "mayfly '-chdir=/a/it'\\''s $(x)' init");
});
