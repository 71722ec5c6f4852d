import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { readCredentialEnds } from '#accounts/recheck-credentials.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { DAY_MS, HOUR_MS } from '#core/durations.ts';
import { type IdKey, pinText } from '#core/ids.ts';
import type { Database, Tx } from '#db/database.ts';
import { accountInMail, LINK_LIKE } from '#people/account-name-in-mail.ts';
import {
  type Allowance,
  giveBackAttempt,
  takeAttempt,
  tooManyAttempts,
} from '#people/attempt-limits.ts';
import {
  lockPin,
  type PinRow,
  selectPersonName,
  selectPin,
  updatePinTries,
} from '#people/cashier-pins.ts';
import { mailOwners } from '#people/owner-mail.ts';
import { verifyPassword } from '#people/passwords.ts';
import { afterWrongPin, blockedUntil, type PinTries } from '#people/pin-tries.ts';

/**
 * Limits wrong PINs at one terminal, over all people. The limit per person allows as many in an
 * hour, so a thief who tries all people is no faster.
 */
const WRONG_PER_TERMINAL: Allowance = { attempts: 30, windowMs: HOUR_MS };

export interface PinContext {
  readonly db: Database;
  readonly idKey: IdKey;
  /** Seals the mail about a blocked person. */
  readonly secretKey: Buffer;
}

/** A person and a PIN, as a till sent them. */
export interface PinTry {
  readonly terminalId: string;
  readonly merchant: MerchantAccount;
  readonly personId: string;
  readonly pin: string;
  readonly now: Date;
}

/** A person whose PIN was right. */
export interface CheckedPerson {
  readonly personId: string;
  readonly pinId: string;
}

export function pinInvalid(): Refusal {
  return refuse(
    'pin_invalid',
    'This PIN is wrong. If you forgot yours, ask an admin for a new one.',
  );
}

function triesOf(row: PinRow): PinTries {
  const { pin_wrong_at: wrongAt, pin_blocked_until, pin_wrong_today: today } = row;
  return { wrongAt, blockedUntil: pin_blocked_until, today, lockedAt: row.pin_locked_at };
}

/** Returns a refusal if too many wrong PINs block this person at this till. */
function blocked(row: PinRow | null, { terminalId, now }: PinTry): Refusal | null {
  if (row === null) return null;
  const tries = triesOf(row);
  if (tries.lockedAt !== null) {
    const message = 'Too many wrong PINs. An admin must unblock this person in the dashboard.';
    return { ...tooManyAttempts(DAY_MS), message };
  }
  const until = blockedUntil(tries, terminalId, now);
  return until === null ? null : tooManyAttempts(until.getTime() - now.getTime());
}

async function countWrong(tx: Tx, { secretKey }: PinContext, tried: PinTry, row: PinRow) {
  const { merchant, terminalId, personId, now } = tried;
  const { accountId } = merchant.tenant;
  const after = afterWrongPin(triesOf(row), terminalId, now);
  await updatePinTries(tx, { accountId, personId, ...after });
  const isLocked = after.lockedAt !== null;
  if (!after.blocksHere && !isLocked) return;
  const name = await selectPersonName(tx, { accountId, personId });
  const person = LINK_LIKE.test(name) ? 'a person' : `“${name}”`;
  const where = isLocked ? 'at your tills' : `at the till ${terminalId}`;
  const until = isLocked ? 'everywhere until an admin unblocks this person' : 'there for a day';
  const text =
    `Too many wrong PINs were entered for ${person} in ${accountInMail(merchant.name)} ${where}. ` +
    `The PIN is refused ${until}. If the person did not try it, find out who had the till.\n`;
  const mail = { subject: 'Too many wrong PINs at a till', text };
  await mailOwners(tx, { accountId, secretKey, now }, mail);
}

/**
 * Decides while the person's row is locked, so that the sixth of several concurrent guesses is
 * refused whether it is right or wrong.
 */
async function decide<Result>(
  tx: Tx,
  ctx: PinContext,
  tried: PinTry,
  {
    checked,
    use,
  }: {
    readonly checked: { readonly pinId: string | null; readonly isRight: boolean };
    readonly use: (tx: Tx, person: CheckedPerson) => Promise<Result>;
  },
): Promise<Result | Refusal> {
  const { merchant, personId } = tried;
  const { accountId } = merchant.tenant;
  const ended = (await readCredentialEnds(tx, [merchant]))(merchant);
  if (ended !== null) return ended;
  const row = await lockPin(tx, { accountId, personId });
  const tooMany = blocked(row, tried);
  if (tooMany !== null) return tooMany;
  if (row === null) return pinInvalid();
  const { pin_id: pinId } = row;
  if (!checked.isRight || pinId === null || pinId !== checked.pinId) {
    await countWrong(tx, ctx, tried, row);
    return pinInvalid();
  }
  return use(tx, { personId, pinId });
}

/** Compares the PIN before the transaction, because hashing takes as long as many transactions. */
async function tryPin<Result>(
  ctx: PinContext,
  tried: PinTry,
  use: (tx: Tx, person: CheckedPerson) => Promise<Result>,
): Promise<Result | Refusal> {
  const { merchant, personId, pin } = tried;
  const { accountId } = merchant.tenant;
  const row = await selectPin(ctx.db, { accountId, personId });
  const tooMany = blocked(row, tried);
  if (tooMany !== null) return tooMany;
  const text = pinText(ctx.idKey, { accountId, personId, pin });
  const isRight = await verifyPassword(text, row?.pin_hash ?? null, 'till');
  if (isRefusal(isRight)) return isRight;
  const checked = { pinId: row?.pin_id ?? null, isRight };
  return ctx.db.transaction((tx) => decide(tx, ctx, tried, { checked, use }));
}

/**
 * Checks a person's PIN at a till, counts a wrong one, and calls `use` in the transaction that
 * found it right. Unknown people, people of another account and people without a PIN get the same
 * refusal.
 */
export async function withPin<Result extends object>(
  ctx: PinContext,
  tried: PinTry,
  use: (tx: Tx, person: CheckedPerson) => Promise<Result>,
): Promise<Result | Refusal> {
  const { terminalId, now } = tried;
  const bucket = `pin ${terminalId}`;
  const tooMany = await takeAttempt(ctx.db, bucket, { allowance: WRONG_PER_TERMINAL, now });
  if (tooMany !== null) return tooMany;
  const result = await tryPin(ctx, tried, use);
  const isWrong = isRefusal(result) && result.code === 'pin_invalid';
  if (!isWrong) await giveBackAttempt(ctx.db, bucket);
  return result;
}
