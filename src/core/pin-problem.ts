/** Of the PINs of this length, only the common ones are refused. */
const SHORTEST = 4;

/** Length of a PIN that may lift limits: a million values, so that twenty guesses are hopeless. */
export const LIFTING_LENGTH = 6;

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

export type PinProblem = 'digits' | 'easy' | 'short';

/** Returns why a new PIN is refused. `lifts` is true for a person who may lift others' limits. */
export function pinProblem(pin: string, lifts: boolean): PinProblem | null {
  if (!/^\d{4,8}$/.test(pin)) return 'digits';
  if (COMMON.has(pin) || (pin.length > SHORTEST && isRow(pin))) return 'easy';
  return lifts && !isLongPin(pin) ? 'short' : null;
}
