import type { Network } from '#core/mode.ts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import type { ProcessWires } from '#testkit/simulation/chaos/chaos-process.ts';
import type { Timetable } from '#testkit/simulation/chaos/chaos-schedule.ts';
import { type Reader, startWire, type Wire } from '#testkit/simulation/chaos/chaos-wire.ts';

/** Maximum length of a recorded statement, enough to tell any two statements apart. */
const LENGTH_MAX = 160;
/**
 * Length of a message's head: one byte for the type and four for the length. Only the first message
 * of a connection has no type.
 */
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;

/**
 * Statements by the name under which they were prepared. The name is a hash of the statement, so it
 * is the same on every connection.
 */
const statements = new Map<string, string>();

function textAt(bytes: Buffer, from: number): { readonly text: string; readonly next: number } {
  const end = bytes.indexOf(0, from);
  return { text: bytes.toString('utf8', from, end), next: end + 1 };
}

function shorten(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, LENGTH_MAX);
}

/** Returns the statement that a complete PostgreSQL message runs; `null` if it runs none. */
function questionOf(type: string, body: Buffer): string | null {
  if (type === 'Q') return shorten(textAt(body, 0).text);
  if (type === 'P') {
    const { text: name, next } = textAt(body, 0);
    const statement = shorten(textAt(body, next).text);
    if (name !== '') statements.set(name, statement);
    return name === '' ? statement : null;
  }
  if (type !== 'B') return null;
  const { text: name } = textAt(body, textAt(body, 0).next);
  return name === '' ? null : (statements.get(name) ?? name);
}

/**
 * Creates a reader of PostgreSQL's protocol 3. It returns simple queries, and prepared statements
 * when they are bound.
 */
export function openPostgresReader(): Reader {
  let rest: Buffer = Buffer.alloc(0);
  let started = false;
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    const questions: string[] = [];
    for (;;) {
      const head = started ? HEAD_BYTES : LENGTH_BYTES;
      if (rest.length < head) return questions;
      const end = rest.readInt32BE(head - LENGTH_BYTES) + head - LENGTH_BYTES;
      if (rest.length < end) return questions;
      const type = started ? String.fromCharCode(rest[0] ?? 0) : '';
      const question = questionOf(type, rest.subarray(head, end));
      if (question !== null) questions.push(question);
      rest = rest.subarray(end);
      started = true;
    }
  };
}

/**
 * Creates a reader of JSON-RPC over HTTP. It returns the methods of calls; a batch of calls is one
 * message.
 */
export function openRpcReader(): Reader {
  return (bytes) => {
    const methods = bytes.toString('latin1').matchAll(/"method":\s*"(\w+)"/g);
    const names = new Set(Array.from(methods, ([, name = '']) => name));
    return names.size === 0 ? [] : [[...names].sort().join(' ')];
  };
}

/**
 * Opens a process's wires. Its WebSocket to the node stays direct, because it carries new heads but
 * no requests.
 */
export async function openProcessWires(
  ground: Pick<ChaosGround, 'database' | 'chains'>,
  process: string,
  { gateOf, hear }: Pick<Timetable, 'gateOf' | 'hear'>,
): Promise<ProcessWires> {
  const wires: Wire[] = [];
  const lay = async (address: string, name: 'database' | Network, openReader: () => Reader) => {
    const url = new URL(address);
    const wire = await startWire({
      targetPort: Number(url.port),
      openReader,
      hear: (way, text) => hear({ process, wire: name, way, text }),
      gate: gateOf(process),
    });
    wires.push(wire);
    url.port = String(wire.port);
    return url.href.replace(/\/$/, '');
  };
  const env: Record<string, string> = {
    DATABASE_URL: await lay(ground.database.url, 'database', openPostgresReader),
  };
  for (const { config } of ground.chains) {
    const urls: string[] = [];
    for (const url of config.rpcUrls) urls.push(await lay(url, config.network, openRpcReader));
    env[`CHAIN_${config.network.toUpperCase()}_RPC_URL`] = urls.join();
  }
  return {
    env,
    close: async () => {
      await Promise.all(wires.map((wire) => wire.close()));
    },
  };
}
