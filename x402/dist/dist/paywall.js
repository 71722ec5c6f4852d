import { decodeHeader, encodeHeader, X402_VERSION, } from './wire.js';
const RETRY_SECONDS = '2';
/**
 * Asks for money before something is handed out.
 * @returns what was paid, or the answer to give instead
 */
export function paywallOf(facilitator) {
    return async (request, offer) => {
        const resource = offer.resource ?? request.url;
        const requirements = facilitator.requirements({ price: offer.price, resource });
        const ask = (error, settled) => {
            const { description } = offer;
            const what = { url: resource, ...(description === undefined ? {} : { description }) };
            const accepts = [requirements];
            return required({ x402Version: X402_VERSION, error, resource: what, accepts }, settled);
        };
        const header = request.headers.get('PAYMENT-SIGNATURE');
        if (header === null)
            return ask('Payment required');
        const settled = await facilitator.settle(decodeHeader(header), requirements);
        if (settled.success)
            return paidOf(settled);
        // Another 402 would make the client sign again, and pay twice.
        return settled.errorReason === 'settlement_pending'
            ? pending(settled)
            : ask(settled.errorReason ?? 'Payment failed', settled);
    };
}
function paidOf(settled) {
    return {
        paymentIntent: settled.extra?.paymentIntent ?? '',
        payer: settled.payer ?? '',
        transaction: settled.transaction,
        headers: { 'PAYMENT-RESPONSE': encodeHeader(settled), 'Cache-Control': 'private' },
    };
}
function required(body, settled) {
    const headers = {
        'PAYMENT-REQUIRED': encodeHeader(body),
        'Cache-Control': 'no-store',
    };
    if (settled !== undefined)
        headers['PAYMENT-RESPONSE'] = encodeHeader(settled);
    const { error } = body;
    const message = settled?.errorMessage;
    return Response.json({ error, ...(message ? { message } : {}) }, { status: 402, headers });
}
function pending(settled) {
    const headers = {
        'PAYMENT-RESPONSE': encodeHeader(settled),
        'Retry-After': RETRY_SECONDS,
        'Cache-Control': 'no-store',
    };
    const message = `${settled.errorMessage ?? ''} Send this request again as it was.`.trim();
    return Response.json({ error: 'settlement_pending', message }, { status: 503, headers });
}
