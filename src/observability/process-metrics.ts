import { Counter, Histogram, Registry } from 'prom-client';
import { NETWORKS } from '#core/mode.ts';

/**
 * The metrics of this process, for `/metrics`. There is one registry per process, and code updates
 * its metrics directly, so that they need not be passed as parameters.
 */
export const meters = new Registry();

const registers = [meters];

export const paymentsSettled = new Counter({
  name: 'tapline_payments_total',
  help: 'Payments that this process has booked as succeeded.',
  labelNames: ['network'],
  registers,
});

export const paymentsDeclined = new Counter({
  name: 'tapline_payment_declines_total',
  help: 'Declines that this process has decided or booked, by decline code.',
  labelNames: ['network', 'code'],
  registers,
});

export const tapToSettled = new Histogram({
  name: 'tapline_tap_to_settled_seconds',
  help: "From a tap (or the payer's confirmation) to its block, as this worker saw it.",
  labelNames: ['network'],
  buckets: [0.25, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 30, 60, 120, 600],
  registers,
});

export const blockWait = new Histogram({
  name: 'tapline_block_wait_seconds',
  help: 'From the signature of a transaction to the block that holds it.',
  labelNames: ['network'],
  buckets: [0.25, 0.5, 1, 2, 5, 12, 24, 60, 120, 600],
  registers,
});

export const batchSize = new Histogram({
  name: 'tapline_settlement_batch_size',
  help: 'Payments in a settlement transaction that was mined.',
  labelNames: ['network'],
  buckets: [1, 2, 5, 10, 20, 50, 100],
  registers,
});

export const gasUsed = new Counter({
  name: 'tapline_gas_used_total',
  help: 'Gas of mined transactions, by purpose.',
  labelNames: ['network', 'kind'],
  registers,
});

export const webhookAttempts = new Counter({
  name: 'tapline_webhook_attempts_total',
  help: 'Attempts to deliver a webhook, by result.',
  labelNames: ['result'],
  registers,
});

export const webhookDuration = new Histogram({
  name: 'tapline_webhook_duration_seconds',
  help: 'Response times of webhook receivers.',
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers,
});

export const webhookDelay = new Histogram({
  name: 'tapline_webhook_delay_seconds',
  help: 'From an event to its first attempt at an endpoint.',
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600],
  registers,
});

export const connectionWait = new Histogram({
  name: 'tapline_database_wait_seconds',
  help: 'How long a transaction waited for a connection of the pool.',
  buckets: [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  registers,
});

export const unknownCommits = new Counter({
  name: 'tapline_database_unknown_commits_total',
  help: 'Commits whose connection broke before they were acknowledged.',
  registers,
});

// Sets counters to 0, because Prometheus computes no rate for the first increase of a counter that
// did not exist before.
for (const network of NETWORKS) {
  paymentsSettled.inc({ network }, 0);
  paymentsDeclined.inc({ network, code: 'settlement_failed' }, 0);
  tapToSettled.zero({ network });
}
for (const result of ['succeeded', 'failed']) webhookAttempts.inc({ result }, 0);
