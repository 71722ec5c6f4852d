import { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { Database } from '#db/database.ts';

/**
 * Hints that something may have changed: the rows are the truth, and a slow poll is the safety
 * net, so a hint that gets lost costs time only. In this process they arrive at once; other
 * processes get them through NOTIFY, sent after the commit on a connection of its own (inside
 * money transactions NOTIFY serialises commits: 8,508 fell to 1,546 per second).
 */
export interface Wakeups {
  /** Call after the commit. `key` narrows the topic, for example a terminal id. */
  send(topic: string, key?: string): void;
  /** `listener` hears hints of every process. Returns the way to stop. */
  on(topic: string, key: string, listener: () => void): () => void;
  close(): Promise<void>;
}

const CHANNEL = 'tapline_wakeups';
/** Hints of one turn travel together; PostgreSQL takes payloads of up to 8,000 bytes. */
const MAX_PAYLOAD = 7_000;
const RECONNECT_MS = 500;
/** Longer than any hint matters: an unsent hint is worth less than the poll that follows. */
const MAX_PENDING = 10_000;

export function localWakeups(): Wakeups {
  const emitter = new EventEmitter().setMaxListeners(0);
  return {
    send: (topic, key = '') => emitter.emit(`${topic} ${key}`),
    on: (topic, key, listener) => {
      const name = `${topic} ${key}`;
      emitter.on(name, listener);
      return () => emitter.off(name, listener);
    },
    close: async () => {},
  };
}

/** Splits hints into payloads that fit a NOTIFY. */
function payloads(hints: ReadonlySet<string>, sender: string): string[] {
  const result: string[] = [];
  let current = sender;
  for (const hint of hints) {
    if (current.length + hint.length + 1 > MAX_PAYLOAD) {
      result.push(current);
      current = sender;
    }
    current += `\n${hint}`;
  }
  if (current !== sender) result.push(current);
  return result;
}

export async function connectWakeups(db: Database): Promise<Wakeups> {
  const local = localWakeups();
  const sender = `${process.pid}.${Math.random().toString(36).slice(2)}`;
  let pending = new Set<string>();
  let client: pg.Client | null = null;
  let sending = false;
  let closed = false;
  let reconnect: NodeJS.Timeout | undefined;

  const receive = (payload: string) => {
    const [from, ...hints] = payload.split('\n');
    if (from === sender) return;
    for (const hint of hints) {
      const [topic = '', key = ''] = hint.split(' ');
      local.send(topic, key);
    }
  };
  const open = async () => {
    try {
      const next = await db.connect();
      next.on('notification', (message) => receive(message.payload ?? ''));
      next.on('end', () => {
        if (client === next) client = null;
        if (!closed) reconnect = setTimeout(open, RECONNECT_MS);
      });
      await next.query(`listen ${CHANNEL}`);
      client = next;
    } catch {
      if (!closed) reconnect = setTimeout(open, RECONNECT_MS);
    }
  };
  const flush = async () => {
    sending = true;
    while (pending.size > 0 && client !== null) {
      const batch = pending;
      pending = new Set();
      try {
        for (const payload of payloads(batch, sender)) {
          await client.query('select pg_notify($1, $2)', [CHANNEL, payload]);
        }
      } catch {
        break; // A lost hint costs one poll interval.
      }
    }
    sending = false;
  };
  await open();
  return {
    send: (topic, key = '') => {
      local.send(topic, key);
      if (pending.size < MAX_PENDING) pending.add(`${topic} ${key}`);
      if (!sending) void flush();
    },
    on: local.on,
    close: async () => {
      closed = true;
      clearTimeout(reconnect);
      await client?.end();
    },
  };
}
