import { chmod, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { openKey } from './protocols/p256.js';
/** A setting that cannot be used; its message is for the person who set it. */
export class SettingError extends Error {
}
function folderOf(env) {
    const base = env.XDG_CONFIG_HOME || path.join(env.HOME || homedir(), '.config');
    return path.join(base, 'tapline');
}
export function defaultFile(env) {
    return path.join(folderOf(env), 'reader.json');
}
export function tillFile(env) {
    return path.join(folderOf(env), 'till.json');
}
export function savePairing(file, pairing) {
    return saveOwn(file, pairing);
}
export function saveTill(file, { origin, token_hash }) {
    return saveOwn(file, { origin, token_hash });
}
async function saveOwn(file, value) {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const fresh = `${file}.${process.pid}`;
    const handle = await open(fresh, 'w', 0o600);
    await handle.writeFile(`${JSON.stringify(value, null, 2)}\n`);
    await handle.sync();
    await handle.close();
    await chmod(fresh, 0o600);
    await rename(fresh, file);
}
export async function readPairing(file) {
    const text = await readOwn(file);
    return text === null ? null : parse(file, text);
}
export async function readTill(file) {
    const text = await readOwn(file);
    return text === null ? null : parse(file, text);
}
export const NO_WALLETS = { collector: null, passType: null };
/** The key that Apple Wallet asks for. @throws SettingError when others can read the file. */
export async function readPassType(file) {
    const text = await readOwn(file);
    if (text === null)
        throw new SettingError(`${file} is not there.`);
    const { apple_vas: apple } = parse(file, text);
    if (apple === undefined)
        throw new SettingError(`${file} has no apple_vas.`);
    return {
        identifier: apple.pass_type_identifier,
        key: openKey(Buffer.from(apple.private_key, 'hex')),
    };
}
function parse(file, text) {
    try {
        return JSON.parse(text);
    }
    catch {
        throw new SettingError(`${file} is not JSON.`);
    }
}
async function readOwn(file) {
    const found = await stat(file).catch(() => null);
    if (found === null)
        return null;
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
        throw new SettingError(`${file} can be read by others. Run: chmod 600 ${file}`);
    }
    return readFile(file, 'utf8');
}
