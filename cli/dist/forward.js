import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sign } from 'tapline/webhooks';
import { WrongUse } from './wrong-use.js';
const TIMEOUT_MS = 10_000;
const TRIES = 5;
const TRY_AGAIN_MS = 1_000;
export function listenSecret(apiKey) {
    return `whsec_${createHmac('sha256', apiKey).update('tapline listen').digest('base64')}`;
}
export function isDelivered({ status }) {
    return status !== null && status >= 200 && status < 300;
}
export function checkReceiver(url) {
    const port = /^\d+$/.test(url) ? `127.0.0.1:${url}` : url;
    const address = /^https?:\/\//.test(port) ? port : `http://${port}`;
    if (!URL.canParse(address) || url.includes(' ')) {
        throw new WrongUse(`${url} is no address: try http://127.0.0.1:3000/webhooks`);
    }
    return address;
}
export async function deliveryHeaders(event, { body, secret, attempt, }) {
    const now = Math.floor(Date.now() / 1000);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const standard = createHmac('sha256', key).update(`${event.id}.${now}.${body}`).digest('base64');
    const digest = createHash('sha256').update(event.id).digest('hex');
    return {
        'Content-Type': 'application/json; charset=utf-8',
        'Service-Signature': await sign(body, secret, now),
        'Service-Event-Id': event.id,
        'Service-Event-Type': event.type,
        'Service-Delivery-Id': `wdl_local${digest.slice(0, 20)}`,
        'Service-Delivery-Attempt': String(attempt),
        'webhook-id': event.id,
        'webhook-timestamp': String(now),
        'webhook-signature': `v1,${standard}`,
    };
}
export async function forward(event, to) {
    const { url, secret, tries = TRIES } = to;
    const body = JSON.stringify(event);
    const started = performance.now();
    for (let attempt = 1;; attempt++) {
        try {
            const own = await deliveryHeaders(event, { body, secret, attempt });
            const headers = { ...to.headers, ...own };
            const signal = AbortSignal.timeout(TIMEOUT_MS);
            const redirect = 'manual';
            const response = await fetch(url, { method: 'POST', headers, body, redirect, signal });
            await response.body?.cancel();
            const { status } = response;
            return { status, error: null, duration_ms: Math.round(performance.now() - started) };
        }
        catch (error) {
            if (attempt < tries) {
                await sleep(TRY_AGAIN_MS);
                continue;
            }
            const { message, cause } = error;
            const duration_ms = Math.round(performance.now() - started);
            return { status: null, error: cause?.message ?? message, duration_ms };
        }
    }
}
export function wordsOf({ status, error, duration_ms }) {
    return status === null ? `not delivered: ${error}` : `${status} (${duration_ms} ms)`;
}
