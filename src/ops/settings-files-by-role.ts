import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { NETWORKS } from '#core/mode.ts';
import { StartError } from '#core/start-error.ts';
import { requireClosedFolder } from '#files/own-files.ts';
import { newKey } from '#ops/deploy-contract.ts';
import { chainPrefix, type Env } from '#settings/setting-names.ts';
import type { Role } from '#settings/start-arguments.ts';

/**
 * The roles that run on one machine. A watchtower belongs on another machine, with its own
 * settings.
 */
export type ServiceRole = Exclude<Role, 'watch'>;

/** The settings files that each role reads, in this order (docs/deploy.md). */
export const FILES_OF_ROLE: Readonly<Record<ServiceRole, readonly string[]>> = {
  api: ['tapline.env'],
  worker: ['tapline.env', 'worker.env'],
  registrar: ['tapline.env', 'registrar.env'],
};

/**
 * Number of relayer keys in the settings, which settle in parallel; two spare keys are kept
 * offline.
 */
const RELAYERS = 4;
const EXAMPLE = path.join(import.meta.dirname, '../../.env.example');
/**
 * Settings that a real network needs. The other settings of the example stay commented out, with
 * their defaults.
 */
const FILLED: Readonly<Record<string, () => string>> = {
  NODE_ENV: () => 'production',
  DRAIN_SECONDS: () => '10',
  METRICS_TOKEN: () => randomBytes(24).toString('base64url'),
  TAPLINE_SECRET: () => randomBytes(32).toString('hex'),
};
/** Settings whose values only the operator knows. */
const ASKED = /^(DATABASE_URL|SMTP_URL|MAIL_FROM|TAPLINE_PUBLIC_URL|TRUSTED_PROXIES)$/;
const ASKED_OF_CHAIN = /^CHAIN_\w+?_(RPC_URL|CHAIN_ID|USDC|SETTLEMENT|DEPLOYED_AT_BLOCK)$/;
const KEYS = /^CHAIN_\w+_(RELAYER_KEYS|REGISTRAR_KEY|SPONSOR_KEY|WATCHER_KEY|SIGNER_TOKEN)$/;

function commonSettings(example: string): string {
  const lines = example.split('\n').map((line) => {
    const [, name = ''] = /^([A-Z][A-Z0-9_]*)=/.exec(line) ?? [];
    if (name === '') return line;
    if (KEYS.test(name)) return `# ${name}: in worker.env, registrar.env, or at a watchtower.`;
    const fill = FILLED[name];
    if (fill !== undefined) return `${name}=${fill()}`;
    return ASKED.test(name) || ASKED_OF_CHAIN.test(name) ? `${name}=` : `# ${line}`;
  });
  return `${lines.slice(3).join('\n')}`;
}

interface Made {
  /** Files that were created. */
  readonly files: readonly string[];
  /** Addresses of the new keys. Operators must give them gas and roles. */
  readonly addresses: readonly string[];
}

function signingKeys(role: 'worker' | 'registrar'): { text: string; addresses: string[] } {
  const addresses: string[] = [];
  const lines = NETWORKS.map((network) => {
    const count = role === 'worker' ? RELAYERS : 1;
    const keys = Array.from({ length: count }, newKey);
    const what = role === 'worker' ? 'relayer' : 'registrar';
    for (const { address } of keys) addresses.push(`${network} ${what} ${address}`);
    const setting = role === 'worker' ? 'RELAYER_KEYS' : 'REGISTRAR_KEY';
    return `${chainPrefix(network)}${setting}=${keys.map(({ key }) => key).join(',')}`;
  });
  return { text: `# Signing keys: for the ${role} alone.\n${lines.join('\n')}\n`, addresses };
}

/** Creates the missing settings files, with new secrets; never changes existing files. */
export async function makeSettings(folder: string): Promise<Made> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await requireClosedFolder(folder);
  const example = await readFile(EXAMPLE, 'utf8');
  const [worker, registrar] = [signingKeys('worker'), signingKeys('registrar')];
  const outputs: readonly (readonly [string, { text: string; addresses: string[] }])[] = [
    ['tapline.env', { text: commonSettings(example), addresses: [] }],
    ['worker.env', worker],
    ['registrar.env', registrar],
  ];
  const files: string[] = [];
  const addresses: string[] = [];
  for (const [name, made] of outputs) {
    const written = await writeFile(path.join(folder, name), made.text, { flag: 'wx', mode: 0o600 })
      .then(() => true)
      .catch((error) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      });
    if (!written) continue;
    files.push(name);
    addresses.push(...made.addresses);
  }
  return { files, addresses };
}

/**
 * Reads the settings with which a role in this folder starts.
 * @throws StartError if a file is missing.
 */
export async function readSettingsOf(folder: string, role: ServiceRole): Promise<Env> {
  const env: Record<string, string | undefined> = {};
  for (const name of FILES_OF_ROLE[role]) {
    const file = path.join(folder, name);
    const text = await readFile(file, 'utf8').catch(() => {
      throw new StartError(`${file} cannot be read: tapline init --folder ${folder} creates it`);
    });
    Object.assign(env, parseEnv(text));
  }
  return env;
}
