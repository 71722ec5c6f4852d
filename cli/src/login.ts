import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { PermissionError, Tapline } from 'tapline';
import { nodeFetch } from 'tapline/node-fetch';
import { createOutput } from './output.ts';
import { writeOwnJson } from './owner-only-file.ts';
import { checkTransport, type GlobalOptions, type Login, loginFile } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

/** Asks for input on the terminal. A secret is not echoed. */
async function question(words: string, secret = false): Promise<string> {
  const shown = new Writable({
    write: (chunk, _encoding, done) => {
      if (!secret) process.stderr.write(chunk);
      done();
    },
  });
  const terminal = process.stdin.isTTY === true;
  if (terminal) process.stderr.write(words);
  const lines = createInterface({ input: process.stdin, output: shown, terminal });
  for await (const line of lines) {
    lines.close();
    if (terminal && secret) process.stderr.write('\n');
    return line.trim();
  }
  return '';
}

/** A key that lacks the terminals scope is valid, too. */
async function check(login: Login): Promise<void> {
  const tapline = new Tapline(login.api_key, { baseUrl: login.base_url, fetch: nodeFetch });
  await tapline.terminals.list({ limit: 1 }).page.catch((error: unknown) => {
    if (!(error instanceof PermissionError && error.code === 'scope_missing')) throw error;
  });
}

export async function login(options: GlobalOptions): Promise<void> {
  const out = createOutput(options.json === true);
  const file = loginFile(options);
  if (file === null) {
    throw new WrongUse('There is no home folder to store the key in. Set TAPLINE_API_KEY instead.');
  }
  const base_url = options.baseUrl ?? process.env.TAPLINE_BASE_URL;
  if (base_url === undefined)
    throw new WrongUse('Pass the URL of the API: --base-url https://…/api');
  const api_key = options.apiKey ?? (await question('Secret key (tlsk_…): ', true));
  const kept: Login = { base_url, api_key };
  checkTransport({ baseUrl: base_url, apiKey: api_key });
  await check(kept);
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeOwnJson(file, kept);
  out.show({ base_url, file }, `Logged in to ${base_url}. The key is in ${file}.`);
}

export function logout(options: GlobalOptions): void {
  const file = loginFile(options);
  if (file !== null) rmSync(file, { force: true });
  createOutput(options.json === true).show({ logged_out: true }, 'Logged out.');
}
