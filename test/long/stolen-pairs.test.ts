import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { present } from '#core/assert.ts';
import { exactUsdc } from '#core/sums.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

import { openPairGround, type PairGround, ROUNDS, type StolenKey } from './drill/pair-ground.ts';

/**
 * Steals each pair of the contract's keys. Both thieves act in each block, including floods, and a
 * watchtower reads each block. Then the operator follows docs/operate.md. The results form the
 * table of pairs in SECURITY.md; `WRITE_DRILL=1` writes it.
 */

const SECURITY = path.join(import.meta.dirname, '../../SECURITY.md');
const BEGIN = '<!-- What the drill of pairs measured: test/long/stolen-pairs.test.ts -->\n';
const END = '<!-- End of what the drill of pairs measured -->';
/** Blocks from a theft until the watchtower's transaction is mined and both nodes report it. */
const MOST_BLOCKS = 2;

/**
 * - pause: the watchtower pauses settling and refunds.
 * - drop: it drops the wallets that the registrar proposed.
 * - people: it lost its gas money or its role; a guardian or the second steward stops the thieves.
 * - nothing: no sale and no wallet is taken; at most the booked fees.
 * - new contract: the thieves keep the last guardian and cancel every operation.
 */
type End = 'pause' | 'drop' | 'people' | 'nothing' | 'new contract';

const PAIRS: readonly (readonly [StolenKey, StolenKey, End])[] = [
  ['operator', 'registrar', 'pause'],
  ['operator', 'guardian', 'pause'],
  ['operator', 'watcher', 'people'],
  ['operator', 'treasurer', 'pause'],
  ['operator', 'steward', 'people'],
  ['operator', 'proposer', 'pause'],
  ['registrar', 'guardian', 'drop'],
  ['registrar', 'watcher', 'people'],
  ['registrar', 'treasurer', 'drop'],
  ['registrar', 'steward', 'people'],
  ['registrar', 'proposer', 'drop'],
  ['guardian', 'watcher', 'nothing'],
  ['guardian', 'treasurer', 'nothing'],
  ['guardian', 'steward', 'new contract'],
  ['guardian', 'proposer', 'nothing'],
  ['watcher', 'treasurer', 'nothing'],
  ['watcher', 'steward', 'nothing'],
  ['watcher', 'proposer', 'nothing'],
  ['treasurer', 'steward', 'nothing'],
  ['treasurer', 'proposer', 'nothing'],
  ['steward', 'proposer', 'nothing'],
];

const ENDED_BY: Readonly<Record<End, string>> = {
  pause: 'the watchtower pauses',
  drop: 'the watchtower drops the proposals',
  people: 'a guardian or the second steward: the watchtower has lost its gas or its role',
  nothing: 'nothing to stop',
  'new contract': 'a new contract: the last guardian is a thief',
};

describe('each pair of keys is stolen', () => {
  const rows = new Map<string, string>();

  const database = databaseForTests(12);

  async function onGround(run: (ground: PairGround) => Promise<void>): Promise<void> {
    const ground = await openPairGround(database);
    try {
      await run(ground);
    } finally {
      await ground.stop();
    }
  }

  for (const [one, other, end] of PAIRS) {
    it(`${one} and ${other}: ${ENDED_BY[end]}`, () =>
      onGround(async (ground) => {
        const stolen = [one, other];
        const { stopped, taken } = await ground.rob(stolen);
        if (end === 'pause' || end === 'drop') {
          assert.ok(stopped !== null && stopped <= MOST_BLOCKS, `${stopped} blocks`);
        } else {
          assert.equal(stopped, null);
        }
        if (!stolen.includes('operator') && !stolen.includes('treasurer')) {
          assert.equal(taken, 0n);
        }
        const isOver = await ground.answer(stolen);
        assert.equal(isOver, end !== 'new contract');
        const when = stopped === null ? '' : `, ${stopped} blocks`;
        const sum = `${exactUsdc(taken)} USDC`;
        const during = end === 'people' && taken > 0n ? ` in ${ROUNDS} blocks` : '';
        rows.set(
          `${one} and ${other}`,
          `| ${one} and ${other} | ${ENDED_BY[end]}${when} | ${sum}${during} |`,
        );
      }));
  }

  it('has a row for each pair of the seven keys', () => {
    const keys = new Set(PAIRS.flatMap((pair) => pair.slice(0, 2)));
    assert.equal(keys.size, 7);
    const pairs = new Set(PAIRS.map(([one, other]) => [one, other].sort().join()));
    assert.equal(pairs.size, (7 * 6) / 2);
  });

  it('operator and watcher: a second watchtower with a key of its own pauses', () =>
    onGround(async (ground) => {
      const watchKey = await ground.addWatcher();
      const { stopped } = await ground.rob(['operator', 'watcher'], watchKey);
      assert.ok(stopped !== null && stopped <= MOST_BLOCKS, `${stopped} blocks`);
    }));

  it('operator and registrar: an announced wallet gets no money of an existing merchant', () =>
    onGround(async (ground) => {
      const { merchantNumber, wallet } = ground.merchant;
      const balance = await ground.merchantBalance(merchantNumber);
      assert.ok(balance > 0n);
      const thief = await ground.announceWallet(merchantNumber);
      await assert.rejects(ground.withdraw(merchantNumber, thief, balance), 'not registered');
      await assert.rejects(ground.withdraw(merchantNumber, wallet.address, balance), 'announced');
      const { stopped } = await ground.rob(['operator', 'registrar']);
      assert.ok(stopped !== null && stopped <= MOST_BLOCKS, `${stopped} blocks`);
      await ground.passDelay();
      await assert.rejects(ground.applyWallet(merchantNumber), 'it was dropped');
      assert.equal(await ground.usdcOf(thief), 0n);
      // The operator's key can still pay out to the merchant's own wallet.
      await ground.withdraw(merchantNumber, wallet.address, balance);
      assert.equal(await ground.usdcOf(wallet.address), balance);
    }));

  it('the owner removes a stolen proposer while the thief floods the timelock', () =>
    onGround(async (ground) => {
      const removal = await ground.scheduleRemoval('proposer');
      for (let round = 0; round < 3; round++) {
        const flood = await ground.flood();
        await assert.rejects(ground.cancelAs('proposer', [removal.id]), 'no proposer cancels');
        await ground.cancelAsGuardian(flood);
      }
      await ground.passDelay();
      await ground.execute(removal);
      await assert.rejects(ground.flood(), 'the thief schedules nothing more');
    }));

  it('SECURITY.md has the measured table', async () => {
    const lines = PAIRS.map(([one, other]) => present(rows.get(`${one} and ${other}`), 'a row'));
    const heading = '| stolen keys | stopped by | taken by then |\n|---|---|---|';
    const table = `${heading}\n${lines.join('\n')}\n`;
    const text = await readFile(SECURITY, 'utf8');
    const from = text.indexOf(BEGIN) + BEGIN.length;
    const to = text.indexOf(END);
    assert.ok(from >= BEGIN.length && to >= from, 'SECURITY.md has the place for the table');
    if (process.env.WRITE_DRILL === '1') {
      await writeFile(SECURITY, text.slice(0, from) + table + text.slice(to));
      return;
    }
    assert.equal(text.slice(from, to), table);
  });
});
