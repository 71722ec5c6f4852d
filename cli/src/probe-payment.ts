import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Settings, someTerminal } from './settings.ts';
import { WrongUse } from './wrong-use.ts';

export interface ProbeOptions {
  /** Seconds between two purchases. */
  readonly every: string;
  /**
   * `[host:]port` at which Prometheus reads results. If absent, makes one purchase and exits with
   * its result.
   */
  readonly listen?: string;
  readonly amount: number;
  /**
   * A test-mode pass that can pay. `null` uses the sandbox's pass; in production there are no demo
   * payers.
   */
  readonly pass: string | null;
}

/**
 * Time limit of a purchase. Longer than a payment's time-out (SETTLEMENT_TIMEOUT_SECONDS), and
 * shorter than the alert's delay.
 */
const PAID_WITHIN_MS = 70_000;
const LOOK_MS = 250;

interface Seen {
  lastSuccess: number;
  seconds: number;
  failures: number;
}

/**
 * Makes one purchase through the public API, as a merchant's server and a customer would. @throws
 * an error that names the failed step
 */
async function buy(
  settings: Settings,
  { amount, pass }: Pick<ProbeOptions, 'amount' | 'pass'>,
): Promise<string> {
  const { tapline } = settings;
  const terminal = await someTerminal(settings);
  const { id } = await tapline.paymentIntents.create({ amount, terminal, description: 'probe' });
  let intent = await tapline.testHelpers.tap(terminal, {
    payment_intent: id,
    ...(pass === null ? {} : { credential: { type: 'nfc_id' as const, value: pass } }),
  });
  const until = Date.now() + PAID_WITHIN_MS;
  while (intent.status === 'processing' && Date.now() < until) {
    await sleep(LOOK_MS);
    intent = await tapline.paymentIntents.retrieve(id);
  }
  if (intent.status === 'succeeded') return id;
  const why = intent.last_payment_error?.decline_code ?? 'not paid in time';
  throw new Error(`${id} is ${intent.status}: ${why}`);
}

function metricsOf({ lastSuccess, seconds, failures }: Seen): string {
  const numbers = [
    { name: 'tapline_probe_last_success_timestamp_seconds', type: 'gauge', value: lastSuccess },
    { name: 'tapline_probe_seconds', type: 'gauge', value: seconds },
    { name: 'tapline_probe_failures_total', type: 'counter', value: failures },
  ];
  return numbers
    .map(({ name, type, value }) => `# TYPE ${name} ${type}\n${name} ${value}\n`)
    .join('');
}

async function serveNumbers(listen: string, seen: Seen): Promise<void> {
  const [, host = '127.0.0.1', port = ''] = /^(?:(.+):)?(\d+)$/.exec(listen) ?? [];
  if (port === '') throw new WrongUse(`${listen} is not an address: try 127.0.0.1:9465.`);
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/plain; version=0.0.4');
    response.end(metricsOf(seen));
  });
  server.listen(Number(port), host);
  await once(server, 'listening');
}

/**
 * Makes one purchase, or repeats it for Prometheus. @returns exit code 1 if the single purchase
 * failed.
 */
export async function probe(settings: Settings, options: ProbeOptions): Promise<number> {
  if (!settings.apiKey.startsWith('tlsk_test_')) {
    throw new WrongUse('The probe pays in test mode and needs a key that begins with tlsk_test_.');
  }
  const every = Number(options.every);
  if (!(every >= 1)) throw new WrongUse(`--every takes seconds, not ${options.every}.`);
  const seen: Seen = { lastSuccess: Date.now() / 1_000, seconds: 0, failures: 0 };
  if (options.listen !== undefined) await serveNumbers(options.listen, seen);
  for (;;) {
    const started = Date.now();
    const bought = await buy(settings, options).then(
      (id) => ({ ok: true, detail: id }),
      (error: Error) => ({ ok: false, detail: error.message }),
    );
    seen.seconds = (Date.now() - started) / 1_000;
    if (bought.ok) seen.lastSuccess = Date.now() / 1_000;
    else seen.failures++;
    const { ok, detail } = bought;
    settings.out.show(
      { ok, detail, seconds: seen.seconds },
      `${ok ? 'ok ' : 'NO '} ${seen.seconds.toFixed(1)} s: ${detail}`,
    );
    if (options.listen === undefined) return ok ? 0 : 1;
    await sleep(Math.max(0, every * 1_000 - (Date.now() - started)));
  }
}
