import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { WrongUse } from './wrong-use.js';
const COMMAND = 'src/ops/settings-command.ts';
const NAME = 'tapline-network';
function isClone(folder) {
    const file = path.join(folder, 'package.json');
    if (!existsSync(file) || !existsSync(path.join(folder, COMMAND)))
        return false;
    return JSON.parse(readFileSync(file, 'utf8')).name === NAME;
}
const CLONE = path.join(import.meta.dirname, '../..');
function ownClone() {
    if (isClone(CLONE))
        return CLONE;
    throw new WrongUse('Settings belong to a clone of Tapline: say `npx tapline` in its folder.');
}
export async function settingsOfNetwork(command, options) {
    const clone = ownClone();
    const own = path.join(clone, 'node_modules/.bin/node');
    const node = existsSync(own) ? own : process.execPath;
    const args = [path.join(clone, COMMAND), command, '--folder', path.resolve(options.folder)];
    const all = options.json === true ? [...args, '--json'] : args;
    const child = spawn(node, all, { stdio: 'inherit' });
    const [code] = (await once(child, 'close'));
    return code ?? 1;
}
