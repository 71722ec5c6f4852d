import type { Call } from './call-promise.ts';
import { followEvents, type StreamOptions } from './event-stream.ts';
import { type Listed, Resource } from './resource-base.ts';
import type { RequestOptions } from './send-with-retries.ts';
import type * as T from './types.ts';
import { type WaitOptions, waitFor } from './wait-for-status.ts';

type Options = RequestOptions;

export class PaymentIntents extends Resource {
  /** Asks a terminal to collect an amount. */
  create(body: T.CreatePaymentIntentBody, options?: Options): Call<T.PaymentIntent> {
    return this.keyed('POST /v1/payment_intents', { body }, options);
  }

  retrieve(id: string, options?: Options): Call<T.PaymentIntent> {
    return this.call('GET /v1/payment_intents/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListPaymentIntentsQuery, options?: Options): Listed<T.PaymentIntentList> {
    return this.pages('GET /v1/payment_intents', { query }, options);
  }

  /** Cancels an unpaid intent. An intent in progress can no longer be canceled. */
  cancel(id: string, options?: Options): Call<T.PaymentIntent> {
    return this.keyed('POST /v1/payment_intents/{id}/cancel', { ids: [id] }, options);
  }

  /** Pays an intent with an AI agent's token. */
  confirm(id: string, body: T.ConfirmPaymentIntentBody, options?: Options): Call<T.PaymentIntent> {
    return this.keyed('POST /v1/payment_intents/{id}/confirm', { ids: [id], body }, options);
  }

  /** Waits until the intent is paid or canceled, and returns it. */
  waitFor(id: string, options: WaitOptions<T.PaymentIntent> = {}): Promise<T.PaymentIntent> {
    const until = ({ status }: T.PaymentIntent) => status === 'succeeded' || status === 'canceled';
    const read = () => this.retrieve(id);
    return waitFor(this.connection, { id, read, until }, options);
  }
}

export class Payments extends Resource {
  retrieve(id: string, options?: Options): Call<T.Payment> {
    return this.call('GET /v1/payments/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListPaymentsQuery, options?: Options): Listed<T.PaymentList> {
    return this.pages('GET /v1/payments', { query }, options);
  }
}

export class Refunds extends Resource {
  /** Refunds the rest of the payment, or `amount`. */
  create(body: T.CreateRefundBody, options?: Options): Call<T.Refund> {
    return this.keyed('POST /v1/refunds', { body }, options);
  }

  retrieve(id: string, options?: Options): Call<T.Refund> {
    return this.call('GET /v1/refunds/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListRefundsQuery, options?: Options): Listed<T.RefundList> {
    return this.pages('GET /v1/refunds', { query }, options);
  }

  /** Waits until the refund has succeeded or failed, and returns it. */
  waitFor(id: string, options: WaitOptions<T.Refund> = {}): Promise<T.Refund> {
    const until = ({ status }: T.Refund) => status !== 'pending';
    const read = () => this.retrieve(id);
    return waitFor(this.connection, { id, read, until }, options);
  }
}

/** Sales that tills accepted offline. */
export class OfflinePayments extends Resource {
  retrieve(id: string, options?: Options): Call<T.OfflinePayment> {
    return this.call('GET /v1/offline_payments/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListOfflinePaymentsQuery, options?: Options): Listed<T.OfflinePaymentList> {
    return this.pages('GET /v1/offline_payments', { query }, options);
  }
}

/** Reports of shifts that have ended. */
export class Shifts extends Resource {
  retrieve(id: string, options?: Options): Call<T.ShiftReport> {
    return this.call('GET /v1/shifts/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListShiftsQuery, options?: Options): Listed<T.ShiftReportList> {
    return this.pages('GET /v1/shifts', { query }, options);
  }
}

export class Terminals extends Resource {
  retrieve(id: string, options?: Options): Call<T.Terminal> {
    return this.call('GET /v1/terminals/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListTerminalsQuery, options?: Options): Listed<T.TerminalList> {
    return this.pages('GET /v1/terminals', { query }, options);
  }

  /**
   * Cancels the terminal's current (oldest open) intent and returns it, or `null` if there is none.
   * Throws, like `cancel`, if the intent has just been paid.
   */
  async cancelCurrent(id: string, options?: Options): Promise<T.PaymentIntent | null> {
    let oldest: T.PaymentIntent | undefined;
    for (const status of ['requires_payment_method', 'requires_action'] as const) {
      const query = { terminal: id, status, limit: 100 };
      for await (const open of this.pages('GET /v1/payment_intents', { query }, options)) {
        if (oldest === undefined || open.created < oldest.created) oldest = open;
      }
    }
    if (oldest === undefined) return null;
    return this.keyed('POST /v1/payment_intents/{id}/cancel', { ids: [oldest.id] }, options);
  }
}

export class Balance extends Resource {
  /** Returns your balance in the settlement contract. */
  retrieve(options?: Options): Call<T.Balance> {
    return this.call('GET /v1/balance', {}, options);
  }
}

export class Events extends Resource {
  retrieve(id: string, options?: Options): Call<T.Event> {
    return this.call('GET /v1/events/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListEventsQuery, options?: Options): Listed<T.EventList> {
    return this.pages('GET /v1/events', { query }, options);
  }

  /**
   * Yields events as they happen, oldest first, without gaps across reconnects. An event may be
   * delivered twice, so deduplicate by id. Ends when `signal` aborts.
   */
  stream(options: StreamOptions = {}): AsyncGenerator<T.WebhookEvent, void, undefined> {
    return followEvents(this.connection, options);
  }
}

export class RequestLog extends Resource {
  /** Lists requests that servers sent to this API, newest first. */
  list(query?: T.ListRequestLogQuery, options?: Options): Listed<T.LoggedRequestList> {
    return this.pages('GET /v1/request_log', { query }, options);
  }
}

export class WebhookEndpoints extends Resource {
  /** The response contains the signing `secret`, which is never shown again. */
  create(body: T.CreateWebhookEndpointBody, options?: Options): Call<T.WebhookEndpointWithSecret> {
    return this.call('POST /v1/webhook_endpoints', { body }, options);
  }

  retrieve(id: string, options?: Options): Call<T.WebhookEndpoint> {
    return this.call('GET /v1/webhook_endpoints/{id}', { ids: [id] }, options);
  }

  /** Lists all endpoints. There is only one page. */
  list(options?: Options): Listed<T.ListWebhookEndpointsResponse> {
    return this.pages('GET /v1/webhook_endpoints', {}, options);
  }

  update(
    id: string,
    body: T.UpdateWebhookEndpointBody,
    options?: Options,
  ): Call<T.WebhookEndpoint> {
    return this.call('PATCH /v1/webhook_endpoints/{id}', { ids: [id], body }, options);
  }

  delete(id: string, options?: Options): Call<T.DeleteWebhookEndpointResponse> {
    return this.call('DELETE /v1/webhook_endpoints/{id}', { ids: [id] }, options);
  }

  /** Creates a new secret, shown once. For 24 hours, messages are signed with the old one, too. */
  rotateSecret(id: string, options?: Options): Call<T.WebhookEndpointWithSecret> {
    return this.call('POST /v1/webhook_endpoints/{id}/rotate_secret', { ids: [id] }, options);
  }

  /** Sends a `ping` and returns the endpoint's response. */
  test(id: string, options?: Options): Call<T.WebhookDelivery> {
    return this.call('POST /v1/webhook_endpoints/{id}/test', { ids: [id] }, options);
  }

  deliveries(
    id: string,
    query?: T.ListWebhookDeliveriesQuery,
    options?: Options,
  ): Listed<T.WebhookDeliveryList> {
    const sent = { ids: [id], query };
    return this.pages('GET /v1/webhook_endpoints/{id}/deliveries', sent, options);
  }

  /** Sends the events of a period again. */
  replay(id: string, body: T.ReplayWebhookEventsBody, options?: Options): Call<T.WebhookReplay> {
    return this.call('POST /v1/webhook_endpoints/{id}/replay', { ids: [id], body }, options);
  }

  retrieveReplay(id: string, options?: Options): Call<T.WebhookReplay> {
    return this.call('GET /v1/webhook_replays/{id}', { ids: [id] }, options);
  }
}

export class WebhookDeliveries extends Resource {
  retrieve(id: string, options?: Options): Call<T.WebhookDelivery> {
    return this.call('GET /v1/webhook_deliveries/{id}', { ids: [id] }, options);
  }

  /** Sends the delivery again immediately, regardless of its status. */
  retry(id: string, options?: Options): Call<T.WebhookDelivery> {
    return this.call('POST /v1/webhook_deliveries/{id}/retry', { ids: [id] }, options);
  }
}

export class IdempotencyKeys extends Resource {
  /** Returns the result of the request that was sent with this key. */
  retrieve(key: string, options?: Options): Call<T.IdempotencyKey> {
    return this.call('GET /v1/idempotency_keys/{key}', { ids: [key] }, options);
  }
}

/** Simulates the customer, in test mode. */
export class TestHelpers extends Resource {
  /** Taps a pass on the terminal. */
  tap(terminal: string, body?: T.TestTapTerminalBody, options?: Options): Call<T.PaymentIntent> {
    const sent = { ids: [terminal], body };
    return this.keyed('POST /v1/test_helpers/terminals/{id}/tap', sent, options);
  }

  /** Returns a sale as an offline till stores it, signed by a demo wallet. */
  offlinePayment(
    terminal: string,
    body: T.TestOfflinePaymentBody,
    options?: Options,
  ): Call<T.OfflineRecord> {
    const sent = { ids: [terminal], body };
    return this.call('POST /v1/test_helpers/terminals/{id}/offline_payment', sent, options);
  }

  /**
   * Returns what a card sends to a reader at its next tap: the `url` of an `nfc_sun` credential.
   */
  tapCard(card: string, options?: Options): Call<T.CardTap> {
    return this.call('POST /v1/test_helpers/cards/{id}/taps', { ids: [card] }, options);
  }

  /** Returns the current content of the payer's app: a `rotating_code` credential. */
  showRotatingCode(pass: string, options?: Options): Call<T.RotatingCode> {
    return this.call('POST /v1/test_helpers/passes/{id}/rotating_code', { ids: [pass] }, options);
  }

  /**
   * Returns what a phone with the pass in Google Wallet sends at its next tap: a `smart_tap`
   * credential.
   */
  tapGoogleWallet(pass: string, options?: Options): Call<T.PhoneTap> {
    return this.call('POST /v1/test_helpers/passes/{id}/smart_tap', { ids: [pass] }, options);
  }

  /**
   * Returns what a phone with the pass in Apple Wallet sends at its next tap: an `apple_vas`
   * credential.
   */
  tapAppleWallet(pass: string, options?: Options): Call<T.PhoneTap> {
    return this.call('POST /v1/test_helpers/passes/{id}/apple_vas', { ids: [pass] }, options);
  }

  /** Approves or rejects the payment, as the payer would in the app. */
  payerConfirm(
    intent: string,
    body: T.TestPayerConfirmBody,
    options?: Options,
  ): Call<T.PaymentIntent> {
    const sent = { ids: [intent], body };
    return this.call('POST /v1/test_helpers/payment_intents/{id}/payer_confirm', sent, options);
  }

  /** Expires an unpaid intent. */
  expire(intent: string, options?: Options): Call<T.PaymentIntent> {
    const sent = { ids: [intent] };
    return this.call('POST /v1/test_helpers/payment_intents/{id}/expire', sent, options);
  }

  /** Creates a token like one that a payer's AI agent presents. */
  createAgentToken(body: T.TestCreateAgentTokenBody, options?: Options): Call<T.NewAgentToken> {
    return this.call('POST /v1/test_helpers/agent_tokens', { body }, options);
  }

  /** Sends an event of any type. */
  triggerEvent(body: T.TestTriggerEventBody, options?: Options): Call<T.Event> {
    return this.call('POST /v1/test_helpers/events/trigger', { body }, options);
  }

  clock(options?: Options): Call<T.TestClock> {
    return this.call('GET /v1/test_helpers/clock', {}, options);
  }

  /** Advances the clock of the account's test mode. */
  advanceClock(body: T.TestAdvanceClockBody, options?: Options): Call<T.TestClock> {
    return this.call('POST /v1/test_helpers/clock/advance', { body }, options);
  }
}
