import { sign } from 'node:crypto';
import type { ShownPass } from '#payers/pass-files.ts';

/** A service account that may make passes of this issuer. */
export interface GoogleSigner {
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
export function makeGoogleLink(signer: GoogleSigner, pass: ShownPass, now: Date): string {
  const { issuer, email, key } = signer;
  const classId = `${issuer}.tapline`;
  const claims = {
    iss: email,
    aud: 'google',
    typ: 'savetowallet',
    iat: Math.floor(now.getTime() / 1000),
    origins: [new URL(pass.walletUrl).origin],
    payload: {
      genericClasses: [{ id: classId }],
      genericObjects: [
        {
          id: `${issuer}.${pass.id}`,
          classId,
          state: 'ACTIVE',
          cardTitle: text('Tapline'),
          header: text(pass.name),
          hexBackgroundColor: '#123c2f',
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
