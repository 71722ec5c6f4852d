import { createHash, timingSafeEqual } from 'node:crypto';
export function routesOf(facilitator, options = {}) {
    const { onError = (error) => console.error(error) } = options;
    return async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === '/supported' && request.method === 'GET') {
            return Response.json(facilitator.supported());
        }
        const isCall = pathname === '/verify' || pathname === '/settle';
        if (!isCall)
            return Response.json({ error: 'There is no such route.' }, { status: 404 });
        if (request.method !== 'POST') {
            return Response.json({ error: 'Use POST.' }, { status: 405, headers: { Allow: 'POST' } });
        }
        if (!isAllowed(request, options.token)) {
            return Response.json({ error: 'Send Authorization: Bearer <token>.' }, { status: 401 });
        }
        return pathname === '/verify'
            ? verifyRoute(facilitator, request, onError)
            : settleRoute(facilitator, request, onError);
    };
}
/** Of equal length, so that the comparison tells nothing by its time. */
function isAllowed(request, token) {
    if (token === undefined)
        return true;
    const digest = (text) => createHash('sha256').update(text).digest();
    const given = request.headers.get('Authorization') ?? '';
    return timingSafeEqual(digest(given), digest(`Bearer ${token}`));
}
async function callOf(request) {
    try {
        const body = await request.json();
        return typeof body === 'object' && body !== null ? body : null;
    }
    catch {
        return null;
    }
}
async function verifyRoute(facilitator, request, onError) {
    const call = await callOf(request);
    if (call === null) {
        return Response.json({ isValid: false, invalidReason: 'invalid_payload' }, { status: 400 });
    }
    try {
        const { paymentPayload, paymentRequirements } = call;
        return Response.json(await facilitator.verify(paymentPayload, paymentRequirements));
    }
    catch (error) {
        onError(error);
        const body = { isValid: false, invalidReason: 'unexpected_verify_error' };
        return Response.json(body, { status: 503 });
    }
}
async function settleRoute(facilitator, request, onError) {
    const call = await callOf(request);
    const none = { success: false, transaction: '', network: '' };
    if (call === null) {
        return Response.json({ ...none, errorReason: 'invalid_payload' }, { status: 400 });
    }
    try {
        const { paymentPayload, paymentRequirements } = call;
        return Response.json(await facilitator.settle(paymentPayload, paymentRequirements));
    }
    catch (error) {
        onError(error);
        // Something could not be asked. What was taken stays taken, and the next call goes on from it.
        const errorMessage = 'The outcome is not known. Ask again with the same signature.';
        const body = { ...none, errorReason: 'settlement_pending', errorMessage };
        return Response.json(body, { status: 503, headers: { 'Retry-After': '2' } });
    }
}
