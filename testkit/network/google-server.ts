import assert from 'node:assert/strict';
import { type KeyObject, verify } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import Type, { type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { ISSUER, SERVICE_ACCOUNT } from '#testkit/fixtures/payers/wallet-credentials.ts';
import { listen } from '#testkit/network/listen.ts';

/**
 * Behaves like the parts of Google's token endpoint and Wallet API that passes need. It refuses
 * requests that violate Google's documentation (OAuth 2.0 for service accounts; REST reference of
 * Google Wallet), and stores the objects that a phone would show.
 */
export type GoogleServer = Awaited<ReturnType<typeof startGoogleServer>>;

const strict = { additionalProperties: false };
const object = (fields: Record<string, TSchema>) => Type.Object(fields, strict);
const LocalizedString = object({
  defaultValue: object({ language: Type.String(), value: Type.String() }),
});
const GenericClass = object({
  id: Type.String({ pattern: '^\\d+\\.[\\w.-]+$' }),
  enableSmartTap: Type.Boolean(),
  redemptionIssuers: Type.Array(Type.String({ pattern: '^\\d+$' })),
});
const GenericObject = object({
  id: Type.String({ pattern: '^\\d+\\.[\\w.-]+$' }),
  classId: Type.String(),
  state: Type.Enum(['ACTIVE', 'COMPLETED', 'EXPIRED', 'INACTIVE']),
  cardTitle: LocalizedString,
  header: LocalizedString,
  hexBackgroundColor: Type.String({ pattern: '^#[0-9a-f]{6}$' }),
  smartTapRedemptionValue: Type.Optional(Type.String()),
  rotatingBarcode: Type.Optional(
    object({
      type: Type.Literal('QR_CODE'),
      renderEncoding: Type.Literal('UTF_8'),
      valuePattern: Type.String({ pattern: '\\{totp_value_0\\}' }),
      totpDetails: object({
        algorithm: Type.Literal('TOTP_SHA1'),
        periodMillis: Type.String({ pattern: '^\\d+$' }),
        parameters: Type.Array(
          object({
            key: Type.String({ pattern: '^([0-9A-F]{2})+$' }),
            valueLength: Type.Integer(),
          }),
        ),
      }),
    }),
  ),
  linksModuleData: object({
    uris: Type.Array(object({ id: Type.String(), uri: Type.String(), description: Type.String() })),
  }),
});

const TOKEN_PATH = '/token';
const API_PATH = '/walletobjects/v1';

const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());

/**
 * Checks a signed assertion.
 * @throws if Google would refuse it
 */
function checkAssertion(body: string, key: KeyObject, tokenUrl: string): void {
  const form = new URLSearchParams(body);
  assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const [header = '', claims = '', signature = ''] = String(form.get('assertion')).split('.');
  assert.deepEqual(decode(header), { alg: 'RS256', typ: 'JWT' });
  const signed = Buffer.from(`${header}.${claims}`);
  assert.ok(verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url')));
  const { iss, scope, aud, iat, exp, ...rest } = decode(claims);
  assert.deepEqual([iss, aud, rest], [SERVICE_ACCOUNT, tokenUrl, {}]);
  assert.equal(scope, 'https://www.googleapis.com/auth/wallet_object.issuer');
  assert.ok(exp > iat && exp - iat <= 3600);
}

/** Stores objects by Google's rules for POST and PUT. */
function createStore(objects: GoogleServer['objects']) {
  const classes = new Set<string>();
  const insertClass = (body: unknown) => {
    if (!Value.Check(GenericClass, body)) return 400;
    const { id } = body as { id: string };
    if (classes.has(id)) return 409;
    classes.add(id);
    return 200;
  };
  const write = (body: unknown, allowed: (isThere: boolean) => number) => {
    if (!Value.Check(GenericObject, body)) return 400;
    const { id, classId } = body as { id: string; classId: string };
    if (!id.startsWith(`${ISSUER}.`) || !classes.has(classId)) return 404;
    const status = allowed(objects.has(id));
    if (status === 200) objects.set(id, body as Record<string, unknown>);
    return status;
  };
  return (method: string, path: string, body: unknown): number => {
    if (method === 'POST' && path === '/genericClass') return insertClass(body);
    if (method === 'POST' && path === '/genericObject') {
      return write(body, (isThere) => (isThere ? 409 : 200));
    }
    const id = /^\/genericObject\/([\w.-]+)$/.exec(path)?.[1];
    if (method !== 'PUT' || id === undefined) return 404;
    if (!objects.has(id)) return 404;
    if ((body as { id?: string }).id !== id) return 400;
    return write(body, () => 200);
  };
}

export async function startGoogleServer() {
  /** Stored objects by id. */
  const objects = new Map<string, Record<string, unknown>>();
  const store = createStore(objects);
  /** Every request to the API, as method, path and status. */
  const calls: string[] = [];
  let given = 0;
  let failing: number[] = [];
  let key: KeyObject | null = null;
  let base = '';
  const giveToken = (body: string) => {
    assert.ok(key !== null);
    checkAssertion(body, key, `${base}${TOKEN_PATH}`);
    given++;
    return { access_token: `token-${given}`, expires_in: 3599, token_type: 'Bearer' };
  };
  const callApi = (request: IncomingMessage, body: string): number => {
    const { method = '', url = '', headers } = request;
    const path = url.slice(API_PATH.length);
    const known = headers.authorization === `Bearer token-${given}`;
    const isJson = headers['content-type'] === 'application/json';
    const status =
      failing.shift() ?? (known && isJson ? store(method, path, JSON.parse(body)) : 401);
    calls.push(`${method} ${path} ${status}`);
    return status;
  };
  const server = createServer((request, response) => {
    void text(request)
      .then((body) => {
        const isToken = request.url === TOKEN_PATH && request.method === 'POST';
        const answer = isToken ? giveToken(body) : {};
        const status = isToken ? 200 : callApi(request, body);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer));
      })
      .catch((error: unknown) => {
        calls.push(`refused: ${error}`);
        response.writeHead(400).end('{}');
      });
  });
  const { url, close } = await listen(server);
  base = url;
  return {
    tokenUrl: `${base}${TOKEN_PATH}`,
    api: `${base}${API_PATH}`,
    objects,
    calls,
    /** Returns the number of tokens that were issued. */
    tokens: () => given,
    /** Makes the next API requests fail with these statuses. */
    fail: (statuses: readonly number[]) => {
      failing = [...statuses];
    },
    /** Registers the service account's public key. */
    trust: (trusted: KeyObject) => {
      key = trusted;
    },
    close,
  };
}
