import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
function folder() {
    const { uid } = userInfo();
    const place = path.join(tmpdir(), `tapline-${uid}`);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    const { uid: owner, mode } = statSync(place);
    if (owner !== uid || (mode & 0o077) !== 0)
        throw new Error(`${place} is not this user's alone.`);
    return place;
}
function groupOf(place) {
    const { baseUrl, apiKey } = place;
    return createHash('sha256').update(`${baseUrl} ${apiKey}`).digest('hex').slice(0, 16);
}
export async function acceptResends(place, resend) {
    const file = path.join(folder(), `${groupOf(place)}-${process.pid}.sock`);
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
    const group = groupOf(place);
    const files = readdirSync(folder()).filter((name) => name.startsWith(group));
    const answers = await Promise.all(files.map((name) => askOne(path.join(folder(), name), eventId)));
    return answers.filter((answer) => answer !== null);
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
