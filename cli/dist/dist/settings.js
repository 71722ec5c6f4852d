import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Tapline } from 'tapline';
import { createOutput } from './output.js';
import { WrongUse } from './wrong-use.js';
export function loginFile() {
    const config = process.env.XDG_CONFIG_HOME ?? path.join(homedir(), '.config');
    return path.join(config, 'tapline', 'login.json');
}
function readJson(file) {
    try {
        return JSON.parse(readFileSync(file, 'utf8'));
    }
    catch {
        return null;
    }
}
function sandboxAbove(folder) {
    const found = readJson(path.join(folder, '.tapline', 'sandbox.json'));
    const above = path.dirname(folder);
    return found ?? (above === folder ? null : sandboxAbove(above));
}
function sandboxPlace(sandbox, live) {
    const { secret_key: apiKey } = sandbox[live ? 'live' : 'test'];
    return { baseUrl: sandbox.base_url, apiKey, source: 'the sandbox on this machine', sandbox };
}
export function findPlace(options) {
    const { TAPLINE_API_KEY, TAPLINE_BASE_URL, TAPLINE_DATA_DIR } = process.env;
    const named = TAPLINE_DATA_DIR ? readJson(`${TAPLINE_DATA_DIR}/sandbox.json`) : null;
    const near = named ?? sandboxAbove(process.cwd());
    const apiKey = options.apiKey ?? TAPLINE_API_KEY;
    const baseUrl = options.baseUrl ?? TAPLINE_BASE_URL;
    if (apiKey !== undefined) {
        const to = baseUrl ?? near?.base_url ?? 'http://127.0.0.1:4242/api';
        return {
            baseUrl: to,
            apiKey,
            source: 'the key that was given',
            sandbox: sandboxOf(near, apiKey),
        };
    }
    const login = readJson(loginFile());
    if (named === null && login !== null) {
        const { api_key, base_url } = login;
        const source = `your login (${loginFile()})`;
        return {
            baseUrl: baseUrl ?? base_url,
            apiKey: api_key,
            source,
            sandbox: sandboxOf(near, api_key),
        };
    }
    if (near === null) {
        throw new WrongUse('No network was found. Start the sandbox (npm start) in this folder or one above it, or ' +
            'say `tapline login`, or set TAPLINE_API_KEY and TAPLINE_BASE_URL.');
    }
    const place = sandboxPlace(near, options.live === true);
    return { ...place, baseUrl: baseUrl ?? place.baseUrl };
}
function sandboxOf(sandbox, apiKey) {
    const keys = [sandbox?.test.secret_key, sandbox?.live.secret_key];
    return keys.includes(apiKey) ? sandbox : null;
}
export function readSettings(options) {
    const place = findPlace(options);
    const tapline = new Tapline(place.apiKey, { baseUrl: place.baseUrl });
    return { ...place, tapline, out: createOutput(options.json === true) };
}
export function demoOf({ sandbox, apiKey }) {
    return sandbox?.[apiKey.startsWith('tlsk_live') ? 'live' : 'test'] ?? null;
}
export async function someTerminal(settings) {
    const demo = demoOf(settings);
    if (demo !== null)
        return demo.terminal;
    const { data } = await settings.tapline.terminals.list({ status: 'active', limit: 1 }).page;
    const [terminal] = data;
    if (terminal === undefined) {
        throw new WrongUse('The account has no active terminal: add one in the dashboard.');
    }
    return terminal.id;
}
