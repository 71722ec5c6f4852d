import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { type DuePush, deletePush, takeDuePushes, takeTappedPushes } from '#push/push-queries.ts';
import { type VapidKeys, vapidAuthorization } from '#push/vapid.ts';
import { type Network, openTransport } from '#webhooks/transport.ts';

export interface RingDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly keys: VapidKeys;
  readonly network: Network;
}

/** They go out at once; each waits for at most 10 s. */
const BATCH = 20;
/** The browser has ended the subscription. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

/**
 * Without a body: the push service learns that somebody is asked, and nothing of what. The worker
 * of the wallet says so in words of its own.
 */
async function ring(deps: RingDeps, { session_hash, endpoint, until }: DuePush): Promise<void> {
  const now = deps.clock.now();
  const url = new URL(endpoint);
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  const transport = openTransport(url, deps.network);
  const authorization = vapidAuthorization(url, deps.keys, now);
  const headers = ['authorization', authorization, 'ttl', `${seconds}`, 'urgency', 'high'];
  const reply = await transport.post(headers, Buffer.alloc(0));
  transport.close();
  if (reply.answered && GONE.has(reply.status)) await deletePush(deps.db, session_hash);
}

/**
 * Notifies browsers of payers whose confirmation is needed, or whose static pass was tapped. At
 * most once each: a lost one is not repeated, because a minute later nobody is asked any more, and
 * the history has the tap. An open wallet does not depend on it.
 * @returns whether there may be more.
 */
export async function ringPayers(deps: RingDeps): Promise<boolean> {
  const now = deps.clock.now();
  const asked = await takeDuePushes(deps.db, now, BATCH);
  const tapped = await takeTappedPushes(deps.db, now, BATCH);
  await Promise.all([...asked, ...tapped].map((one) => ring(deps, one)));
  return asked.length === BATCH || tapped.length === BATCH;
}
