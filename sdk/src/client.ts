import { UsageError } from './error-classes.ts';
import { fromEnvironment } from './node-fetch.ts';
import * as resources from './resources.ts';
import type { ClientOptions, Connection } from './send-with-retries.ts';

const SANDBOX = 'http://127.0.0.1:4242/api';
/** A port or path may follow, but no `@`, because the text before an `@` would be a user name. */
const OWN_MACHINE = /^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(\/|$)/i;
const KEY = /^tlsk_(test|live)_[0-9A-Za-z]+$/;

/** A client for one account and mode. Use one per program: its waits share an event stream. */
export class Tapline {
  readonly paymentIntents: resources.PaymentIntents;
  readonly payments: resources.Payments;
  readonly refunds: resources.Refunds;
  readonly offlinePayments: resources.OfflinePayments;
  readonly terminals: resources.Terminals;
  readonly shifts: resources.Shifts;
  readonly balance: resources.Balance;
  readonly events: resources.Events;
  readonly webhookEndpoints: resources.WebhookEndpoints;
  readonly webhookDeliveries: resources.WebhookDeliveries;
  readonly idempotencyKeys: resources.IdempotencyKeys;
  readonly requestLog: resources.RequestLog;
  readonly testHelpers: resources.TestHelpers;

  /**
   * @param apiKey A secret key: `tlsk_test_…` or `tlsk_live_…`. Without arguments the client reads
   *   `TAPLINE_API_KEY` and `TAPLINE_BASE_URL` from the environment.
   */
  constructor(apiKey?: string, options: ClientOptions = {}) {
    const connection = connect(apiKey, options);
    this.paymentIntents = new resources.PaymentIntents(connection);
    this.payments = new resources.Payments(connection);
    this.refunds = new resources.Refunds(connection);
    this.offlinePayments = new resources.OfflinePayments(connection);
    this.terminals = new resources.Terminals(connection);
    this.shifts = new resources.Shifts(connection);
    this.balance = new resources.Balance(connection);
    this.events = new resources.Events(connection);
    this.webhookEndpoints = new resources.WebhookEndpoints(connection);
    this.webhookDeliveries = new resources.WebhookDeliveries(connection);
    this.idempotencyKeys = new resources.IdempotencyKeys(connection);
    this.requestLog = new resources.RequestLog(connection);
    this.testHelpers = new resources.TestHelpers(connection);
  }
}

/** Checks the key here, so that an invalid one never appears in a header or in an error message. */
function connect(given: string | undefined, options: ClientOptions): Connection {
  // Never sends the key of the environment to a URL that the program passes.
  const isOwn = options.baseUrl === undefined;
  const apiKey = given ?? (isOwn ? fromEnvironment('TAPLINE_API_KEY') : undefined);
  if (apiKey === undefined) {
    throw new UsageError(
      'No secret key: set TAPLINE_API_KEY and TAPLINE_BASE_URL, or call new Tapline(key, ' +
        '{ baseUrl }). TAPLINE_API_KEY is sent to TAPLINE_BASE_URL only, or to the sandbox.',
    );
  }
  const mode = KEY.exec(apiKey)?.[1];
  if (mode === undefined) {
    throw new UsageError(
      'That is not a secret API key, which begins with tlsk_test_ or tlsk_live_. (Terminal ' +
        'keys begin with tldk_, signing secrets with whsec_.)',
    );
  }
  const address = options.baseUrl ?? fromEnvironment('TAPLINE_BASE_URL');
  if (mode === 'live' && address === undefined) {
    throw new UsageError(
      'A live key needs the baseUrl of its network: https://…/api. Pass it or set TAPLINE_BASE_URL.',
    );
  }
  const baseUrl = (address ?? SANDBOX).replace(/\/+$/, '').replace(/\/v1$/, '');
  if (!/^https?:\/\//.test(baseUrl)) {
    const name = isOwn ? 'TAPLINE_BASE_URL' : 'baseUrl';
    throw new UsageError(`${name} is '${baseUrl}' but must begin with https:// or http://.`);
  }
  if (mode === 'live' && !/^https:/.test(baseUrl) && !OWN_MACHINE.test(baseUrl)) {
    throw new UsageError(`A live key is sent over https only, not to ${baseUrl}.`);
  }
  return { apiKey, baseUrl, options, watching: null };
}
