export interface AdminInput {
  /** The command and its arguments. */
  readonly args: readonly string[];
  /** A password, where one is needed: read from the terminal or a pipe, never an argument. */
  readonly readPassword: () => Promise<string>;
  readonly now: Date;
}
