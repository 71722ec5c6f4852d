import { assert, present } from '#core/assert.ts';
import type { RotatingKey } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { describeError } from '#observability/log.ts';
import {
  type DueCopy,
  deleteErasedCopies,
  deletePushTokens,
  selectPushTokens,
  takeDueCopies,
  updateCopied,
  updateCopyLater,
  WALLETS,
} from '#payers/pass-copy-queries.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import { readShownPass } from '#payers/shown-pass.ts';

export interface PhoneWallets {
  readonly passFiles: PassFiles;
  /** Decrypts the values in the copies. */
  readonly cardKey: RotatingKey;
  readonly webUrl: string;
}

/** Copies that are updated concurrently. */
const BATCH = 10;
/**
 * Lease of a copy. Longer than all requests for one copy together (Google: six of 8 s each; Apple:
 * one of 10 s), so that an older state never arrives after a newer one.
 */
const LEASE_MS = 90_000;
const FIRST_RETRY_MS = 5_000;
/** Longest pause between retries. After an outage of a day, wallets are up to date within hours. */
const LAST_RETRY_MS = 3 * HOUR_MS;

function retryMs(tries: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries - 1, 20), LAST_RETRY_MS);
}

/** Sends the whole current object, so that repeating it is harmless. */
async function notifyGoogle(ctx: ProcessContext, by: PhoneWallets, passId: string): Promise<void> {
  const google = present(by.passFiles.google, 'Google Wallet');
  const walletUrl = `${by.webUrl}/wallet`;
  const { cardKey } = by;
  const pass = await readShownPass(ctx.db, { passId, wallet: 'google', cardKey, walletUrl });
  if (pass === undefined) return;
  await google.put(pass.pass, ctx.clock.now());
}

/** Notifies the devices, which then fetch the pass from apple-pass-service.ts. */
async function notifyApple(ctx: ProcessContext, by: PhoneWallets, passId: string): Promise<void> {
  const apple = present(by.passFiles.apple, 'Apple Wallet');
  const tokens = await selectPushTokens(ctx.db, passId);
  const gone = tokens.length === 0 ? [] : await apple.push(tokens);
  if (gone.length > 0) await deletePushTokens(ctx.db, gone);
}

async function notifyOne(ctx: ProcessContext, by: PhoneWallets, copy: DueCopy): Promise<void> {
  try {
    await (copy.wallet === 'google' ? notifyGoogle : notifyApple)(ctx, by, copy.pass_id);
  } catch (error) {
    const at = addMs(ctx.clock.now(), retryMs(copy.tries));
    await updateCopyLater(ctx.db, copy, at);
    const { wallet, tries } = copy;
    ctx.log.warn('a pass could not be updated in a wallet', {
      wallet,
      tries,
      error: describeError(error),
    });
    return;
  }
  await updateCopied(ctx.db, copy, ctx.clock.now());
}

/**
 * Sends changed passes to phone wallets. Any number of processes may run this concurrently. If one
 * is killed, another repeats its work once the lease expires. @returns true if there may be more.
 */
export async function notifyWallets(ctx: ProcessContext, by: PhoneWallets): Promise<boolean> {
  const wallets = WALLETS.filter((wallet) => by.passFiles[wallet] !== null);
  assert(wallets.length > 0, 'a wallet to update');
  const now = ctx.clock.now();
  const due = { wallets, now, until: addMs(now, LEASE_MS), limit: BATCH };
  const copies = await takeDueCopies(ctx.db, due);
  await Promise.all(copies.map((copy) => notifyOne(ctx, by, copy)));
  if (copies.length === 0) await deleteErasedCopies(ctx.db, now);
  return copies.length === BATCH;
}
