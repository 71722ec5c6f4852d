import { execFile } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { PassFileLocations } from '#payers/load-pass-files.ts';

const run = promisify(execFile);

/**
 * Credentials such as Apple and Google issue to an operator, but from a test certificate authority.
 */
export interface WalletCredentials {
  readonly locations: PassFileLocations & {
    readonly apple: NonNullable<PassFileLocations['apple']>;
    readonly google: NonNullable<PassFileLocations['google']>;
  };
  /** Verifies the service account's signatures. */
  readonly googleKey: KeyObject;
  /** Returns the path of a file in the folder. */
  at(name: string): string;
  openssl(...args: string[]): Promise<{ readonly stderr: string }>;
  /** A server certificate for this machine, from the same certificate authority. */
  readonly server: { readonly key: string; readonly cert: string; readonly ca: string };
  remove(): Promise<void>;
}

export const PASS_TYPE = 'pass.com.example.pay';
export const ISSUER = '3388000000012345678';
export const SERVICE_ACCOUNT = 'passes@example.iam';

/**
 * Creates the credentials. The service account gets its tokens from `tokenUrl`. Default: Google's
 * URL.
 */
export async function makeWalletCredentials(tokenUrl?: string): Promise<WalletCredentials> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-pass-'));
  const at = (name: string) => path.join(folder, name);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const key = ['-newkey', 'rsa:2048', '-nodes'];
  const ca = ['-keyout', 'wwdr.key', '-out', 'wwdr.pem', '-subj', '/CN=Test WWDR', '-days', '30'];
  await openssl('req', '-x509', ...key, ...ca);
  const issue = async (name: string, subject: string, extension: readonly string[]) => {
    const wanted = ['-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject];
    await openssl('req', ...key, ...wanted, ...extension);
    const by = ['-CA', 'wwdr.pem', '-CAkey', 'wwdr.key', '-CAcreateserial', '-days', '30'];
    const copied = extension.length > 0 ? ['-copy_extensions', 'copy'] : [];
    await openssl('x509', '-req', '-in', `${name}.csr`, ...by, ...copied, '-out', `${name}.pem`);
  };
  await issue('pass', '/CN=Pass Type ID/OU=TEAM123456', []);
  await issue('server', '/CN=localhost', ['-addext', 'subjectAltName=DNS:localhost']);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const account = {
    client_email: SERVICE_ACCOUNT,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: tokenUrl,
  };
  await writeFile(at('google.json'), JSON.stringify(account));
  const read = (name: string) => readFile(at(name), 'utf8');
  return {
    at,
    openssl,
    googleKey: publicKey,
    locations: {
      apple: {
        passType: PASS_TYPE,
        team: 'TEAM123456',
        certificateFile: at('pass.pem'),
        keyFile: at('pass.key'),
        wwdrFile: at('wwdr.pem'),
        nfcPublicKey: null,
      },
      google: { issuer: ISSUER, credentialsFile: at('google.json') },
    },
    server: {
      key: await read('server.key'),
      cert: await read('server.pem'),
      ca: await read('wwdr.pem'),
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
