import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Findings, judgeLedger } from '#recovery/detect-lost-commits.ts';

const SENDER = '0x00000000000000000000000000000000000000aa';

const HEALTHY: Findings = {
  clusterId: 'system/1',
  ledger: {
    status: 'done',
    clusterId: 'system/1',
    used: true,
    next_nonces: { [SENDER]: '7' },
    doubted: false,
  },
  chainNonces: new Map([[SENDER, 7n]]),
  trust: 'agreed',
};

function judge(
  differs: Partial<Omit<Findings, 'ledger'>>,
  ledger: Partial<Findings['ledger']> = {},
): string {
  const current = { ...HEALTHY, ...differs, ledger: { ...HEALTHY.ledger, ...ledger } };
  const judgment = judgeLedger(current);
  if (judgment.kind === 'stand') return judgment.state;
  if (judgment.kind === 'adopt') return 'adopt';
  if (judgment.kind === 'doubt') return `ask about ${Object.values(judgment.ahead).join()}`;
  return `recover: ${judgment.reason}${judgment.lossShown ? ', loss shown' : ''}`;
}

describe('whether the ledger is trusted', () => {
  const cases: readonly (readonly [string, string, () => string])[] = [
    ['all is as it was', 'signing', () => judge({})],
    [
      'its own transactions are not mined yet',
      'signing',
      () => judge({}, { next_nonces: { [SENDER]: '9' } }),
    ],
    ['no node answers', 'serving', () => judge({ chainNonces: null })],
    [
      'the chain knows a nonce more, and a loss would have been noticed: the sender has to look',
      'signing',
      () => judge({ chainNonces: new Map([[SENDER, 8n]]) }),
    ],
    [
      'the chain knows a nonce more at a start',
      'ask about 8',
      () => judge({ chainNonces: new Map([[SENDER, 8n]]), trust: 'unknown' }),
    ],
    [
      'the chain knows a nonce more of a sender that was stopped, at a start',
      'signing',
      () => judge({ chainNonces: new Map([[SENDER, 8n]]), trust: 'unknown' }, { next_nonces: {} }),
    ],
    [
      'its log is behind what was seen',
      'recover: position, loss shown',
      () => judge({ trust: 'confirmed' }),
    ],
    ['another server answers', 'recover: cluster', () => judge({ clusterId: 'system/2' })],
    [
      'another server answers and no node does',
      'recover: cluster',
      () => judge({ clusterId: 'system/2', chainNonces: null }),
    ],
    [
      'another server answers, and it has lost a nonce',
      'recover: nonce, loss shown',
      () => judge({ clusterId: 'system/2', chainNonces: new Map([[SENDER, 8n]]) }),
    ],
    ['nothing was ever written', 'adopt', () => judge({}, { clusterId: null, used: false })],
    ['an earlier release has written it', 'recover: cluster', () => judge({}, { clusterId: null })],
    [
      'another process has asked, and this one has just started',
      'closed',
      () => judge({ trust: 'unknown' }, { doubted: true }),
    ],
    [
      'another process has asked, and this one would have noticed a loss',
      'signing',
      () => judge({}, { doubted: true }),
    ],
    [
      'an earlier release has written it, and the chain knows a nonce more',
      'ask about 8',
      () => judge({ chainNonces: new Map([[SENDER, 8n]]), trust: 'unknown' }, { clusterId: null }),
    ],
    [
      'a recovery is running',
      'closed',
      () => judge({ chainNonces: new Map([[SENDER, 8n]]) }, { status: 'recovering' }),
    ],
    [
      'a loss is detected during its recovery',
      'recover: position, loss shown',
      () => judge({ trust: 'confirmed' }, { status: 'recovering' }),
    ],
  ];
  for (const [when, expected, result] of cases) {
    it(`${expected} when ${when}`, () => assert.equal(result(), expected));
  }
});
