// What is started, decided without the editor, so that it can be tested without one.

import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";

/**
 * The executable that a setting names: a bare name, for the PATH, or an absolute path.
 *
 * A relative path is refused, because it would be looked for in the workspace, whose files nobody has vouched for.
 */
export function serverCommand(setting: string, home: string): string {
    const written = setting.trim();
    if (written === "") {
        throw new Error("`mayfly.server.path` is empty. Write `mayfly`, or the absolute path of the executable.");
    }
    const expanded = written.startsWith("~/") ? path.join(home, written.slice(2)) : written;
    const isBareName = !/[\\/]/.test(expanded) && expanded !== "." && expanded !== "..";
    if (!isBareName && !path.isAbsolute(expanded)) {
        throw new Error(
            `\`mayfly.server.path\` is the relative path "${written}". Write an absolute path, or a name that is on the PATH.`,
        );
    }
    return expanded;
}

/**
 * The executable's absolute path, found here and not by `spawn`: it would look into relative folders of the PATH, which may be
 * the workspace's, and it would not tell how to mend what is missing.
 */
export function findExecutable(command: string, searchPath: string): string {
    if (path.isAbsolute(command)) {
        if (!isExecutable(command)) {
            throw new Error(`There is no executable ${command}. \`mayfly.server.path\` names it.`);
        }
        return command;
    }
    const folders = searchPath.split(path.delimiter).filter((folder) => path.isAbsolute(folder));
    const found = folders.map((folder) => path.join(folder, command)).find(isExecutable);
    if (found === undefined) {
        throw new Error(
            `There is no executable "${command}" on the PATH. Install Mayfly, or write its absolute path into \`mayfly.server.path\`.`,
        );
    }
    return found;
}

function isExecutable(file: string): boolean {
    try {
        accessSync(file, constants.X_OK);
        return statSync(file).isFile();
    } catch {
        return false;
    }
}

/** What a person types into a POSIX shell to initialize a folder. */
export function initCommand(command: string, folder: string): string {
    return `${shellWord(command)} ${shellWord(`-chdir=${folder}`)} init`;
}

function shellWord(text: string): string {
    return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
