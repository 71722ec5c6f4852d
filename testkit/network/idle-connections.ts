import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

/**
 * Number of connections that are opened at a time. A listening socket queues 511; further ones
 * would have to retry.
 */
const WAVE = 250;
/** A request that needs no database, so that the test measures only the connections. */
const REQUEST = 'GET /livez HTTP/1.1\r\nHost: idle.test\r\n\r\n';
/**
 * Source addresses. On Linux, one address has 28,000 ports, some of which closed connections still
 * hold, so several addresses are used. Other systems allow only 127.0.0.1 unless more are
 * configured.
 */
const ADDRESSES =
  process.platform === 'linux'
    ? ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']
    : ['127.0.0.1'];

async function ask(socket: Socket): Promise<boolean> {
  const answering = once(socket, 'data');
  socket.write(REQUEST);
  const [answer] = await answering;
  return String(answer).startsWith('HTTP/1.1 200 ');
}

async function open(port: number, number: number): Promise<Socket> {
  const localAddress = ADDRESSES[number % ADDRESSES.length] ?? '127.0.0.1';
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  await once(socket, 'connect');
  if (!(await ask(socket))) throw new Error('a connection was not answered with 200');
  // Ignores later errors, which must not crash the test; `lost()` counts the closed connections.
  return socket.on('error', () => {});
}

/**
 * Opens this many connections to a local server. Each has received one response and is idle.
 * @throws if a connection is refused or gets no response
 */
export async function openIdleConnections(port: number, count: number) {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const wave = Math.min(WAVE, count - sockets.length);
    const opening = Array.from({ length: wave }, (_, n) => open(port, sockets.length + n));
    sockets.push(...(await Promise.all(opening)));
  }
  return {
    /** Returns how many connections the server has closed. */
    lost: () => sockets.filter((socket) => socket.destroyed || socket.readableEnded).length,
    /** Sends a request on every n-th connection. @returns the number of 200 responses */
    askEvery: async (nth: number) => {
      const requests = sockets.filter((_, number) => number % nth === 0);
      return (await Promise.all(requests.map(ask))).filter((answered) => answered).length;
    },
    /** Closes all connections, half of them properly and the others abruptly. */
    close: async () => {
      const open = sockets.filter((socket) => !socket.destroyed);
      const closed = open.map((socket) => once(socket, 'close'));
      open.forEach((socket, number) => {
        if (number % 2 === 0) socket.end();
        else socket.resetAndDestroy();
      });
      await Promise.all(closed);
    },
  };
}

/**
 * Returns the number of files that this process, and each one that it starts, may open. Node raises
 * its limit to the maximum when it starts.
 */
export function openFilesLimit(): number {
  const { stdout } = spawnSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' });
  const limit = Number(stdout);
  return stdout.trim() === 'unlimited' ? Number.POSITIVE_INFINITY : limit;
}

/**
 * Returns the resources that a process uses; `null` if the system does not report them (only Linux
 * does).
 */
export async function resourcesOf(
  pid: number,
): Promise<{ readonly files: number; readonly megabytes: number } | null> {
  if (process.platform !== 'linux') return null;
  const files = (await readdir(`/proc/${pid}/fd`)).length;
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  return { files, megabytes: Math.round(kilobytes / 1024) };
}
