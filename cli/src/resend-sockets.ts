import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Forwarded } from './forward-events.ts';

/**
 * Thrown if this system does not allow `resend` to reach listeners. Commands that do not need it
 * continue.
 */
class NoDoor extends Error {}

/**
 * Returns the folder for the sockets through which `resend` reaches a `listen` in another window
 * without involving the network, because no new event has happened. Only the current user can enter
 * it. Its name contains the numeric user ID, because users in containers often have no name.
 */
function folder(): string {
  const uid = process.getuid?.();
  // On Windows, pipes are not in a folder, so another user could create one with the same name.
  if (uid === undefined) throw new NoDoor('this system has no private sockets');
  const directory = path.join(tmpdir(), `tapline-${uid}`);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new NoDoor(`${directory} cannot be created`, { cause });
  }
  const { uid: owner, mode } = statSync(directory);
  if (owner !== uid || (mode & 0o077) !== 0)
    throw new NoDoor(`${directory} is accessible to other users`);
  return directory;
}

/** Returns the name that all listeners with the same key and network share. */
function groupOf(target: { readonly baseUrl: string; readonly apiKey: string }): string {
  const { baseUrl, apiKey } = target;
  return createHash('sha256').update(`${baseUrl} ${apiKey}`).digest('hex').slice(0, 16);
}

type Resend = (eventId: string) => Promise<Forwarded>;

/**
 * Opens the socket for `resend`. `listen` also works without it. @returns a function that closes
 * it, and the reason if it could not be opened.
 */
export async function acceptResends(
  target: { readonly baseUrl: string; readonly apiKey: string },
  resend: Resend,
): Promise<{ readonly close: () => void; readonly missing: string | null }> {
  try {
    const file = path.join(folder(), `${groupOf(target)}-${process.pid}.sock`);
    return { close: await openDoor(file, resend), missing: null };
  } catch (error) {
    return { close: () => {}, missing: (error as Error).message };
  }
}

async function openDoor(file: string, resend: Resend): Promise<() => void> {
  rmSync(file, { force: true });
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    createInterface(socket).on('line', async (id) => {
      const result = await resend(id).catch((error: Error) => ({ error: error.message }));
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

/** Makes every listener with this key forward an event again. @returns the receivers' responses. */
export async function askListeners(
  target: { readonly baseUrl: string; readonly apiKey: string },
  eventId: string,
): Promise<Forwarded[]> {
  const door = doorHere();
  const group = groupOf(target);
  const files = door === null ? [] : readdirSync(door).filter((name) => name.startsWith(group));
  const answers = await Promise.all(
    files.map((name) => askOne(path.join(`${door}`, name), eventId)),
  );
  return answers.filter((answer) => answer !== null);
}

function doorHere(): string | null {
  try {
    return folder();
  } catch (error) {
    if (error instanceof NoDoor) return null;
    throw error;
  }
}

async function askOne(file: string, eventId: string): Promise<Forwarded | null> {
  const socket = connect(file);
  try {
    await once(socket, 'connect');
  } catch {
    // The listener was killed and left its socket file behind.
    rmSync(file, { force: true });
    return null;
  }
  socket.write(`${eventId}\n`);
  for await (const line of createInterface(socket)) return JSON.parse(line) as Forwarded;
  return null;
}
