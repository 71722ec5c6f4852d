import {
  decodeEventLog,
  getAbiItem,
  numberToHex,
  toEventSelector,
  type Log as ViemLog,
} from 'viem';
import { type PaymentReason, paymentReason } from '#settlement/contract-calls.ts';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { orderIdFromBytes8 } from '../../contracts/payment-tree.ts';

/** A log as JSON-RPC gives it. */
export interface RawLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly transactionHash: Hex;
  readonly blockHash: Hex;
  readonly blockNumber: Hex;
  readonly logIndex: Hex;
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
      readonly index: bigint;
      readonly amount: bigint;
      readonly totalRefunded: bigint;
      readonly merchantNumber: bigint;
      readonly payer: Hex;
    })
  | (LogPlace & {
      readonly event: 'Withdrawn';
      readonly merchantNumber: bigint;
      readonly wallet: Hex;
      /** 0: the wallet called itself. */
      readonly number: bigint;
      readonly amount: bigint;
    })
  | (LogPlace & {
      readonly event: 'MerchantRegistered';
      readonly merchantNumber: bigint;
      readonly reference: Hex;
      readonly wallet: Hex;
    })
  | (LogPlace & { readonly event: 'Other'; readonly name: string });

/** Reads the settlement contract's own logs out of a receipt or a range, in their order. */
export function readEvents(settlement: Hex, logs: readonly RawLog[]): SettlementEvent[] {
  const address = settlement.toLowerCase();
  return logs.filter((log) => log.address.toLowerCase() === address).map(readEvent);
}

function readEvent(log: RawLog): SettlementEvent {
  const place: LogPlace = {
    txHash: log.transactionHash,
    blockHash: log.blockHash,
    blockNumber: BigInt(log.blockNumber),
    logIndex: Number(log.logIndex),
  };
  const decoded = decode(log);
  if (decoded === null) return { ...place, event: 'Other', name: 'unknown' };
  switch (decoded.eventName) {
    case 'PaymentSettled': {
      const { args } = decoded;
      return {
        ...place,
        event: 'PaymentSettled',
        number: args.number,
        payer: args.payer,
        merchantNumber: BigInt(args.merchant),
        amount: args.amount,
        orderId: orderIdFromBytes8(args.orderId),
        ...readCharges(args.charges),
      };
    }
    case 'PaymentFailed': {
      const { number, reason } = decoded.args;
      return { ...place, event: 'PaymentFailed', number, reason: paymentReason(reason) };
    }
    case 'PaymentRefunded': {
      const { number, index, amount, totalRefunded, merchant, payer } = decoded.args;
      return {
        ...place,
        event: 'PaymentRefunded',
        number,
        index: BigInt(index),
        amount,
        totalRefunded,
        merchantNumber: BigInt(merchant),
        payer,
      };
    }
    case 'Withdrawn': {
      const { merchant, wallet, number, amount } = decoded.args;
      return {
        ...place,
        event: 'Withdrawn',
        merchantNumber: BigInt(merchant),
        wallet,
        number,
        amount,
      };
    }
    case 'MerchantRegistered': {
      const { merchant, merchantReference: reference, wallet } = decoded.args;
      const merchantNumber = BigInt(merchant);
      return { ...place, event: 'MerchantRegistered', merchantNumber, reference, wallet };
    }
    default:
      return { ...place, event: 'Other', name: decoded.eventName };
  }
}

/** null: an event that this version of the service does not know. */
function decode(log: RawLog) {
  const topics = log.topics as ViemLog['topics'];
  try {
    return decodeEventLog({ abi: settlementAbi, data: log.data, topics, strict: true });
  } catch {
    return null;
  }
}

const UINT64 = 0xffff_ffff_ffff_ffffn;

/** One word of four 64-bit numbers, to save gas: batch, acquirer fee, protocol fee, cashback. */
function readCharges(charges: bigint) {
  return {
    batchNumber: charges >> 192n,
    feeAcquirer: (charges >> 128n) & UINT64,
    feeProtocol: (charges >> 64n) & UINT64,
    cashback: charges & UINT64,
  };
}

/** Topics that find the one event by its number (or a merchant by its reference). */
export function eventTopics(
  wanted:
    | { readonly event: 'PaymentSettled' | 'PaymentRefunded'; readonly number: bigint }
    | { readonly event: 'Withdrawn'; readonly number: bigint }
    | { readonly event: 'MerchantRegistered'; readonly reference: Hex },
): (Hex | null)[] {
  const first = toEventSelector(getAbiItem({ abi: settlementAbi, name: wanted.event }));
  switch (wanted.event) {
    case 'PaymentSettled':
    case 'PaymentRefunded':
      return [first, word(wanted.number)];
    case 'Withdrawn':
      return [first, null, null, word(wanted.number)];
    case 'MerchantRegistered':
      return [first, null, wanted.reference];
  }
}

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 });
}
