import { type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { MINUTE_MS } from '#core/durations.ts';

/**
 * Actions that move money, or allow it to be moved, require a second factor verified within this
 * time.
 */
const FRESH_FACTOR_MS = 5 * MINUTE_MS;

/** True if a second factor was verified in this session within the last five minutes. */
export function isFactorFresh(secondFactorAt: Date | null, now: Date): boolean {
  return secondFactorAt !== null && addMs(secondFactorAt, FRESH_FACTOR_MS) > now;
}

export function factorNotFresh(): Refusal {
  return refuse(
    'second_factor_required',
    'Verify your second factor now (POST /session/second_factor), then repeat this request ' +
      'within five minutes. If you have none, set up an authenticator app or a passkey first.',
  );
}
