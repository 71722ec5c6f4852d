import { createServer } from 'node:net';

/**
 * A merchant's server that takes little processor time: it implements just enough HTTP/1.1 to
 * respond to each POST with 200, and reports to the parent how many requests arrived and, if asked,
 * when. Runs as a child process.
 */
const ANSWER = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
const HEAD_END = '\r\n\r\n';

let received = 0;
let tell = false;

const server = createServer((socket) => {
  let pending = '';
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    pending += chunk.toString('latin1');
    for (;;) {
      const end = pending.indexOf(HEAD_END);
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, end))?.[1] ?? 0);
      const next = end + HEAD_END.length + length;
      if (pending.length < next) return;
      pending = pending.slice(next);
      received++;
      if (tell) process.send?.({ at: performance.timeOrigin + performance.now() });
      socket.write(ANSWER);
    }
  });
});

process.on('message', (message: { ask: 'count' | 'tell' | 'hush' }) => {
  if (message.ask === 'count') process.send?.({ received });
  tell = message.ask === 'tell' || (tell && message.ask !== 'hush');
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
});
