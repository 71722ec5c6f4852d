import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { Tapline } from 'tapline';
import { createOutput, type Output } from './output.ts';
import { WrongUse } from './wrong-use.ts';

/** Options that every command takes. */
export interface GlobalOptions {
  readonly json?: boolean;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly live?: boolean;
}

/** What this program uses of sandbox.json. */
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

/** Which network a command talks to, with which key, and how that was found. */
export interface Place {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly source: string;
  /** Its demo data, where the place is a sandbox on this machine. */
  readonly sandbox: Sandbox | null;
}

export interface Settings extends Place {
  readonly tapline: Tapline;
  readonly out: Output;
}

export interface Login {
  readonly base_url: string;
  readonly api_key: string;
}

export function loginFile(): string {
  const config = process.env.XDG_CONFIG_HOME ?? path.join(homedir(), '.config');
  return path.join(config, 'tapline', 'login.json');
}

function readJson<T>(file: string): T | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    return null;
  }
}

/** `.tapline/sandbox.json` here or in a folder above, as git finds its repository. */
function sandboxAbove(folder: string): Sandbox | null {
  const found = readJson<Sandbox>(path.join(folder, '.tapline', 'sandbox.json'));
  const above = path.dirname(folder);
  return found ?? (above === folder ? null : sandboxAbove(above));
}

function sandboxPlace(sandbox: Sandbox, live: boolean): Place {
  const { secret_key: apiKey } = sandbox[live ? 'live' : 'test'];
  return { baseUrl: sandbox.base_url, apiKey, source: 'the sandbox on this machine', sandbox };
}

/** The nearest word wins: options, the environment, the login, the sandbox. */
export function findPlace(options: GlobalOptions): Place {
  const { TAPLINE_API_KEY, TAPLINE_BASE_URL, TAPLINE_DATA_DIR } = process.env;
  const named = TAPLINE_DATA_DIR ? readJson<Sandbox>(`${TAPLINE_DATA_DIR}/sandbox.json`) : null;
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
  const login = readJson<Login>(loginFile());
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
    throw new WrongUse(
      'No network was found. Start the sandbox (npm start) in this folder or one above it, or ' +
        'say `tapline login`, or set TAPLINE_API_KEY and TAPLINE_BASE_URL.',
    );
  }
  const place = sandboxPlace(near, options.live === true);
  return { ...place, baseUrl: baseUrl ?? place.baseUrl };
}

/** The sandbox that a key belongs to. */
function sandboxOf(sandbox: Sandbox | null, apiKey: string): Sandbox | null {
  const keys = [sandbox?.test.secret_key, sandbox?.live.secret_key];
  return keys.includes(apiKey) ? sandbox : null;
}

export function readSettings(options: GlobalOptions): Settings {
  const place = findPlace(options);
  const tapline = new Tapline(place.apiKey, { baseUrl: place.baseUrl });
  return { ...place, tapline, out: createOutput(options.json === true) };
}

/** The demo data of the mode that the key belongs to. */
export function demoOf({ sandbox, apiKey }: Place): SandboxMode | null {
  return sandbox?.[apiKey.startsWith('tlsk_live') ? 'live' : 'test'] ?? null;
}

/** A terminal to play with: the demo one, or the first active one. */
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
