import type { Call } from './call.ts';
import type { RequestOptions } from './request.ts';
import { type Listed, Resource } from './resource.ts';
import { followEvents, type StreamOptions } from './stream.ts';
import type * as T from './types.ts';
import { type WaitOptions, waitFor } from './wait.ts';

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

  /** Ends an intent that is not paid. One that is on its way cannot be canceled any more. */
  cancel(id: string, options?: Options): Call<T.PaymentIntent> {
    return this.keyed('POST /v1/payment_intents/{id}/cancel', { ids: [id] }, options);
  }

  /** Pays an intent with the token of an AI agent. */
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
  /** Gives money back: all that is left of the payment, or `amount`. */
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

export class Terminals extends Resource {
  retrieve(id: string, options?: Options): Call<T.Terminal> {
    return this.call('GET /v1/terminals/{id}', { ids: [id] }, options);
  }

  list(query?: T.ListTerminalsQuery, options?: Options): Listed<T.TerminalList> {
    return this.pages('GET /v1/terminals', { query }, options);
  }

  /**
   * Cancels what the terminal asks for now, the oldest of its open intents, and returns it; `null`
   * if it asks for nothing. Throws, like `cancel`, if that intent was paid meanwhile.
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
  /** What the settlement contract holds for you. */
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
   * Events as they happen, oldest first, over reconnections, without a gap. An event may come
   * twice: its id tells. Ends when `signal` is aborted.
   */
  stream(options: StreamOptions = {}): AsyncGenerator<T.WebhookEvent, void, undefined> {
    return followEvents(this.connection, options);
  }
}

export class RequestLog extends Resource {
  /** What servers asked of this API, newest first. */
  list(query?: T.ListRequestLogQuery, options?: Options): Listed<T.LoggedRequestList> {
    return this.pages('GET /v1/request_log', { query }, options);
  }
}

export class WebhookEndpoints extends Resource {
  /** The answer holds the signing `secret`, which is never shown again. */
  create(body: T.CreateWebhookEndpointBody, options?: Options): Call<T.WebhookEndpointWithSecret> {
    return this.call('POST /v1/webhook_endpoints', { body }, options);
  }

  retrieve(id: string, options?: Options): Call<T.WebhookEndpoint> {
    return this.call('GET /v1/webhook_endpoints/{id}', { ids: [id] }, options);
  }

  /** All of them: there is one page. */
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

  /** A new secret, shown once. For 24 hours messages are signed with the old one too. */
  rotateSecret(id: string, options?: Options): Call<T.WebhookEndpointWithSecret> {
    return this.call('POST /v1/webhook_endpoints/{id}/rotate_secret', { ids: [id] }, options);
  }

  /** Sends a `ping` and says how the endpoint answered. */
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

  /** Sends the events of a span of time again. */
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

  /** Sends it again at once, whatever became of it. */
  retry(id: string, options?: Options): Call<T.WebhookDelivery> {
    return this.call('POST /v1/webhook_deliveries/{id}/retry', { ids: [id] }, options);
  }
}

export class IdempotencyKeys extends Resource {
  /** What became of the request that was sent with this key. */
  retrieve(key: string, options?: Options): Call<T.IdempotencyKey> {
    return this.call('GET /v1/idempotency_keys/{key}', { ids: [key] }, options);
  }
}

/** Plays the customer, in test mode. */
export class TestHelpers extends Resource {
  /** As if a customer tapped a pass on the terminal. */
  tap(terminal: string, body?: T.TestTapTerminalBody, options?: Options): Call<T.PaymentIntent> {
    const sent = { ids: [terminal], body };
    return this.keyed('POST /v1/test_helpers/terminals/{id}/tap', sent, options);
  }

  /** What a card would give to a reader next: the `url` of a credential of type `nfc_sun`. */
  tapCard(card: string, options?: Options): Call<T.CardTap> {
    return this.call('POST /v1/test_helpers/cards/{id}/taps', { ids: [card] }, options);
  }

  /** What the payer's app would show the till now: type `rotating_code`. */
  showRotatingCode(pass: string, options?: Options): Call<T.RotatingCode> {
    return this.call('POST /v1/test_helpers/passes/{id}/rotating_code', { ids: [pass] }, options);
  }

  /** What a phone with the pass in Google Wallet would give a reader: type `smart_tap`. */
  tapGoogleWallet(pass: string, options?: Options): Call<T.PhoneTap> {
    return this.call('POST /v1/test_helpers/passes/{id}/smart_tap', { ids: [pass] }, options);
  }

  /** What a phone with the pass in Apple Wallet would give a reader: type `apple_vas`. */
  tapAppleWallet(pass: string, options?: Options): Call<T.PhoneTap> {
    return this.call('POST /v1/test_helpers/passes/{id}/apple_vas', { ids: [pass] }, options);
  }

  /** As if the payer answered in the app. */
  payerConfirm(
    intent: string,
    body: T.TestPayerConfirmBody,
    options?: Options,
  ): Call<T.PaymentIntent> {
    const sent = { ids: [intent], body };
    return this.call('POST /v1/test_helpers/payment_intents/{id}/payer_confirm', sent, options);
  }

  /** As if the time of an unpaid intent were over. */
  expire(intent: string, options?: Options): Call<T.PaymentIntent> {
    const sent = { ids: [intent] };
    return this.call('POST /v1/test_helpers/payment_intents/{id}/expire', sent, options);
  }

  /** A token as a payer's AI agent would bring it. */
  createAgentToken(body: T.TestCreateAgentTokenBody, options?: Options): Call<T.NewAgentToken> {
    return this.call('POST /v1/test_helpers/agent_tokens', { body }, options);
  }

  /** An event of any type. */
  triggerEvent(body: T.TestTriggerEventBody, options?: Options): Call<T.Event> {
    return this.call('POST /v1/test_helpers/events/trigger', { body }, options);
  }

  clock(options?: Options): Call<T.TestClock> {
    return this.call('GET /v1/test_helpers/clock', {}, options);
  }

  /** Lets time pass for the account's test mode. */
  advanceClock(body: T.TestAdvanceClockBody, options?: Options): Call<T.TestClock> {
    return this.call('POST /v1/test_helpers/clock/advance', { body }, options);
  }
}
