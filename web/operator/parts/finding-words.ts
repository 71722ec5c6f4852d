import type { ReadAnyPaymentResponse } from '../../data/types/operator.ts';
import type { Tone } from '../../ui/status.tsx';

export type FindingCode = ReadAnyPaymentResponse['findings'][number]['code'];

interface Words {
  readonly tone: Tone;
  readonly title: string;
  readonly say: string;
  /** The operator's next step. */
  readonly todo?: string;
  /** A page of the console with more details. */
  readonly page?: readonly [name: string, path: string];
}

const RELAYERS = ['Relayers', '/operator/relayers'] as const;
const QUEUES = ['Queues', '/operator/queues'] as const;
const RECONCILIATION = ['Reconciliation', '/operator/reconciliation'] as const;
const CONTRACT = ['Contract', '/operator/contract'] as const;

const NOT_CHARGED = 'Nothing was charged.';
const BY_ITSELF =
  'It continues automatically once that is resolved. The customer must not pay twice.';

/** Typed so that a finding without a text fails to compile. */
export const FINDING_WORDS: Readonly<Record<FindingCode, Words>> = {
  account_disabled: {
    tone: 'bad',
    title: 'The account is disabled',
    say: 'Its keys and terminals are refused. Payments in progress are still settled.',
  },
  declined: {
    tone: 'bad',
    title: 'The last tap was declined',
    say: `${NOT_CHARGED} The customer reads why at the till, and may tap again.`,
  },
  terminal_inactive: {
    tone: 'bad',
    title: 'The terminal is turned off in the dashboard',
    say: `${NOT_CHARGED} The shop can turn it on again on its Terminals page.`,
  },
  terminal_silent: {
    tone: 'bad',
    title: 'The terminal has not been seen for two minutes',
    say: `${NOT_CHARGED} No tap has reached us. The till is closed, or has no network.`,
    todo: 'Ask the shop to open the till and check whether it says Offline.',
  },
  not_picked_up: {
    tone: 'warn',
    title: 'The terminal has not shown it yet',
    say: `${NOT_CHARGED} The terminal is there, and another payment may be open on it.`,
    todo: 'Ask which payment the till shows. It shows one at a time.',
  },
  waits_for_tap: {
    tone: 'info',
    title: 'The terminal shows it, and no pass was tapped',
    say: `${NOT_CHARGED} Whatever the customer held to the till was not read.`,
    todo: 'Ask for another tap, or for the code of the wallet app.',
  },
  waits_for_customer: {
    tone: 'warn',
    title: 'The customer has to approve it in the wallet app',
    say: `${NOT_CHARGED} After a minute without an answer it is declined, and can be tapped again.`,
  },
  network_no_worker: {
    tone: 'bad',
    title: 'No worker sends transactions',
    say: BY_ITSELF,
    todo: 'Start a process with the role worker.',
    page: RELAYERS,
  },
  network_no_gas: {
    tone: 'bad',
    title: 'The relayer’s senders cannot pay for gas',
    say: BY_ITSELF,
    todo: 'Send native coin to the addresses marked as low.',
    page: RELAYERS,
  },
  network_no_node: {
    tone: 'bad',
    title: 'No node of the chain answers',
    say: `Whether it was paid is unknown. ${BY_ITSELF}`,
    todo: 'Check the node provider.',
    page: RELAYERS,
  },
  network_clock: {
    tone: 'bad',
    title: 'A machine’s clock is wrong',
    say: BY_ITSELF,
    todo: 'Correct the clocks of the worker and database machines.',
  },
  network_recovering: {
    tone: 'warn',
    title: 'The ledger is compared with the chain after a loss',
    say: BY_ITSELF,
    page: RECONCILIATION,
  },
  network_paused: {
    tone: 'bad',
    title: 'The contract is paused',
    say: BY_ITSELF,
    todo: 'The page says who can resume it.',
    page: CONTRACT,
  },
  network_ceiling: {
    tone: 'warn',
    title: 'The contract’s hourly ceiling is reached',
    say: `${NOT_CHARGED} The full ceiling is available again in the next hour.`,
    page: CONTRACT,
  },
  waits_to_be_signed: {
    tone: 'info',
    title: 'Approved, and waiting to be sent',
    say: 'Usually for less than a second. At its deadline it is declined, and nothing is charged.',
    page: QUEUES,
  },
  waits_for_block: {
    tone: 'info',
    title: 'Sent, and in no block yet',
    say: 'It may still be paid, so it cannot be canceled: its gas price is raised until it is in.',
    page: RELAYERS,
  },
  waits_for_certainty: {
    tone: 'info',
    title: 'In a block, and waiting until that is certain',
    say: 'A large sum waits longer. The money has moved unless the chain drops the block.',
  },
  waits_to_be_booked: {
    tone: 'warn',
    title: 'The chain has answered, and the ledger has not booked it yet',
    say: 'Usually for less than a second. If longer, the workers are too slow, or none is running.',
    page: QUEUES,
  },
  paid: {
    tone: 'good',
    title: 'Paid',
    say: 'The shop has the money. The transaction proves it to both sides.',
  },
  expired: {
    tone: 'plain',
    title: 'Expired: not paid in time',
    say: `${NOT_CHARGED} The shop has to request the amount again.`,
  },
  canceled_by_merchant: {
    tone: 'plain',
    title: 'The shop has canceled it',
    say: `${NOT_CHARGED} The shop has to request the amount again.`,
  },
  canceled_after_loss: {
    tone: 'warn',
    title: 'Canceled, because data was lost while it was open',
    say: 'What the chain had settled was booked. This was not settled.',
    page: RECONCILIATION,
  },
  nobody_listens: {
    tone: 'warn',
    title: 'No webhook endpoint of the shop is subscribed to it',
    say: 'The shop’s server sees the payment only when it asks for it.',
    todo: 'The shop can add an endpoint on its Webhooks page, or read the payment by its order.',
  },
  endpoint_disabled: {
    tone: 'bad',
    title: 'The shop’s webhook endpoint is disabled',
    say: 'Its server was not notified. It failed for days, or someone disabled it.',
    todo: 'The shop should fix its server, enable the endpoint and replay what it missed.',
  },
  not_delivered_yet: {
    tone: 'info',
    title: 'The shop’s server is about to be notified',
    say: 'Usually within a second.',
    page: QUEUES,
  },
  delivery_fails: {
    tone: 'bad',
    title: 'The shop’s server does not accept the webhook',
    say: 'It answers with an error or not at all. The service tries again, for three days.',
    todo: 'The shop can read the response on its Webhooks page, fix its server and click Resend.',
  },
  delivery_given_up: {
    tone: 'bad',
    title: 'The shop’s server was not notified, and retries have ended',
    say: 'All attempts failed. The payment is still in the shop’s dashboard.',
    todo: 'The shop should fix its server and click Resend, or replay a period.',
  },
  delivered: {
    tone: 'good',
    title: 'The shop’s server was notified and confirmed it',
    say: 'If the shop does not see it, its own software lost it after the webhook.',
  },
  refund_waits: {
    tone: 'info',
    title: 'A refund is on its way',
    say: 'The customer receives it in the wallet that paid.',
    page: QUEUES,
  },
  refund_blocked: {
    tone: 'bad',
    title: 'A refund is delayed',
    say: 'The token or the contract refuses it for now. It is retried for a day.',
    todo: 'The shop can give it up on the refund’s page and repay another way.',
    page: CONTRACT,
  },
  refunded: { tone: 'plain', title: 'Refunded', say: 'The money is back in the wallet that paid.' },
  refund_failed: {
    tone: 'bad',
    title: 'A refund failed',
    say: 'Nothing moved. The shop can request it again or repay another way.',
  },
};
