import { nodeAt } from '../data/ask-chain-node.ts';
import type { Receipt } from '../data/types/pay.ts';

/** Topic 0 of `PaymentSettled(uint64,address,bytes17,uint256)`. */
const PAYMENT_SETTLED = '0x062e7fdc4bf2130f07f2d9e389e84d9dc08f0d65a0c76884797e50f19c5db84f';

export type Verdict =
  | { readonly kind: 'proven' }
  /** The field that differs on chain. */
  | { readonly kind: 'differs'; readonly what: string }
  /** The node did not respond, or does not know the transaction. */
  | { readonly kind: 'unknown' };

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly logIndex: string;
}

interface TransactionReceipt {
  readonly status: string;
  readonly blockNumber: string;
  readonly logs: readonly Log[];
}

/**
 * Decodes the event. `terms` packs merchant, amount and order ID; `charges` packs four 64-bit
 * numbers.
 */
function numbersOf({ topics, data }: Log) {
  const at = (from: number, to: number) => BigInt(`0x${data.slice(2 + from, 2 + to) || '0'}`);
  return {
    number: BigInt(topics[1] ?? '0x0'),
    merchant: at(0, 8),
    amount: at(8, 18),
    order: at(18, 34),
    batch: at(64, 80),
    acquirer_fee: at(80, 96),
    protocol_fee: at(96, 112),
    cashback: at(112, 128),
  };
}

function orderNumber(orderId: string): bigint {
  const hex = [...orderId].map((letter) => letter.charCodeAt(0).toString(16).padStart(2, '0'));
  return BigInt(`0x${hex.join('').padEnd(16, '0')}`);
}

function compare(receipt: Receipt, log: Log): Verdict {
  const { proof, fees } = receipt;
  const told: ReturnType<typeof numbersOf> = {
    number: BigInt(proof.number),
    merchant: BigInt(proof.merchant ?? 0),
    amount: BigInt(receipt.sale) + BigInt(receipt.tip),
    order: orderNumber(receipt.order_id),
    batch: BigInt(proof.batch),
    acquirer_fee: BigInt(fees.acquirer),
    protocol_fee: BigInt(fees.protocol),
    cashback: BigInt(fees.cashback),
  };
  const names = Object.keys(told) as (keyof typeof told)[];
  const said = numbersOf(log);
  const wrong = names.find((name) => told[name] !== said[name]);
  if (wrong !== undefined) return { kind: 'differs', what: wrong };
  const payer = `0x${(log.topics[2] ?? '').slice(-40)}`.toLowerCase();
  const [begin = '', end = ''] = receipt.payer.toLowerCase().split('…');
  const isPayer = payer.startsWith(begin) && payer.endsWith(end);
  return isPayer ? { kind: 'proven' } : { kind: 'differs', what: 'payer' };
}

/** Queries the chain directly, not the server from which this page came. */
export async function verify(receipt: Receipt, url: string): Promise<Verdict> {
  const { proof } = receipt;
  const ask = nodeAt(url);
  try {
    const [chainId, logs] = await Promise.all([
      ask('eth_chainId', []),
      ask('eth_getTransactionReceipt', [proof.tx_hash]),
    ]);
    if (Number(chainId) !== proof.chain_id) return { kind: 'differs', what: 'chain' };
    const transaction = logs as TransactionReceipt | null | undefined;
    if (transaction === null || transaction === undefined) return { kind: 'unknown' };
    if (Number(transaction.status) !== 1) return { kind: 'differs', what: 'transaction' };
    if (Number(transaction.blockNumber) !== proof.block_number) {
      return { kind: 'differs', what: 'block' };
    }
    const log = transaction.logs.find(({ logIndex }) => Number(logIndex) === proof.log_index);
    const isOurs =
      log?.address.toLowerCase() === proof.settlement.toLowerCase() &&
      log.topics[0] === PAYMENT_SETTLED;
    return isOurs ? compare(receipt, log) : { kind: 'differs', what: 'event' };
  } catch {
    return { kind: 'unknown' };
  }
}
