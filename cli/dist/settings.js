import { chmodSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Tapline } from 'tapline';
import { createOutput } from './output.js';
import { readOwnJson } from './own-file.js';
import { WrongUse } from './wrong-use.js';
function configFolder() {
    const { XDG_CONFIG_HOME: config = '' } = process.env;
    if (path.isAbsolute(config))
        return config;
    try {
        const home = homedir();
        return path.isAbsolute(home) ? path.join(home, '.config') : null;
    }
    catch {
        return null;
    }
}
export function loginFile({ profile = process.env.TAPLINE_PROFILE }) {
    const config = configFolder();
    if (profile !== undefined && !/^[\w-]{1,40}$/.test(profile)) {
        throw new WrongUse(`${profile} is no name of a profile: letters, digits, - and _.`);
    }
    const name = profile ? `login-${profile}.json` : 'login.json';
    return config === null ? null : path.join(config, 'tapline', name);
}
function readLogin(options) {
    const file = loginFile(options);
    if (file === null)
        return null;
    const login = readOwnJson(file);
    if (login !== null)
        chmodSync(file, 0o600);
    return login;
}
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
function isThisMachine(baseUrl) {
    return URL.canParse(baseUrl) && LOOPBACK.test(new URL(baseUrl).hostname);
}
function readSandbox(file) {
    const sandbox = readOwnJson(file);
    if (sandbox === null || isThisMachine(sandbox.base_url))
        return sandbox;
    throw new WrongUse(`${file} is not used: a sandbox is on this machine, not ${sandbox.base_url}.`);
}
function sandboxAbove(folder) {
    const found = readSandbox(path.join(folder, '.tapline', 'sandbox.json'));
    const above = path.dirname(folder);
    return found ?? (above === folder ? null : sandboxAbove(above));
}
function demoAbove() {
    try {
        return sandboxAbove(process.cwd());
    }
    catch (error) {
        if (error instanceof WrongUse)
            return null;
        throw error;
    }
}
function sandboxPlace(sandbox, asked) {
    const { secret_key: apiKey } = sandbox[asked.live ? 'live' : 'test'];
    const { baseUrl } = asked;
    if (baseUrl !== undefined && !isThisMachine(baseUrl)) {
        throw new WrongUse(`The sandbox's key is not sent to ${baseUrl}: say --api-key too.`);
    }
    const source = 'the sandbox on this machine';
    const isFromSandbox = baseUrl === undefined;
    return { baseUrl: baseUrl ?? sandbox.base_url, apiKey, source, sandbox, isFromSandbox };
}
const DEFAULT_BASE_URL = 'http://127.0.0.1:4242/api';
function placeOfKey(apiKey, found) {
    const own = sandboxOf(found.near, apiKey);
    const baseUrl = found.baseUrl ?? own?.base_url;
    if (baseUrl === undefined && found.near !== null) {
        throw new WrongUse('This key is not one of the sandbox that was found, so it is not sent there. Say where it ' +
            'belongs: --base-url, or TAPLINE_BASE_URL.');
    }
    return {
        baseUrl: baseUrl ?? DEFAULT_BASE_URL,
        apiKey,
        source: 'the key that was given',
        sandbox: baseUrl !== undefined && isThisMachine(baseUrl) ? own : null,
        isFromSandbox: found.baseUrl === undefined && own !== null,
    };
}
export function findPlace(options) {
    const place = nearestPlace(options);
    checkTransport(place);
    return place;
}
export function checkTransport({ baseUrl, apiKey }) {
    const isOpen = !baseUrl.startsWith('https://') && !isThisMachine(baseUrl);
    if (isOpen && apiKey.startsWith('tlsk_live')) {
        throw new WrongUse(`A live key is sent by https only, not to ${baseUrl}.`);
    }
}
function nearestPlace(options) {
    const { TAPLINE_API_KEY, TAPLINE_BASE_URL, TAPLINE_DATA_DIR } = process.env;
    const named = TAPLINE_DATA_DIR ? readSandbox(`${TAPLINE_DATA_DIR}/sandbox.json`) : null;
    const apiKey = options.apiKey ?? TAPLINE_API_KEY;
    const baseUrl = options.baseUrl ?? TAPLINE_BASE_URL;
    const login = named === null && apiKey === undefined ? readLogin(options) : null;
    if (options.profile !== undefined && login === null) {
        throw new WrongUse(`There is no profile ${options.profile}: tapline login --profile …`);
    }
    const isSettled = login !== null || (apiKey !== undefined && baseUrl !== undefined);
    const near = named ?? (isSettled ? demoAbove() : sandboxAbove(process.cwd()));
    if (login !== null) {
        const to = { baseUrl: baseUrl ?? login.base_url, near };
        return { ...placeOfKey(login.api_key, to), source: `your login (${loginFile(options)})` };
    }
    if (apiKey !== undefined)
        return placeOfKey(apiKey, { baseUrl, near });
    if (near === null) {
        throw new WrongUse('No network was found. Start the sandbox (npm start) in this folder or one above it, or ' +
            'say `tapline login`, or set TAPLINE_API_KEY and TAPLINE_BASE_URL.');
    }
    const asked = { live: options.live === true, ...(baseUrl === undefined ? {} : { baseUrl }) };
    return sandboxPlace(near, asked);
}
function sandboxOf(sandbox, apiKey) {
    const keys = [sandbox?.test.secret_key, sandbox?.live.secret_key];
    return keys.includes(apiKey) ? sandbox : null;
}
export function readSettings(options) {
    const place = findPlace(options);
    if (place.apiKey.startsWith('tlsk_live') && options.live !== true) {
        throw new WrongUse(`This is a live key, from ${place.source}: say --live for real money.`);
    }
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
