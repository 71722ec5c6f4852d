import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SettlementEvent } from '#settlement/contract/contract-events.ts';
import { answers } from '#settlement/relayer/jobs/request-kinds.ts';
import type { OpenRequest } from '#settlement/relayer/state-machine/transaction.ts';

const WALLET = '0x00000000000000000000000000000000000000aa';
const OTHER_WALLET = '0x00000000000000000000000000000000000000bb';
const REFERENCE = `0x${'12'.repeat(16)}` as const;
const OTHER_REFERENCE = `0x${'34'.repeat(16)}` as const;
const PLACE = { txHash: '0x01', blockHash: '0x02', blockNumber: 1n, logIndex: 0 } as const;
const REQUEST = {
  id: 1n,
  subjectId: 'subject',
  number: null,
  tries: 0,
  created: new Date(0),
  owed: false,
  deadline: null,
  settleWithinS: null,
};

describe('a refund counts as done', () => {
  const request: OpenRequest = {
    ...REQUEST,
    kind: 'refund',
    payload: { paymentId: 'pay_1', paymentNumber: '7', amount: '500', reference: REFERENCE },
  };
  const event = {
    ...PLACE,
    event: 'PaymentRefunded' as const,
    number: 7n,
    amount: 500n,
    totalRefunded: 500n,
    reference: REFERENCE,
    merchantNumber: 3n,
    payer: WALLET,
  } as const;

  it('by the event of its reference, payment and amount', () => {
    assert.equal(answers(event, request), true);
  });

  it('by no other refund: of another reference, payment or amount', () => {
    const others: SettlementEvent[] = [
      { ...event, reference: OTHER_REFERENCE },
      { ...event, number: 8n },
      { ...event, amount: 499n },
      { ...event, amount: 501n },
    ];
    for (const other of others) assert.equal(answers(other, request), false);
  });
});

describe('a withdrawal counts as done', () => {
  const request: OpenRequest = {
    ...REQUEST,
    kind: 'withdrawal',
    number: 99n,
    payload: { merchantNumber: '3', wallet: WALLET, amount: '500' },
  };
  const event = {
    ...PLACE,
    event: 'Withdrawn' as const,
    number: 99n,
    merchantNumber: 3n,
    wallet: WALLET,
    amount: 500n,
  } as const;

  it('by the event of its number, merchant, wallet and amount', () => {
    assert.equal(answers(event, request), true);
  });

  it('by no other withdrawal: of another number, merchant, wallet or amount', () => {
    const others: SettlementEvent[] = [
      { ...event, number: 98n },
      { ...event, merchantNumber: 4n },
      { ...event, wallet: OTHER_WALLET },
      { ...event, amount: 499n },
    ];
    for (const other of others) assert.equal(answers(other, request), false);
  });
});

describe('a payment counts as done', () => {
  const request: OpenRequest = {
    ...REQUEST,
    kind: 'payment',
    number: 7n,
    payload: { merchantNumber: '3', payer: WALLET, amount: '500', orderId: 'A-1' },
  };
  const event = {
    ...PLACE,
    event: 'PaymentSettled' as const,
    number: 7n,
    batchNumber: 1n,
    payer: WALLET,
    merchantNumber: 3n,
    amount: 500n,
    orderId: 'A-1',
    feeAcquirer: 1n,
    feeProtocol: 1n,
    cashback: 0n,
  } as const;

  it('by the event of its number, payer, merchant, amount and order', () => {
    assert.equal(answers(event, request), true);
  });

  it('by no other settlement: of another number, payer, merchant, amount or order', () => {
    const others: Partial<SettlementEvent>[] = [
      { number: 8n },
      { payer: OTHER_WALLET },
      { merchantNumber: 4n },
      { amount: 501n },
      { orderId: 'A-2' },
    ];
    for (const other of others) {
      const changed = { ...event, ...other } as SettlementEvent;
      assert.equal(answers(changed, request), false, Object.keys(other).join());
    }
  });
});
