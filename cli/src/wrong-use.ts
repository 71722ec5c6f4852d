/** Thrown for wrong usage: exit code 2. */
export class WrongUse extends Error {}
