import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { StartError } from '#core/start-error.ts';
import { type AppleSigner, makeApplePass } from '#payers/apple-pass.ts';
import { pushToApple } from '#payers/apple-push.ts';
import {
  createGoogleObjects,
  GOOGLE_API,
  type GoogleSigner,
  googleLink,
} from '#payers/google-wallet.ts';
import type { PassFiles } from '#payers/pass-files.ts';

export interface PassFileLocations {
  readonly apple: {
    readonly passType: string;
    readonly team: string;
    readonly certificateFile: string;
    readonly keyFile: string;
    readonly wwdrFile: string;
    readonly nfcPublicKey: string | null;
  } | null;
  readonly google: { readonly issuer: string; readonly credentialsFile: string } | null;
}

async function readFileOf(name: string, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`${name}: the file cannot be read (${error.code ?? error.message})`);
  });
}

function checked<T>(name: string, what: string, work: () => T): T {
  try {
    return work();
  } catch {
    throw new StartError(`${name}: the file is not ${what}`);
  }
}

async function loadApple(files: NonNullable<PassFileLocations['apple']>): Promise<AppleSigner> {
  const certificate = await readFileOf('APPLE_PASS_CERTIFICATE', files.certificateFile);
  const key = await readFileOf('APPLE_PASS_KEY', files.keyFile);
  const wwdr = await readFileOf('APPLE_WWDR_CERTIFICATE', files.wwdrFile);
  const what = 'a certificate in PEM';
  const own = checked('APPLE_PASS_CERTIFICATE', what, () => new X509Certificate(certificate));
  checked('APPLE_WWDR_CERTIFICATE', what, () => new X509Certificate(wwdr));
  const privateKey = checked('APPLE_PASS_KEY', 'a private key in PEM without a passphrase', () =>
    createPrivateKey(key),
  );
  if (!own.checkPrivateKey(privateKey)) {
    throw new StartError('APPLE_PASS_KEY is not the key of APPLE_PASS_CERTIFICATE');
  }
  return { ...files, certificate, key, wwdr };
}

async function loadGoogle(files: NonNullable<PassFileLocations['google']>): Promise<GoogleSigner> {
  const name = 'GOOGLE_WALLET_CREDENTIALS';
  const file = await readFileOf(name, files.credentialsFile);
  return checked(name, 'the JSON of a service account (client_email, private_key)', () => {
    const account = JSON.parse(file);
    const { client_email: email, private_key: key, token_uri: tokenUrl = TOKEN_URL } = account;
    createPrivateKey(key);
    if (typeof email !== 'string') throw new Error('no client_email');
    return { issuer: files.issuer, email, key, tokenUrl: new URL(tokenUrl).href };
  });
}

/** Default for service account files without a `token_uri`. */
const TOKEN_URL = 'https://oauth2.googleapis.com/token';

/** The URLs of Google's and Apple's servers, which receive changes of passes. */
export interface WalletServers {
  readonly google: string;
  readonly apple: { readonly url: string; readonly ca?: string };
}

const SERVERS: WalletServers = {
  google: GOOGLE_API,
  apple: { url: 'https://api.push.apple.com' },
};

/** @throws StartError that names the setting whose file is missing or invalid. */
export async function loadPassFiles(
  files: PassFileLocations,
  servers: WalletServers = SERVERS,
): Promise<PassFiles> {
  const apple = files.apple && (await loadApple(files.apple));
  const google = files.google && (await loadGoogle(files.google));
  return {
    apple: apple && {
      passType: apple.passType,
      atReaders: apple.nfcPublicKey !== null,
      make: (pass, updates) => makeApplePass(apple, pass, updates),
      push: (tokens) => pushToApple(apple, tokens, servers.apple),
    },
    google: google && {
      link: (pass, now) => googleLink(google, pass, now),
      put: createGoogleObjects(google, servers.google),
    },
  };
}
