import { UsageError } from './errors.js';
import * as resources from './resources.js';
const SANDBOX = 'http://127.0.0.1:4242/api';
const KEY = /^tlsk_(test|live)_[0-9A-Za-z]+$/;
export class Tapline {
    paymentIntents;
    payments;
    refunds;
    terminals;
    balance;
    events;
    webhookEndpoints;
    webhookDeliveries;
    idempotencyKeys;
    testHelpers;
    constructor(apiKey, options = {}) {
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
function connect(apiKey, options) {
    const mode = KEY.exec(apiKey ?? '')?.[1];
    if (mode === undefined) {
        throw new UsageError('That is not a secret key of the API: it begins with tlsk_test_ or tlsk_live_. ' +
            '(Keys of terminals begin with tldk_, signing secrets with whsec_.)');
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
