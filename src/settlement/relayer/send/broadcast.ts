import { describeError } from '#core/log.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { heightNow } from '#settlement/relayer/machine/chain-view.ts';
import {
  type HeldSender,
  stillOpen,
  type TransactionRef,
} from '#settlement/relayer/machine/memory.ts';
import {
  isSendable,
  type OpenTransaction,
  type Refusal,
} from '#settlement/relayer/machine/transaction.ts';

/**
 * Broadcasts each transaction's newest bytes, in the given order (by nonce). The bytes are stored,
 * so it may be called any number of times. An unreachable chain is no error: the transactions stay
 * open and are sent again.
 */
export async function broadcast(
  sender: HeldSender,
  transactions: readonly TransactionRef[],
): Promise<void> {
  const { relayer } = sender;
  const sendable = stillOpen(sender, transactions).filter(isSendable);
  if (sendable.length === 0) return;
  const calls = sendable.map(({ attempts }) => {
    const last = attempts.at(-1);
    // A node that answers with another hash has not accepted these bytes, so the next node gets
    // them, too.
    const accepts = (hash: unknown) => hash === last?.hash;
    return { method: 'eth_sendRawTransaction', params: [last?.raw], accepts };
  });
  const atBlock = heightNow(relayer);
  for (const transaction of sendable) sender.observe(transaction, { kind: 'sent', atBlock });
  try {
    const answers = await relayer.chain.rpc.batch(calls, { urgent: true });
    answers.forEach((answer, index) => {
      const transaction = sendable[index];
      if (answer.ok || transaction === undefined) return;
      noteRefusal(sender, transaction, answer.refusal.message);
    });
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    relayer.log.warn('a broadcast got no response', { error: describeError(error) });
  }
}

/** Nodes have no codes for a refusal, only texts. */
const REFUSALS = {
  underpriced: {
    texts: [/less than block base fee|underpriced|fee too low|below base fee/i],
    complaint: 'the fee of a transaction is too low',
  },
  unfunded: {
    texts: [/insufficient funds|insufficient balance/i],
    complaint: 'a sender cannot pay for its transaction',
  },
  unsendable: {
    texts: [
      /(exceeds (block |transaction )?|tx )gas limit|gas limit too high/i,
      /intrinsic gas|out of gas|gas too low|oversized|invalid sender/i,
    ],
    complaint: 'no node accepts a transaction',
  },
} as const satisfies Record<Refusal, { readonly texts: RegExp[]; readonly complaint: string }>;

/**
 * Interprets a node's answer to a broadcast. `waiting`: in the pool, mined, or replaced by another
 * broadcast of ours; receipts show which. So is anything unknown: it is sent again.
 */
export function readBroadcastError(message: string): Refusal | 'waiting' {
  if (/replacement/i.test(message)) return 'waiting';
  const verdicts = Object.keys(REFUSALS) as Refusal[];
  return (
    verdicts.find((verdict) => REFUSALS[verdict].texts.some((text) => text.test(message))) ??
    'waiting'
  );
}

function noteRefusal(sender: HeldSender, transaction: OpenTransaction, message: string): void {
  const verdict = readBroadcastError(message);
  const hash = transaction.attempts.at(-1)?.hash;
  if (verdict === 'waiting' || hash === undefined) return;
  sender.observe(transaction, { kind: 'refused', hash, verdict });
  const fields = { sender: sender.sender, nonce: transaction.nonce, message };
  sender.relayer.log.error(REFUSALS[verdict].complaint, fields);
}
