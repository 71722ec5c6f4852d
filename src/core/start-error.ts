/**
 * A start that a person can put right: a port taken, a folder in use, a setting missing.
 *
 * The message is one line that names the setting or folder and says what to do. The person who runs
 * the program prints the message alone, without a stack, and ends with a status other than 0.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
