import type { Socket } from 'node:net';

/** How an unasked `100 Continue` begins; old versions of IIS send one before every answer. */
const START = Buffer.from('HTTP/1.1 100');
/** How any interim answer begins. */
const INTERIM = Buffer.from('HTTP/1.1 1');
const END = Buffer.from('\r\n\r\n');
/** Such an answer is a line and at most a few headers. */
const MAX_BYTES = 4096;

/**
 * Takes each `100 Continue` out of what a socket reads. RFC 9110 15.2 wants clients to expect any
 * interim response; undici destroys the socket at this one and passes the others on.
 *
 * A body that happens to have a chunk which begins so loses it: bodies of answers do not matter,
 * and the time limit of an exchange holds.
 */
export function skipContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  let held: Buffer = Buffer.alloc(0);
  socket.read = (size?: number): Buffer | null => {
    for (let chunk = read(size); chunk !== null; chunk = read(size)) {
      held = withoutContinue(Buffer.concat([held, chunk]));
      if (held.length === 0 || mayBecomeContinue(held)) continue;
      const whole = held;
      held = Buffer.alloc(0);
      return whole;
    }
    return null;
  };
  return socket;
}

/** Leaves out each `100` among the interim answers that the bytes begin with. */
function withoutContinue(bytes: Buffer): Buffer {
  const kept: Buffer[] = [];
  let rest = bytes;
  while (rest.subarray(0, INTERIM.length).equals(INTERIM)) {
    const end = rest.indexOf(END);
    if (end < 0) break;
    const head = rest.subarray(0, end + END.length);
    if (!head.subarray(0, START.length).equals(START)) kept.push(head);
    rest = rest.subarray(head.length);
  }
  return kept.length === 0 ? rest : Buffer.concat([...kept, rest]);
}

/** The bytes so far are the beginning of one: more has to come before they can be judged. */
function mayBecomeContinue(bytes: Buffer): boolean {
  if (bytes.length > MAX_BYTES) return false;
  const size = Math.min(bytes.length, START.length);
  return bytes.subarray(0, size).equals(START.subarray(0, size));
}
