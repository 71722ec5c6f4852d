import { UsageError } from './errors.ts';
import type { ClientOptions, Connection } from './request.ts';
import * as resources from './resources.ts';

const SANDBOX = 'http://127.0.0.1:4242/api';
const KEY = /^tlsk_(test|live)_[0-9A-Za-z]+$/;

/** A client of one account and mode. It keeps no state: one is enough for a whole program. */
export class Tapline {
  readonly paymentIntents: resources.PaymentIntents;
  readonly payments: resources.Payments;
  readonly refunds: resources.Refunds;
  readonly terminals: resources.Terminals;
  readonly balance: resources.Balance;
  readonly events: resources.Events;
  readonly webhookEndpoints: resources.WebhookEndpoints;
  readonly webhookDeliveries: resources.WebhookDeliveries;
  readonly idempotencyKeys: resources.IdempotencyKeys;
  readonly testHelpers: resources.TestHelpers;

  /** @param apiKey a secret key: `tlsk_test_…` or `tlsk_live_…` */
  constructor(apiKey: string, options: ClientOptions = {}) {
    const connection = connect(apiKey, options);
    this.paymentIntents = new resources.PaymentIntents(connection);
    this.payments = new resources.Payments(connection);
    this.refunds = new resources.Refunds(connection);
    this.terminals = new resources.Terminals(connection);
    this.balance = new resources.Balance(connection);
    this.events = new resources.Events(connection);
    this.webhookEndpoints = new resources.WebhookEndpoints(connection);
    this.webhookDeliveries = new resources.WebhookDeliveries(connection);
    this.idempotencyKeys = new resources.IdempotencyKeys(connection);
    this.testHelpers = new resources.TestHelpers(connection);
  }
}

/** Checked here, so that a wrong key is never put into a header, or into an error about one. */
function connect(apiKey: string, options: ClientOptions): Connection {
  const mode = KEY.exec(apiKey ?? '')?.[1];
  if (mode === undefined) {
    throw new UsageError(
      'That is not a secret key of the API: it begins with tlsk_test_ or tlsk_live_. ' +
        '(Keys of terminals begin with tldk_, signing secrets with whsec_.)',
    );
  }
  if (mode === 'live' && options.baseUrl === undefined) {
    throw new UsageError('A live key needs the baseUrl of its network: https://…/api.');
  }
  const baseUrl = (options.baseUrl ?? SANDBOX).replace(/\/+$/, '').replace(/\/v1$/, '');
  if (!/^https?:\/\//.test(baseUrl)) {
    throw new UsageError(`baseUrl is '${baseUrl}', and has to begin with https:// or http://.`);
  }
  return { apiKey, baseUrl, options };
}
