/**
 * The process cannot start, and the operator can fix that: a port is in use, a folder is locked, or
 * a setting is missing. The message is one line that names the problem and the remedy. The process
 * prints only this message, without a stack trace, and exits with a status other than 0.
 */
export class StartError extends Error {
  override readonly name = 'StartError';
}
