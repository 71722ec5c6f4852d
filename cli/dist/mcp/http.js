import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createMcpHandler, hostHeaderValidationResponse, localhostAllowedHostnames, localhostAllowedOrigins, originValidationResponse, } from './sdk.js';
const PATH = '/mcp';
export async function serveOverHttp(create, { port, out }) {
    const { TAPLINE_MCP_TOKEN: given } = process.env;
    const token = given || randomBytes(24).toString('base64url');
    const { fetch: handle, close } = createMcpHandler(create);
    const answer = async (request) => {
        const refused = hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
            originValidationResponse(request, localhostAllowedOrigins());
        if (refused !== undefined)
            return refused;
        if (new URL(request.url).pathname !== PATH)
            return new Response(null, { status: 404 });
        return carries(request, token) ? handle(request) : unauthorized();
    };
    const server = createServer((request, response) => {
        void passOn(request, response, answer);
    });
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${server.address().port}${PATH}`;
    const shown = given ? {} : { token };
    const words = given ? '' : `\nAuthorization: Bearer ${token}`;
    out.show({ url, ...shown }, `${url}${words}`);
    await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
    await close();
    server.close();
    server.closeAllConnections();
    return 0;
}
function unauthorized() {
    return new Response(null, { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } });
}
function carries(request, token) {
    const sum = (text) => createHash('sha256').update(text).digest();
    const sent = request.headers.get('authorization') ?? '';
    return timingSafeEqual(sum(sent), sum(`Bearer ${token}`));
}
export async function passOn(incoming, outgoing, answer) {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const request = webRequest(incoming, gone.signal);
    if (request === null) {
        outgoing.writeHead(400, { Connection: 'close' }).end();
        return;
    }
    try {
        const { status, headers, body } = await answer(request);
        if (status >= 400)
            headers.set('Connection', 'close');
        outgoing.writeHead(status, Object.fromEntries(headers));
        if (body === null)
            outgoing.end();
        else
            await pipeline(Readable.fromWeb(body), outgoing);
    }
    catch {
        if (!outgoing.headersSent)
            outgoing.writeHead(500, { Connection: 'close' });
        outgoing.end();
    }
}
function webRequest(incoming, signal) {
    const { method = 'GET', headers } = incoming;
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const sent = Object.entries(headers).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]]);
    const init = {
        ...{ method, headers: sent, signal },
        ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
    };
    try {
        return new Request(new URL(incoming.url ?? '/', `http://${headers.host}`), init);
    }
    catch {
        return null;
    }
}
