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

const refused: readonly (readonly [string, () => Promise<unknown>, RegExp])[] = [
  [
    'another secret',
    () => verify(BODY, { 'service-signature': good }, OTHER, at),
    /does not match/,
  ],
  [
    'a changed body',
    () => verify(`${BODY} `, { 'service-signature': good }, SECRET, at),
    /does not match/,
  ],
  ['no header', () => verify(BODY, {}, SECRET, at), /neither a Service-Signature/],
  [
    'a header of another form',
    () => verify(BODY, { 'service-signature': 'x' }, SECRET, at),
    /not t=/,
  ],
  [
    'no digest that is one',
    () => verify(BODY, { 'service-signature': `t=${NOW},v1=zz` }, SECRET, at),
    /not t=/,
  ],
  [
    'a time that is none',
    () => verify(BODY, { 'service-signature': good.replace('t=', 't=x') }, SECRET, at),
    /not t=/,
  ],
  [
    'a second time',
    () => verify(BODY, { 'service-signature': `t=${NOW},${good}` }, SECRET, at),
    /not t=/,
  ],
  [
    'a digest in capitals',
    () =>
      verify(
        BODY,
        { 'service-signature': good.replace(/v1=.*/, (hex) => `v1=${hex.slice(3).toUpperCase()}`) },
        SECRET,
        at,
      ),
    /not t=/,
  ],
  [
    'an old message',
    () => verify(BODY, { 'service-signature': good }, SECRET, { now: NOW + 301 }),
    /too old/,
  ],
  [
    'one of the future',
    () => verify(BODY, { 'service-signature': good }, SECRET, { now: NOW - 301 }),
    /too old/,
  ],
  ...(
    [
      ['another secret, by Standard Webhooks', goodToo, OTHER, /does not match/],
      ['another id', { ...goodToo, 'webhook-id': 'evt_2' }, SECRET, /does not match/],
      [
        'an old message, by Standard Webhooks',
        standard(BODY, SECRET, NOW - 301),
        SECRET,
        /too old/,
      ],
      ['a later time', { ...goodToo, 'webhook-timestamp': `${NOW + 1}` }, SECRET, /does not match/],
      ['no time', { ...goodToo, 'webhook-timestamp': undefined }, SECRET, /not v1,… with a time/],
      ['no id', { ...goodToo, 'webhook-id': undefined }, SECRET, /nor webhook-…/],
      ['a strange time', { ...goodToo, 'webhook-timestamp': 'now' }, SECRET, /not v1,/],
      ['no digest', { ...goodToo, 'webhook-signature': 'v1,x' }, SECRET, /not v1,/],
      ['a secret without bytes', goodToo, 'whsec_', /secret is empty/],
      ['a secret that is no base64', goodToo, 'whsec_é', /not whsec_ followed by base64/],
    ] as const
  ).map(([what, headers, secret, words]) => {
    return [what, () => verify(BODY, headers, secret, at), words] as const;
  }),
  ['no secret', () => verify(BODY, { 'service-signature': good }, '', at), /secret is empty/],
  [
    'a secret that is not set',
    () => verify(BODY, { 'service-signature': good }, undefined, at),
    /secret is empty/,
  ],
  [
    'a parsed body',
    () => verify(JSON.parse(BODY), { 'service-signature': good }, SECRET, at),
    /already parsed.*express\.raw/,
  ],
];
for (const [what, act, words] of refused) {
  test(`${what} is refused, with the reason`, async () => {
    await assert.rejects(act, (error) => {
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
