/**
 * Files that money depends on, each with the tests that must detect a bug in it. Only the
 * responsible tests are listed, so that judging a mutant takes seconds.
 */
const CREATE = [
  'src/payments/create-intent.test.ts',
  'src/payments/create-races.test.ts',
  'src/payments/create-order.test.ts',
  'src/payments/rebuilt.test.ts',
  'test/api/two-nodes.test.ts',
];
const PAY = [
  'src/payments/assess-payment.test.ts',
  'src/payments/pay.test.ts',
  'src/payments/pay-taps-together.test.ts',
  'src/payments/answer-confirmation.test.ts',
  'src/payments/limit-races.test.ts',
  'src/payments/unsettled.test.ts',
];
const REFUND = [
  'src/refunds/refund-limits.test.ts',
  'src/refunds/create-refund.test.ts',
  'src/refunds/apply-refund-results.test.ts',
];
const WITHDRAW = ['src/payouts/apply-withdrawals.test.ts', 'src/apis/dashboard/journey.test.ts'];
const KEYS = [
  'src/idempotency/request-fingerprint.test.ts',
  'src/idempotency/run-once.test.ts',
  'src/idempotency/read-key.test.ts',
  'src/idempotency/await-answer.test.ts',
];
const OUTCOMES = [
  'src/settlement/relayer/jobs/request-kinds.test.ts',
  'src/settlement/relayer/track/choose-results-that-count.test.ts',
  'src/settlement/relayer/relayer-declined.test.ts',
  'src/settlement/relayer/relayer-reorders.test.ts',
  'src/settlement/relayer/relayer-finality.test.ts',
  'src/settlement/relayer/relayer-singles.test.ts',
  'src/settlement/relayer/senders/fencing-token.test.ts',
];
const DEADLINES = [
  'src/settlement/relayer/jobs/settlement-deadlines.test.ts',
  'src/settlement/relayer/relayer-deadline.test.ts',
];
const SENDERS = [
  'src/settlement/relayer/jobs/sender-queries.test.ts',
  'src/settlement/relayer/jobs/job-queries.test.ts',
  'src/settlement/relayer/senders/fencing-token.test.ts',
  'src/settlement/relayer/relayer-senders.test.ts',
  'src/settlement/chain/fees/configure-senders.test.ts',
];
const SIGNERS = ['src/settlement/relayer/relayer-signer.test.ts'];
const DELIVERIES = [
  'src/webhooks/delivery-queue-queries.test.ts',
  'src/webhooks/delivery-loops.test.ts',
  'src/webhooks/failing.test.ts',
  'src/webhooks/resend.test.ts',
];

const CARDS_AND_CODES = [
  'src/apis/payer/cards.test.ts',
  'src/apis/payer/pass-codes.test.ts',
  'src/apis/payer/rotating-codes.test.ts',
];
const LINKS = [
  'src/apis/pay/pay-links.test.ts',
  'src/apis/pay/authorizations.test.ts',
  'src/apis/pay/pay-races.test.ts',
];
const TIPS = ['src/payments/tips.test.ts', 'src/apis/device/tips.test.ts'];
const ORDER = [
  'src/settlement/relayer/relayer-declined.test.ts',
  'src/settlement/relayer/relayer-reorders.test.ts',
  'src/settlement/relayer/relayer-singles.test.ts',
];

const ANSWERED = ['src/settlement/relayer/relayer-answered.test.ts', ...ORDER];

/** Payment credentials, and the steps after a payment. */
const OF_WAYS: Readonly<Record<string, readonly string[]>> = {
  'src/payments/credentials/nfc-sun.ts': CARDS_AND_CODES,
  'src/payments/credentials/qr.ts': CARDS_AND_CODES,
  'src/payments/credentials/rotating-code.ts': CARDS_AND_CODES,
  'src/payments/credentials/phone-pass.ts': ['src/payments/credentials/phone-pass.test.ts'],
  'src/payments/credentials/agent-token.ts': PAY,
  'src/payments/credential.ts': [...CARDS_AND_CODES, ...PAY],
  'src/payers/card-queries.ts': ['src/payers/card-queries.test.ts', ...CARDS_AND_CODES],
  'src/payments/authorize-link.ts': LINKS,
  'src/payments/verify-authorization.ts': LINKS,
  'src/payments/pay-link.ts': LINKS,
  'src/payments/pay-link-queries.ts': ['src/payments/pay-link-queries.test.ts', ...LINKS],
  'src/payments/tip-limits.ts': [...TIPS, ...LINKS],
  'src/payments/answer-confirmation.ts': ['src/payments/answer-confirmation.test.ts', ...PAY],
  'src/payments/decide-approval.ts': [
    'src/payments/answer-confirmation.test.ts',
    ...TIPS,
    ...CARDS_AND_CODES,
  ],
  'src/risk/risk-queries.ts': [
    'src/risk/risk-queries.test.ts',
    'src/payments/pay.test.ts',
    'src/payments/limit-races.test.ts',
    'src/payments/answer-confirmation.test.ts',
    'src/payments/pay-taps-together.test.ts',
  ],
  'src/settlement/relayer/send/prepare-refund.ts': ANSWERED,
  'src/settlement/relayer/track/store-job-results.ts': [
    ...ORDER,
    'src/settlement/relayer/relayer-finality.test.ts',
    'src/payments/apply-settlements.test.ts',
  ],
  'src/settlement/blocked-request-queries.ts': [
    'src/settlement/relayer/relayer-blocked.test.ts',
    'src/apis/dashboard/payments/refunds.test.ts',
  ],
  'src/refunds/rebuild-refund.ts': [
    'src/recovery/booking.test.ts',
    'src/refunds/create-refund.test.ts',
  ],
};

const RECOVERY = [
  'src/recovery/booking.test.ts',
  'src/recovery/end-credentials.test.ts',
  'test/faults/recovery-cases.slow.test.ts',
  'test/faults/ways.slow.test.ts',
];

/** Bugs here are mostly detectable only with whole processes and a restored database. */
const OF_RECOVERY: Readonly<Record<string, readonly string[]>> = {
  'src/recovery/book-payments.ts': RECOVERY,
  'src/recovery/book-transfers.ts': RECOVERY,
  'src/recovery/end-credentials.ts': ['src/apis/payer/rotating-codes.test.ts', ...RECOVERY],
  'src/recovery/raise-numbers.ts': RECOVERY,
  'src/recovery/lost-queries.ts': RECOVERY,
  'src/recovery/book-lost-events.ts': RECOVERY,
  'src/recovery/recover.ts': RECOVERY,
  'src/recovery/recovery-lease.ts': RECOVERY,
};

const OF_THE_REST: Readonly<Record<string, readonly string[]>> = {
  'src/settlement/contract-versions.ts': ['src/settlement/contract-versions.test.ts'],
  'src/payouts/may-go-live.ts': ['src/apis/dashboard/sessions/require-second-factor.test.ts'],
  'src/payments/payment-intent.ts': [
    'src/payments/payment-intent.test.ts',
    'src/payments/pay.test.ts',
    'src/payments/store-expired-intents.test.ts',
  ],
  'src/payments/create-intents-together.ts': CREATE,
  'src/payments/intent-queries.ts': [
    'src/payments/cancel-intent.test.ts',
    'src/payments/store-expired-intents.test.ts',
    'src/payments/pay.test.ts',
    'src/payments/cancel-after-data-loss.test.ts',
    'src/payments/rebuilt.test.ts',
    'src/payments/create-intent.test.ts',
    'src/payments/pay-taps-together.test.ts',
    'test/api/retrieve-payment-intent.test.ts',
  ],
  'src/payments/pay-taps-together.ts': PAY,
  'src/payments/pay-batch-state.ts': PAY,
  'src/payments/assess-payment.ts': PAY,
  'src/payments/apply-settlements.ts': [
    'src/payments/apply-settlements.test.ts',
    'src/payments/overdue.test.ts',
    'src/payments/pay.test.ts',
  ],
  'src/payments/cancel-intent.ts': [
    'src/payments/cancel-intent.test.ts',
    'src/payments/answer-confirmation.test.ts',
  ],
  'src/payments/simulate-expiry.ts': [
    'src/payments/store-expired-intents.test.ts',
    'test/api/acting-as-customer.test.ts',
  ],
  'src/refunds/create-refund.ts': [...REFUND, 'src/payments/unsettled.test.ts'],
  'src/refunds/refund-queries.ts': [...REFUND, 'test/api/retrieve-refund.test.ts'],
  'src/refunds/refund-limits.ts': REFUND,
  'src/refunds/apply-refund-results.ts': REFUND,
  'src/settlement/relayer/jobs/request-kinds.ts': OUTCOMES,
  'src/settlement/relayer/track/store-job-results.ts': [
    'src/settlement/relayer/track/store-job-results.test.ts',
    ...OUTCOMES,
    'src/settlement/relayer/relayer-senders.test.ts',
    'src/settlement/relayer/relayer-blocked.test.ts',
  ],
  'src/settlement/relayer/track/choose-results-that-count.ts': [
    ...OUTCOMES,
    'src/settlement/relayer/relayer-senders.test.ts',
    'src/settlement/relayer/relayer-blocked.test.ts',
  ],
  'src/settlement/relayer/track/watch-reorganizations.ts': [
    'src/settlement/relayer/track/watch-reorganizations.test.ts',
    'src/settlement/relayer/relayer-finality.test.ts',
    'src/settlement/relayer/relayer-faults.test.ts',
    'src/settlement/relayer/relayer-declined.test.ts',
  ],
  'src/settlement/relayer/track/decline-dead-payments.ts': [
    ...DEADLINES,
    'src/settlement/relayer/relayer-declined.test.ts',
  ],
  'src/settlement/relayer/send/prepare-refund.ts': ANSWERED,
  'src/settlement/relayer/senders/repair-nonces.ts': [
    'src/settlement/relayer/senders/repair-nonces.test.ts',
    'src/settlement/relayer/relayer-senders.test.ts',
    'src/settlement/relayer/relayer-declined.test.ts',
    'src/settlement/relayer/senders/fencing-token.test.ts',
  ],
  'src/settlement/relayer/senders/detect-foreign-key-use.ts': [
    'src/settlement/relayer/senders/detect-foreign-key-use.test.ts',
    'src/settlement/relayer/senders/repair-nonces.test.ts',
  ],
  'src/settlement/sender-rows.ts': SENDERS,
  'src/settlement/relayer/jobs/sender-queries.ts': SENDERS,
  'src/settlement/relayer/jobs/transaction-queries.ts': [
    'src/settlement/relayer/jobs/transaction-queries.test.ts',
    ...DEADLINES,
    'src/settlement/relayer/relayer-declined.test.ts',
    'src/settlement/relayer/relayer-senders.test.ts',
    'src/settlement/relayer/relayer-singles.test.ts',
    'src/settlement/relayer/senders/repair-nonces.test.ts',
    'src/settlement/relayer/senders/fencing-token.test.ts',
    'src/settlement/relayer/relayer-finality.test.ts',
    'src/settlement/relayer/relayer-answered.test.ts',
    'src/settlement/relayer/relayer-faults.test.ts',
  ],
  'src/settlement/relayer/jobs/job-queries.ts': [
    'src/settlement/relayer/jobs/transaction-queries.test.ts',
    'src/settlement/relayer/jobs/job-queries.test.ts',
    ...DEADLINES,
    ...OUTCOMES,
    'src/settlement/relayer/relayer-senders.test.ts',
    'src/settlement/relayer/relayer-faults.test.ts',
    'src/refunds/apply-refund-results.test.ts',
  ],
  'src/settlement/relayer/jobs/settlement-deadlines.ts': DEADLINES,
  'src/settlement/settlement-numbers.ts': [
    'src/settlement/settlement-numbers.test.ts',
    'src/payments/create-intent.test.ts',
  ],
  'src/settlement/network-recovery-queries.ts': [
    'src/settlement/network-recovery-queries.test.ts',
    'test/faults/ways.slow.test.ts',
  ],
  'x402/src/sale-intent.ts': ['x402/test/facilitator.test.ts', 'test/faults/ways.slow.test.ts'],
  'src/recovery/detect-lost-commits.ts': ['src/recovery/detect-lost-commits.test.ts'],
  'src/settlement/ledger-gate.ts': ['src/payments/unsettled.test.ts'],
  'src/settlement/chain/rpc/node-answers.ts': [
    'src/settlement/chain/rpc/rpc.test.ts',
    'src/settlement/relayer/relayer-odd-nodes.test.ts',
    'src/settlement/chain/rpc/providers.test.ts',
  ],
  'src/payouts/withdraw-once-per-key.ts': WITHDRAW,
  'src/payouts/request-withdrawal.ts': WITHDRAW,
  'src/payouts/may-withdraw.ts': WITHDRAW,
  'src/payouts/withdrawal-number.ts': WITHDRAW,
  'src/payouts/withdrawal-queries.ts': WITHDRAW,
  'src/payouts/apply-withdrawals.ts': WITHDRAW,
  'src/idempotency/key-queries.ts': [...KEYS, 'src/refunds/create-refund.test.ts'],
  'src/idempotency/run-once-per-key.ts': [
    'src/idempotency/run-once-per-key.test.ts',
    ...KEYS,
    'src/payments/create-intent.test.ts',
    'src/payments/pay.test.ts',
    'src/refunds/create-refund.test.ts',
  ],
  'src/idempotency/request-fingerprint.ts': [...KEYS, 'src/payments/create-intent.test.ts'],
  'src/webhooks/delivery-queue-queries.ts': DELIVERIES,
  'src/webhooks/delivery-queries.ts': [
    'src/webhooks/resend.test.ts',
    'src/apis/dashboard/statistics/insight.test.ts',
    'test/api/webhook-deliveries.test.ts',
  ],
  'src/webhooks/record-attempts.ts': ['src/webhooks/record-attempts.test.ts', ...DELIVERIES],
};

/**
 * Files without generated mutations: bugs in the guard's loop are only detectable with whole
 * processes and a restored database, which takes minutes. Its decision function has its own tests.
 */
const BY_HAND_ONLY = [
  'src/recovery/detect-lost-commits.ts',
  'src/settlement/network-recovery-queries.ts',
  'x402/src/sale-intent.ts',
];

export const FILES: Readonly<Record<string, readonly string[]>> = {
  ...OF_THE_REST,
  ...OF_WAYS,
  ...OF_RECOVERY,
  // For manual mutations only. Listed here so that the generated choice in the groups above does
  // not change.
  'src/settlement/relayer/send/sign-and-broadcast.ts': [
    ...SIGNERS,
    'src/settlement/relayer/relayer-declined.test.ts',
  ],
  'src/settlement/relayer/send/send-jobs.ts': SIGNERS,
  'src/settlement/relayer/senders/keep-senders.ts': [
    'src/settlement/relayer/relayer-deployments.test.ts',
  ],
  'src/settlement/relayer/send/find-earlier-results.ts': [
    'src/settlement/relayer/send/find-earlier-results.test.ts',
    'src/settlement/relayer/relayer-singles.test.ts',
  ],
  'src/settlement/relayer/state-machine/transaction.ts': [
    'src/settlement/relayer/state-machine/decide-transaction-step.test.ts',
    ...SIGNERS,
  ],
  'src/settlement/foreign-settlement-queries.ts': [
    'src/settlement/reconciliation/reconcile-once.test.ts',
  ],
  'src/payers/check-rotating-code.ts': ['src/apis/payer/rotating-codes.test.ts'],
  'src/accounts/manager-code.ts': ['src/apis/device/device-routes.test.ts'],
};

/**
 * The files and number of generated mutations. A new group does not change the choice in the
 * others.
 */
export const GENERATED_INTO = [
  { files: Object.keys(OF_THE_REST).filter((file) => !BY_HAND_ONLY.includes(file)), count: 66 },
  { files: Object.keys(OF_WAYS), count: 60 },
  { files: Object.keys(OF_RECOVERY), count: 12 },
] as const;
