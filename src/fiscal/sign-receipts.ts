import { isRefusal } from '#core/answer.ts';
import { type Loop, startLoop } from '#core/background-loop.ts';
import { addMs } from '#core/clock.ts';
import { failpoint } from '#core/failpoints.ts';
import type { Database } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import {
  type DueReceipt,
  takeDueReceipts,
  updateSigned,
  updateUnsigned,
} from '#fiscal/fiscal-queries.ts';
import { signRequest } from '#fiscal/signature-request.ts';
import { describeError } from '#observability/log.ts';
import { type Network, openTransport } from '#webhooks/connect-to-receivers.ts';
import { parseEndpointUrl } from '#webhooks/endpoint-url.ts';
import { MAX_BODY_BYTES, type Reply } from '#webhooks/http-exchange.ts';
import { nextAttemptAt, parseRetryAfter } from '#webhooks/retry-schedule.ts';

/** Poll interval, and so the maximum delay of a signature after a lost wake-up. */
const POLL_MS = 1_000;
/**
 * Lease of a receipt: longer than a request may take, so that two processes never send the same
 * receipt at the same time.
 */
const LEASE_MS = 20_000;
/** Maximum number of requests in flight from this process. */
const MAX_IN_FLIGHT = 64;
/** Maximum number of requests in flight to one account's signer, which may be slow. */
const MAX_PER_ACCOUNT = 4;

interface Signed {
  readonly signature: string;
  readonly text: string | null;
}

/** True for text that PostgreSQL can store: no NUL, and no half of a surrogate pair. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

/** Parses the body; `null` if it is not a signer's response. */
function readSigned(body: string | null): Signed | null {
  try {
    const { signature, text = null } = JSON.parse(body ?? '') as Record<string, unknown>;
    if (!isText(signature) || signature === '') return null;
    return text === null || isText(text) ? { signature, text } : null;
  } catch {
    return null;
  }
}

/** Returns the signature, or the reason why the reply contains none. */
function readReply(reply: Reply): Signed | string {
  if (!reply.answered) return reply.error;
  if (reply.status >= 400) return 'status_not_2xx';
  if (reply.status >= 300) return 'redirect_refused';
  if (!reply.isWhole) return 'invalid_response';
  return readSigned(reply.body) ?? 'invalid_response';
}

async function send(db: Database, network: Network, due: DueReceipt): Promise<Reply | null> {
  const url = parseEndpointUrl(due.url, due.livemode);
  if (isRefusal(url)) return null;
  const body = Buffer.from(JSON.stringify(await signRequest(db, due)));
  const transport = openTransport(url, network);
  const headers = ['content-type', 'application/json', 'user-agent', 'Tapline-Fiscal/1'];
  try {
    return await transport.post(headers, body, MAX_BODY_BYTES);
  } finally {
    transport.close();
  }
}

/** Requests one signature, outside any transaction, and records the result. */
async function signOne(
  { db, clock }: ProcessContext,
  network: Network,
  due: DueReceipt,
): Promise<void> {
  failpoint('fiscal.taken');
  const reply = await send(db, network, due);
  const now = clock.now();
  const signed = reply === null ? 'url_not_allowed' : readReply(reply);
  failpoint('fiscal.answered');
  if (typeof signed !== 'string') return updateSigned(db, due.subject_id, { ...signed, now });
  const retryAfterMs = reply?.answered === true ? parseRetryAfter(reply.retryAfter, now) : null;
  const last = { attempt: due.attempts, finished: now, retryAfterMs, random: Math.random() };
  await updateUnsigned(db, due, { error: signed, dueAt: nextAttemptAt(last) });
}

/**
 * Sends receipts to their accounts' signers until each is signed. A request takes at most 10 s and
 * 16 KiB; retries follow the schedule of webhooks. A signer that hangs delays only its own account.
 */
export function startSigning(ctx: ProcessContext, network: Network): Loop {
  const { db, clock, log } = ctx;
  const onError = (name: string, error: unknown) =>
    log.error(`the ${name} failed`, { error: describeError(error) });
  const name = 'signatures of receipts';
  const underWay = new Map<Promise<void>, string>();
  const inFlight = () => {
    const counts = new Map<string, number>();
    for (const account of underWay.values()) counts.set(account, (counts.get(account) ?? 0) + 1);
    return [...counts];
  };
  const start = (due: DueReceipt) => {
    const work = signOne(ctx, network, due)
      .catch((error: unknown) => onError(name, error))
      .finally(() => {
        underWay.delete(work);
        loop.wake();
      });
    underWay.set(work, due.account_id);
  };
  const run = async () => {
    const counts = inFlight();
    const except = counts.filter(([, count]) => count >= MAX_PER_ACCOUNT).map(([id]) => id);
    const others = counts.map(([, count]) => count).filter((count) => count < MAX_PER_ACCOUNT);
    // In the worst case, all receipts claimed now belong to the account nearest to its limit.
    const most = Math.max(0, ...others);
    const limit = Math.min(MAX_PER_ACCOUNT - most, MAX_IN_FLIGHT - underWay.size);
    if (limit <= 0) return false;
    const now = clock.now();
    const again = addMs(now, LEASE_MS);
    const due = await takeDueReceipts(db, { now, again, limit, except });
    due.forEach(start);
    return due.length === limit;
  };
  const loop = startLoop({ name, pollMs: POLL_MS, run, onError });
  ctx.wakeups.on(FISCAL_WAKEUP, '', loop.wake);
  return {
    wake: loop.wake,
    stop: async () => {
      await loop.stop();
      await Promise.all(underWay.keys());
    },
  };
}

/** The wake-up to send after the commit of a transaction with new receipts to sign. */
export const FISCAL_WAKEUP = 'fiscal';
