import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { WrongUse } from './wrong-use.js';
const WRITABLE_BY_OTHERS = 0o022;
function checkOwner(file, { uid, mode }) {
    const user = process.getuid?.();
    if (user === undefined)
        return;
    if (uid !== user)
        throw new WrongUse(`${file} belongs to another user: it is not used.`);
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
        throw new WrongUse(`${file} is not used: others can write to it. Say: chmod 600 ${file}`);
    }
}
export function readOwnJson(file) {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats === undefined)
        return null;
    checkOwner(file, stats);
    try {
        return JSON.parse(readFileSync(file, 'utf8'));
    }
    catch {
        return null;
    }
}
export function writeOwnJson(file, value) {
    const part = `${file}.${process.pid}`;
    writeFileSync(part, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(part, file);
}
