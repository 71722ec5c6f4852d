import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/database.ts';
import { waitUntil } from '#sandbox/processes.ts';
import type { Sales } from '#testing/sales.ts';
import { bookedSales, paidOf } from '../ha/strikes.ts';
import { blocksUnder } from './guide.ts';
import type { GuideMachine, Room } from './room.ts';

/** docs/backup.md, "Under Patroni", "Restore to a moment": each command where its comment says. */

const COMPLETE_MS = 240_000;
/** `patronictl` needs what Patroni is told, and asks twice. */
const READ_SETTINGS = 'set -a; . /etc/patroni_env.conf; set +a';
const ANSWERS = "printf 'tapline\\nYes I am aware\\n'";
const LED_MS = 60_000;
const EXAMPLE_MOMENT = '2026-11-20 20:00:00+00';

interface Command {
  readonly text: string;
  /** As its comment says; null: on the first machine. */
  readonly where: string | null;
}

/** A command may go over several lines, with its comment on the last. */
function commandsOf(block: string): Command[] {
  const whole = block
    .replaceAll(/\\\n\s*/g, '')
    .trim()
    .split('\n');
  return whole.map((line) => {
    const [text = '', comment = ''] = line.split(/\s+# /);
    return { text, where: /^on (all three|db1|db2 and db3)/.exec(comment)?.[1] ?? null };
  });
}

/** @throws with what PostgreSQL wrote while it was restored, if it did not come up. */
async function typed(machine: GuideMachine, command: string): Promise<void> {
  try {
    await machine.type(`${READ_SETTINGS}\n${command}`);
  } catch (error) {
    const said = await machine.type('tail -n 40 /var/log/postgresql/restore.log || true');
    throw new Error(`${command}\n${said}`, { cause: error });
  }
}

async function untilLed(machine: GuideMachine): Promise<void> {
  const list = `${READ_SETTINGS}\npatronictl -c /etc/patroni/config.yml list`;
  const leads = async () => / Leader .* running /.test(await machine.type(list).catch(() => ''));
  assert(await waitUntil(leads, LED_MS), 'the restored machine does not lead');
}

/**
 * Types it. `untilFollowed` waits where the guide says so.
 * @param moment as PostgreSQL says it
 * @param timeline the one before, where the moment of an earlier restore was too early
 */
async function restoreToMoment(
  { machines }: Room,
  {
    moment,
    timeline = null,
    untilFollowed,
  }: {
    readonly moment: string;
    readonly timeline?: string | null;
    untilFollowed(): Promise<void>;
  },
): Promise<void> {
  const block = (await blocksUnder('backup.md', 'Under Patroni')).at(-1) ?? '';
  assert(block.includes(EXAMPLE_MOMENT), 'the restore names no moment');
  const [first, ...others] = machines;
  assert(first !== undefined);
  const places: Readonly<Record<string, readonly GuideMachine[]>> = {
    'all three': machines,
    db1: [first],
    'db2 and db3': others,
  };
  for (const { text, where } of commandsOf(block)) {
    const on = where === null ? [first] : (places[where] ?? []);
    const onTimeline = timeline === null ? '' : ` --target-timeline=${timeline}`;
    const command = text
      .replace(EXAMPLE_MOMENT, moment)
      .replace(/ --target=\S+ \S+"/, (target) => `${target}${onTimeline}`);
    const asked = command.startsWith('patronictl') ? `${ANSWERS} | ${command}` : command;
    if (command.startsWith('rm -rf')) await untilLed(first);
    if (command.includes('start tapline.target')) await untilFollowed();
    await Promise.all(on.map((machine) => typed(machine, asked)));
  }
}

export interface Restorable {
  readonly room: Room;
  readonly db: Database;
  /** People buy for some seconds. */
  sellFor(): Promise<Sales>;
  /** A standby follows. */
  untilFollowed(): Promise<void>;
}

/** A moment of the database. */
async function now(db: Database): Promise<string> {
  const [row] = await db.query<{ readonly now: string }>('select now()::text as now');
  assert(row !== undefined);
  // Nothing is booked at the moment itself.
  await sleep(1_000);
  return row.now;
}

/** Waits until each is booked once. @returns how many of them came back from the chain. */
async function rebuiltOf(db: Database, shops: readonly Sales[]): Promise<number> {
  const paid = shops.flatMap(paidOf);
  const booked = () => bookedSales(db, paid).catch(() => []);
  const isComplete = async () => (await booked()).length === paid.length;
  assert(await waitUntil(isComplete, COMPLETE_MS), 'payments are missing');
  const books = await booked();
  for (const { id, status, payments } of books) {
    assert.deepEqual([status, payments], ['succeeded', 1], id);
  }
  return books.filter(({ recovered }) => recovered).length;
}

/** People buy before and after the moment. @returns a line that says what came from where. */
export async function restoreOnce(at: Restorable): Promise<string> {
  const { room, db, sellFor, untilFollowed } = at;
  const before = await sellFor();
  const moment = await now(db);
  const lost = await sellFor();
  const since = performance.now();
  await restoreToMoment(room, { moment, untilFollowed });
  const rebuilt = await rebuiltOf(db, [before, lost]);
  const seconds = (performance.now() - since) / 1000;
  assert(rebuilt > 0, 'what was paid after the moment came back from the chain');
  const count = paidOf(before).length + paidOf(lost).length;
  return (
    `restored to a moment: ${count - rebuilt} payments from the archive, ` +
    `${rebuilt} from the chain, books whole after ${seconds.toFixed(0)} s`
  );
}

/**
 * The first moment was too early: once more, to a later one.
 * @param timeline of the database before both
 */
export async function restoreTwice(at: Restorable, timeline: string): Promise<string> {
  const { room, db, sellFor, untilFollowed } = at;
  const early = await now(db);
  const between = await sellFor();
  const later = await now(db);
  const after = [await sellFor()];
  await restoreToMoment(room, { moment: early, untilFollowed });
  const missed = await rebuiltOf(db, [between]);
  assert.equal(missed, paidOf(between).length, 'all of it came back from the chain');
  after.push(await sellFor());
  await restoreToMoment(room, { moment: later, timeline, untilFollowed });
  assert.equal(await rebuiltOf(db, [between]), 0, 'it is in the archive of the timeline before');
  const rebuilt = await rebuiltOf(db, after);
  assert.equal(
    rebuilt,
    after.flatMap(paidOf).length,
    'what was paid since came back from the chain',
  );
  return (
    `restored to a moment that was too early, then to a later one: ${paidOf(between).length} ` +
    `payments from the archive that were missing at first, ${rebuilt} from the chain`
  );
}
