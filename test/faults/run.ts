import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runChaos } from '#testing/chaos/chaos.ts';

/**
 * `npm run faults -- [--seed n] [--seconds n] [--clients n] [--block-ms n] [--losses] [--nightly]`:
 * one chaos run, in ten minutes at most, replayable by its seed. `--block-ms 200` takes chains with
 * short blocks, whose nodes answer a broadcast with its receipt. `--losses` also puts the database
 * back to an earlier copy and fails over; `--nightly` does so too, and adds every crash point and
 * many seeds of the model. Ends with 1 and the broken promises when there are any.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '440' },
    clients: { type: 'string', default: '64' },
    'block-ms': { type: 'string', default: '1000' },
    nightly: { type: 'boolean', default: false },
    losses: { type: 'boolean', default: false },
  },
});

/** Reached in the last third of a run. */
const REFUNDS_PER_SECOND = 600_000n;

const seed = values.seed === undefined ? randomInt(1_000_000_000) : Number(values.seed);
const seconds = Number(values.seconds);
const blockMs = Number(values['block-ms']);

async function playChaos(): Promise<boolean> {
  const started = performance.now();
  const log = (line: string) => {
    const at = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
    console.log(`${at} s  ${line}`);
  };
  const again = `--seed ${seed} --seconds ${seconds} --block-ms ${blockMs}`;
  console.log(`seed ${seed}: repeat with npm run faults -- ${again}`);
  const refundDailyLimit = BigInt(seconds) * REFUNDS_PER_SECOND;
  const size = { terminals: 24, payers: 48, limited: 6, refundDailyLimit };
  const clients = Number(values.clients);
  const reach = values.nightly || values.losses ? 'nightly' : 'long';
  const report = await runChaos({ seed, seconds, clients, size, reach, blockMs, log });
  console.log(JSON.stringify(report, null, 2));
  const kept = report.broken.length === 0;
  const outcome = kept ? 'every promise was kept' : `${report.broken.length} promises were broken`;
  console.log(`seed ${seed}: ${outcome}, ${report.payments} payments`);
  return kept;
}

async function testAll(): Promise<boolean> {
  const recovery = ['recovery', 'recovery-cases', 'recovery-lost-time', 'recovery-put-back'];
  const files = ['failpoints', 'model', 'exhaustion', ...recovery, 'foreign-keys'].map((name) =>
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
