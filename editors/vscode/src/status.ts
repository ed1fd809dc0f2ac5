// The item of the status bar: whether the server runs, and what it says of itself.

import * as vscode from "vscode";
import { languages } from "./settings";

/** The parameters of the server's notification `mayfly/status`. An empty message says that all is well. */
export interface ServerStatus {
    message: string;
    severity: "ok" | "warning" | "error";
    /** More than one line, shown on hovering. */
    detail?: string;
}

const commands = ["mayfly.showOutput", "mayfly.restartServer", "mayfly.initialize"];

export class StatusItem implements vscode.Disposable {
    private readonly item: vscode.StatusBarItem;
    private readonly visibility: vscode.Disposable;

    constructor() {
        this.item = vscode.window.createStatusBarItem("mayfly.status", vscode.StatusBarAlignment.Right, 0);
        this.item.name = "Mayfly";
        this.item.command = "mayfly.showOutput";
        this.visibility = vscode.window.onDidChangeActiveTextEditor(() => this.showWhereItBelongs());
        this.showWhereItBelongs();
    }

    starting(): void {
        this.set("$(loading~spin) Mayfly", undefined, "The language server starts.");
    }

    stopped(reason: string): void {
        this.set("$(error) Mayfly", "error", reason);
    }

    running(): void {
        this.set("$(check) Mayfly", undefined, "The language server runs.");
    }

    update({ message, severity, detail }: ServerStatus): void {
        if (message === "") {
            this.running();
            return;
        }
        const problem = severity === "ok" ? undefined : severity;
        const icon = problem === undefined ? "$(check)" : `$(${problem})`;
        const tooltip = detail === undefined || detail === "" ? message : `${message}\n\n${detail}`;
        this.set(`${icon} Mayfly`, problem, tooltip);
    }

    dispose(): void {
        this.visibility.dispose();
        this.item.dispose();
    }

    private set(text: string, severity: "warning" | "error" | undefined, tooltip: string): void {
        const links = new vscode.MarkdownString();
        // As text: what the server quotes from a workspace must not become a link.
        links.appendText(tooltip);
        links.appendMarkdown(
            "\n\n[Show output](command:mayfly.showOutput) · [Restart](command:mayfly.restartServer) · [Initialize](command:mayfly.initialize)",
        );
        links.isTrusted = { enabledCommands: commands };
        this.item.text = text;
        this.item.tooltip = links;
        this.item.accessibilityInformation = { label: `Mayfly: ${tooltip}` };
        this.item.backgroundColor =
            severity && new vscode.ThemeColor(`statusBarItem.${severity}Background`);
    }

    private showWhereItBelongs(): void {
        const language = vscode.window.activeTextEditor?.document.languageId;
        if (language !== undefined && languages.includes(language)) {
            this.item.show();
        } else {
            this.item.hide();
        }
    }
}
