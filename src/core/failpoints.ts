/**
 * Named points between two steps of a payment, at which a test can kill the process as `kill -9`
 * would. They do nothing in production. The setting is read once, when the module is loaded.
 */
export const FAILPOINTS = [
  'payments.request_committed',
  'offline.sales_judged',
  'offline.sales_committed',
  'settlement.sender_taken',
  'settlement.signed_committed',
  'settlement.signature_given',
  'settlement.broadcast_sent',
  'settlement.receipt_seen',
  'settlement.outcome_committed',
  'reorganizations.queued_again',
  'payments.outcome_committed',
  'recovery.taken',
  'recovery.numbers_raised',
  'recovery.nonces_raised',
  'recovery.range_read',
  'recovery.payments_booked',
  'recovery.range_booked',
  'recovery.unpaid_given_up',
  'recovery.credentials_ended',
  'recovery.finished',
  'refunds.request_committed',
  'refunds.outcome_committed',
  'shifts.rows_read',
  'shifts.report_written',
  'shifts.end_committed',
  'fiscal.taken',
  'fiscal.answered',
  'webhooks.taken',
  'webhooks.answered',
  'webhooks.recorded',
  'mail.taken',
  'mail.sent',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];

interface Armed {
  readonly name: string;
  hitsLeft: number;
}

/**
 * Reads the setting. `TAPLINE_FAILPOINT=<name>` kills the process the first time that it reaches
 * the failpoint; `<name>:<n>` kills it the n-th time.
 */
function readArmed(env: NodeJS.ProcessEnv): Armed | null {
  const text = env.TAPLINE_FAILPOINT;
  if (env.NODE_ENV === 'production' || text === undefined || text === '') return null;
  const [name = '', hits = '1'] = text.split(':');
  return { name, hitsLeft: Number(hits) };
}

const armed = readArmed(process.env);

/** Kills the process, without flushing or closing anything, if a test has armed this failpoint. */
export function failpoint(name: Failpoint): void {
  if (armed === null || armed.name !== name) return;
  armed.hitsLeft--;
  if (armed.hitsLeft === 0) process.kill(process.pid, 'SIGKILL');
}
