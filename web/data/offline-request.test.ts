import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { isRefusal } from '#core/answer.ts';
import { readName } from '#core/name-rules.ts';
import { authorizationNonce } from '#settlement/contract/contract-calls.ts';
import type { Hex } from './bytes.ts';
import { fromHex, toHex } from './bytes.ts';
import codes from './offline-codes.json' with { type: 'json' };
import before from './offline-codes-before.json' with { type: 'json' };
import {
  answerTo,
  nonceCheckOf,
  type OfflineAnswer,
  type OfflineRequest,
  offlineMessage,
  offlineNonce,
  readAnswer,
  readRequest,
  writeAnswer,
  writeRequest,
} from './offline-request.ts';
import { verifyAnswer } from './offline-signature.ts';

/** Sums are numbers in JSON. */
function requestOf(request: (typeof codes)[number]['request']): OfflineRequest {
  const { amount, value, ...rest } = request;
  return { ...rest, amount: BigInt(amount), value: BigInt(value) } as OfflineRequest;
}

const wallet = privateKeyToAccount(generatePrivateKey());

const REQUEST: OfflineRequest = {
  chainId: 84532,
  usdc: `0x${'a1'.repeat(20)}`,
  usdcName: 'USD Coin',
  usdcVersion: '2',
  settlement: `0x${'b2'.repeat(20)}`,
  merchantNumber: 7,
  merchantName: 'Blue Door Café',
  amount: 2_500_000n,
  value: 2_512_500n,
  validBefore: 1_790_000_000,
  salt: `0x${'c3'.repeat(32)}`,
};

const IN_EUROS: OfflineRequest = {
  ...REQUEST,
  price: { currency: 'eur', amount: 228, rate: '1.096276999892' },
};

async function signed(request: OfflineRequest, from: Hex = wallet.address) {
  const signature = await wallet.signTypedData(offlineMessage(request, from));
  return answerTo(request, { from, signature });
}

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => toHex(all));
const name = fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed());
const shopName = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
  .map((text) => readName(text, 'name'))
  .filter((read) => !isRefusal(read) && new TextEncoder().encode(read).length <= 60)
  .map(String);
const requests: fc.Arbitrary<OfflineRequest> = fc.record(
  {
    chainId: fc.nat(),
    usdc: hex(20),
    usdcName: name,
    usdcVersion: name,
    settlement: hex(20),
    merchantNumber: fc.nat(),
    merchantName: shopName,
    amount: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    value: fc.bigInt({ min: 1n, max: 2n * 10n ** 12n }),
    validBefore: fc.nat(),
    salt: hex(32),
  },
  { noNullPrototype: true },
);

test('a request comes back as it was written, in capital letters and digits alone', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const text = writeRequest(request);
      assert.match(text, /^[A-Z2-7]+1[A-Z2-7]+$|^TLREQ1[A-Z2-7]+$/);
      assert.deepEqual(readRequest(text), request);
      assert.deepEqual(readRequest(` ${text.toLowerCase().replace(/(.{20})/g, '$1\n')}`), request);
    }),
  );
});

test('a long name is cut at a whole character', () => {
  const read = readRequest(writeRequest({ ...REQUEST, merchantName: `a${'é'.repeat(90)}` }));
  assert.ok(typeof read !== 'string');
  assert.equal(read.merchantName, `a${'é'.repeat(29)}`);
});

test('a name that is cut within an emoji is still read', () => {
  const merchantName = `${'a'.repeat(53)}\u{1f469}\u200d\u{1f469}`;
  const read = readRequest(writeRequest({ ...REQUEST, merchantName }));
  assert.ok(typeof read !== 'string');
  assert.equal(read.merchantName, `${'a'.repeat(53)}\u{1f469}`);
});

for (const [what, merchantName] of Object.entries({
  'that changes the direction': 'Café \u202eroom',
  'with a control character': 'Café\u0007',
  'with a line break': 'Café\nPaid',
  'with invisible characters': 'Ca\u200bfé',
  'with a pile of marks': `e${'\u0301'.repeat(8)}`,
  'that mixes look-alike letters': 'Сafe',
  'that is empty': '',
})) {
  test(`a request from a shop with a name ${what} is not read`, () => {
    assert.equal(readRequest(writeRequest({ ...REQUEST, merchantName })), 'damaged');
  });
}

test('no changed, shortened or lengthened code is read as another one', async () => {
  const answer = await signed(REQUEST);
  const texts = [REQUEST, IN_EUROS].flatMap((request) => [
    writeRequest(request),
    writeAnswer(answer, request),
  ]);
  for (const text of texts) {
    const read = text.startsWith('TLREQ') ? readRequest : readAnswer;
    assert.notEqual(typeof read(text), 'string', text);
    for (let at = 6; at < text.length; at++) {
      const other = text.charAt(at) === 'A' ? 'B' : 'A';
      const changed = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
      assert.equal(read(changed), 'damaged', `letter ${at}`);
      assert.equal(read(text.slice(0, at)), 'damaged', `up to letter ${at}`);
    }
    assert.equal(read(`${text}A`), 'damaged');
    assert.equal(read(`${text}=`), 'damaged');
    const [own, other] = text.charAt(5) === '1' ? ['1', '2'] : ['2', '1'];
    assert.equal(read(`${text.slice(0, 5)}${other}${text.slice(6)}`), 'damaged', own);
    assert.equal(read(`${text.slice(0, 5)}3${text.slice(6)}`), 'other_version');
  }
  assert.equal(readRequest('https://example.org/t/1'), 'other_text');
  assert.equal(readRequest(texts[1] ?? ''), 'other_text');
  assert.equal(readAnswer(''), 'other_text');
});

test('an answer has at most 300 bytes', async () => {
  const text = writeAnswer(await signed(REQUEST));
  assert.ok(Buffer.byteLength(text) <= 300, `${Buffer.byteLength(text)} bytes`);
});

test('the nonce equals the one that the contract computes', () => {
  fc.assert(
    fc.property(requests, ({ amount, salt }) => {
      const request = { merchantNumber: REQUEST.merchantNumber, amount, salt };
      const payment = { merchantNumber: 7n, amount, number: 0n, orderId: '' };
      assert.equal(offlineNonce(request), authorizationNonce(payment, { salt, bindsOrder: false }));
    }),
  );
});

test('an answer counts for the request that its wallet has signed, and for no other', async () => {
  const answer = await signed(REQUEST);
  const text = writeAnswer(answer);
  const { signature } = answer;
  assert.deepEqual(await verifyAnswer(REQUEST, text.toLowerCase()), {
    ...answer,
    from: wallet.address.toLowerCase(),
  });
  const salt: Hex = `0x${'d4'.repeat(32)}`;
  assert.equal(await verifyAnswer({ ...REQUEST, salt }, text), 'other_sale');
  assert.equal(await verifyAnswer({ ...REQUEST, amount: 1n }, text), 'other_sale');
  assert.equal(await verifyAnswer({ ...REQUEST, merchantNumber: 8 }, text), 'other_sale');
  for (const other of [
    { value: 1n },
    { chainId: 1 },
    { usdc: REQUEST.settlement },
    { settlement: REQUEST.usdc },
    { usdcVersion: '1' },
    { usdcName: 'Other' },
  ]) {
    assert.equal(await verifyAnswer({ ...REQUEST, ...other }, text), 'not_signed');
  }
  assert.equal(await verifyAnswer({ ...REQUEST, validBefore: 5 }, text), 'other_terms');
  const late = writeAnswer({ ...answer, validAfter: 1 });
  assert.equal(await verifyAnswer(REQUEST, late), 'other_terms');
  const foreign = writeAnswer({ ...answer, from: `0x${'11'.repeat(20)}` });
  assert.equal(await verifyAnswer(REQUEST, foreign), 'not_signed');
  const empty = writeAnswer({ ...answer, signature: `0x${'00'.repeat(65)}` });
  assert.equal(await verifyAnswer(REQUEST, empty), 'not_signed');
  assert.equal(await verifyAnswer(REQUEST, 'pass_1.12345678'), 'other_text');
  assert.equal(nonceCheckOf(offlineNonce(REQUEST)), answer.nonceCheck);
  assert.equal(fromHex(signature).length, 65);
});

test('v may be 0 or 1, and a signature with a high s is refused', async () => {
  const answer = await signed(REQUEST);
  const bytes = fromHex(answer.signature);
  const v = bytes[64] ?? 0;
  bytes[64] = v - 27;
  const verified = await verifyAnswer(REQUEST, writeAnswer({ ...answer, signature: toHex(bytes) }));
  assert.ok(typeof verified !== 'string');
  assert.equal(verified.signature, answer.signature);
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = order - BigInt(`0x${answer.signature.slice(66, 130)}`);
  const other = v === 27 ? '1c' : '1b';
  const twin: Hex = `0x${answer.signature.slice(2, 66)}${s.toString(16).padStart(64, '0')}${other}`;
  const second = writeAnswer({ ...answer, signature: twin });
  assert.equal(await verifyAnswer(REQUEST, second), 'not_signed');
});

test('the published examples are what this build writes and reads', async () => {
  for (const { name, version, request_text: text, ...one } of codes) {
    const request = requestOf(one.request);
    const answer = one.answer as OfflineAnswer;
    assert.equal(writeRequest(request), text, name);
    assert.equal(text.slice(0, 6), `TLREQ${version}`, name);
    assert.deepEqual(readRequest(text), request, name);
    assert.equal(writeAnswer(answer, request), one.answer_text, name);
    assert.deepEqual(readAnswer(one.answer_text), answer, name);
    assert.deepEqual(await verifyAnswer(request, one.answer_text), answer, name);
  }
});

/** The request of `offline-codes-before.json`, which the build before version 2 has written. */
const OF_BEFORE: OfflineRequest = {
  ...REQUEST,
  merchantName: 'Café Zur Linde',
  amount: 10_853_143n,
  value: 10_902_141n,
  salt: `0x${'d4'.repeat(32)}`,
};
const WALLET_OF_BEFORE = '0x5d3939137011deebbf333a3eead9cd70a6a8edff';

test('a till of the build before version 2 meets a wallet of this one', () => {
  const request = readRequest(before.request_text);
  assert.deepEqual(request, OF_BEFORE);
  const answer = readAnswer(before.answer_text);
  assert.ok(typeof answer !== 'string');
  assert.equal(writeAnswer(answer, OF_BEFORE), before.answer_text, 'the answer that it can read');
});

test('a wallet of the build before version 2 meets a till of this one', async () => {
  // It says to a price that the code is from another version; the till then asks for USDC.
  const inEuros = codes.map(({ version }) => (version === 1 ? 'read' : 'other_version'));
  assert.deepEqual(before.says, inEuros);
  assert.equal(writeRequest(OF_BEFORE), before.request_text);
  const paid = await verifyAnswer(OF_BEFORE, before.answer_text);
  assert.ok(typeof paid !== 'string', String(paid));
  assert.equal(paid.from, WALLET_OF_BEFORE);
  // Its signature pays only the sale in USDC that it has read.
  const other = { ...OF_BEFORE, salt: REQUEST.salt };
  assert.equal(await verifyAnswer(other, before.answer_text), 'other_sale');
});
