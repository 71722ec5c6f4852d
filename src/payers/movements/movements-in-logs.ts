import { getAddress, pad, toEventSelector, zeroAddress } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { type RawLog, readEvents } from '#settlement/contract/contract-events.ts';
import { contractOf, contractsOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

export const MOVEMENT_TYPES = ['payment', 'refund', 'sent', 'received', 'faucet'] as const;
export type MovementType = (typeof MOVEMENT_TYPES)[number];

/** A Transfer of the wallet's USDC. */
export interface Movement {
  readonly type: MovementType;
  readonly blockNumber: bigint;
  readonly logIndex: number;
  readonly txHash: Hex;
  /** The index among the wallet's transfers in this transaction, also after a reorganization. */
  readonly ordinal: number;
  /** The other side of the transfer. */
  readonly address: Hex;
  /** Atoms that left or reached the wallet. */
  readonly amount: bigint;
  /** Atoms of the amount that were fees. */
  readonly fee: bigint;
  /** The number of the payment that was made or refunded. */
  readonly number: bigint | null;
}

const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

type LogFilter = Parameters<Chain['logs']>[0];

/**
 * Returns two filters that together find a wallet's transfers and the contracts' events about its
 * payments and refunds. `PaymentSettled` and `PaymentRefunded` name the payer in the same topic in
 * which a Transfer names its recipient, so the events take no requests of their own.
 */
export function filtersOf(
  config: NetworkConfig,
  wallet: Hex,
): Record<'to' | 'from', Pick<LogFilter, 'address' | 'topics'>> {
  const topic = pad(wallet).toLowerCase() as Hex;
  const contracts = contractsOf(config).map(({ settlement }) => settlement);
  return {
    to: { address: [config.usdc, ...contracts], topics: [null, null, topic] },
    from: { address: config.usdc, topics: [TRANSFER, topic] },
  };
}

interface Transfer extends Pick<Movement, 'blockNumber' | 'logIndex' | 'txHash'> {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
}

/** Anyone can mint test tokens, even more than a column and a JSON number can hold. */
const MAX_ATOMS = BigInt(Number.MAX_SAFE_INTEGER);

const is = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/**
 * Returns a wallet's movements in the logs of both filters, in the order of the chain. Transfers of
 * nothing and from the wallet to itself move nothing, and anyone can make the former with the
 * wallet as their sender.
 */
export function movementsIn(
  config: NetworkConfig,
  wallet: Hex,
  logs: readonly RawLog[],
): Movement[] {
  const positions = new Map(logs.map((log) => [`${log.blockHash} ${BigInt(log.logIndex)}`, log]));
  const inOrder = [...positions.values()].sort(
    (a, b) =>
      Number(BigInt(a.blockNumber) - BigInt(b.blockNumber)) ||
      Number(BigInt(a.logIndex) - BigInt(b.logIndex)),
  );
  const byTransaction = Map.groupBy(inOrder, (log) => log.transactionHash);
  return [...byTransaction.values()].flatMap((some) => inTransaction(config, wallet, some));
}

function inTransaction(config: NetworkConfig, wallet: Hex, logs: readonly RawLog[]): Movement[] {
  const transfers = logs.flatMap((log) => readTransfer(config, log));
  const moving = transfers.filter(
    ({ from, to, value }) => value > 0n && !is(from, to) && (is(from, wallet) || is(to, wallet)),
  );
  const ofContract = salesIn(config, wallet, logs);
  return moving.map((transfer, ordinal) => {
    const { blockNumber, logIndex, txHash, from, to, value } = transfer;
    const isOut = is(from, wallet);
    const place = { blockNumber, logIndex, txHash, ordinal, address: isOut ? to : from };
    const amount = value < MAX_ATOMS ? value : MAX_ATOMS;
    const at = ofContract.findIndex(
      (sale) => is(sale.from, from) && is(sale.to, to) && sale.value === value,
    );
    const [sale] = at < 0 ? [] : ofContract.splice(at, 1);
    if (sale !== undefined) {
      const { type, fee, number } = sale;
      return { ...place, type, amount, fee, number };
    }
    const isMinted = is(from, zeroAddress) && !config.livemode;
    const received = isMinted ? 'faucet' : 'received';
    return { ...place, type: isOut ? 'sent' : received, amount, fee: 0n, number: null };
  });
}

function readTransfer({ usdc }: NetworkConfig, log: RawLog): Transfer[] {
  const [event, from, to] = log.topics;
  if (!is(log.address, usdc) || event !== TRANSFER || from === undefined || to === undefined)
    return [];
  return [
    {
      blockNumber: BigInt(log.blockNumber),
      logIndex: Number(log.logIndex),
      txHash: log.transactionHash,
      from: addressIn(from),
      to: addressIn(to),
      value: BigInt(log.data),
    },
  ];
}

function addressIn(topic: Hex): Hex {
  return getAddress(`0x${topic.slice(-40)}`);
}

/** The Transfer that a payment or refund of the wallet made, according to the contract's event. */
interface Sale extends Pick<Transfer, 'from' | 'to' | 'value'> {
  readonly type: 'payment' | 'refund';
  readonly fee: bigint;
  readonly number: bigint;
}

/** Cashback is deducted from what the contract takes, so it is no transfer of its own. */
function salesIn(config: NetworkConfig, wallet: Hex, logs: readonly RawLog[]): Sale[] {
  return readEvents(config, logs).flatMap((event): Sale[] => {
    if (event.event !== 'PaymentSettled' && event.event !== 'PaymentRefunded') return [];
    if (!is(event.payer, wallet)) return [];
    const contract = contractOf(config, event.merchantNumber);
    const { number, amount } = event;
    if (event.event === 'PaymentRefunded')
      return [{ type: 'refund', from: contract, to: wallet, value: amount, fee: 0n, number }];
    const fee = event.feeAcquirer + event.feeProtocol - event.cashback;
    return [{ type: 'payment', from: wallet, to: contract, value: amount + fee, fee, number }];
  });
}
