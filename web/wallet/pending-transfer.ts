import type { Hex } from '../data/bytes.ts';
import type { CreateTransferBody, PayerApi, Wallet } from '../data/payer-api.ts';
import { refusalText } from '../data/refusal-text.ts';
import { typedUsdc } from '../ui/format-usdc.ts';
import { t } from '../ui/text/t.ts';
import { type TypedSum, writeSum } from '../ui/typed-sum.ts';
import type { ChainFacts } from './sign-permit-and-transfer.ts';
import { type ChainNode, countSent, isRefusal, readReceipt, sendRaw } from './wallet-chain-node.ts';

/** USDC transfers out of the wallet: validation before signing, and the result. */

/**
 * A signed transfer, stored until its result is known, so that a reload never leads to a second
 * one.
 */
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
  /** The node counts this nonce as used but shows no receipt yet. */
  | { readonly is: 'unseen' }
  /** Nothing has left the wallet. */
  | { readonly is: 'failed'; readonly words: string };

const OPEN: Fate = { is: 'open' };
const SENT: Fate = { is: 'sent' };
const UNSEEN: Fate = { is: 'unseen' };
const failed = (words: string): Fate => ({ is: 'failed', words });

/**
 * Seconds after its end within which a transfer may still settle. The service waits for the same
 * time before it considers the transfer dead (`DEAD_AFTER_MS`).
 */
const AFTER_END_S = 60;

/**
 * Returns the reason why this address must not be a recipient, or `null`.
 * @param to With a valid checksum.
 */
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

/** True if the operator pays the gas of this transfer. */
export function isGasless({ gasless }: Wallet, atoms: bigint): boolean {
  return gasless !== null && gasless.left_today > 0 && atoms >= BigInt(gasless.least);
}

/** Reads the amount. @returns the atoms, or a message about the typed text. */
export function sendable(sum: TypedSum, wallet: Wallet): bigint | string {
  if (sum.is === 'refused') return sum.words;
  if (sum.is === 'empty') return t('wallet.problem.amount', { example: writeSum(20_000_000n) });
  const atoms = sum.units;
  const balance = BigInt(wallet.balance);
  return atoms > balance ? t('wallet.send.problem.too_little', { sum: typedUsdc(balance) }) : atoms;
}

/**
 * Sends the transfer to the service, and repeats it while there is no response. That is safe,
 * because its nonce lets it execute only once. After the first send, a refusal is final only when
 * the token no longer accepts the transfer, because the service may have lost its row after
 * broadcasting the transaction.
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
 * Sends the transaction to a node and checks its result. Only a refusal of the first send is final.
 * Later, another node may have the transaction, whatever this node responds.
 */
export async function pushToChain(
  node: ChainNode,
  sending: Extract<Sending, { by: 'wallet' }>,
  own: Hex,
): Promise<Fate> {
  const { raw, hash, nonce, sends } = sending;
  try {
    // A node that already has the transaction also refuses it; its receipt shows the result.
    const isRefused = await sendRaw(node, raw).then(() => false, isRefusal);
    const mined = BigInt(nonce) < (await countSent(node, own, 'latest'));
    const receipt = await readReceipt(node, hash);
    if (receipt === 'succeeded') return SENT;
    if (receipt === 'reverted') return failed(t('wallet.send.problem.failed'));
    if (mined) return UNSEEN;
    const known = BigInt(nonce) < (await countSent(node, own, 'pending'));
    return isRefused && !known && sends === 0 ? failed(t('wallet.send.problem.refused')) : OPEN;
  } catch {
    // A node that received the transaction may still put it into a block.
    return OPEN;
  }
}
