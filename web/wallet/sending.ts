import type { CreateTransferBody, PayerApi, Wallet } from '../data/payer.ts';
import { refusalText } from '../data/refusal-text.ts';
import { formatUsdc } from '../ui/money.ts';
import { t } from '../ui/text/t.ts';
import { type TypedSum, writeSum } from '../ui/typed-sum.ts';
import type { Hex } from './bytes.ts';
import { type ChainNode, countSent, isRefusal, readReceipt, sendRaw } from './chain.ts';
import type { ChainFacts } from './signing.ts';

/** USDC out of the wallet: what is checked before it is signed, and what became of it. */

/** Signed, and kept until its end is known: a reload never leads to a second one. */
export type Sending =
  | { readonly by: 'service'; readonly body: CreateTransferBody; readonly sends: number }
  | {
      readonly by: 'wallet';
      readonly to: Hex;
      readonly amount: number;
      readonly raw: Hex;
      readonly hash: Hex;
      readonly nonce: number;
      readonly sends: number;
    };

export type Fate =
  | { readonly is: 'open' }
  | { readonly is: 'sent' }
  /** The node counts it, or another one of the same number, and shows no receipt. */
  | { readonly is: 'unseen' }
  /** Nothing has left the wallet. */
  | { readonly is: 'failed'; readonly words: string };

const OPEN: Fate = { is: 'open' };
const SENT: Fate = { is: 'sent' };
const UNSEEN: Fate = { is: 'unseen' };
const failed = (words: string): Fate => ({ is: 'failed', words });

/** The service takes as long to be sure of it (`DEAD_AFTER_MS`). */
const AFTER_END_S = 60;

/** Why this address must not get anything; null: it may. @param to checksummed. */
export function wrongRecipient(
  to: Hex,
  { chain, own }: { readonly chain: ChainFacts; readonly own: Hex },
): string | null {
  const is = (other: string) => to.toLowerCase() === other.toLowerCase();
  if (is(own)) return t('wallet.send.problem.itself');
  if (is(chain.usdc)) return t('wallet.send.problem.token');
  if (is(chain.settlement)) return t('wallet.send.problem.settlement');
  return BigInt(to) === 0n ? t('wallet.send.problem.nobody') : null;
}

/** Whether the operator pays for this one. */
export function isGasless({ gasless }: Wallet, atoms: bigint): boolean {
  return gasless !== null && gasless.left_today > 0 && atoms >= BigInt(gasless.least);
}

/** @returns atoms, or what is wrong with what was typed. */
export function sendable(sum: TypedSum, wallet: Wallet): bigint | string {
  if (sum.is === 'refused') return sum.words;
  if (sum.is === 'empty') return t('wallet.problem.amount', { example: writeSum(20_000_000n) });
  const atoms = sum.units;
  const balance = BigInt(wallet.balance);
  return atoms > balance
    ? t('wallet.send.problem.too_little', { sum: formatUsdc(balance) })
    : atoms;
}

/**
 * Hands it to the service, again where nobody heard the answer: its nonce makes it one. Once it was
 * handed in, a refusal is the end only when the token takes it no more: until then the service may
 * have lost the row, and not what it had sent.
 */
export async function pushToService(
  api: Pick<PayerApi, 'transfer' | 'now'>,
  { body, sends }: Extract<Sending, { by: 'service' }>,
): Promise<Fate> {
  const answer = await api.transfer(body);
  if (answer.is === 'done') {
    if (answer.value.status === 'failed') return failed(t('wallet.send.problem.failed'));
    return answer.value.status === 'succeeded' ? SENT : OPEN;
  }
  if (answer.is === 'refused') {
    const passes = answer.status >= 500 || answer.status === 401;
    const mayBeOut = sends > 0 && api.now() < (body.valid_before + AFTER_END_S) * 1000;
    return passes || mayBeOut ? OPEN : failed(refusalText(answer.error));
  }
  return answer.is === 'not_sent' && sends === 0 ? failed(t('wallet.send.problem.not_sent')) : OPEN;
}

/**
 * Hands it to a node of the chain, and looks what became of it. Only the first refusal is an end:
 * after that another node may have it, whatever this one says.
 */
export async function pushToChain(
  node: ChainNode,
  sending: Extract<Sending, { by: 'wallet' }>,
  own: Hex,
): Promise<Fate> {
  const { raw, hash, nonce, sends } = sending;
  try {
    // A node that has it already refuses it, too: the receipt tells.
    const isRefused = await sendRaw(node, raw).then(() => false, isRefusal);
    const mined = BigInt(nonce) < (await countSent(node, own, 'latest'));
    const receipt = await readReceipt(node, hash);
    if (receipt === 'succeeded') return SENT;
    if (receipt === 'reverted') return failed(t('wallet.send.problem.failed'));
    if (mined) return UNSEEN;
    const known = BigInt(nonce) < (await countSent(node, own, 'pending'));
    return isRefused && !known && sends === 0 ? failed(t('wallet.send.problem.refused')) : OPEN;
  } catch {
    // Whoever has heard it may still put it into a block.
    return OPEN;
  }
}
