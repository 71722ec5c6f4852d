import { type CheckedPerson, withPin } from '#accounts/check-pin.ts';
import { managerRefused } from '#accounts/manager-at-till.ts';
import type { MerchantAccount } from '#accounts/merchant-caller.ts';
import { pinContext } from '#apis/device/pin-context.ts';
import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Database } from '#db/database.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type Allowance, giveBackAttempt, takeAttempt } from '#people/attempt-limits.ts';

/**
 * Wrong codes per hour: a clerk may mistype a few. Guessing is hopeless, because codes have 39 bits
 * and are valid for minutes.
 */
const WRONG_CODES: Allowance = { attempts: 10, windowMs: HOUR_MS };

/** Runs `work`. Counts wrong manager codes in a terminal's requests, and refuses after too many. */
async function countCodeTries(
  db: Database,
  input: { readonly terminalId: string; readonly managerCode: string | null; readonly now: Date },
  work: () => Promise<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const { terminalId, managerCode, now } = input;
  if (managerCode === null) return work();
  const bucket = `manager-code ${terminalId}`;
  const tooMany = await takeAttempt(db, bucket, { allowance: WRONG_CODES, now });
  if (tooMany !== null) return tooMany;
  const answer = await work();
  const isWrong = isRefusal(answer) && answer.code === 'manager_required';
  if (!isWrong) await giveBackAttempt(db, bucket);
  return answer;
}

/** What a till's request shows in order to do what the signed-in person may not. */
interface Shown {
  readonly manager_code?: string;
  readonly manager?: { readonly id: string; readonly pin: string };
}

/** A manager's code that is still to be checked, or a manager whose PIN was right. */
export interface Lifting {
  readonly managerCode: string | null;
  readonly manager: CheckedPerson | null;
}

/**
 * Runs `work`, with the manager's code if the request has one. If that is refused because it needs
 * a manager, checks the PIN of the manager whom the request names, and runs `work` again. So a
 * request that needs no manager, such as one whose stored response is replayed, checks no PIN.
 */
export async function liftWithManager(
  ctx: ApiContext,
  request: {
    readonly terminalId: string;
    readonly merchant: MerchantAccount;
    readonly body: Shown;
    readonly now: Date;
  },
  work: (lifting: Lifting) => Promise<Answer | Refusal>,
): Promise<Answer | Refusal> {
  const { terminalId, merchant, body, now } = request;
  const { manager_code: managerCode = null, manager } = body;
  const first = await countCodeTries(ctx.db, { terminalId, managerCode, now }, () =>
    work({ managerCode, manager: null }),
  );
  if (manager === undefined || !isRefusal(first) || first.code !== 'manager_required') return first;
  const tried = { terminalId, merchant, personId: manager.id, pin: manager.pin, now };
  const checked = await withPin(pinContext(ctx), tried, async (_tx, person) => person);
  if (isRefusal(checked)) return checked.code === 'pin_invalid' ? managerRefused() : checked;
  return work({ managerCode: null, manager: checked });
}
