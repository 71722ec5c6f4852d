export interface AdminInput {
  readonly args: readonly string[];
  /** Asks for a password, on the terminal or through a pipe, never as an argument. */
  readonly readPassword: () => Promise<string>;
  readonly now: Date;
}
