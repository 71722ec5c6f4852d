import type { HeldSender } from '#settlement/relayer/machine/memory.ts';
import { sendPayments } from '#settlement/relayer/send/send-jobs.ts';
import type { ProviderCall } from '#testing/back-ends.ts';

/** A node between the relayer and the chain. */
interface Watched {
  readonly watchers: Set<(call: ProviderCall) => void>;
}

const WAIT_MS = 15_000;
/**
 * Requests to wait for: the first may already be in progress, and only the second shows that its
 * answer was handled.
 */
const TURNS = 2;

/** Resolves after this many further calls. */
function callsLater(
  { watchers }: Watched,
  isMeant: (call: ProviderCall) => boolean,
  count: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = count;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      watchers.delete(watch);
      settle();
    };
    const timer = setTimeout(() => end(() => reject(new Error(`${left} did not come`))), WAIT_MS);
    const watch = (call: ProviderCall) => {
      if (isMeant(call) && --left === 0) end(resolve);
    };
    watchers.add(watch);
  });
}

/**
 * Resolves when a loop of the relayer has sent this request and handled the answer, because only
 * then does it send the next one. By then, the relayer has done everything that follows from the
 * chain's state.
 */
export function turnsLater(node: Watched, asks: (call: ProviderCall) => boolean): Promise<void> {
  return callsLater(node, asks, TURNS);
}

/**
 * Resolves when the relayer has handled the chain's current head. Requires a single relayer that is
 * not preparing a refund, a withdrawal or similar, because its request for the newest block would
 * count as a poll of the head.
 */
export function headFollowed(node: Watched): Promise<void> {
  return turnsLater(
    node,
    ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest',
  );
}

/** Sends waiting payments and waits for the node's answer. @returns how many were sent. */
export async function sendPaymentsNow(sender: HeldSender): Promise<number> {
  const { payments, sent } = await sendPayments(sender);
  await sent;
  return payments;
}
