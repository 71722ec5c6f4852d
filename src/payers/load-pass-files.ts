import { createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { StartError } from '#core/start-error.ts';
import { type AppleSigner, makeApplePass } from '#payers/apple-pass.ts';
import type { PassFiles, ShownPass } from '#payers/pass-files.ts';

/** Where the operator keeps what passes are signed with: see pass-file-settings.ts. */
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

async function loadApple(wanted: NonNullable<PassFileLocations['apple']>): Promise<AppleSigner> {
  const certificate = await readFileOf('APPLE_PASS_CERTIFICATE', wanted.certificateFile);
  const key = await readFileOf('APPLE_PASS_KEY', wanted.keyFile);
  const wwdr = await readFileOf('APPLE_WWDR_CERTIFICATE', wanted.wwdrFile);
  const what = 'a certificate in PEM';
  const own = checked('APPLE_PASS_CERTIFICATE', what, () => new X509Certificate(certificate));
  checked('APPLE_WWDR_CERTIFICATE', what, () => new X509Certificate(wwdr));
  const privateKey = checked('APPLE_PASS_KEY', 'a private key in PEM without a passphrase', () =>
    createPrivateKey(key),
  );
  if (!own.checkPrivateKey(privateKey)) {
    throw new StartError('APPLE_PASS_KEY is not the key of APPLE_PASS_CERTIFICATE');
  }
  return { ...wanted, certificate, key, wwdr };
}

async function loadGoogle(wanted: NonNullable<PassFileLocations['google']>): Promise<GoogleSigner> {
  const name = 'GOOGLE_WALLET_CREDENTIALS';
  const file = await readFileOf(name, wanted.credentialsFile);
  return checked(name, 'the JSON of a service account (client_email, private_key)', () => {
    const { client_email: email, private_key: key } = JSON.parse(file);
    createPrivateKey(key);
    if (typeof email !== 'string') throw new Error('no client_email');
    return { issuer: wanted.issuer, email, key };
  });
}

/** @throws StartError that names the setting whose file is missing or of no use. */
export async function loadPassFiles(wanted: PassFileLocations): Promise<PassFiles> {
  const apple = wanted.apple && (await loadApple(wanted.apple));
  const google = wanted.google && (await loadGoogle(wanted.google));
  return {
    appleAtReaders: apple?.nfcPublicKey != null,
    apple: apple && ((pass) => makeApplePass(apple, pass)),
    google: google && ((pass, now) => makeGoogleLink(google, pass, now)),
  };
}

/** A service account that may make passes of this issuer. */
interface GoogleSigner {
  readonly issuer: string;
  readonly email: string;
  /** PEM. */
  readonly key: string;
}

const SAVE = 'https://pay.google.com/gp/v/save/';

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function text(value: string) {
  return { defaultValue: { language: 'en', value } };
}

/** The link that puts the pass into Google Wallet: a JWT (RS256) with the pass in it. */
function makeGoogleLink(signer: GoogleSigner, pass: ShownPass, now: Date): string {
  const { issuer, email, key } = signer;
  const classId = `${issuer}.tapline`;
  const claims = {
    iss: email,
    aud: 'google',
    typ: 'savetowallet',
    iat: Math.floor(now.getTime() / 1000),
    origins: [new URL(pass.walletUrl).origin],
    payload: {
      // Readers of this issuer get the value of the object, over an encrypted channel.
      genericClasses: [{ id: classId, enableSmartTap: true, redemptionIssuers: [issuer] }],
      genericObjects: [
        {
          id: `${issuer}.${pass.id}`,
          classId,
          state: 'ACTIVE',
          cardTitle: text('Tapline'),
          header: text(pass.name),
          hexBackgroundColor: '#123c2f',
          ...(pass.readerValue === null ? {} : { smartTapRedemptionValue: pass.readerValue }),
          linksModuleData: {
            uris: [{ id: 'wallet', uri: pass.walletUrl, description: 'Wallet app' }],
          },
        },
      ],
    },
  };
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url');
  return `${SAVE}${signed}.${signature}`;
}
