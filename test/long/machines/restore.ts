import assert from 'node:assert/strict';
import { type Cluster, leaderOf, READ_SETTINGS, untilWhole } from './cluster.ts';
import { blocksUnder } from './guide.ts';
import type { GuideMachine } from './room.ts';

/**
 * Runs "Under Patroni", "Restore to a point in time" of docs/backup.md, each command where its
 * comment says.
 */

/** `patronictl` asks for confirmation twice. */
const ANSWERS = "printf 'tapline\\nYes I am aware\\n'";
export const EXAMPLE_MOMENT = '2026-11-20 20:00:00+00';

interface Command {
  readonly text: string;
  /** The machine that the comment names, or `null` for the first one. */
  readonly where: string | null;
}

/** Splits a block into commands. A command may span several lines, with its comment on the last. */
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

/**
 * Runs a command with Patroni's settings. @throws with the end of the restore's log if it fails.
 */
async function typed(machine: GuideMachine, command: string): Promise<void> {
  try {
    await machine.type(`${READ_SETTINGS}\n${command}`);
  } catch (error) {
    const said = await machine.type('tail -n 40 /var/log/postgresql/restore.log || true');
    throw new Error(`${command}\n${said}`, { cause: error });
  }
}

/**
 * Runs the guide's commands, and waits where it says so.
 * @param moment In PostgreSQL's format.
 * @param timeline The previous timeline, if an earlier restore's target was too early.
 */
export async function restoreToMoment(
  cluster: Cluster,
  { moment, timeline }: { readonly moment: string; readonly timeline: number | undefined },
): Promise<void> {
  const block = (await blocksUnder('backup.md', 'Under Patroni')).at(-1) ?? '';
  assert(block.includes(EXAMPLE_MOMENT), 'the restore names no moment');
  const { first, machines } = cluster;
  const places: Readonly<Record<string, readonly GuideMachine[]>> = {
    ...{ 'all three': machines, db1: [first], 'db2 and db3': machines.slice(1) },
  };
  for (const { text, where } of commandsOf(block)) {
    const on = where === null ? [first] : (places[where] ?? []);
    const onTimeline = timeline === undefined ? '' : ` --target-timeline=${timeline}`;
    const command = text
      .replace(EXAMPLE_MOMENT, moment)
      .replace(/ --target=\S+ \S+"/, (target) => `${target}${onTimeline}`);
    const request = command.startsWith('patronictl') ? `${ANSWERS} | ${command}` : command;
    if (command.startsWith('rm -rf')) {
      assert.equal((await leaderOf(cluster)).machine, first, 'the restored machine leads');
    }
    if (command.includes('start tapline.target')) await untilWhole(cluster);
    await Promise.all(on.map((machine) => typed(machine, request)));
  }
}
