import type { RequestOptions } from './request.ts';
import { Resource } from './resource.ts';
import { type StreamOptions } from './stream.ts';
import type * as T from './types.ts';
import { type WaitOptions } from './wait.ts';
type Options = RequestOptions;
export declare class PaymentIntents extends Resource {
    /** Asks a terminal to collect an amount. */
    create(body: T.CreatePaymentIntentBody, options?: Options): import("./call.ts").Call<T.PaymentIntent>;
    retrieve(id: string, options?: Options): import("./call.ts").Call<T.PaymentIntent>;
    list(query?: T.ListPaymentIntentsQuery, options?: Options): import("./list.ts").List<T.PaymentIntent, T.PaymentIntentList & import("./list.ts").Page<T.PaymentIntent>>;
    /** Ends an intent that is not paid. One that is on its way cannot be canceled any more. */
    cancel(id: string, options?: Options): import("./call.ts").Call<T.PaymentIntent>;
    /** Pays an intent with the token of an AI agent. */
    confirm(id: string, body: T.ConfirmPaymentIntentBody, options?: Options): import("./call.ts").Call<T.PaymentIntent>;
    /** Waits until the intent is paid or canceled, and returns it. */
    waitFor(id: string, options?: WaitOptions<T.PaymentIntent>): Promise<T.PaymentIntent>;
}
export declare class Payments extends Resource {
    retrieve(id: string, options?: Options): import("./call.ts").Call<T.Payment>;
    list(query?: T.ListPaymentsQuery, options?: Options): import("./list.ts").List<T.Payment, T.PaymentList & import("./list.ts").Page<T.Payment>>;
}
export declare class Refunds extends Resource {
    /** Gives money back: all that is left of the payment, or `amount`. */
    create(body: T.CreateRefundBody, options?: Options): import("./call.ts").Call<T.Refund>;
    retrieve(id: string, options?: Options): import("./call.ts").Call<T.Refund>;
    list(query?: T.ListRefundsQuery, options?: Options): import("./list.ts").List<T.Refund, T.RefundList & import("./list.ts").Page<T.Refund>>;
    /** Waits until the refund has succeeded or failed, and returns it. */
    waitFor(id: string, options?: WaitOptions<T.Refund>): Promise<T.Refund>;
}
export declare class Terminals extends Resource {
    retrieve(id: string, options?: Options): import("./call.ts").Call<T.Terminal>;
    list(query?: T.ListTerminalsQuery, options?: Options): import("./list.ts").List<T.Terminal, T.TerminalList & import("./list.ts").Page<T.Terminal>>;
    /**
     * Cancels what the terminal asks for now, the oldest of its open intents, and returns it; `null`
     * if it asks for nothing. Throws, like `cancel`, if that intent was paid meanwhile.
     */
    cancelCurrent(id: string, options?: Options): Promise<T.PaymentIntent | null>;
}
export declare class Balance extends Resource {
    /** What the settlement contract holds for you. */
    retrieve(options?: Options): import("./call.ts").Call<T.Balance>;
}
export declare class Events extends Resource {
    retrieve(id: string, options?: Options): import("./call.ts").Call<T.Event>;
    list(query?: T.ListEventsQuery, options?: Options): import("./list.ts").List<T.Event, T.EventList & import("./list.ts").Page<T.Event>>;
    /**
     * Events as they happen, oldest first, over reconnections, without a gap. An event may come
     * twice: its id tells. Ends when `signal` is aborted.
     */
    stream(options?: StreamOptions): AsyncGenerator<T.WebhookEvent, void, undefined>;
}
export declare class RequestLog extends Resource {
    /** What servers asked of this API, newest first. */
    list(query?: T.ListRequestLogQuery, options?: Options): import("./list.ts").List<T.LoggedRequest, T.LoggedRequestList & import("./list.ts").Page<T.LoggedRequest>>;
}
export declare class WebhookEndpoints extends Resource {
    /** The answer holds the signing `secret`, which is never shown again. */
    create(body: T.CreateWebhookEndpointBody, options?: Options): import("./call.ts").Call<T.WebhookEndpointWithSecret>;
    retrieve(id: string, options?: Options): import("./call.ts").Call<T.WebhookEndpoint>;
    /** All of them: there is one page. */
    list(options?: Options): import("./list.ts").List<T.WebhookEndpoint, T.ListWebhookEndpointsResponse & import("./list.ts").Page<T.WebhookEndpoint>>;
    update(id: string, body: T.UpdateWebhookEndpointBody, options?: Options): import("./call.ts").Call<T.WebhookEndpoint>;
    delete(id: string, options?: Options): import("./call.ts").Call<T.DeleteWebhookEndpointResponse>;
    /** A new secret, shown once. For 24 hours messages are signed with the old one too. */
    rotateSecret(id: string, options?: Options): import("./call.ts").Call<T.WebhookEndpointWithSecret>;
    /** Sends a `ping` and says how the endpoint answered. */
    test(id: string, options?: Options): import("./call.ts").Call<T.WebhookDelivery>;
    deliveries(id: string, query?: T.ListWebhookDeliveriesQuery, options?: Options): import("./list.ts").List<T.WebhookDelivery, T.WebhookDeliveryList & import("./list.ts").Page<T.WebhookDelivery>>;
    /** Sends the events of a span of time again. */
    replay(id: string, body: T.ReplayWebhookEventsBody, options?: Options): import("./call.ts").Call<T.WebhookReplay>;
    retrieveReplay(id: string, options?: Options): import("./call.ts").Call<T.WebhookReplay>;
}
export declare class WebhookDeliveries extends Resource {
    retrieve(id: string, options?: Options): import("./call.ts").Call<T.WebhookDelivery>;
    /** Sends it again at once, whatever became of it. */
    retry(id: string, options?: Options): import("./call.ts").Call<T.WebhookDelivery>;
}
export declare class IdempotencyKeys extends Resource {
    /** What became of the request that was sent with this key. */
    retrieve(key: string, options?: Options): import("./call.ts").Call<T.IdempotencyKey>;
}
/** Plays the customer, in test mode. */
export declare class TestHelpers extends Resource {
    /** As if a customer tapped a pass on the terminal. */
    tap(terminal: string, body?: T.TestTapTerminalBody, options?: Options): import("./call.ts").Call<T.PaymentIntent>;
    /** What a card would give to a reader next: the `url` of a credential of type `nfc_sun`. */
    tapCard(card: string, options?: Options): import("./call.ts").Call<T.CardTap>;
    /** What the payer's app would show the till now: type `rotating_code`. */
    showRotatingCode(pass: string, options?: Options): import("./call.ts").Call<T.RotatingCode>;
    /** What a phone with the pass in Google Wallet would give a reader: type `smart_tap`. */
    tapGoogleWallet(pass: string, options?: Options): import("./call.ts").Call<T.PhoneTap>;
    /** What a phone with the pass in Apple Wallet would give a reader: type `apple_vas`. */
    tapAppleWallet(pass: string, options?: Options): import("./call.ts").Call<T.PhoneTap>;
    /** As if the payer answered in the app. */
    payerConfirm(intent: string, body: T.TestPayerConfirmBody, options?: Options): import("./call.ts").Call<T.PaymentIntent>;
    /** As if the time of an unpaid intent were over. */
    expire(intent: string, options?: Options): import("./call.ts").Call<T.PaymentIntent>;
    /** A token as a payer's AI agent would bring it. */
    createAgentToken(body: T.TestCreateAgentTokenBody, options?: Options): import("./call.ts").Call<T.NewAgentToken>;
    /** An event of any type. */
    triggerEvent(body: T.TestTriggerEventBody, options?: Options): import("./call.ts").Call<T.Event>;
    clock(options?: Options): import("./call.ts").Call<T.TestClock>;
    /** Lets time pass for the account's test mode. */
    advanceClock(body: T.TestAdvanceClockBody, options?: Options): import("./call.ts").Call<T.TestClock>;
}
export {};
