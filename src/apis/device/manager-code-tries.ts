import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Database } from '#db/database.ts';
import { type Allowance, giveBackAttempt, takeAttempt } from '#people/attempt-limits.ts';

/**
 * Wrong codes per hour: a clerk may mistype a few. Guessing is hopeless, because codes have 39 bits
 * and are valid for minutes.
 */
const WRONG_CODES: Allowance = { attempts: 10, windowMs: HOUR_MS };

/** Runs `work`. Counts wrong manager codes in a terminal's requests, and refuses after too many. */
export async function countCodeTries(
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
