import { type PinContext, type PinTry, withPin } from '#accounts/check-pin.ts';
import { readCredentialEnds } from '#accounts/recheck-credentials.ts';
import { openShift, type ShiftRights } from '#accounts/shift-rows.ts';
import { type Refusal, refuse } from '#core/answer.ts';
import { isLongPin } from '#core/pin-problem.ts';
import type { Database } from '#db/database.ts';
import { hasTillPeople, noteLongPin } from '#people/cashier-pins.ts';

/** Starts a shift without a person, which is possible only while nobody has a PIN. */
export async function startShiftWithoutPerson(
  db: Database,
  { terminalId, merchant, now }: Omit<PinTry, 'personId' | 'pin'>,
): Promise<ShiftRights | Refusal> {
  const { accountId } = merchant.tenant;
  return db.transaction<ShiftRights | Refusal>(async (tx) => {
    const ended = (await readCredentialEnds(tx, [merchant]))(merchant);
    if (ended !== null) return ended;
    if (await hasTillPeople(tx, accountId)) {
      const message = 'Send cashier and pin: people of this account have PINs.';
      return refuse('parameter_missing', message, 'cashier');
    }
    return openShift(tx, { terminalId, accountId, personId: null, pinId: null, now });
  });
}

/** Starts a shift with a person's PIN, or hands the open shift over to that person. */
export async function startShift(ctx: PinContext, start: PinTry): Promise<ShiftRights | Refusal> {
  const { terminalId, merchant, now } = start;
  const { accountId } = merchant.tenant;
  return withPin(ctx, start, async (tx, person) => {
    const { personId } = person;
    if (isLongPin(start.pin)) await noteLongPin(tx, { accountId, personId });
    return openShift(tx, { terminalId, accountId, ...person, now });
  });
}
