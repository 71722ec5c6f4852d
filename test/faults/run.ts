import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { PROFILE_NAMES, type ProfileName } from '#settlement/chain-profiles.ts';
import { SEED } from '#testkit/fixtures/core/random.ts';
import { type ChaosOptions, runChaos } from '#testkit/simulation/chaos/chaos.ts';
import type { Strike } from '#testkit/simulation/chaos/chaos-schedule.ts';

/**
 * `npm run faults -- [--seed n] [--seconds n] [--clients n] [--block-ms n] [--losses] [--nightly]
 * [--soak] [--minutes n]`: one chaos run, of ten minutes by default. `--block-ms 200` uses chains
 * with short blocks, whose nodes answer a broadcast with its receipt. `--profile arc` makes blocks
 * final immediately, so none is reorganized. `--losses` also restores the database from an earlier
 * backup and fails over. `--nightly` adds to that every crash point and many seeds of the model.
 * `--soak` sells slowly, with losses, every feature in use, clocks that step and a full disk (as
 * root). Exits with 1 and lists the broken promises if there are any.
 *
 * `--linger-seconds n` keeps everything running for that long after a broken promise and writes the
 * processes' logs to temporary files.
 *
 * The seed reproduces a run's choices. `--replay file` also reproduces when each fault was
 * injected, from the schedule that a run writes to a temporary file or to `--schedule file`.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '440' },
    minutes: { type: 'string' },
    clients: { type: 'string' },
    'block-ms': { type: 'string', default: '1000' },
    profile: { type: 'string', default: 'custom' },
    nightly: { type: 'boolean', default: false },
    losses: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    'rest-seconds': { type: 'string', default: '150' },
    'linger-seconds': { type: 'string', default: '0' },
    replay: { type: 'string' },
    schedule: { type: 'string' },
  },
});

/** The data that reproduces a run: its choices and the times of its faults. */
type Schedule = Pick<
  ChaosOptions,
  'seed' | 'seconds' | 'clients' | 'blockMs' | 'profile' | 'reach' | 'only'
> & {
  /** `null` if the seed determines the times of the faults. */
  readonly strikes: readonly Strike[] | null;
};

const CLIENTS = 64;
/** Few, because a soak sells slowly: about one sale in two seconds. */
const SOAK_CLIENTS = 8;
/** Daily refund limit per second of a run, low enough to be reached in the run's last third. */
const REFUNDS_PER_SECOND = 600_000n;
const SOAK_REFUNDS_PER_SECOND = 40_000n;

function profileOf(text: string): ProfileName {
  const name = PROFILE_NAMES.find((one) => one === text);
  if (name === undefined) throw new Error(`--profile is one of ${PROFILE_NAMES.join(', ')}`);
  return name;
}

function reachOf(): Schedule['reach'] {
  if (values.soak) return 'soak';
  return values.nightly || values.losses ? 'nightly' : 'long';
}

function optionsOf(): Schedule {
  if (values.replay !== undefined) {
    if (values.only !== '')
      throw new Error('--replay takes the value of --only from its file: omit --only');
    return JSON.parse(readFileSync(values.replay, 'utf8')) as Schedule;
  }
  return {
    seed: Number(values.seed ?? SEED),
    seconds: values.minutes === undefined ? Number(values.seconds) : Number(values.minutes) * 60,
    clients: Number(values.clients ?? (values.soak ? SOAK_CLIENTS : CLIENTS)),
    blockMs: Number(values['block-ms']),
    profile: profileOf(values.profile),
    only: values.only,
    reach: reachOf(),
    strikes: null,
  };
}

/** Returns the command line of this run, with its seed. */
function repeatOf({ seed }: Schedule): string {
  const given = process.argv.slice(2);
  const isSeeded = values.seed !== undefined || values.replay !== undefined;
  const words = isSeeded ? given : [...given, '--seed', String(seed)];
  const quoted = words.map((word) => (/^[\w./=-]+$/.test(word) ? word : `'${word}'`));
  return `npm run faults -- ${quoted.join(' ')}`;
}

function writeSchedule(schedule: Schedule): string {
  const file = values.schedule ?? path.join(tmpdir(), `tapline-faults-${schedule.seed}.json`);
  writeFileSync(file, `${JSON.stringify(schedule, null, 2)}\n`);
  return file;
}

async function playChaos(): Promise<boolean> {
  const started = performance.now();
  const log = (line: string) => {
    const at = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
    console.log(`${at} s  ${line}`);
  };
  const schedule = optionsOf();
  const { strikes, ...options } = schedule;
  const { seed, seconds } = options;
  console.log(`seed ${seed}`);
  const refundsPerSecond = options.reach === 'soak' ? SOAK_REFUNDS_PER_SECOND : REFUNDS_PER_SECOND;
  const refundDailyLimit = BigInt(seconds) * refundsPerSecond;
  const size = { terminals: 24, payers: 48, limited: 6, refundDailyLimit };
  const restMs = Number(values['rest-seconds']) * 1000;
  const lingerMs = Number(values['linger-seconds']) * 1000;
  const run = { ...options, repeat: repeatOf(schedule), size, log, restMs, lingerMs };
  const report = await runChaos(strikes === null ? run : { ...run, strikes });
  const { strikes: struck, ...shown } = report;
  console.log(JSON.stringify(shown, null, 2));
  const kept = report.broken.length === 0;
  const outcome = kept ? 'every promise was kept' : `${report.broken.length} promises were broken`;
  console.log(`seed ${seed}: ${outcome}, ${report.payments} payments`);
  console.log(
    `repeat it: npm run faults -- --replay ${writeSchedule({ ...options, strikes: struck })}`,
  );
  return kept;
}

async function testAll(): Promise<boolean> {
  const recovery = ['cases', 'lost-time', 'put-back'].map((part) => `recovery-${part}`);
  const slow = ['failpoints', 'exhaustion', ...recovery, 'foreign-keys'];
  const files = ['model', 'recovery', ...slow.map((name) => `${name}.slow`)].map((name) =>
    path.join(import.meta.dirname, `${name}.test.ts`),
  );
  const env = { ...process.env, FAULTS: 'nightly' };
  const child = spawn(process.execPath, ['--test', '--test-concurrency=1', ...files], {
    stdio: 'inherit',
    env,
  });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return code === 0;
}

const kept = await playChaos();
const passed = values.nightly ? await testAll() : true;
process.exit(kept && passed ? 0 : 1);
