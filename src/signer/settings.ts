import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { StartError } from '#core/start-error.ts';
import { checksummed } from '#settlement/evm-address.ts';
import type { Hex } from '#settlement/requests.ts';
import { type KeySource, keyFromCommand, keyFromFile } from '#signer/key-source.ts';
import { FUNCTIONS, type Limits } from '#signer/rules.ts';

export interface SigningAccount {
  readonly address: Hex;
  readonly source: KeySource;
  readonly limits: Limits;
}

export interface SignerSettings {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** null: plain HTTP, which callers take from their own machine only. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  /** Where it remembers what it has signed. */
  readonly folder: string;
  readonly accounts: readonly SigningAccount[];
}

const MIN_TOKEN_LENGTH = 32;

type Json = Readonly<Record<string, unknown>>;

/** Paths are relative to the file's own folder. @throws StartError with what is wrong. */
export async function readSettings(file: string): Promise<SignerSettings> {
  const json = JSON.parse(await readFile(file, 'utf8')) as Json;
  const here = (name: string) => path.resolve(path.dirname(file), text(json, name));
  const token = (await readFile(here('token_file'), 'utf8')).trim();
  if (token.length < MIN_TOKEN_LENGTH) {
    throw new StartError(`token_file must hold ${MIN_TOKEN_LENGTH} characters or more`);
  }
  const accounts = list(json, 'accounts') as Json[];
  if (accounts.length === 0) throw new StartError('accounts must name an account');
  return {
    ...{ host: text(json, 'host'), port: count(json, 'port') },
    ...{ token, folder: here('folder') },
    tls: json.certificate_file === undefined ? null : await readTls(here),
    accounts: await Promise.all(accounts.map((one) => readAccount(one, path.dirname(file)))),
  };
}

async function readTls(here: (name: string) => string) {
  const [cert, key] = await Promise.all([
    readFile(here('certificate_file')),
    readFile(here('certificate_key_file')),
  ]);
  return { cert, key };
}

async function readAccount(json: Json, folder: string): Promise<SigningAccount> {
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
  if (typeof keyFile === 'string') {
    const source = await keyFromFile(path.resolve(folder, keyFile), address);
    return { address, source, limits };
  }
  if (!Array.isArray(keyCommand)) throw new StartError('an account needs key_file or key_command');
  return { address, source: keyFromCommand(keyCommand.map(String), address), limits };
}

function addressOf(value: unknown): Hex {
  const address = typeof value === 'string' ? checksummed(value) : null;
  if (address !== null) return address;
  throw new StartError(`${value} is no (correctly checksummed) address`);
}

function text(json: Json, name: string): string {
  const value = json[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new StartError(`${name} must be a text`);
}

function count(json: Json, name: string): number {
  const value = json[name];
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new StartError(`${name} must be a whole number`);
}

function list(json: Json, name: string): unknown[] {
  const value = json[name];
  if (Array.isArray(value)) return value;
  throw new StartError(`${name} must be a list`);
}
