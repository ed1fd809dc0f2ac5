// The channel that shows the messages between the editor and the server.

import * as vscode from "vscode";
import { section } from "./settings";

/**
 * A log channel whose level is the setting `mayfly.trace.server`. The client writes messages only at the level Trace, which
 * one would have to choose for the channel as well, in another place than the settings.
 */
export function createTraceChannel(subscriptions: vscode.Disposable[]): vscode.LogOutputChannel {
    const channel = vscode.window.createOutputChannel("Mayfly Trace");
    const levelChanged = new vscode.EventEmitter<vscode.LogLevel>();
    const log = (message: string | Error) => channel.appendLine(String(message));
    subscriptions.push(
        channel,
        levelChanged,
        vscode.workspace.onDidChangeConfiguration((event) => {
            if (event.affectsConfiguration("mayfly.trace.server")) {
                levelChanged.fire(level());
            }
        }),
    );
    return {
        name: channel.name,
        get logLevel() {
            return level();
        },
        onDidChangeLogLevel: levelChanged.event,
        append: (value) => channel.append(value),
        appendLine: (value) => channel.appendLine(value),
        replace: (value) => channel.replace(value),
        clear: () => channel.clear(),
        show: () => channel.show(true),
        hide: () => channel.hide(),
        dispose: () => channel.dispose(),
        trace: log,
        debug: log,
        info: log,
        warn: log,
        error: log,
    };
}

function level(): vscode.LogLevel {
    const setting = vscode.workspace.getConfiguration(section).get<string>("trace.server");
    return setting === "messages" || setting === "verbose" ? vscode.LogLevel.Trace : vscode.LogLevel.Off;
}
