// The settings, as the server gets them when it starts. Later it asks for the section `mayfly` (workspace/configuration).

import * as vscode from "vscode";

export const section = "mayfly";

/** The languages we serve: our own, and those of other extensions that may own the files. */
export const languages = ["opentofu", "opentofu-vars", "terraform", "terraform-vars"];

/** What only a new process can follow. */
export const restartSettings = ["mayfly.server.path", "mayfly.server.args"];

export function initializationOptions(): unknown {
    const settings = vscode.workspace.getConfiguration(section);
    return { inlayHints: settings.get("inlayHints"), codeLens: settings.get("codeLens") };
}
