import type { HeldSender } from '#settlement/relayer/machine/memory.ts';
import { sendPayments } from '#settlement/relayer/send/send-jobs.ts';
import type { ProviderCall } from '#testing/back-ends.ts';

/** A node between relayer and chain whose calls can be observed. */
interface Watched {
  readonly watchers: Set<(call: ProviderCall) => void>;
}

const WAIT_MS = 15_000;
/**
 * How many requests to wait for. The first may already be in progress; only the second shows that
 * the response to the first was handled.
 */
const TURNS = 2;

/** Resolves after this many more calls. */
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
 * Resolves once the relayer has sent this request and handled the response, which it has when it
 * sends the next one. By then it has done everything that the chain's state requires.
 */
export function turnsLater(node: Watched, asks: (call: ProviderCall) => boolean): Promise<void> {
  return callsLater(node, asks, TURNS);
}

/**
 * Resolves once the relayer has handled the chain's current head. Requires a single relayer that is
 * not preparing a refund, withdrawal or similar, whose request for the newest block would look like
 * a poll of the head.
 */
export function headFollowed(node: Watched): Promise<void> {
  return turnsLater(
    node,
    ({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === 'latest',
  );
}

/** Sends queued payments and waits for the node's response. @returns how many were sent. */
export async function sendPaymentsNow(sender: HeldSender): Promise<number> {
  const { payments, sent } = await sendPayments(sender);
  await sent;
  return payments;
}
