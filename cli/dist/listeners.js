import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
class NoDoor extends Error {
}
function folder() {
    const uid = process.getuid?.();
    if (uid === undefined)
        throw new NoDoor('there are no closed sockets on this system');
    const place = path.join(tmpdir(), `tapline-${uid}`);
    try {
        mkdirSync(place, { recursive: true, mode: 0o700 });
    }
    catch (cause) {
        throw new NoDoor(`${place} cannot be made`, { cause });
    }
    const { uid: owner, mode } = statSync(place);
    if (owner !== uid || (mode & 0o077) !== 0)
        throw new NoDoor(`${place} is not this user's alone`);
    return place;
}
function groupOf(place) {
    const { baseUrl, apiKey } = place;
    return createHash('sha256').update(`${baseUrl} ${apiKey}`).digest('hex').slice(0, 16);
}
export async function acceptResends(place, resend) {
    try {
        const file = path.join(folder(), `${groupOf(place)}-${process.pid}.sock`);
        return { close: await openDoor(file, resend), missing: null };
    }
    catch (error) {
        return { close: () => { }, missing: error.message };
    }
}
async function openDoor(file, resend) {
    rmSync(file, { force: true });
    const server = createServer((socket) => {
        socket.on('error', () => socket.destroy());
        createInterface(socket).on('line', async (id) => {
            const result = await resend(id).catch((error) => ({ error: error.message }));
            socket.end(`${JSON.stringify(result)}\n`);
        });
    });
    server.listen(file);
    await once(server, 'listening');
    return () => {
        server.close();
        rmSync(file, { force: true });
    };
}
export async function askListeners(place, eventId) {
    const door = doorHere();
    const group = groupOf(place);
    const files = door === null ? [] : readdirSync(door).filter((name) => name.startsWith(group));
    const answers = await Promise.all(files.map((name) => askOne(path.join(`${door}`, name), eventId)));
    return answers.filter((answer) => answer !== null);
}
function doorHere() {
    try {
        return folder();
    }
    catch (error) {
        if (error instanceof NoDoor)
            return null;
        throw error;
    }
}
async function askOne(file, eventId) {
    const socket = connect(file);
    try {
        await once(socket, 'connect');
    }
    catch {
        rmSync(file, { force: true });
        return null;
    }
    socket.write(`${eventId}\n`);
    for await (const line of createInterface(socket))
        return JSON.parse(line);
    return null;
}
