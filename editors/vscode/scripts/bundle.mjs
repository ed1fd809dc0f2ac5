// One file for the extension, with the language client in it. `vscode` is the editor's own.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, context } from "esbuild";

const options = {
    absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    bundle: true,
    external: ["vscode"],
    format: "cjs",
    platform: "node",
    target: "node18",
    minify: process.argv.includes("--production"),
    sourcemap: !process.argv.includes("--production"),
    logLevel: "warning",
};

if (process.argv.includes("--watch")) {
    await (await context(options)).watch();
} else {
    const { metafile } = await build({ ...options, metafile: true });
    writeFileSync(new URL("../dist/meta.json", import.meta.url), JSON.stringify(metafile));
}
