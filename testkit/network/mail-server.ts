import { createServer, type Socket } from 'node:net';
import { listen } from '#testkit/network/listen.ts';

/**
 * A mail server that accepts and keeps every message. It implements only those parts of SMTP that
 * sending needs.
 */
export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

function serve(socket: Socket, keep: (message: string) => void): void {
  let buffer = '';
  let inMessage = false;
  const say = (line: string) => socket.write(`${line}\r\n`);
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    buffer += String(chunk);
    for (;;) {
      const end = inMessage ? '\r\n.\r\n' : '\r\n';
      const at = buffer.indexOf(end);
      if (at < 0) return;
      const part = buffer.slice(0, at);
      buffer = buffer.slice(at + end.length);
      if (inMessage) {
        keep(part);
        inMessage = false;
        say('250 kept');
      } else if (/^DATA/i.test(part)) {
        inMessage = true;
        say('354 go on');
      } else if (/^QUIT/i.test(part)) {
        socket.end('221 bye\r\n');
        return;
      } else {
        say('250 fine');
      }
    }
  });
  say('220 ready');
}

export async function startMailServer() {
  /** The messages as received, with headers. */
  const messages: string[] = [];
  const server = createServer((socket) => serve(socket, (message) => messages.push(message)));
  const { port, close } = await listen(server);
  return { url: `smtp://127.0.0.1:${port}`, messages: messages as readonly string[], stop: close };
}
