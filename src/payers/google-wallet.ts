import { sign } from 'node:crypto';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import { CODE_DIGITS, STEP_MS } from '#payers/check-rotating-code.ts';
import type { ShownPass } from '#payers/pass-files.ts';

/** A Google service account that may issue passes of this issuer. */
export interface GoogleSigner {
  readonly issuer: string;
  readonly email: string;
  /** PEM. */
  readonly key: string;
  /** The URL that issues the account's access tokens. */
  readonly tokenUrl: string;
}

const SAVE = 'https://pay.google.com/gp/v/save/';
export const GOOGLE_API = 'https://walletobjects.googleapis.com/walletobjects/v1';
const SCOPE = 'https://www.googleapis.com/auth/wallet_object.issuer';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Maximum lifetime that Google allows. */
const TOKEN_S = 3_600;
/**
 * A token is renewed this long before it expires, so that it stays valid until its request has
 * ended.
 */
const TOKEN_SLACK_MS = 60_000;
/**
 * Time limit of one request to Google. All requests for one pass copy must fit within the copy's
 * lease: see notify-wallets.ts.
 */
const REQUEST_LIMIT_MS = 8_000;

function text(value: string) {
  return { defaultValue: { language: 'en', value } };
}

function classOf(issuer: string) {
  // Google shows the object's value only to this issuer's readers, over an encrypted channel.
  return { id: `${issuer}.tapline`, enableSmartTap: true, redemptionIssuers: [issuer] };
}

/** The fields of Google's GenericObject that a pass needs. */
function googleObject(issuer: string, pass: ShownPass) {
  return {
    id: `${issuer}.${pass.id}`,
    classId: classOf(issuer).id,
    state: pass.isVoid ? 'EXPIRED' : 'ACTIVE',
    cardTitle: text('Tapline'),
    header: text(pass.name),
    hexBackgroundColor: '#123c2f',
    ...(pass.readerValue === null || pass.isVoid
      ? {}
      : { smartTapRedemptionValue: pass.readerValue }),
    ...(pass.rotatingKey === null || pass.isVoid
      ? {}
      : { rotatingBarcode: rotatingBarcode(pass.id, pass.rotatingKey) }),
    linksModuleData: {
      uris: [{ id: 'wallet', uri: pass.walletUrl, description: 'Wallet app' }],
    },
  };
}

function rotatingBarcode(passId: string, key: Buffer) {
  return {
    type: 'QR_CODE',
    renderEncoding: 'UTF_8',
    valuePattern: `${passId}.{totp_value_0}`,
    totpDetails: {
      algorithm: 'TOTP_SHA1',
      // A 64-bit number, which Google's JSON represents as text.
      periodMillis: String(STEP_MS),
      parameters: [{ key: key.toString('hex').toUpperCase(), valueLength: CODE_DIGITS }],
    },
  };
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** Creates an RS256 JWT that the service account signs. */
function jwt(signer: GoogleSigner, claims: object): string {
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), signer.key).toString('base64url');
  return `${signed}.${signature}`;
}

/** Google warns that browsers may truncate longer links; the pass would then not be saved. */
const MAX_LINK_LENGTH = 1_800;
/** Bytes of text per base64url character. */
const BYTES_PER_CHARACTER = 3 / 4;

/**
 * Returns the link that adds the pass to Google Wallet. It omits the key of the pass's rotating
 * codes, because links stay in browser histories. Google receives the key through its REST API, and
 * also the full name if the link contains a shortened one.
 */
export function googleLink(signer: GoogleSigner, pass: ShownPass, now: Date): string {
  const link = linkOf(signer, pass, now);
  const excess = link.length - MAX_LINK_LENGTH;
  if (excess <= 0) return link;
  const name = shortened(pass.name, Math.ceil(excess * BYTES_PER_CHARACTER));
  return linkOf(signer, { ...pass, name }, now);
}

/** Returns the name, shortened by at least `bytes` bytes. */
function shortened(name: string, bytes: number): string {
  const size = (text: string) => Buffer.byteLength(JSON.stringify(text));
  const letters = [...name];
  let short = name;
  while (letters.length > 0 && size(short) > size(name) - bytes) {
    letters.pop();
    short = `${letters.join('')}…`;
  }
  return short;
}

function linkOf(signer: GoogleSigner, pass: ShownPass, now: Date): string {
  const { issuer, email } = signer;
  const claims = {
    iss: email,
    aud: 'google',
    typ: 'savetowallet',
    iat: Math.floor(now.getTime() / 1000),
    origins: [new URL(pass.walletUrl).origin],
    payload: {
      genericClasses: [classOf(issuer)],
      genericObjects: [googleObject(issuer, { ...pass, rotatingKey: null })],
    },
  };
  return `${SAVE}${jwt(signer, claims)}`;
}

async function answerOf(url: string, request: RequestInit): Promise<Response> {
  return plainFetch(url, {
    ...request,
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
}

/** Access tokens of the service account, cached until shortly before they expire. */
function createTokens(signer: GoogleSigner) {
  let kept: { readonly token: string; readonly until: number } | null = null;
  return {
    forget: () => {
      kept = null;
    },
    get: async (now: Date): Promise<string> => {
      if (kept !== null && kept.until > now.getTime()) return kept.token;
      const iat = Math.floor(now.getTime() / 1000);
      const claims = { iss: signer.email, scope: SCOPE, aud: signer.tokenUrl, iat };
      const assertion = jwt(signer, { ...claims, exp: iat + TOKEN_S });
      const body = new URLSearchParams({ grant_type: GRANT, assertion });
      const answer = await answerOf(signer.tokenUrl, { method: 'POST', body });
      if (!answer.ok) throw new Error(`Google returned no token: ${answer.status}`);
      const { access_token: token, expires_in: seconds } = (await answer.json()) as {
        readonly access_token: string;
        readonly expires_in: number;
      };
      kept = { token, until: now.getTime() + seconds * 1000 - TOKEN_SLACK_MS };
      return token;
    },
  };
}

/** Returns a function that creates or replaces a pass's object through Google's REST API. */
export function createGoogleObjects(signer: GoogleSigner, api: string) {
  const tokens = createTokens(signer);
  const send = async (method: 'PUT' | 'POST', path: string, body: object, now: Date) => {
    const answer = await answerOf(`${api}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await tokens.get(now)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    await answer.body?.cancel();
    if (answer.status === 401) tokens.forget();
    return answer.status;
  };
  const require = (status: number, allowed: readonly number[]) => {
    if (!allowed.includes(status)) throw new Error(`Google Wallet returned ${status}`);
    return status;
  };
  return async (pass: ShownPass, now: Date): Promise<void> => {
    const object = googleObject(signer.issuer, pass);
    const replace = () => send('PUT', `genericObject/${object.id}`, object, now);
    if (require(await replace(), [200, 404]) === 200) return;
    require(await send('POST', 'genericClass', classOf(signer.issuer), now), [200, 409]);
    const made = require(await send('POST', 'genericObject', object, now), [200, 409]);
    // Meanwhile, the link has created the object, without the key of the rotating codes. Replace
    // it.
    if (made === 409) require(await replace(), [200]);
  };
}
