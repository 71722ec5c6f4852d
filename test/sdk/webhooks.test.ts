import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { sign, verify, WebhookVerificationError } from 'tapline/webhooks';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const NOW = 1_800_000_000;
const BODY = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: { object: 'é' } });

/** As behavior.md 11.3 describes it, by other means than the package. */
function signature(body: string, secret = SECRET, t = NOW): string {
  const digest = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  return `t=${t},v1=${digest}`;
}

const good = signature(BODY);
const at = { now: NOW };

test('a signed message is the event, whatever form body and headers have', async () => {
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

test('a message that carries two signatures fits either secret, as after a rotation', async () => {
  const both = `${good},${signature(BODY, OTHER).split(',')[1]}`;
  const headers = { 'service-signature': both };
  for (const secret of [SECRET, OTHER, [OTHER, SECRET]]) await verify(BODY, headers, secret, at);
});

const refused: readonly (readonly [string, () => Promise<unknown>, RegExp])[] = [
  ['another secret', () => verify(BODY, { 'service-signature': good }, OTHER, at), /does not fit/],
  [
    'a changed body',
    () => verify(`${BODY} `, { 'service-signature': good }, SECRET, at),
    /does not fit/,
  ],
  ['no header', () => verify(BODY, {}, SECRET, at), /no Service-Signature header/],
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
    'an old message',
    () => verify(BODY, { 'service-signature': good }, SECRET, { now: NOW + 301 }),
    /too old/,
  ],
  [
    'one of the future',
    () => verify(BODY, { 'service-signature': good }, SECRET, { now: NOW - 301 }),
    /too old/,
  ],
  ['no secret', () => verify(BODY, { 'service-signature': good }, '', at), /secret is empty/],
  [
    'a parsed body',
    () => verify(JSON.parse(BODY), { 'service-signature': good }, SECRET, at),
    /parsed already.*express\.raw/,
  ],
];
for (const [what, act, words] of refused) {
  test(`${what} is refused, and says why`, async () => {
    await assert.rejects(act, (error) => {
      assert.ok(error instanceof WebhookVerificationError);
      assert.match(error.message, words);
      assert.ok(!error.message.includes(SECRET));
      return true;
    });
  });
}

test('a message is good for exactly the tolerance', async () => {
  await verify(BODY, { 'service-signature': good }, SECRET, { now: NOW + 300 });
  const strict = { now: NOW + 11, tolerance: 10 };
  await assert.rejects(verify(BODY, { 'service-signature': good }, SECRET, strict), /too old/);
  const nonsense = { now: Number.NaN };
  await assert.rejects(verify(BODY, { 'service-signature': good }, SECRET, nonsense), /too old/);
});

test('sign() signs as the service does', async () => {
  assert.equal(await sign(BODY, SECRET, NOW), good);
});
