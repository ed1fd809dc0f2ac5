// The extension's front door: it starts the language server and registers the commands.

import { homedir } from "node:os";
import { dirname } from "node:path";
import * as vscode from "vscode";
import type { Location, Position } from "vscode-languageclient";
import { Server } from "./client";
import { initCommand, serverCommand } from "./command";
import { restartSettings, section } from "./settings";
import { StatusItem } from "./status";
import { createTraceChannel } from "./trace";

let server: Server | undefined;

export async function activate({ subscriptions }: vscode.ExtensionContext): Promise<void> {
    const output = vscode.window.createOutputChannel("Mayfly", { log: true });
    const status = new StatusItem();
    const started = new Server(status, output, createTraceChannel(subscriptions));
    server = started;
    const restart = () => started.restart();
    subscriptions.push(
        output,
        status,
        vscode.commands.registerCommand("mayfly.restartServer", restart),
        vscode.commands.registerCommand("mayfly.showOutput", () => output.show()),
        vscode.commands.registerCommand("mayfly.initialize", tellHowToInitialize),
        vscode.commands.registerCommand("mayfly.showReferences", (uri, position, locations) =>
            showReferences(started, uri, position, locations),
        ),
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (restartSettings.some((setting) => event.affectsConfiguration(setting))) {
                void restart();
            }
        }),
        // The workspace's own settings count from then on.
        vscode.workspace.onDidGrantWorkspaceTrust(restart),
    );
    await restart();
}

export function deactivate(): Promise<void> | undefined {
    return server?.stop();
}

/** For code lenses: the arguments are as the protocol has them. */
async function showReferences(
    server: Server,
    uri: string,
    position: Position,
    locations: Location[],
): Promise<void> {
    const protocol = server.protocol;
    if (protocol !== undefined) {
        await vscode.commands.executeCommand(
            "editor.action.showReferences",
            vscode.Uri.parse(uri),
            protocol.asPosition(position),
            locations.map((location) => protocol.asLocation(location)),
        );
    }
}

/** Providers are installed and run by `init`, so a person starts it, in a terminal. */
async function tellHowToInitialize(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const folder =
        document?.uri.scheme === "file"
            ? dirname(document.uri.fsPath)
            : vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    if (folder === undefined) {
        void vscode.window.showInformationMessage("Open a file of the configuration that you want to initialize.");
        return;
    }
    const setting = vscode.workspace.getConfiguration(section).get<string>("server.path", "mayfly");
    const command = initCommand(serverCommand(setting, homedir()), folder);
    const copy = "Copy Command";
    const choice = await vscode.window.showInformationMessage(
        `Initializing installs and runs providers. To do so, run in a terminal: ${command}`,
        copy,
    );
    if (choice === copy) {
        await vscode.env.clipboard.writeText(command);
    }
}
