import { TaplineError } from './error.js';
export { TaplineError };
export class WebhookVerificationError extends TaplineError {
}
const TOLERANCE = 300;
const encoder = new TextEncoder();
export async function verify(rawBody, headers, secret, options = {}) {
    const body = bytesOf(rawBody);
    const { timestamp, head, signatures, bytesOfSecret } = proofOf(headers);
    const now = options.now ?? Date.now() / 1000;
    if (!(Math.abs(now - Number(timestamp)) <= (options.tolerance ?? TOLERANCE))) {
        throw new WebhookVerificationError('The signature is too old, or this clock is wrong.');
    }
    const signed = signedBytes(head, body);
    for (const one of [secret ?? ''].flat()) {
        const key = await keptKey(one, bytesOfSecret);
        for (const signature of signatures) {
            if (await crypto.subtle.verify('HMAC', key, signature, signed)) {
                return JSON.parse(new TextDecoder().decode(body));
            }
        }
    }
    throw new WebhookVerificationError('The signature does not fit: another secret, or a changed body.');
}
export async function sign(rawBody, secret, timestamp = Math.floor(Date.now() / 1000)) {
    const bytes = signedBytes(`${timestamp}.`, bytesOf(rawBody));
    const key = await keyOf(encoder.encode(secret));
    const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes));
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
function headerOf(headers, name) {
    const { get } = headers;
    const found = typeof get === 'function'
        ? get.call(headers, name)
        : Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1];
    return typeof found === 'string' ? found : '';
}
function proofOf(headers) {
    const header = headerOf(headers, 'service-signature');
    if (header !== '')
        return serviceProof(header);
    const id = headerOf(headers, 'webhook-id');
    const timestamp = headerOf(headers, 'webhook-timestamp');
    const signature = headerOf(headers, 'webhook-signature');
    if (id && timestamp && signature)
        return standardProof(id, timestamp, signature);
    throw new WebhookVerificationError('There is no Service-Signature header, nor the webhook-… headers (id, timestamp, signature).');
}
function serviceProof(header) {
    const parts = header.split(',').map((part) => part.trim().split('='));
    const timestamp = parts.find(([name]) => name === 't')?.[1] ?? '';
    const signatures = parts.flatMap(([name, hex = '']) => name === 'v1' && /^[0-9a-f]{64}$/.test(hex)
        ? [Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))]
        : []);
    if (!/^\d+$/.test(timestamp) || signatures.length === 0) {
        throw new WebhookVerificationError('The Service-Signature header is not t=…,v1=….');
    }
    const bytesOfSecret = (secret) => encoder.encode(secret);
    return { timestamp, head: `${timestamp}.`, signatures, bytesOfSecret };
}
function standardProof(id, timestamp, header) {
    const signatures = header
        .split(' ')
        .filter((one) => /^v1,[0-9A-Za-z+/]{43}=$/.test(one))
        .map((one) => fromBase64(one.slice('v1,'.length)));
    if (!/^\d+$/.test(timestamp) || signatures.length === 0) {
        throw new WebhookVerificationError('The webhook-signature header is not v1,… with a time.');
    }
    return { timestamp, head: `${id}.${timestamp}.`, signatures, bytesOfSecret: decodedSecret };
}
function fromBase64(text) {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
function decodedSecret(secret) {
    try {
        return fromBase64(secret.replace(/^whsec_/, ''));
    }
    catch {
        throw new WebhookVerificationError('The secret is not whsec_… in base64.');
    }
}
const MOST_KEPT = 16;
const kept = new Map();
function keptKey(secret, bytesOf) {
    const name = `${bytesOf === decodedSecret} ${secret}`;
    const known = kept.get(name) ?? keyOf(bytesOf(secret));
    if (kept.size >= MOST_KEPT)
        kept.clear();
    kept.set(name, known);
    return known;
}
function keyOf(secret) {
    if (secret.length === 0) {
        throw new WebhookVerificationError('The secret is empty: it begins with whsec_.');
    }
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    return crypto.subtle.importKey('raw', secret, hmac, false, ['sign', 'verify']);
}
function signedBytes(before, body) {
    const head = encoder.encode(before);
    const bytes = new Uint8Array(head.length + body.length);
    bytes.set(head);
    bytes.set(body, head.length);
    return bytes;
}
