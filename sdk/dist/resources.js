import { Resource } from './resource.js';
import { followEvents } from './stream.js';
import { waitFor } from './wait.js';
export class PaymentIntents extends Resource {
    create(body, options) {
        return this.keyed('POST /v1/payment_intents', { body }, options);
    }
    retrieve(id, options) {
        return this.call('GET /v1/payment_intents/{id}', { ids: [id] }, options);
    }
    list(query, options) {
        return this.pages('GET /v1/payment_intents', { query }, options);
    }
    cancel(id, options) {
        return this.keyed('POST /v1/payment_intents/{id}/cancel', { ids: [id] }, options);
    }
    confirm(id, body, options) {
        return this.keyed('POST /v1/payment_intents/{id}/confirm', { ids: [id], body }, options);
    }
    waitFor(id, options = {}) {
        const until = ({ status }) => status === 'succeeded' || status === 'canceled';
        const read = () => this.retrieve(id);
        return waitFor(this.connection, { id, read, until }, options);
    }
}
export class Payments extends Resource {
    retrieve(id, options) {
        return this.call('GET /v1/payments/{id}', { ids: [id] }, options);
    }
    list(query, options) {
        return this.pages('GET /v1/payments', { query }, options);
    }
}
export class Refunds extends Resource {
    create(body, options) {
        return this.keyed('POST /v1/refunds', { body }, options);
    }
    retrieve(id, options) {
        return this.call('GET /v1/refunds/{id}', { ids: [id] }, options);
    }
    list(query, options) {
        return this.pages('GET /v1/refunds', { query }, options);
    }
    waitFor(id, options = {}) {
        const until = ({ status }) => status !== 'pending';
        const read = () => this.retrieve(id);
        return waitFor(this.connection, { id, read, until }, options);
    }
}
export class Terminals extends Resource {
    retrieve(id, options) {
        return this.call('GET /v1/terminals/{id}', { ids: [id] }, options);
    }
    list(query, options) {
        return this.pages('GET /v1/terminals', { query }, options);
    }
    async cancelCurrent(id, options) {
        let oldest;
        for (const status of ['requires_payment_method', 'requires_action']) {
            const query = { terminal: id, status, limit: 100 };
            for await (const open of this.pages('GET /v1/payment_intents', { query }, options)) {
                if (oldest === undefined || open.created < oldest.created)
                    oldest = open;
            }
        }
        if (oldest === undefined)
            return null;
        return this.keyed('POST /v1/payment_intents/{id}/cancel', { ids: [oldest.id] }, options);
    }
}
export class Balance extends Resource {
    retrieve(options) {
        return this.call('GET /v1/balance', {}, options);
    }
}
export class Events extends Resource {
    retrieve(id, options) {
        return this.call('GET /v1/events/{id}', { ids: [id] }, options);
    }
    list(query, options) {
        return this.pages('GET /v1/events', { query }, options);
    }
    stream(options = {}) {
        return followEvents(this.connection, options);
    }
}
export class RequestLog extends Resource {
    list(query, options) {
        return this.pages('GET /v1/request_log', { query }, options);
    }
}
export class WebhookEndpoints extends Resource {
    create(body, options) {
        return this.call('POST /v1/webhook_endpoints', { body }, options);
    }
    retrieve(id, options) {
        return this.call('GET /v1/webhook_endpoints/{id}', { ids: [id] }, options);
    }
    list(options) {
        return this.pages('GET /v1/webhook_endpoints', {}, options);
    }
    update(id, body, options) {
        return this.call('PATCH /v1/webhook_endpoints/{id}', { ids: [id], body }, options);
    }
    delete(id, options) {
        return this.call('DELETE /v1/webhook_endpoints/{id}', { ids: [id] }, options);
    }
    rotateSecret(id, options) {
        return this.call('POST /v1/webhook_endpoints/{id}/rotate_secret', { ids: [id] }, options);
    }
    test(id, options) {
        return this.call('POST /v1/webhook_endpoints/{id}/test', { ids: [id] }, options);
    }
    deliveries(id, query, options) {
        const sent = { ids: [id], query };
        return this.pages('GET /v1/webhook_endpoints/{id}/deliveries', sent, options);
    }
    replay(id, body, options) {
        return this.call('POST /v1/webhook_endpoints/{id}/replay', { ids: [id], body }, options);
    }
    retrieveReplay(id, options) {
        return this.call('GET /v1/webhook_replays/{id}', { ids: [id] }, options);
    }
}
export class WebhookDeliveries extends Resource {
    retrieve(id, options) {
        return this.call('GET /v1/webhook_deliveries/{id}', { ids: [id] }, options);
    }
    retry(id, options) {
        return this.call('POST /v1/webhook_deliveries/{id}/retry', { ids: [id] }, options);
    }
}
export class IdempotencyKeys extends Resource {
    retrieve(key, options) {
        return this.call('GET /v1/idempotency_keys/{key}', { ids: [key] }, options);
    }
}
export class TestHelpers extends Resource {
    tap(terminal, body, options) {
        const sent = { ids: [terminal], body };
        return this.keyed('POST /v1/test_helpers/terminals/{id}/tap', sent, options);
    }
    tapCard(card, options) {
        return this.call('POST /v1/test_helpers/cards/{id}/taps', { ids: [card] }, options);
    }
    showRotatingCode(pass, options) {
        return this.call('POST /v1/test_helpers/passes/{id}/rotating_code', { ids: [pass] }, options);
    }
    tapGoogleWallet(pass, options) {
        return this.call('POST /v1/test_helpers/passes/{id}/smart_tap', { ids: [pass] }, options);
    }
    tapAppleWallet(pass, options) {
        return this.call('POST /v1/test_helpers/passes/{id}/apple_vas', { ids: [pass] }, options);
    }
    payerConfirm(intent, body, options) {
        const sent = { ids: [intent], body };
        return this.call('POST /v1/test_helpers/payment_intents/{id}/payer_confirm', sent, options);
    }
    expire(intent, options) {
        const sent = { ids: [intent] };
        return this.call('POST /v1/test_helpers/payment_intents/{id}/expire', sent, options);
    }
    createAgentToken(body, options) {
        return this.call('POST /v1/test_helpers/agent_tokens', { body }, options);
    }
    triggerEvent(body, options) {
        return this.call('POST /v1/test_helpers/events/trigger', { body }, options);
    }
    clock(options) {
        return this.call('GET /v1/test_helpers/clock', {}, options);
    }
    advanceClock(body, options) {
        return this.call('POST /v1/test_helpers/clock/advance', { body }, options);
    }
}
