import { describeError } from '#core/log.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { heightNow } from '#settlement/relayer/rows/known-head.ts';
import type { HeldLane, OpenTransaction, RelayerState } from '#settlement/relayer/rows/state.ts';

type Verdict =
  /** In the pool, mined, or replaced by another attempt of ours: the receipts will show. */
  | 'waiting'
  /** Offers less than the chain asks for now. */
  | 'underpriced'
  /** The lane cannot pay for it. */
  | 'unfunded'
  /** No node will ever take these bytes. */
  | 'unsendable';

const UNDERPRICED = /less than block base fee|underpriced|fee too low|below base fee/i;
const UNFUNDED = /insufficient funds|insufficient balance/i;
const UNSENDABLE = new RegExp(
  [
    'exceeds (block |transaction )?gas limit',
    'gas limit too high',
    'tx gas limit',
    'intrinsic gas',
    'out of gas',
    'gas too low',
    'oversized',
    'invalid sender',
  ].join('|'),
  'i',
);

/**
 * What a node's answer to a broadcast means for the transaction. Nodes have no codes for it, only
 * texts. Everything unknown is `waiting`: it is sent again, and receipts decide.
 */
export function readBroadcastError(message: string): Verdict {
  if (/replacement/i.test(message)) return 'waiting';
  if (UNDERPRICED.test(message)) return 'underpriced';
  if (UNFUNDED.test(message)) return 'unfunded';
  if (UNSENDABLE.test(message)) return 'unsendable';
  return 'waiting';
}

/**
 * Sends the newest attempt of each transaction, in the order given (that of the nonces). It may be
 * called any number of times: the bytes are stored, so sending them again changes nothing. It is no
 * error if the chain cannot be reached: the transactions stay open and are sent again.
 */
export async function broadcast(
  relayer: RelayerState,
  lane: HeldLane,
  transactions: readonly OpenTransaction[],
): Promise<void> {
  if (transactions.length === 0) return;
  const calls = transactions.map(({ attempts }) => {
    const last = attempts.at(-1);
    // A node that answers another hash has not taken these bytes: the next node gets them too.
    const accepts = (hash: unknown) => hash === last?.hash;
    return { method: 'eth_sendRawTransaction', params: [last?.raw], accepts };
  });
  for (const transaction of transactions) {
    transaction.sentAtBlock = heightNow(relayer);
    transaction.seenAtBlock = null;
  }
  try {
    const answers = await relayer.chain.rpc.batch(calls, { urgent: true });
    answers.forEach((answer, index) => {
      const transaction = transactions[index];
      if (answer.ok || transaction === undefined) return;
      noteRefusal(relayer, lane, transaction, answer.refusal.message);
    });
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    relayer.log.warn('a broadcast got no answer', { error: describeError(error) });
  }
}

/** What a refused broadcast means for its transaction. */
export function noteRefusal(
  relayer: RelayerState,
  lane: HeldLane,
  transaction: OpenTransaction,
  message: string,
): void {
  const verdict = readBroadcastError(message);
  if (verdict === 'waiting') return;
  transaction.unsendable = verdict === 'unsendable';
  if (verdict !== 'unfunded') transaction.sentAtBlock = null;
  relayer.log.error(COMPLAINTS[verdict], {
    network: relayer.chain.config.network,
    lane: lane.lane,
    nonce: transaction.nonce,
    message,
  });
}

const COMPLAINTS = {
  underpriced: 'a transaction offers too little',
  unfunded: 'a lane cannot pay for its transaction',
  unsendable: 'no node takes a transaction',
} as const satisfies Record<Exclude<Verdict, 'waiting'>, string>;
