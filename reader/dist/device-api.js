import { readFileSync } from 'node:fs';
import { ProtocolError } from './protocols/apdu.js';
import { proofFrom, proofOf } from './protocols/collector.js';
import { within } from './within.js';
/** The server's answer when it refuses: nothing moved. */
export class DeviceApiError extends Error {
    status;
    code;
    constructor(status, code, message) {
        super(message);
        this.name = 'DeviceApiError';
        this.status = status;
        this.code = code;
    }
}
/** Longer than the server holds a request that waits (25 s), and than a tap may take (30 s). */
const REQUEST_MS = 40_000;
/** Meanwhile somebody holds a chip against the reader. */
const CHIP_MS = 3000;
/** A whole tap of a phone may take two seconds. */
const PHONE_MS = 1500;
/** Of a server that can be reached an answer is there by then. */
const CLEAR_MS = 500;
/** As many as this program ever has at once: two that wait, and one that acts. */
const KEPT_CONNECTIONS = 3;
/** Smart Tap is off here, which the merchant or the operator can change. */
const OFF = ['not_configured', 'kyb_required', 'terminal_inactive'];
export class DeviceApi {
    #base;
    #key;
    /** Ends what is under way when the machine has slept. */
    #awake = new AbortController();
    #cleared = Promise.resolve();
    /** @param server the address of the network, for example `https://pay.example.com`. */
    constructor(server, deviceKey) {
        this.#base = baseOf(server);
        this.#key = deviceKey;
    }
    /** The machine has slept: what waits for an answer fails now, and is asked again by who waits. */
    woke() {
        this.#awake.abort(new Error('this machine has slept'));
        this.#awake = new AbortController();
        this.#cleared = this.#clearConnections();
    }
    /** The key for a pairing code of the dashboard: works once. */
    static async pair(server, code) {
        const body = JSON.stringify({ code });
        const headers = { 'content-type': 'application/json' };
        const signal = AbortSignal.timeout(REQUEST_MS);
        const response = await fetch(`${baseOf(server)}/pair`, {
            method: 'POST',
            headers,
            body,
            signal,
        });
        const answer = await bodyOf(response);
        return { key: answer.device_key, terminal: answer.terminal };
    }
    /** Says which software this terminal runs: this package. */
    report(signal) {
        const body = { platform: 'reader', software_version: packageVersion() };
        return this.#call('PATCH', '/terminal', { signal, body });
    }
    /** The oldest open intent; null when none came within 25 s. */
    nextIntent(signal) {
        return this.#call('GET', '/payment_intents/next?wait=25', { signal });
    }
    intent(id, signal) {
        return this.#call('GET', `/payment_intents/${id}`, { signal });
    }
    /** The intent, as soon as its status is another than `seen`, or after 25 s. */
    changed(id, seen, signal) {
        const query = `wait=25&status=${seen}`;
        return this.#call('GET', `/payment_intents/${id}?${query}`, { signal });
    }
    tap(id, credential, key) {
        return this.#call('POST', `/payment_intents/${id}/tap`, { body: { credential }, key });
    }
    /** What a chip of this address signs to pay; null when the intent cannot be paid now. */
    async toSign(id, from, signal) {
        const path = `/payment_intents/${id}/authorization?from=${from}`;
        const { typed_data } = await within({ ms: CHIP_MS, until: [signal] }, (soon) => this.#call('GET', path, { signal: soon }));
        return typed_data;
    }
    /** Has a tap of a phone signed by the network, whose key stays there. */
    proveCollector = async (tap) => {
        const signal = AbortSignal.timeout(PHONE_MS);
        const body = proofFrom(tap);
        try {
            return proofOf(await this.#call('POST', '/smart_tap', { body, signal }));
        }
        catch (error) {
            if (error instanceof DeviceApiError && OFF.includes(error.code))
                return null;
            throw new ProtocolError('the network did not sign', { cause: error });
        }
    };
    /** The same signature again gets the first answer. */
    authorize(id, signed) {
        return this.#call('POST', `/payment_intents/${id}/authorization`, { body: signed });
    }
    /** Where the receipt of a paid intent is; null while there is none. */
    async receiptUrl(intent) {
        const { data } = await this.#call('GET', '/payments?limit=10', {});
        return data.find(({ payment_intent }) => payment_intent === intent)?.receipt_url ?? null;
    }
    /** Connections that are kept for later are dead, too: each takes a question, and ends with it. */
    #clearConnections() {
        const headers = { authorization: `Bearer ${this.#key}` };
        const ask = () => fetch(`${this.#base}/terminal`, { headers, signal: AbortSignal.timeout(CLEAR_MS) });
        return Promise.allSettled(Array.from({ length: KEPT_CONNECTIONS }, async () => (await ask()).body?.cancel()));
    }
    async #call(method, path, options) {
        const { signal, body, key } = options;
        await this.#cleared;
        const request = {
            method,
            headers: {
                authorization: `Bearer ${this.#key}`,
                ...(body === undefined ? {} : { 'content-type': 'application/json' }),
                ...(key === undefined ? {} : { 'idempotency-key': key }),
            },
            body: body === undefined ? null : JSON.stringify(body),
        };
        const until = [this.#awake.signal, ...(signal === undefined ? [] : [signal])];
        return within({ ms: REQUEST_MS, until }, async (end) => bodyOf(await fetch(`${this.#base}${path}`, { ...request, signal: end })));
    }
}
function packageVersion() {
    const file = new URL('../package.json', import.meta.url);
    return JSON.parse(readFileSync(file, 'utf8')).version;
}
function baseOf(server) {
    return `${server.replace(/\/+$/, '')}/api/device/v1`;
}
async function bodyOf(response) {
    if (response.status === 204)
        return null;
    const body = (await response.json());
    if (response.ok)
        return body;
    const { code = 'unknown', message = `HTTP ${response.status}` } = body.error ?? {};
    throw new DeviceApiError(response.status, code, message);
}
