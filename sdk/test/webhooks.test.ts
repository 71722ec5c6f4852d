import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { sign, verify, WebhookVerificationError } from 'tapline/webhooks';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const NOW = 1_800_000_000;
const BODY = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: { object: 'é' } });

/** Computes a signature as behavior.md 11.3 describes it, independently of the package. */
function signature(body: string, secret = SECRET, t = NOW): string {
  const digest = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  return `t=${t},v1=${digest}`;
}

/** Computes a signature as Standard Webhooks describes it, independently of the package. */
function standard(body: string, secret = SECRET, t = NOW) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const digest = createHmac('sha256', key).update(`evt_1.${t}.${body}`).digest('base64');
  const signed = `v1,${digest}`;
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': `${t}`, 'webhook-signature': signed };
}

const good = signature(BODY);
const goodToo = standard(BODY);
const at = { now: NOW };

test('a signed message yields its event, in any form of body and headers', async () => {
  const bytes = new TextEncoder().encode(BODY);
  const bodies = [BODY, bytes, bytes.buffer as ArrayBuffer, Buffer.from(BODY)];
  const headers = [
    { 'service-signature': good },
    { 'Service-Signature': good },
    new Headers({ 'Service-Signature': good }),
  ];
  for (const body of bodies) {
    for (const one of headers)
      assert.deepEqual(await verify(body, one, SECRET, at), JSON.parse(BODY));
  }
});

test('a message with two signatures matches either secret, as after a rotation', async () => {
  const both = `${good},${signature(BODY, OTHER).split(',')[1]}`;
  const headers = { 'service-signature': both };
  for (const secret of [SECRET, OTHER, [OTHER, SECRET]]) await verify(BODY, headers, secret, at);
});

test('the Standard Webhooks headers prove a message, too', async () => {
  const rotated = `${goodToo['webhook-signature']} ${standard(BODY, OTHER)['webhook-signature']}`;
  const both = { ...goodToo, 'webhook-signature': `v1a,AAAA ${rotated}` };
  for (const headers of [goodToo, new Headers(goodToo), both]) {
    assert.deepEqual(await verify(BODY, headers, SECRET, at), JSON.parse(BODY));
    assert.deepEqual(await verify(BODY, headers, [OTHER, SECRET], at), JSON.parse(BODY));
  }
  await verify(BODY, both, OTHER, at);
  new Webhook(SECRET).verify(BODY, standard(BODY, SECRET, Math.floor(Date.now() / 1000)));
});

test('a wrong Service-Signature is not overridden by the other headers', async () => {
  const headers = { ...goodToo, 'service-signature': signature(BODY, OTHER) };
  await assert.rejects(verify(BODY, headers, SECRET, at), /does not match/);
});

const withService = (header: string) => ({ 'service-signature': header });
const inCapitals = good.replace(/v1=.*/, (hex) => `v1=${hex.slice(3).toUpperCase()}`);

interface Message {
  readonly body: string;
  readonly headers: Record<string, string | undefined>;
  readonly secret: string | undefined;
  readonly now: number;
}

const VALID: Message = { body: BODY, headers: withService(good), secret: SECRET, now: NOW };

const refused: readonly (readonly [string, Partial<Message>, RegExp])[] = [
  ['another secret', { secret: OTHER }, /does not match/],
  ['a changed body', { body: `${BODY} ` }, /does not match/],
  ['no header', { headers: {} }, /neither a Service-Signature/],
  ['a header of another form', { headers: withService('x') }, /not t=/],
  ['no digest that is one', { headers: withService(`t=${NOW},v1=zz`) }, /not t=/],
  ['a time that is none', { headers: withService(good.replace('t=', 't=x')) }, /not t=/],
  ['a second time', { headers: withService(`t=${NOW},${good}`) }, /not t=/],
  ['a digest in capitals', { headers: withService(inCapitals) }, /not t=/],
  ['an old message', { now: NOW + 301 }, /too old/],
  ['one of the future', { now: NOW - 301 }, /too old/],
  ['another secret, by Standard Webhooks', { headers: goodToo, secret: OTHER }, /does not match/],
  ['another id', { headers: { ...goodToo, 'webhook-id': 'evt_2' } }, /does not match/],
  [
    'an old message, by Standard Webhooks',
    { headers: standard(BODY, SECRET, NOW - 301) },
    /too old/,
  ],
  [
    'a later time',
    { headers: { ...goodToo, 'webhook-timestamp': `${NOW + 1}` } },
    /does not match/,
  ],
  ['no time', { headers: { ...goodToo, 'webhook-timestamp': undefined } }, /not v1,… with a time/],
  ['no id', { headers: { ...goodToo, 'webhook-id': undefined } }, /nor webhook-…/],
  ['a strange time', { headers: { ...goodToo, 'webhook-timestamp': 'now' } }, /not v1,/],
  ['no digest', { headers: { ...goodToo, 'webhook-signature': 'v1,x' } }, /not v1,/],
  ['a secret without bytes', { headers: goodToo, secret: 'whsec_' }, /secret is empty/],
  [
    'a secret that is no base64',
    { headers: goodToo, secret: 'whsec_é' },
    /not whsec_ followed by base64/,
  ],
  ['no secret', { secret: '' }, /secret is empty/],
  ['a secret that is not set', { secret: undefined }, /secret is empty/],
  ['a parsed body', { body: JSON.parse(BODY) }, /already parsed.*express\.raw/],
];
for (const [what, message, words] of refused) {
  test(`${what} is refused, with the reason`, async () => {
    const { body, headers, secret, now } = { ...VALID, ...message };
    await assert.rejects(verify(body, headers, secret, { now }), (error) => {
      assert.ok(error instanceof WebhookVerificationError);
      assert.match(error.message, words);
      assert.ok(!error.message.includes(SECRET));
      return true;
    });
  });
}

test('a message is valid for exactly the tolerance', async () => {
  await verify(BODY, { 'service-signature': good }, SECRET, { now: NOW + 300 });
  const strict = { now: NOW + 11, tolerance: 10 };
  await assert.rejects(verify(BODY, { 'service-signature': good }, SECRET, strict), /too old/);
  const nonsense = { now: Number.NaN };
  await assert.rejects(verify(BODY, { 'service-signature': good }, SECRET, nonsense), /too old/);
});

test('sign() signs as the service does', async () => {
  assert.equal(await sign(BODY, SECRET, NOW), good);
});
