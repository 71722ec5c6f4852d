import { TaplineError } from './error.js';
export { TaplineError };
export class WebhookVerificationError extends TaplineError {
}
const HEADER = 'service-signature';
const TOLERANCE = 300;
const encoder = new TextEncoder();
export async function verify(rawBody, headers, secret, options = {}) {
    const body = bytesOf(rawBody);
    const { timestamp, signatures } = parse(headerOf(headers));
    const now = options.now ?? Date.now() / 1000;
    if (!(Math.abs(now - Number(timestamp)) <= (options.tolerance ?? TOLERANCE))) {
        throw new WebhookVerificationError('The signature is too old, or this clock is wrong.');
    }
    for (const one of [secret].flat()) {
        const key = await keyOf(one);
        const signed = signedBytes(timestamp, body);
        for (const signature of signatures) {
            if (await crypto.subtle.verify('HMAC', key, signature, signed)) {
                return JSON.parse(new TextDecoder().decode(body));
            }
        }
    }
    throw new WebhookVerificationError('The signature does not fit: another secret, or a changed body.');
}
export async function sign(rawBody, secret, timestamp = Math.floor(Date.now() / 1000)) {
    const bytes = signedBytes(String(timestamp), bytesOf(rawBody));
    const digest = new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), bytes));
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return `t=${timestamp},v1=${hex}`;
}
function bytesOf(body) {
    if (typeof body === 'string')
        return encoder.encode(body);
    if (body instanceof ArrayBuffer || body instanceof Uint8Array)
        return new Uint8Array(body);
    throw new WebhookVerificationError('The body was parsed already. Give verify() the raw bytes: it parses them. In Express, use ' +
        "express.raw({type: 'application/json'}) for this path.");
}
function headerOf(headers) {
    const { get } = headers;
    const found = typeof get === 'function'
        ? get.call(headers, HEADER)
        : Object.entries(headers).find(([name]) => name.toLowerCase() === HEADER)?.[1];
    if (typeof found === 'string')
        return found;
    throw new WebhookVerificationError('There is no Service-Signature header.');
}
function parse(header) {
    const parts = header.split(',').map((part) => part.trim().split('='));
    const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
    const signatures = parts.flatMap(([name, hex = '']) => name === 'v1' && /^[0-9a-f]{64}$/.test(hex)
        ? [Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))]
        : []);
    if (/^\d+$/.test(timestamp) && signatures.length > 0)
        return { timestamp, signatures };
    throw new WebhookVerificationError('The Service-Signature header is not t=…,v1=….');
}
function keyOf(secret) {
    if (!secret)
        throw new WebhookVerificationError('The secret is empty: it begins with whsec_.');
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    return crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['sign', 'verify']);
}
function signedBytes(timestamp, body) {
    const head = encoder.encode(`${timestamp}.`);
    const bytes = new Uint8Array(head.length + body.length);
    bytes.set(head);
    bytes.set(body, head.length);
    return bytes;
}
