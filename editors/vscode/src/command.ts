// What is started, decided without the editor, so that it can be tested without one.

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

/** What a person types into a POSIX shell to initialize a folder. */
export function initCommand(command: string, folder: string): string {
    return `${shellWord(command)} ${shellWord(`-chdir=${folder}`)} init`;
}

function shellWord(text: string): string {
    return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
