import { readFile } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import path from 'node:path';
import { StartError } from '#core/start-error.ts';
import { requireClosedFile } from '#files/own-files.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { checksummed } from '#settlement/evm-address.ts';
import { type UsedNonces, usedNoncesAt } from '#signer/ask-used-nonces.ts';
import { type KeySource, keyFromCommand, keyFromFile } from '#signer/key-source.ts';
import { FUNCTIONS, type Limits } from '#signer/signing-rules.ts';

export interface SigningAccount {
  readonly address: Hex;
  readonly source: KeySource;
  readonly limits: Limits;
  /** Queries the chain's nodes; `null` if the settings name none. */
  readonly usedNonces: UsedNonces | null;
}

export interface SignerSettings {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** The TLS files; `null` for plain HTTP, which callers accept only from the same machine. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** The folder in which given signatures are recorded. */
  readonly folder: string;
  readonly accounts: readonly SigningAccount[];
}

const MIN_TOKEN_LENGTH = 32;

type Json = Readonly<Record<string, unknown>>;

/**
 * Reads the settings; paths in them are relative to the file's folder.
 * @throws StartError with the invalid setting.
 */
export async function readSettings(file: string): Promise<SignerSettings> {
  await requireClosedFile(file, false);
  const json = JSON.parse(await readFile(file, 'utf8')) as Json;
  const here = (name: string) => path.resolve(path.dirname(file), text(json, name));
  await requireClosedFile(here('token_file'), true);
  const token = (await readFile(here('token_file'), 'utf8')).trim();
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new StartError(`token_file must contain ${MIN_TOKEN_LENGTH} characters or more`);
  }
  const accounts = list(json, 'accounts') as Json[];
  if (accounts.length === 0) throw new StartError('accounts must list at least one account');
  const host = text(json, 'host');
  const tls = json.certificate_file === undefined ? null : await readTls(here);
  if (tls === null && !isOwnMachine(host)) {
    throw new StartError(
      `host ${host} needs certificate_file and certificate_key_file: without TLS it may only ` +
        'listen on 127.0.0.1 or ::1, because the token could be read in transit',
    );
  }
  const base = { folder: path.dirname(file), nodes: readNodes(json.nodes) };
  return {
    ...{ host, port: count(json, 'port'), token, folder: here('folder'), tls },
    accounts: await Promise.all(accounts.map((one) => readAccount(one, base))),
  };
}

function isOwnMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

type Nodes = Readonly<Record<string, readonly string[]>>;

/** Parses `{"8453": ["https://…", "https://…"]}`: for each chain, nodes of two providers. */
function readNodes(value: unknown): Nodes {
  if (value === undefined) return {};
  const chains = Object.entries((value ?? {}) as Json);
  for (const [chain, urls] of chains) {
    const named = new Set(Array.isArray(urls) ? urls.map(String) : []);
    if (named.size < 2 || ![...named].every((url) => /^https?:\/\/[^/]/.test(url))) {
      throw new StartError(`nodes of chain ${chain} must be the URLs of two or more nodes`);
    }
  }
  return Object.fromEntries(chains) as Nodes;
}

async function readTls(here: (name: string) => string) {
  await requireClosedFile(here('certificate_key_file'), true);
  const [cert, key] = await Promise.all([
    readFile(here('certificate_file')),
    readFile(here('certificate_key_file')),
  ]);
  return { cert, key };
}

async function readAccount(
  json: Json,
  { folder, nodes }: { readonly folder: string; readonly nodes: Nodes },
): Promise<SigningAccount> {
  const address = addressOf(json.address);
  const { key_file: keyFile, key_command: keyCommand } = json;
  const limits = {
    chainId: count(json, 'chain_id'),
    to: list(json, 'to').map(addressOf),
    functions: list(json, 'functions').map(String),
    maxGas: BigInt(count(json, 'max_gas')),
    maxFeePerGas: BigInt(text(json, 'max_fee_per_gas')),
    perHour: count(json, 'per_hour'),
  };
  const unknown = limits.functions.find((name) => !FUNCTIONS.has(name));
  if (unknown !== undefined) throw new StartError(`the contract has no function ${unknown}`);
  const { chainId } = limits;
  const urls = nodes[chainId];
  const usedNonces = urls === undefined ? null : usedNoncesAt(urls, { address, chainId });
  if (typeof keyFile === 'string') {
    const source = await keyFromFile(path.resolve(folder, keyFile), address);
    return { address, source, limits, usedNonces };
  }
  if (!Array.isArray(keyCommand)) throw new StartError('an account needs key_file or key_command');
  const [program = '', ...args] = keyCommand.map(String);
  // Other programs are found as in a shell: by their full path or by PATH.
  const file = /^\.\.?\//.test(program) ? path.resolve(folder, program) : program;
  const source = await keyFromCommand([file, ...args], address);
  return { address, source, limits, usedNonces };
}

function addressOf(value: unknown): Hex {
  const address = typeof value === 'string' ? checksummed(value) : null;
  if (address !== null) return address;
  throw new StartError(`${value} is not a (correctly checksummed) address`);
}

function text(json: Json, name: string): string {
  const value = json[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new StartError(`${name} must be a string`);
}

function count(json: Json, name: string): number {
  const value = json[name];
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new StartError(`${name} must be a whole number`);
}

function list(json: Json, name: string): unknown[] {
  const value = json[name];
  if (Array.isArray(value)) return value;
  throw new StartError(`${name} must be an array`);
}
