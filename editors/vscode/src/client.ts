// The client of `mayfly lsp`: one process for the window, started again on request or when its settings change.

import { homedir } from "node:os";
import * as vscode from "vscode";
import {
    LanguageClient,
    type LanguageClientOptions,
    State,
    type StaticFeature,
} from "vscode-languageclient/node";
import { findExecutable, serverCommand } from "./command";
import { initializationOptions, languages, section } from "./settings";
import type { ServerStatus, StatusItem } from "./status";

/** Tells the server what only this client can do. */
const experimental: StaticFeature = {
    fillClientCapabilities(capabilities) {
        capabilities.experimental = {
            ...capabilities.experimental,
            showReferencesCommandId: "mayfly.showReferences",
            statusNotification: true,
        };
    },
    initialize() {},
    getState: () => ({ kind: "static" }),
    clear() {},
};

export class Server implements vscode.Disposable {
    private client: LanguageClient | undefined;
    /** Starts and stops one after the other, however fast they are asked for. */
    private queue: Promise<void> = Promise.resolve();

    constructor(
        private readonly status: StatusItem,
        private readonly output: vscode.LogOutputChannel,
        private readonly trace: vscode.LogOutputChannel,
    ) {}

    get protocol(): LanguageClient["protocol2CodeConverter"] | undefined {
        return this.client?.protocol2CodeConverter;
    }

    restart(): Promise<void> {
        this.queue = this.queue.then(async () => {
            await this.stopNow();
            await this.startNow();
        });
        return this.queue;
    }

    stop(): Promise<void> {
        this.queue = this.queue.then(() => this.stopNow());
        return this.queue;
    }

    dispose(): void {
        void this.stop();
    }

    private async startNow(): Promise<void> {
        this.status.starting();
        let client: LanguageClient;
        try {
            client = this.createClient();
        } catch (error) {
            this.failed(message(error));
            this.offerSettings(message(error));
            return;
        }
        this.client = client;
        try {
            await client.start();
        } catch (error) {
            // The client has told why.
            this.failed(message(error));
        }
    }

    private createClient(): LanguageClient {
        const settings = vscode.workspace.getConfiguration(section);
        const written = serverCommand(settings.get<string>("server.path", "mayfly"), homedir());
        const command = findExecutable(written, process.env["PATH"] ?? "");
        const args = settings.get<string[]>("server.args", ["lsp"]);
        this.output.info(`starting ${[command, ...args].join(" ")}`);
        const options: LanguageClientOptions = {
            documentSelector: languages.map((language) => ({ scheme: "file", language })),
            diagnosticCollectionName: "mayfly",
            outputChannel: this.output,
            traceOutputChannel: this.trace,
            initializationOptions,
            synchronize: { configurationSection: section },
        };
        const client = new LanguageClient(section, "Mayfly", { command, args }, options);
        client.registerFeature(experimental);
        client.onNotification("mayfly/status", (status: ServerStatus) => this.status.update(status));
        client.onDidChangeState(({ newState }) => {
            if (newState === State.Starting) {
                this.status.starting();
            } else if (newState === State.Running) {
                this.status.running();
            } else if (newState === State.Stopped && client === this.client) {
                this.status.stopped("The language server does not run.");
            }
        });
        return client;
    }

    private async stopNow(): Promise<void> {
        const client = this.client;
        this.client = undefined;
        if (client?.state === State.Running) {
            await client.dispose();
        }
    }

    private failed(reason: string): void {
        this.client = undefined;
        this.output.error(reason);
        this.status.stopped(`The language server did not start. ${reason}`);
    }

    private offerSettings(reason: string): void {
        const openSettings = "Open Settings";
        // Not awaited: the message may stay for hours, and a restart must not wait for it.
        void vscode.window
            .showErrorMessage(`Mayfly's language server did not start. ${reason}`, openSettings)
            .then((choice) => {
                if (choice === openSettings) {
                    void vscode.commands.executeCommand("workbench.action.openSettings", "mayfly.server");
                }
            });
    }
}

function message(error: unknown): string {
    return error instanceof Error ? error.message : String(error);
}
