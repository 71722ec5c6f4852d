import type { InsertAlarms } from '#db/insert-alarms.ts';
import type { ProcessContext } from '#db/process-context.ts';
import {
  type DuePush,
  deletePush,
  takeDuePushes,
  takeTappedPushes,
  updateRefused,
} from '#push/push-queries.ts';
import { type VapidKeys, vapidAuthorization } from '#push/vapid.ts';
import { type Network, openTransport } from '#webhooks/connect-to-receivers.ts';
import type { Reply } from '#webhooks/http-exchange.ts';

/** The push settings, and a function that reports refusals by push services. */
export interface Pushing {
  readonly keys: VapidKeys;
  readonly network: Network;
  readonly insertAlarms: InsertAlarms;
}

/** Number of notifications sent concurrently; each may take up to 10 s. */
const BATCH = 20;
/** Status codes that mean that the browser has ended the subscription. */
const GONE: ReadonlySet<number> = new Set([404, 410]);
/**
 * The status with which a push service rejects this network's VAPID key or subject (RFC 8292 4.2).
 */
const REFUSED = 403;

/**
 * Sends a notification without a body, so that the push service learns nothing about the payment.
 * The wallet's service worker adds the text.
 */
async function ring(ctx: ProcessContext, by: Pushing, due: DuePush): Promise<void> {
  const { endpoint, until } = due;
  const now = ctx.clock.now();
  const url = new URL(endpoint);
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  const transport = openTransport(url, by.network);
  const authorization = vapidAuthorization(url, by.keys, now);
  const headers = ['authorization', authorization, 'ttl', `${seconds}`, 'urgency', 'high'];
  const reply = await transport.post(headers, Buffer.alloc(0));
  transport.close();
  await recordReply(ctx, by, { due, reply });
}

/**
 * Opens or resolves the alarm of a push service. There is one per service, because a refusal
 * concerns all of its browsers.
 */
async function recordReply(
  { db, clock }: ProcessContext,
  { insertAlarms }: Pushing,
  { due, reply }: { readonly due: DuePush; readonly reply: Reply },
): Promise<void> {
  if (!reply.answered) return;
  const { session_hash: session, livemode, endpoint } = due;
  if (GONE.has(reply.status)) return deletePush(db, session);
  if (reply.status < 300) return updateRefused(db, session, null);
  if (reply.status !== REFUSED) return;
  const details = { status: reply.status, reason: reply.body };
  const alarm = { kind: 'push_refused', subject: new URL(endpoint).host, details };
  await db.transaction(async (tx) => {
    await updateRefused(tx, session, clock.now());
    await insertAlarms(tx, livemode, [alarm], clock.now());
  });
}

/**
 * Notifies browsers of payers who must confirm, or whose static pass was tapped. A lost
 * notification is not repeated: the request to confirm expires after a minute, and the history
 * shows the tap. Open wallets need no notification.
 * @returns true if there may be more.
 */
export async function notifyPayers(ctx: ProcessContext, by: Pushing): Promise<boolean> {
  const now = ctx.clock.now();
  const pushes = await takeDuePushes(ctx.db, now, BATCH);
  const tapped = await takeTappedPushes(ctx.db, now, BATCH);
  await Promise.all([...pushes, ...tapped].map((one) => ring(ctx, by, one)));
  return pushes.length === BATCH || tapped.length === BATCH;
}
