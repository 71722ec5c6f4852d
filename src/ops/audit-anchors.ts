import type { AnchorTarget } from '#audit/anchor-target.ts';
import { type Anchor, anchorLine } from '#audit/verify-audit-log.ts';
import { addMs } from '#core/clock.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { openOwn } from '#files/own-files.ts';
import {
  claimAnchorDay,
  finishAnchorDay,
  selectMovedHeads,
  selectOperatorMailboxes,
  upsertAnchors,
} from '#ops/audit-anchor-queries.ts';
import { plainFetch } from '#outgoing/plain-fetch.ts';
import type { Mailer } from '#people/mail-outbox.ts';

export interface AnchorDelivery {
  readonly mailer: Mailer;
  readonly anchorTarget: AnchorTarget;
}

/**
 * Lifetime of a process's claim on a day, and so the delay before a retry. Longer than a mail
 * server or receiver may take to respond.
 */
const CLAIM_MS = 300_000;
const POST_TIMEOUT_MS = 20_000;

/** Returns the anchor as one line of JSON, which `--anchors` can read. */
function anchorJson(heads: readonly Anchor[], now: Date): string {
  const plain = heads.map((head) => ({ ...head, sequence: Number(head.sequence) }));
  return JSON.stringify({ object: 'audit_anchor', created: now.toISOString(), heads: plain });
}

/**
 * Returns the anchor mail's text. The text is also a valid file for `--anchors`: every line except
 * the heads begins with #.
 */
function anchorText(heads: readonly Anchor[]): string {
  return [
    '# The newest entry of each audit log that has grown: audit log, number, hash.',
    '# Keep this mail. Saved as a file, its text shows whether entries were removed later:',
    '# npm run audit-log -- --anchors FILE',
    ...heads.map(anchorLine),
    '',
  ].join('\n');
}

async function sendMail(
  mailer: Mailer,
  to: readonly string[],
  { heads, now }: { readonly heads: readonly Anchor[]; readonly now: Date },
) {
  if (to.length === 0) throw new Error('there is no active operator to send the anchor to');
  const day = now.toISOString().slice(0, 10);
  await mailer.send({
    to: to.join(', '),
    subject: `Tapline: anchor of the audit log, ${day}`,
    text: anchorText(heads),
  });
}

async function post(url: string, body: string): Promise<void> {
  const response = await plainFetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(POST_TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`the anchor receiver responded with status ${response.status}`);
}

/** Appends the line and syncs it to disk, because the day then counts as anchored. */
async function append(path: string, line: string): Promise<void> {
  const file = await openOwn(path, 'append');
  try {
    await file.appendFile(`${line}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function deliver(
  ctx: ProcessContext,
  { mailer, anchorTarget: target }: AnchorDelivery,
  heads: readonly Anchor[],
): Promise<void> {
  const now = ctx.clock.now();
  const json = anchorJson(heads, now);
  if (target.to === 'url') return post(target.url, json);
  if (target.to === 'file') return append(target.path, json);
  const to = target.to === 'mail' ? [target.address] : await selectOperatorMailboxes(ctx.db);
  return sendMail(mailer, to, { heads, now });
}

/**
 * Writes the day's anchor (the heads of all audit logs that changed since the last one), in one
 * process only. A failed delivery is retried after a few minutes. If a process dies between
 * delivery and commit, the anchor is delivered twice, which is harmless.
 */
export async function anchorAuditLog(
  ctx: ProcessContext,
  delivery: AnchorDelivery,
): Promise<boolean> {
  const now = ctx.clock.now();
  const claim = { day: now.toISOString().slice(0, 10), until: addMs(now, CLAIM_MS) };
  if (!(await claimAnchorDay(ctx.db, { ...claim, now }))) return false;
  const heads = await selectMovedHeads(ctx.db);
  try {
    if (heads.length > 0) await deliver(ctx, delivery, heads);
  } catch (error) {
    ctx.log.error('the anchor of the audit log was not delivered', { error });
    return false;
  }
  await ctx.db.transaction(async (tx) => {
    if (await finishAnchorDay(tx, claim)) await upsertAnchors(tx, heads, now);
  });
  return false;
}
