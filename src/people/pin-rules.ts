import { type Refusal, refuse } from '#core/answer.ts';
import { liftsLimits, type Role, type TillRole } from '#people/role-order.ts';

/** Of the PINs of this length, only the common ones are refused. */
const SHORTEST = 4;

/** Length of a PIN that may lift limits: a million values, so that twenty guesses are hopeless. */
const LIFTING_LENGTH = 6;

/** The PINs that people choose most often, and that a thief tries first. */
const COMMON = new Set([
  ...['1234', '1111', '0000', '1212', '7777'],
  ...['1004', '2000', '4444', '2222', '6969'],
]);

export function isLongPin(pin: string): boolean {
  return pin.length >= LIFTING_LENGTH;
}

/** True for rows of one digit or of rising digits. */
function isRow(pin: string): boolean {
  const steps = [...pin].slice(1).map((digit, index) => Number(digit) - Number(pin[index]));
  const [first] = steps;
  return (first === 0 || first === 1) && steps.every((step) => step === first);
}

/**
 * Checks a new PIN of 4 to 8 digits. `lifts` is true for a person who may allow what others may
 * not.
 */
export function checkPin(pin: string, lifts: boolean): Refusal | null {
  if (COMMON.has(pin) || (pin.length > SHORTEST && isRow(pin))) {
    const message = 'This PIN is too easy to guess. Choose digits that are no row and no year.';
    return refuse('parameter_invalid', message, 'pin');
  }
  if (!lifts || isLongPin(pin)) return null;
  const message = `The PIN of a person who can lift limits needs ${LIFTING_LENGTH} to 8 digits.`;
  return refuse('parameter_invalid', message, 'pin');
}

/** Only people who lift limits may have none (`null`) themselves. */
export function checkLimitIsSet(role: Role | TillRole, limit: unknown): Refusal | null {
  if (limit !== null || liftsLimits(role)) return null;
  const message = `refund_limit can be null only for owners, admins and managers, not a ${role}.`;
  return refuse('parameter_invalid', message, 'refund_limit');
}
