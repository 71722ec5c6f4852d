import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runChaos } from '#testing/chaos.ts';

/**
 * `npm run faults -- [--seed n] [--seconds n] [--clients n]`: one chaos run, replayable by its
 * seed. Ends with 1 and the broken promises when there are any.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '420' },
    clients: { type: 'string', default: '64' },
  },
});

const seed = values.seed === undefined ? randomInt(1_000_000_000) : Number(values.seed);
const seconds = Number(values.seconds);
const started = performance.now();
const log = (line: string) => {
  const at = ((performance.now() - started) / 1000).toFixed(1).padStart(6);
  console.log(`${at} s  ${line}`);
};

console.log(`seed ${seed}: repeat with npm run faults -- --seed ${seed} --seconds ${seconds}`);
const report = await runChaos({
  seed,
  seconds,
  clients: Number(values.clients),
  size: {
    terminals: 24,
    payers: 48,
    limited: 6,
    // Reached in the last third of a run.
    refundDailyLimit: BigInt(seconds) * 600_000n,
  },
  log,
});
console.log(JSON.stringify(report, null, 2));
console.log(
  report.broken.length === 0
    ? `seed ${seed}: every promise was kept, ${report.payments} payments`
    : `seed ${seed}: ${report.broken.length} promises were broken`,
);
process.exit(report.broken.length === 0 ? 0 : 1);
