/**
 * The names that scripts use to find a result in every language (behavior.md 21): the values of
 * `data-result`.
 */
export const RESULT_NAMES = {
  paid: 'Paid',
  declined: 'Declined',
  canceled: 'Canceled',
  expired: 'Expired',
  checking: 'Checking…',
  offline: 'Offline',
  not_sent: 'Not sent',
  waiting: 'Waiting for the customer to confirm',
  rejected: 'Rejected',
  gone: 'Already answered',
  accepted_offline: 'Accepted offline',
  refused: 'Not paid',
} as const;
