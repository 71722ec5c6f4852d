/**
 * Why a wait ends although its client is still there: the process is about to end, and answers with
 * what it knows by now.
 */
export const PROCESS_ENDS = 'the process ends';

/** Whether nobody will read the answer. */
export function isClientGone(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && signal.reason !== PROCESS_ENDS;
}
