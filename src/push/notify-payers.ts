import type { Clock } from '#core/clock.ts';
import type { Database, Tx } from '#db/database.ts';
import {
  type DuePush,
  deletePush,
  takeDuePushes,
  takeTappedPushes,
  updateRefused,
} from '#push/push-queries.ts';
import { type VapidKeys, vapidAuthorization } from '#push/vapid.ts';
import type { Reply } from '#webhooks/exchange.ts';
import { type Network, openTransport } from '#webhooks/transport.ts';

export interface NotifyPayersDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly keys: VapidKeys;
  readonly network: Network;
  readonly insertAlarms: (
    tx: Tx,
    livemode: boolean,
    alarms: readonly {
      readonly kind: string;
      readonly subject: string;
      readonly details: { readonly [key: string]: unknown };
    }[],
    now: Date,
  ) => Promise<void>;
}

/** Notifications that are sent concurrently; each may take up to 10 s. */
const BATCH = 20;
/** Status codes that mean that the browser has ended the subscription. */
const GONE: ReadonlySet<number> = new Set([404, 410]);
/** The push service does not accept this network's VAPID key or subject (RFC 8292 4.2). */
const REFUSED = 403;

/**
 * Sends a notification without a body, so that the push service learns nothing about the payment.
 * The wallet's service worker adds the text.
 */
async function ring(deps: NotifyPayersDeps, due: DuePush): Promise<void> {
  const { endpoint, until } = due;
  const now = deps.clock.now();
  const url = new URL(endpoint);
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  const transport = openTransport(url, deps.network);
  const authorization = vapidAuthorization(url, deps.keys, now);
  const headers = ['authorization', authorization, 'ttl', `${seconds}`, 'urgency', 'high'];
  const reply = await transport.post(headers, Buffer.alloc(0));
  transport.close();
  await recordReply(deps, due, reply);
}

/**
 * Opens or resolves the alarm of a push service. There is one per service, because a refusal
 * concerns all of its browsers.
 */
async function recordReply(deps: NotifyPayersDeps, due: DuePush, reply: Reply): Promise<void> {
  if (!reply.answered) return;
  const { db, clock } = deps;
  const { session_hash: session, livemode, endpoint } = due;
  if (GONE.has(reply.status)) return deletePush(db, session);
  if (reply.status < 300) return updateRefused(db, session, null);
  if (reply.status !== REFUSED) return;
  const details = { status: reply.status, reason: reply.body };
  const alarm = { kind: 'push_refused', subject: new URL(endpoint).host, details };
  await db.transaction(async (tx) => {
    await updateRefused(tx, session, clock.now());
    await deps.insertAlarms(tx, livemode, [alarm], clock.now());
  });
}

/**
 * Notifies browsers of payers who must confirm, or whose static pass was tapped. A lost
 * notification is not repeated: after a minute the question has ended, and the history shows the
 * tap. An open wallet does not depend on notifications.
 * @returns true if there may be more.
 */
export async function notifyPayers(deps: NotifyPayersDeps): Promise<boolean> {
  const now = deps.clock.now();
  const asked = await takeDuePushes(deps.db, now, BATCH);
  const tapped = await takeTappedPushes(deps.db, now, BATCH);
  await Promise.all([...asked, ...tapped].map((one) => ring(deps, one)));
  return asked.length === BATCH || tapped.length === BATCH;
}
