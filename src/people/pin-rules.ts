import { type Refusal, refuse } from '#core/answer.ts';
import { LIFTING_LENGTH, pinProblem } from '#core/pin-problem.ts';
import { liftsLimits, type Role, type TillRole } from '#people/role-order.ts';

/**
 * Checks a new PIN of 4 to 8 digits. `lifts` is true for a person who may allow what others may
 * not.
 */
export function checkPin(pin: string, lifts: boolean): Refusal | null {
  const problem = pinProblem(pin, lifts);
  if (problem === 'easy') {
    const message = 'This PIN is too easy to guess. Choose digits that are no row and no year.';
    return refuse('parameter_invalid', message, 'pin');
  }
  if (problem !== 'short') return null;
  const message = `The PIN of a person who can lift limits needs ${LIFTING_LENGTH} to 8 digits.`;
  return refuse('parameter_invalid', message, 'pin');
}

/** Only people who lift limits may have none (`null`) themselves. */
export function checkLimitIsSet(role: Role | TillRole, limit: unknown): Refusal | null {
  if (limit !== null || liftsLimits(role)) return null;
  const message = `refund_limit can be null only for owners, admins and managers, not a ${role}.`;
  return refuse('parameter_invalid', message, 'refund_limit');
}
