import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  padHex,
  slice,
} from 'viem';
import { eventTopics, type RawLog, readEvents } from '#settlement/contract/contract-events.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { packPayment } from '../../../contracts/payment-tree.ts';

const SETTLEMENT = '0x00000000000000000000000000000000000000aa';
const PAYER = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';

const NUMBER = 2n ** 63n + 5n;

const packed = packPayment({
  number: NUMBER,
  payer: PAYER,
  merchant: 4_000_000_001,
  amount: 10n ** 12n,
  orderId: 'A-1',
});

const args = {
  number: NUMBER,
  payer: PAYER,
  terms: slice(packed, 28),
  charges: (77n << 192n) | (3_000_000_001n << 128n) | (2_000_000_002n << 64n) | 500_000_003n,
} as const;

const CONTRACTS = { settlement: SETTLEMENT, deployedAtBlock: 0n, formerSettlements: [] } as const;

const log: RawLog = {
  address: SETTLEMENT,
  topics: encodeEventTopics({ abi: settlementAbi, eventName: 'PaymentSettled', args }) as Hex[],
  data: encodeAbiParameters([{ type: 'bytes17' }, { type: 'uint256' }], [args.terms, args.charges]),
  transactionHash: padHex('0x1', { size: 32 }),
  blockHash: padHex('0x2', { size: 32 }),
  blockNumber: '0x10',
  logIndex: '0x3',
};

describe('events of the contract', () => {
  it('are decoded by hand with the same result as by the general decoder', () => {
    const topics = log.topics as [Hex, ...Hex[]];
    const decoded = decodeEventLog({ abi: settlementAbi, data: log.data, topics });
    assert.equal(decoded.eventName, 'PaymentSettled');
    assert.deepEqual(decoded.args, args);
    const [event] = readEvents(CONTRACTS, [log]);
    assert.deepEqual(event, {
      event: 'PaymentSettled',
      txHash: log.transactionHash,
      blockHash: log.blockHash,
      blockNumber: 16n,
      logIndex: 3,
      number: args.number,
      payer: PAYER,
      merchantNumber: 4_000_000_001n,
      amount: 10n ** 12n,
      orderId: 'A-1',
      batchNumber: 77n,
      feeAcquirer: 3_000_000_001n,
      feeProtocol: 2_000_000_002n,
      cashback: 500_000_003n,
    });
  });

  it('of other contracts are ignored, and so are unknown events', () => {
    const foreign = { ...log, address: PAYER } as const;
    const unknown = { ...log, topics: [padHex('0x9', { size: 32 })] };
    const events = readEvents(CONTRACTS, [foreign, unknown]);
    assert.deepEqual(
      events.map((event) => event.event),
      ['Other'],
    );
  });

  it('are found by the topic of their number', () => {
    assert.deepEqual(
      eventTopics({ event: 'PaymentSettled', number: args.number }),
      log.topics.slice(0, 2),
    );
  });
});
