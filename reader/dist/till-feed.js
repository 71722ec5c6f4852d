import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { ProtocolError } from './protocols/apdu.js';
import { proofFrom, proofOf } from './protocols/collector.js';
/** A page says who it is at once; a socket that says nothing is nobody's till. */
const HELLO_MS = 2000;
/** A hello is short, and so is what a chip signs, and a signature. */
const LONGEST_MESSAGE = 512;
/** The till asks its server meanwhile, and somebody holds a chip against the reader. */
const TO_SIGN_MS = 3000;
/** A whole tap of a phone may take two seconds. */
const TO_PROVE_MS = 1500;
/** A code has 40 bits: nobody finds it at this pace. */
const MOST_WRONG = 5;
const WRONG_FOR_MS = 60_000;
/** How the page learns why it was let go; the numbers are free for programs to use. */
export const CLOSED = { refused: 4401, replaced: 4409, tooOften: 4429 };
export function hashOf(token) {
    return createHash('sha256').update(token).digest('hex');
}
export async function openTillFeed(options) {
    const seat = new Seat(options.onTill);
    const judge = createDoor(options);
    const greet = async (socket, hello) => {
        const verdict = await judge(hello);
        if (typeof verdict === 'number')
            socket.close(verdict);
        else
            seat.take(socket, verdict);
    };
    const server = createServer((_, response) => response.writeHead(404).end());
    const sockets = new WebSocketServer({
        server,
        path: '/till',
        maxPayload: LONGEST_MESSAGE,
        // A page of another address never gets so far, whatever it knows.
        verifyClient: ({ origin }) => origin === options.origin,
    });
    sockets.on('connection', (socket) => {
        socket.on('error', () => socket.terminate());
        const late = setTimeout(() => socket.close(CLOSED.refused), HELLO_MS).unref();
        socket.once('message', (data) => {
            clearTimeout(late);
            greet(socket, readHello(String(data))).catch(() => socket.terminate());
        });
    });
    await new Promise((resolve, reject) => {
        server.once('error', reject).listen(options.port, '127.0.0.1', resolve);
    });
    return {
        port: server.address().port,
        tell: (event) => seat.tell(event),
        toSign: async (publicKey) => {
            const public_key = Buffer.from(publicKey).toString('hex');
            const answer = await seat.ask({ status: 'chip', public_key }, TO_SIGN_MS);
            return answer === null ? null : digestIn(answer);
        },
        proveCollector: async (tap) => {
            const answer = await seat.ask({ status: 'phone', ...proofFrom(tap) }, TO_PROVE_MS);
            return proofIn(answer);
        },
        close: async () => {
            for (const socket of sockets.clients)
                socket.terminate();
            sockets.close();
            await new Promise((resolve) => server.close(resolve));
        },
    };
}
/** The one page that is served. */
class Seat {
    #onTill;
    #till = null;
    #answer = null;
    #last = { status: 'no_reader' };
    constructor(onTill) {
        this.#onTill = onTill;
    }
    take(socket, welcome) {
        this.#till?.close(CLOSED.replaced);
        this.#till = socket;
        socket.once('close', () => {
            if (this.#till !== socket)
                return;
            this.#till = null;
            this.#answer?.(null);
            this.#onTill(false);
        });
        socket.on('message', (data) => {
            if (this.#till === socket)
                this.#answer?.(String(data));
        });
        socket.send(JSON.stringify(welcome));
        socket.send(JSON.stringify(this.#last));
        this.#onTill(true);
    }
    /** null: no till is here, or it does not answer in time. */
    async ask(question, waitMs) {
        const till = this.#till;
        if (till === null)
            return null;
        const answered = new Promise((resolve) => {
            this.#answer = resolve;
        });
        const late = setTimeout(() => this.#answer?.(null), waitMs);
        till.send(JSON.stringify(question));
        const answer = await answered;
        clearTimeout(late);
        this.#answer = null;
        return answer;
    }
    tell(event) {
        if (event.status !== 'tapped')
            this.#last = event;
        this.#till?.send(JSON.stringify(event));
    }
}
/** Judges who knocks. @returns what to say to the till, or the number to close with. */
function createDoor(options) {
    let { code, tokenHash } = options;
    let wrong = [];
    return async (hello) => {
        const now = performance.now();
        wrong = wrong.filter((at) => now - at < WRONG_FOR_MS);
        if (wrong.length >= MOST_WRONG)
            return CLOSED.tooOften;
        if (hello.code !== undefined && code !== null && isSame(hello.code, code)) {
            code = null;
            const token = randomBytes(32).toString('base64url');
            tokenHash = hashOf(token);
            await options.onPaired(tokenHash);
            return { status: 'welcome', token };
        }
        const isKnown = hello.token !== undefined && tokenHash !== null && isSame(hashOf(hello.token), tokenHash);
        if (isKnown)
            return { status: 'welcome' };
        wrong = [...wrong, now];
        return CLOSED.refused;
    };
}
function readHello(text) {
    try {
        const read = JSON.parse(text);
        if (typeof read !== 'object' || read === null)
            return {};
        const { code, token } = read;
        return {
            ...(typeof code === 'string' ? { code } : {}),
            ...(typeof token === 'string' ? { token } : {}),
        };
    }
    catch {
        return {};
    }
}
/** null: the till has nothing to be signed. */
function digestIn(text) {
    const [, hex] = /^\{"sign":"([0-9a-f]{64})"\}$/.exec(text) ?? [];
    return hex === undefined ? null : Buffer.from(hex, 'hex');
}
/** null: Smart Tap is off for this till. @throws ProtocolError when the till did not say. */
function proofIn(text) {
    if (text === '{"proof":null}')
        return null;
    try {
        return proofOf(JSON.parse(text ?? '').proof);
    }
    catch {
        throw new ProtocolError('the till did not answer');
    }
}
/** In the same time whatever differs. */
function isSame(a, b) {
    return timingSafeEqual(Buffer.from(hashOf(a), 'hex'), Buffer.from(hashOf(b), 'hex'));
}
