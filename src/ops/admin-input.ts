export interface AdminInput {
  /** The command and its arguments. */
  readonly args: readonly string[];
  /** A password, if one is needed: read from the terminal or a pipe, never from an argument. */
  readonly readPassword: () => Promise<string>;
  readonly now: Date;
}
