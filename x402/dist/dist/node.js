import { createServer } from 'node:http';
/** A payload is about 2 KB. */
const BODY_LIMIT = 64 * 1024;
/** Serves a function of requests with `node:http`; the caller listens. */
export function serverOf(handle) {
    return createServer((incoming, outgoing) => {
        answer(handle, incoming, outgoing).catch((error) => {
            console.error(error);
            if (!outgoing.headersSent)
                outgoing.writeHead(500);
            outgoing.end();
        });
    });
}
async function answer(handle, incoming, outgoing) {
    const { method = 'GET', headers, url = '/' } = incoming;
    const body = await readBody(incoming);
    if (body === null) {
        outgoing.writeHead(413, { Connection: 'close' }).end();
        return;
    }
    const request = new Request(new URL(url, `http://${headers.host ?? 'localhost'}`), {
        method,
        headers: Object.entries(headers).flatMap(([name, value]) => typeof value === 'string' ? [[name, value]] : []),
        ...(method === 'GET' || method === 'HEAD' ? {} : { body }),
    });
    const response = await handle(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
}
async function readBody(incoming) {
    const chunks = [];
    let length = 0;
    for await (const chunk of incoming) {
        length += chunk.length;
        if (length > BODY_LIMIT)
            return null;
        chunks.push(chunk);
    }
    return Buffer.concat(chunks);
}
