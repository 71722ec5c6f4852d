import { sendPayments } from '#settlement/relayer/send/send-jobs.ts';
import type { HeldSender } from '#settlement/relayer/state-machine/relayer-state.ts';
import type { ProviderCall } from '#testing/back-ends.ts';

/** A node between relayer and chain whose calls can be observed. */
interface Watched {
  readonly watchers: Set<(call: ProviderCall) => void>;
}

const WAIT_MS = 15_000;
/**
 * Number of requests to wait for. The first one may be in progress already. Only the second one
 * shows that the response to the first was handled.
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
 * Resolves once the relayer has sent a request that `asks` matches and has handled the response,
 * which is certain only when it sends the next one. By then, it has done everything that the
 * chain's state requires.
 */
export function turnsLater(node: Watched, asks: (call: ProviderCall) => boolean): Promise<void> {
  return callsLater(node, asks, TURNS);
}

/**
 * Resolves once the relayer has handled the chain's current head. There must be only one relayer,
 * and it must not be preparing a refund, withdrawal or the like, because its requests for the
 * newest block would look like polls for the head.
 */
export function headFollowed(node: Watched): Promise<void> {
  return turnsLater(
    node,
    ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest',
  );
}

/**
 * Sends queued payments and waits for the node's response.
 * @returns the number of payments sent
 */
export async function sendPaymentsNow(sender: HeldSender): Promise<number> {
  const { payments, sent } = await sendPayments(sender);
  await sent;
  return payments;
}
