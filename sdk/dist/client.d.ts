import type { ClientOptions } from './request.ts';
import * as resources from './resources.ts';
/** A client of one account and mode. One serves a whole program: its waits share a stream. */
export declare class Tapline {
    readonly paymentIntents: resources.PaymentIntents;
    readonly payments: resources.Payments;
    readonly refunds: resources.Refunds;
    readonly terminals: resources.Terminals;
    readonly balance: resources.Balance;
    readonly events: resources.Events;
    readonly webhookEndpoints: resources.WebhookEndpoints;
    readonly webhookDeliveries: resources.WebhookDeliveries;
    readonly idempotencyKeys: resources.IdempotencyKeys;
    readonly requestLog: resources.RequestLog;
    readonly testHelpers: resources.TestHelpers;
    /**
     * @param apiKey a secret key: `tlsk_test_…` or `tlsk_live_…`. Without arguments the client takes
     *   `TAPLINE_API_KEY` and `TAPLINE_BASE_URL` from the environment.
     */
    constructor(apiKey?: string, options?: ClientOptions);
}
