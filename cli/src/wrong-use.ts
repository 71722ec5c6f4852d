/** The command was called wrongly: exit code 2. */
export class WrongUse extends Error {}
