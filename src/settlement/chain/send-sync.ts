import type { Chain, Receipt } from '#settlement/chain/chain.ts';
import { type RawReceipt, toReceipt } from '#settlement/chain/decode.ts';
import type { NodeFault } from '#settlement/chain/rpc-reply.ts';
import { witnessesOf } from '#settlement/chain/witness.ts';
import type { Hex } from '#settlement/requests.ts';

/** What a node said to bytes that it was to answer with a receipt (EIP-7966). */
export type SyncAnswer =
  /** In a block, as this one address says. */
  | { readonly kind: 'included'; readonly receipt: Receipt }
  /** The node has judged the bytes as it would any broadcast: in its pool, or a refusal. */
  | { readonly kind: 'told'; readonly message: string }
  /** Whether they have arrived is not known: they go out as usual. */
  | { readonly kind: 'unknown' };

const METHOD = 'eth_sendRawTransactionSync';
/** Each holds one of the address's connections (eight) until its block comes. */
const MOST_WAITING = 3;
/** An address that does not know the method may learn it with its next release. */
const NOT_KNOWN_MS = 1_800_000;
/** No answer: the chain stands still, the offer is too low, or a gateway cuts long requests off. */
const SILENT_MS = 60_000;
/** These pass: whether it knows the method, they do not say. */
const PASSING: readonly NodeFault['kind'][] = ['limit', 'closed', 'ceiling', 'missing'];

/**
 * Sends bytes to the preferred address, which answers when they are in a block. Addresses that do
 * not know the method say so once in half an hour. null: none is to be asked now. Never throws.
 */
export function sendSync(
  { rpc }: Pick<Chain, 'rpc'>,
  sent: { readonly raw: Hex; readonly hash: Hex },
): Promise<SyncAnswer> | null {
  const [address] = witnessesOf(rpc.inOrder());
  if (address === undefined || address.waiting >= MOST_WAITING) return null;
  if (address.noSyncUntil > performance.now()) return null;
  const accepts = (result: unknown) => (result as RawReceipt).transactionHash === sent.hash;
  const call = { method: METHOD, params: [sent.raw], accepts };
  const send = async (): Promise<SyncAnswer> => {
    const [reply] = await address.ask([call], { urgent: true, waitsForBlock: true });
    if (reply?.status === 'refused') return { kind: 'told', message: reply.refusal.message };
    if (reply?.status === 'answered') {
      const receipt = toReceipt(reply.result as RawReceipt, address.host);
      if (receipt !== null) return { kind: 'included', receipt };
    }
    const fault = reply?.status === 'passed' ? reply.fault.kind : 'malformed';
    if (!PASSING.includes(fault)) {
      const forMs = fault === 'silent' ? SILENT_MS : NOT_KNOWN_MS;
      address.noSyncUntil = performance.now() + forMs;
    }
    return { kind: 'unknown' };
  };
  address.waiting++;
  return send().finally(() => {
    address.waiting--;
  });
}
