import type { Socket } from 'node:net';

/**
 * The beginning of an unrequested `100 Continue`, which old versions of IIS send before every
 * response.
 */
const START = Buffer.from('HTTP/1.1 100');
/** The beginning of any interim response. */
const INTERIM = Buffer.from('HTTP/1.1 1');
const END = Buffer.from('\r\n\r\n');
/** Maximum length of an interim response: one line and a few headers. */
const MAX_BYTES = 4096;

/**
 * Removes each `100 Continue` from a socket's input. RFC 9110 15.2 requires clients to expect any
 * interim response, but undici destroys the socket on an unrequested 100 and passes on only the
 * others. If a chunk of a body begins like a 100, that part is lost, which is acceptable: response
 * bodies have no meaning, and the time limit of an exchange still applies.
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

/** Removes each `100` from the interim responses at the start of the bytes. */
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

/** True if the bytes may be the beginning of a `100 Continue`, so that more must be read. */
function mayBecomeContinue(bytes: Buffer): boolean {
  if (bytes.length > MAX_BYTES) return false;
  const size = Math.min(bytes.length, START.length);
  return bytes.subarray(0, size).equals(START.subarray(0, size));
}
