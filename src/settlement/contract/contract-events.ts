import {
  decodeEventLog,
  getAbiItem,
  getAddress,
  numberToHex,
  toEventSelector,
  type Log as ViemLog,
} from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { type PaymentReason, paymentReason } from '#settlement/contract/contract-calls.ts';
import { describeOperation, timelockOf } from '#settlement/contract/timelock-calls.ts';
import {
  type Contracts,
  contractsOf,
  contractVersionAt,
  merchantNumberOf,
} from '#settlement/contract-versions.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';
import { timelockAbi } from '../../../contracts/artifacts/Timelock.ts';
import { unpackTerms } from '../../../contracts/payment-tree.ts';

/** A log as in JSON-RPC. */
export interface RawLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: Hex;
  readonly logIndex: Hex;
  /** Not every node returns it. */
  readonly blockTimestamp?: Hex;
}

interface LogPlace {
  readonly txHash: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: bigint;
  readonly logIndex: number;
}

export interface PaymentSettled extends LogPlace {
  readonly event: 'PaymentSettled';
  readonly number: bigint;
  readonly batchNumber: bigint;
  readonly payer: Hex;
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly orderId: string;
  readonly feeAcquirer: bigint;
  readonly feeProtocol: bigint;
  readonly cashback: bigint;
}

export type SettlementEvent =
  | PaymentSettled
  | (LogPlace & {
      readonly event: 'PaymentFailed';
      readonly number: bigint;
      readonly reason: PaymentReason;
    })
  | (LogPlace & {
      readonly event: 'PaymentRefunded';
      readonly number: bigint;
      readonly amount: bigint;
      readonly totalRefunded: bigint;
      readonly reference: Hex;
      readonly merchantNumber: bigint;
      readonly payer: Hex;
    })
  | (LogPlace & {
      readonly event: 'Withdrawn';
      readonly merchantNumber: bigint;
      readonly wallet: Hex;
      /** The withdrawal's number; 0 if the wallet withdrew without the service. */
      readonly number: bigint;
      readonly amount: bigint;
    })
  | (LogPlace & {
      readonly event: 'MerchantRegistered';
      readonly merchantNumber: bigint;
      readonly reference: Hex;
      readonly wallet: Hex;
    })
  | OtherEvent;

/**
 * An event that moves no merchant's money: a change of rules, roles, proposals, or a payer's own
 * terms.
 */
export interface OtherEvent extends LogPlace {
  readonly event: 'Other';
  /** The version of the contract that emitted it. */
  readonly contractVersion: number;
  readonly name: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/**
 * Decodes the logs of the network's contracts in a receipt or a range, in order. Merchant numbers
 * are converted to the service's (`contract-versions.ts`).
 */
export function readEvents(contracts: Contracts, logs: readonly RawLog[]): SettlementEvent[] {
  return logs.flatMap((log): SettlementEvent[] => {
    const contractVersion = contractVersionAt(contracts, log.address);
    if (contractVersion !== null) return [readEvent(log, contractVersion)];
    return contractsOf(contracts).flatMap(({ settlement }, index) =>
      log.address.toLowerCase() === timelockOf(settlement).toLowerCase()
        ? [readTimelockEvent(log, { settlement, contractVersion: index })]
        : [],
    );
  });
}

/**
 * Role events of the timelock. They have the same names as the settlement contract's own role
 * events.
 */
const TIMELOCK_ROLE_EVENTS: ReadonlySet<string> = new Set(['RoleGranted', 'RoleRevoked']);

function readTimelockEvent(
  log: RawLog,
  { settlement, contractVersion }: { readonly settlement: Hex; readonly contractVersion: number },
): OtherEvent {
  const position = { ...placeOf(log), event: 'Other', contractVersion } as const;
  const decoded = decode(log, timelockAbi);
  if (decoded === null) return { ...position, name: 'unknown', details: {} };
  const { eventName, args } = decoded;
  const name = TIMELOCK_ROLE_EVENTS.has(eventName) ? `Timelock${eventName}` : eventName;
  const says = 'target' in args && 'data' in args ? describeOperation(settlement, args) : {};
  return { ...position, name, details: { ...args, ...says } };
}

function readEvent(log: RawLog, contractVersion: number): SettlementEvent {
  if (log.topics[0] === PAYMENT_SETTLED) return readPaymentSettled(log, contractVersion);
  const position = placeOf(log);
  const decoded = decode(log, settlementAbi);
  if (decoded === null)
    return { ...position, event: 'Other', contractVersion, name: 'unknown', details: {} };
  const named = (merchant: number) => merchantNumberOf(contractVersion, merchant);
  switch (decoded.eventName) {
    case 'PaymentFailed': {
      const { number, reason } = decoded.args;
      return { ...position, event: 'PaymentFailed', number, reason: paymentReason(reason) };
    }
    case 'PaymentRefunded': {
      const { merchant, refundReference: reference, ...args } = decoded.args;
      const merchantNumber = named(merchant);
      return { ...position, event: 'PaymentRefunded', ...args, merchantNumber, reference };
    }
    case 'Withdrawn': {
      const { merchant, ...args } = decoded.args;
      return { ...position, event: 'Withdrawn', ...args, merchantNumber: named(merchant) };
    }
    case 'MerchantRegistered': {
      const { merchant, merchantReference: reference, wallet } = decoded.args;
      const merchantNumber = named(merchant);
      return { ...position, event: 'MerchantRegistered', merchantNumber, reference, wallet };
    }
    default:
      return {
        ...{ ...position, event: 'Other', contractVersion, name: decoded.eventName },
        details: detailsOf(decoded.args, named),
      };
  }
}

function detailsOf(args: object, named: (merchant: number) => bigint): OtherEvent['details'] {
  if (!('merchant' in args)) return { ...args };
  return { ...args, merchant: Number(named(Number(args.merchant))) };
}

function placeOf(log: RawLog): LogPlace {
  return {
    txHash: log.transactionHash,
    blockHash: log.blockHash,
    blockNumber: BigInt(log.blockNumber),
    logIndex: Number(log.logIndex),
  };
}

const PAYMENT_SETTLED = toEventSelector(getAbiItem({ abi: settlementAbi, name: 'PaymentSettled' }));

/**
 * Decodes the event by hand, because there is one for every payment: the general decoder takes 200
 * us per event, and so 80 ms for a block of 400 payments; this takes 5 us. contract-events.test.ts
 * compares the two decoders' results.
 */
function readPaymentSettled(log: RawLog, contractVersion: number): PaymentSettled {
  const [, number = '0x', payer = '0x'] = log.topics;
  const { merchant, amount, orderId } = unpackTerms(log.data);
  const charges = BigInt(`0x${log.data.slice(2 + WORD, 2 + 2 * WORD)}`);
  return {
    ...placeOf(log),
    event: 'PaymentSettled',
    number: BigInt(number),
    payer: getAddress(`0x${payer.slice(-ADDRESS)}`),
    merchantNumber: merchantNumberOf(contractVersion, merchant),
    amount,
    orderId,
    batchNumber: charges >> 192n,
    feeAcquirer: (charges >> 128n) & UINT64,
    feeProtocol: (charges >> 64n) & UINT64,
    cashback: charges & UINT64,
  };
}

/** Hex digits of a word. */
const WORD = 64;
const ADDRESS = 40;

/** To save gas, one word holds four 64-bit numbers: batch, acquirer fee, protocol fee, cashback. */
const UINT64 = 0xffff_ffff_ffff_ffffn;

/** Decodes an event; `null` if this version of the service does not know it. */
function decode<const A extends typeof settlementAbi | typeof timelockAbi>(log: RawLog, abi: A) {
  const topics = log.topics as ViemLog['topics'];
  try {
    return decodeEventLog({ abi, data: log.data, topics, strict: true });
  } catch {
    return null;
  }
}

/** Returns the topics that find the event with this number or merchant reference. */
export function eventTopics(
  filter:
    | { readonly event: 'PaymentSettled' | 'PaymentRefunded'; readonly number: bigint }
    | { readonly event: 'Withdrawn'; readonly number: bigint }
    | { readonly event: 'MerchantRegistered'; readonly reference: Hex },
): (Hex | null)[] {
  const first = toEventSelector(getAbiItem({ abi: settlementAbi, name: filter.event }));
  switch (filter.event) {
    case 'PaymentSettled':
    case 'PaymentRefunded':
      return [first, word(filter.number)];
    case 'Withdrawn':
      return [first, null, null, word(filter.number)];
    case 'MerchantRegistered':
      return [first, null, filter.reference];
  }
}

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 });
}
