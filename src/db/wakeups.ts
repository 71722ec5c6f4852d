import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Database } from '#db/database.ts';
import { run } from '#db/pooled-connections.ts';

/**
 * Hints that something may have changed. A lost hint only costs time, because the tables are
 * authoritative and slow polls find every change. Within a process, hints arrive immediately. Other
 * processes get them through NOTIFY, which a separate connection sends after the commit. (Inside
 * money transactions, NOTIFY serializes the commits: 8,508 per second fell to 1,546.)
 */
export interface Wakeups {
  /** Call it after the commit. `key` narrows the topic, for example to a terminal's id. */
  send(topic: string, key?: string): void;
  /** Subscribes to the hints of every process. Returns a function that unsubscribes. */
  on(topic: string, key: string, listener: () => void): () => void;
  close(): Promise<void>;
}

const CHANNEL = 'tapline_wakeups';
/**
 * Maximum length of a payload, in which the hints of one event-loop turn are sent together.
 * PostgreSQL accepts less than 8,000 bytes.
 */
const MAX_PAYLOAD = 7_000;
const RECONNECT_MS = 500;
/**
 * Maximum number of hints that wait to be sent. Further ones are dropped, because the next poll
 * finds the changes anyway.
 */
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

/** Splits hints into payloads that fit into a NOTIFY. */
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

/** The connection over which hints are sent; null while it is broken. */
interface Line {
  readonly client: () => pg.Client | null;
  close(): Promise<void>;
}

interface LineEvents {
  readonly onOpen: () => void;
  readonly onPayload: (payload: string) => void;
}

async function listen(db: Database, onPayload: (payload: string) => void): Promise<pg.Client> {
  const client = await db.connect();
  client.on('notification', (message) => onPayload(message.payload ?? ''));
  try {
    await client.query(`listen ${CHANNEL}`);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

/** Keeps one listening connection open until closed, and replaces it whenever it breaks. */
async function openLine(db: Database, events: LineEvents): Promise<Line> {
  let client: pg.Client | null = null;
  let closed = false;
  let reconnect: NodeJS.Timeout | undefined;
  const retry = () => {
    client = null;
    if (closed) return;
    reconnect = setTimeout(() => {
      opening = open();
    }, RECONNECT_MS);
  };
  const open = async () => {
    try {
      const next = await listen(db, events.onPayload);
      next.once('end', retry);
      client = next;
      events.onOpen();
    } catch {
      retry();
    }
  };
  let opening = open();
  await opening;
  return {
    client: () => client,
    close: async () => {
      closed = true;
      clearTimeout(reconnect);
      await opening;
      await client?.end();
    },
  };
}

/**
 * Time after a send during which further hints are collected. Under load, a NOTIFY per round trip
 * took a twelfth of a process's time. The gap is a tenth of the delay promised to a waiting
 * terminal.
 */
const GAP_MS = 5;

/**
 * Sends hints. Collects those that arrive while earlier ones are being sent, or while there is no
 * connection.
 */
function createSender(name: string) {
  let pending = new Set<string>();
  let sending = false;
  const flush = async (line: Line) => {
    if (sending) return;
    sending = true;
    for (let client = line.client(); client !== null && pending.size > 0; client = line.client()) {
      const batch = pending;
      pending = new Set();
      try {
        for (const payload of payloads(batch, name)) {
          await run(client, 'select pg_notify($1, $2)', [CHANNEL, payload]);
        }
      } catch {
        break; // Drop the hint: that only costs one poll interval.
      }
      await sleep(GAP_MS);
    }
    sending = false;
  };
  return {
    flush,
    add: (hint: string) => {
      if (pending.size < MAX_PENDING) pending.add(hint);
    },
  };
}

/**
 * Distributes hints, including those of transactions, between all processes that share the
 * database.
 */
export async function connectWakeups(db: Database): Promise<Wakeups> {
  const local = localWakeups();
  const name = `${process.pid}.${Math.random().toString(36).slice(2)}`;
  const sender = createSender(name);
  const onPayload = (payload: string) => {
    const [from, ...hints] = payload.split('\n');
    if (from === name) return; // Skip our own hint, which was already delivered in this process.
    for (const hint of hints) {
      const [topic = '', key = ''] = hint.split(' ');
      local.send(topic, key);
    }
  };
  let line: Line | undefined;
  const flush = () => line && void sender.flush(line);
  line = await openLine(db, { onPayload, onOpen: flush });
  const send = (topic: string, key = '') => {
    local.send(topic, key);
    sender.add(`${topic} ${key}`);
    flush();
  };
  db.carryHints(send);
  return {
    send,
    on: local.on,
    close: line.close,
  };
}
