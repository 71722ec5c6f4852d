/**
 * The reason for aborting a wait whose client is still connected: the process is about to end and
 * responds with the current state.
 */
export const PROCESS_ENDS = 'the process ends';

export function isClientGone(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true && signal.reason !== PROCESS_ENDS;
}
