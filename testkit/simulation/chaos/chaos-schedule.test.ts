import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Database, openDatabase } from '#db/database.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import type { ChaosProcess } from '#testkit/simulation/chaos/chaos-process.ts';
import {
  openTimetable,
  type Strike,
  type Timetable,
} from '#testkit/simulation/chaos/chaos-schedule.ts';
import { startWire, type Wire } from '#testkit/simulation/chaos/chaos-wire.ts';
import { openPostgresReader, openRpcReader } from '#testkit/simulation/chaos/process-wires.ts';

const STEPS = 20;
const INSERT = 'insert into steps (step) values ($1)';
const RARE = 'update rare set at = 1';
const FAULT = 'kill -9 of a process';

const own = openForTests(testDatabase, async () => {
  await own.db.query('create table steps (step integer)');
  await own.db.query('create table rare (at integer)');
});

/** Opens a database client whose statements the timetable observes. */
async function openClient(timetable: Timetable, process: string) {
  let sent = 0;
  const wire: Wire = await startWire({
    targetPort: Number(new URL(own.url).port),
    openReader: openPostgresReader,
    hear: (way, text) => {
      if (way === 'sent' && text === INSERT) sent++;
      timetable.hear({ process, wire: 'database', way, text });
    },
    gate: timetable.gateOf(process),
  });
  const url = new URL(own.url);
  url.port = String(wire.port);
  const db: Database = openDatabase({ url: url.href, maxConnections: 1 });
  const close = async () => {
    await db.close();
    await wire.close();
  };
  return { db, sent: () => sent, close };
}

/** Inserts rows one by one. Halfway through, runs a statement that occurs only once. */
async function writeSteps(db: Database): Promise<void> {
  for (let step = 1; step <= STEPS; step++) {
    await db.query(INSERT, [step]);
    if (step === STEPS / 2) await db.query(RARE);
  }
}

async function steps(): Promise<number> {
  const [row] = await own.db.query<{ n: number }>('select count(*)::int as n from steps');
  return row?.n ?? 0;
}

const processOf = (name: string) => ({ name }) as ChaosProcess;

describe('a timetable', () => {
  it('records the rarest message before a fault', async () => {
    const timetable = openTimetable(null);
    const { db, close } = await openClient(timetable, 'worker-1');
    await writeSteps(db);
    const targets = [processOf('worker-1')];
    await timetable.strike({ fault: FAULT, all: targets, targets, strike: async () => {} });
    await close();
    const [strike] = timetable.strikes;
    assert.equal(strike?.fault, FAULT);
    assert.equal(strike.moment?.process, 'worker-1');
    assert.ok(strike.moment.thenMs >= 0);
  });

  it('strikes again at the recorded message, and holds later ones', async () => {
    const moment = { process: 'worker-1', wire: 'database', way: 'answered', text: RARE } as const;
    const recorded: Strike[] = [{ fault: FAULT, moment: { ...moment, thenMs: 0 } }];
    const timetable = openTimetable(recorded);
    // In the replay, another worker sends the statement.
    const { db, sent, close } = await openClient(timetable, 'worker-2');
    const all = [processOf('worker-1'), processOf('worker-2')];
    await own.db.query('delete from steps');
    let struck: { readonly names: string[]; readonly after: number } | null = null;
    const strike = async (targets: readonly ChaosProcess[]) => {
      struck = { names: targets.map(({ name }) => name), after: sent() };
    };
    const blow = timetable.strike({ fault: FAULT, all, targets: all.slice(0, 1), strike });
    await Promise.all([blow, writeSteps(db)]);
    await close();
    assert.deepEqual(struck, { names: ['worker-2'], after: STEPS / 2 });
    assert.deepEqual(timetable.met(), { hits: 1, of: 1 });
    assert.equal(await steps(), STEPS, 'nothing was lost');
  });
});

describe('a reader of JSON-RPC', () => {
  it('returns the methods of a batch once each, in order', () => {
    const call = (method: string) => ({ jsonrpc: '2.0', id: 1, method, params: [] });
    const batch = [call('eth_getLogs'), call('eth_blockNumber'), call('eth_getLogs')];
    const read = openRpcReader();
    assert.deepEqual(read(Buffer.from(JSON.stringify(batch))), ['eth_blockNumber eth_getLogs']);
    assert.deepEqual(read(Buffer.from('POST / HTTP/1.1\r\n\r\n')), []);
  });
});
