import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { readCredentialEnds } from '#accounts/recheck-credentials.ts';
import { openShift, type Shift } from '#accounts/shift-rows.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import { type IdKey, pinText } from '#core/ids.ts';
import { afterWrong, isBlocked, type Tries } from '#core/pin-and-code-lockout.ts';
import type { Database, Tx } from '#db/database.ts';
import {
  type Allowance,
  giveBackAttempt,
  takeAttempt,
  tooManyAttempts,
} from '#people/attempt-limits.ts';
import {
  lockPin,
  type PinRow,
  selectCashiers,
  selectPin,
  updatePinTries,
} from '#people/cashier-pins.ts';
import { verifyPassword } from '#people/passwords.ts';

/**
 * Limits wrong PINs at one terminal, over all cashiers. The limit per cashier allows as many in an
 * hour, so a thief who tries all cashiers is no faster.
 */
const WRONG_PER_TERMINAL: Allowance = { attempts: 30, windowMs: HOUR_MS };

interface Start {
  readonly terminalId: string;
  readonly merchant: MerchantAccount;
  /** The user id that the till sent. */
  readonly cashier: string;
  readonly pin: string;
  readonly now: Date;
}

function pinInvalid(): Refusal {
  return refuse(
    'pin_invalid',
    'This PIN is wrong. If you forgot yours, ask an admin for a new one.',
  );
}

function triesOf({ pin_wrong_at, pin_blocked_until }: PinRow): Tries {
  return { wrongAt: pin_wrong_at, blockedUntil: pin_blocked_until };
}

/** Returns a refusal if too many wrong PINs block this cashier, at every till. */
function blocked(row: PinRow | null, now: Date): Refusal | null {
  const until = row?.pin_blocked_until ?? null;
  if (row === null || until === null || !isBlocked(triesOf(row), now)) return null;
  return tooManyAttempts(until.getTime() - now.getTime());
}

/**
 * Decides while the cashier's row is locked, so that the sixth of several concurrent guesses is
 * refused whether it is right or wrong.
 */
async function decide(
  tx: Tx,
  { terminalId, merchant, cashier, now }: Start,
  checked: { readonly pinId: string | null; readonly isRight: boolean },
): Promise<Shift | Refusal> {
  const { accountId } = merchant.tenant;
  const ended = (await readCredentialEnds(tx, [merchant]))(merchant);
  if (ended !== null) return ended;
  const row = await lockPin(tx, { accountId, userId: cashier });
  const tooMany = blocked(row, now);
  if (tooMany !== null) return tooMany;
  if (row === null) return pinInvalid();
  if (!checked.isRight || row.pin_id === null || row.pin_id !== checked.pinId) {
    const { wrongAt, blockedUntil } = afterWrong(triesOf(row), now);
    await updatePinTries(tx, { accountId, userId: cashier, wrongAt, blockedUntil });
    return pinInvalid();
  }
  return openShift(tx, { terminalId, accountId, userId: cashier, pinId: row.pin_id, now });
}

/** Compares the PIN before the transaction, because hashing takes as long as many transactions. */
async function tryPin(ctx: ShiftContext, start: Start): Promise<Shift | Refusal> {
  const { merchant, cashier: userId, pin, now } = start;
  const { accountId } = merchant.tenant;
  const row = await selectPin(ctx.db, { accountId, userId });
  const tooMany = blocked(row, now);
  if (tooMany !== null) return tooMany;
  const text = pinText(ctx.idKey, { accountId, userId, pin });
  const isRight = await verifyPassword(text, row?.pin_hash ?? null, 'till');
  if (isRefusal(isRight)) return isRight;
  const checked = { pinId: row?.pin_id ?? null, isRight };
  return ctx.db.transaction((tx) => decide(tx, start, checked));
}

/** Starts a shift without a person, which is possible only while nobody has a PIN. */
export async function startShiftWithoutPerson(
  db: Database,
  { terminalId, merchant, now }: Omit<Start, 'cashier' | 'pin'>,
): Promise<Shift | Refusal> {
  const { accountId } = merchant.tenant;
  return db.transaction<Shift | Refusal>(async (tx) => {
    const ended = (await readCredentialEnds(tx, [merchant]))(merchant);
    if (ended !== null) return ended;
    if ((await selectCashiers(tx, accountId)).length > 0) {
      const message = 'Send cashier and pin: people of this account have PINs.';
      return refuse('parameter_missing', message, 'cashier');
    }
    return openShift(tx, { terminalId, accountId, userId: null, pinId: null, now });
  });
}

interface ShiftContext {
  readonly db: Database;
  readonly idKey: IdKey;
}

/**
 * Starts a shift with a cashier's PIN, or hands the open shift over to that cashier. Unknown users,
 * users of another account and users without a PIN get the same refusal.
 */
export async function startShift(ctx: ShiftContext, start: Start): Promise<Shift | Refusal> {
  const { terminalId, now } = start;
  const bucket = `pin ${terminalId}`;
  const tooMany = await takeAttempt(ctx.db, bucket, { allowance: WRONG_PER_TERMINAL, now });
  if (tooMany !== null) return tooMany;
  const shift = await tryPin(ctx, start);
  const isWrong = isRefusal(shift) && shift.code === 'pin_invalid';
  if (!isWrong) await giveBackAttempt(ctx.db, bucket);
  return shift;
}
