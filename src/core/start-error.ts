/**
 * A start failure that the operator can fix: a port in use, a locked folder, a missing setting.
 * The message is one line that names the setting or folder and the remedy. The process prints the
 * message alone, without a stack trace, and exits with a status other than 0.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
