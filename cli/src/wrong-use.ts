/** Thrown for incorrect usage; the exit code is 2. */
export class WrongUse extends Error {}
