import { chmodSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Tapline } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import { createOutput, type Output } from './output.ts';
import { readOwnJson } from './owner-only-file.ts';
import { WrongUse } from './wrong-use.ts';

export interface GlobalOptions {
  readonly json?: boolean;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly live?: boolean;
  readonly profile?: string;
}

/** The part of sandbox.json that this program reads. */
export interface Sandbox {
  readonly base_url: string;
  readonly account: string;
  readonly dashboard: { readonly email: string; readonly password: string };
  readonly test: SandboxMode;
  readonly live: SandboxMode;
}

interface SandboxMode {
  readonly secret_key: string;
  readonly terminal: string;
  readonly agent_terminal: string;
  readonly passes: Readonly<Record<string, string>>;
}

/** The network and key for a command, with their source. */
export interface Place {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly source: string;
  /** The demo data if the network is a sandbox on this machine, otherwise `null`. */
  readonly sandbox: Sandbox | null;
  /**
   * True if the URL comes from a sandbox's file. Only that sandbox's own credentials may be sent
   * there.
   */
  readonly isFromSandbox: boolean;
}

export interface Settings extends Place {
  readonly tapline: Tapline;
  readonly out: Output;
}

export interface Login {
  readonly base_url: string;
  readonly api_key: string;
}

/**
 * Returns the folder for logins; `null` if the user has no home folder, as is common in containers.
 * A relative path would depend on the current folder.
 */
function configFolder(): string | null {
  const { XDG_CONFIG_HOME: config = '' } = process.env;
  if (path.isAbsolute(config)) return config;
  try {
    const home = homedir();
    return path.isAbsolute(home) ? path.join(home, '.config') : null;
  } catch {
    return null;
  }
}

/** Each profile has its own file, with a network and a key. */
export function loginFile({ profile = process.env.TAPLINE_PROFILE }: GlobalOptions): string | null {
  const config = configFolder();
  if (profile !== undefined && !/^[\w-]{1,40}$/.test(profile)) {
    throw new WrongUse(`${profile} is not a valid profile name. Use letters, digits, - and _.`);
  }
  const name = profile ? `login-${profile}.json` : 'login.json';
  return config === null ? null : path.join(config, 'tapline', name);
}

function readLogin(options: GlobalOptions): Login | null {
  const file = loginFile(options);
  if (file === null) return null;
  const login = readOwnJson<Login>(file);
  // Fixes permissions, because earlier versions kept those of an existing file.
  if (login !== null) chmodSync(file, 0o600);
  return login;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

function isThisMachine(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && LOOPBACK.test(new URL(baseUrl).hostname);
}

/**
 * Reads a sandbox's file after checking its owner. Otherwise, another user's file could redirect
 * keys to their server.
 */
function readSandbox(file: string): Sandbox | null {
  const sandbox = readOwnJson<Sandbox>(file);
  if (sandbox === null || isThisMachine(sandbox.base_url)) return sandbox;
  throw new WrongUse(
    `${file} is not used: a sandbox must be on this machine, not at ${sandbox.base_url}.`,
  );
}

/**
 * Finds `.tapline/sandbox.json` in this folder or the nearest parent, as git finds its repository.
 */
function sandboxAbove(folder: string): Sandbox | null {
  const sandbox = readSandbox(path.join(folder, '.tapline', 'sandbox.json'));
  const above = path.dirname(folder);
  return sandbox ?? (above === folder ? null : sandboxAbove(above));
}

/**
 * Finds a sandbox for its demo data only. If the network is set in another way, an unusable file is
 * not an error.
 */
function demoAbove(): Sandbox | null {
  try {
    return sandboxAbove(process.cwd());
  } catch (error) {
    if (error instanceof WrongUse) return null;
    throw error;
  }
}

function sandboxPlace(sandbox: Sandbox, options: { live: boolean; baseUrl?: string }): Place {
  const { secret_key: apiKey } = sandbox[options.live ? 'live' : 'test'];
  const { baseUrl } = options;
  if (baseUrl !== undefined && !isThisMachine(baseUrl)) {
    throw new WrongUse(`The sandbox's key is not sent to ${baseUrl}. Pass --api-key, too.`);
  }
  const source = 'the sandbox on this machine';
  const isFromSandbox = baseUrl === undefined;
  return { baseUrl: baseUrl ?? sandbox.base_url, apiKey, source, sandbox, isFromSandbox };
}

const DEFAULT_BASE_URL = 'http://127.0.0.1:4242/api';

/** Returns where to send a given key: to the given URL, or to the sandbox that issued it. */
function placeOfKey(
  apiKey: string,
  found: { readonly baseUrl: string | undefined; readonly near: Sandbox | null },
): Place {
  const own = sandboxOf(found.near, apiKey);
  const baseUrl = found.baseUrl ?? own?.base_url;
  if (baseUrl === undefined && found.near !== null) {
    throw new WrongUse(
      'This key does not belong to the sandbox that was found, so it is not sent there. Set its ' +
        'network with --base-url or TAPLINE_BASE_URL.',
    );
  }
  return {
    baseUrl: baseUrl ?? DEFAULT_BASE_URL,
    apiKey,
    source: 'the given key',
    sandbox: baseUrl !== undefined && isThisMachine(baseUrl) ? own : null,
    isFromSandbox: found.baseUrl === undefined && own !== null,
  };
}

/**
 * Finds network and key. Options take precedence over the environment, then the login, then a
 * sandbox.
 */
export function findPlace(options: GlobalOptions): Place {
  const target = nearestPlace(options);
  checkTransport(target);
  return target;
}

/** Throws if the connection would send a live key in plain text. */
export function checkTransport({ baseUrl, apiKey }: Pick<Place, 'baseUrl' | 'apiKey'>): void {
  const isOpen = !baseUrl.startsWith('https://') && !isThisMachine(baseUrl);
  if (isOpen && apiKey.startsWith('tlsk_live')) {
    throw new WrongUse(`A live key is sent over https only, not to ${baseUrl}.`);
  }
}

function nearestPlace(options: GlobalOptions): Place {
  const { TAPLINE_API_KEY, TAPLINE_BASE_URL, TAPLINE_DATA_DIR } = process.env;
  const named = TAPLINE_DATA_DIR ? readSandbox(`${TAPLINE_DATA_DIR}/sandbox.json`) : null;
  const apiKey = options.apiKey ?? TAPLINE_API_KEY;
  const baseUrl = options.baseUrl ?? TAPLINE_BASE_URL;
  const login = named === null && apiKey === undefined ? readLogin(options) : null;
  if (options.profile !== undefined && login === null) {
    throw new WrongUse(
      `There is no profile ${options.profile}. Create it with tapline login --profile …`,
    );
  }
  const isSettled = login !== null || (apiKey !== undefined && baseUrl !== undefined);
  const near = named ?? (isSettled ? demoAbove() : sandboxAbove(process.cwd()));
  if (login !== null) {
    const to = { baseUrl: baseUrl ?? login.base_url, near };
    return { ...placeOfKey(login.api_key, to), source: `your login (${loginFile(options)})` };
  }
  if (apiKey !== undefined) return placeOfKey(apiKey, { baseUrl, near });
  if (near === null) {
    throw new WrongUse(
      'No network was found. Start the sandbox (npm start) in this folder or one above it, or ' +
        'run `tapline login`, or set TAPLINE_API_KEY and TAPLINE_BASE_URL.',
    );
  }
  const input = { live: options.live === true, ...(baseUrl === undefined ? {} : { baseUrl }) };
  return sandboxPlace(near, input);
}

function sandboxOf(sandbox: Sandbox | null, apiKey: string): Sandbox | null {
  const keys = [sandbox?.test.secret_key, sandbox?.live.secret_key];
  return keys.includes(apiKey) ? sandbox : null;
}

export function readSettings(options: GlobalOptions): Settings {
  const target = findPlace(options);
  if (target.apiKey.startsWith('tlsk_live') && options.live !== true) {
    throw new WrongUse(`This is a live key, from ${target.source}. Pass --live to use real money.`);
  }
  const tapline = new Tapline(target.apiKey, { baseUrl: target.baseUrl, fetch: nodeFetch });
  return { ...target, tapline, out: createOutput(options.json === true) };
}

export function demoOf({ sandbox, apiKey }: Place): SandboxMode | null {
  return sandbox?.[apiKey.startsWith('tlsk_live') ? 'live' : 'test'] ?? null;
}

/** Returns a terminal for tests: the demo terminal, or else the first active one. */
export async function someTerminal(settings: Settings): Promise<string> {
  const demo = demoOf(settings);
  if (demo !== null) return demo.terminal;
  const { data } = await settings.tapline.terminals.list({ status: 'active', limit: 1 }).page;
  const [terminal] = data;
  if (terminal === undefined) {
    throw new WrongUse('The account has no active terminal: add one in the dashboard.');
  }
  return terminal.id;
}
