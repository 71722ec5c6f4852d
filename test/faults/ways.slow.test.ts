import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PaymentSchema } from '#apis/merchant/payment-schema.ts';
import { present } from '#core/assert.ts';
import { FAILPOINTS } from '#core/failpoints.ts';
import { methodOf, type PaymentMethod } from '#payments/payment.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { enrolOwner } from '#testkit/simulation/chaos/chaos-owner.ts';
import {
  type FaultSet,
  type History,
  oneFault,
  repeatTest,
  requireKept,
  type Step,
} from '#testkit/simulation/history.ts';
import { REST_MS } from '#testkit/simulation/restore-ground.ts';
import {
  beginOld,
  beginYoung,
  CELLS,
  type Cell,
  checkPlays,
  type Play,
  paymentsOf,
} from '#testkit/simulation/ways/cells.ts';
import { acceptForeign, foundForeign, steal } from '#testkit/simulation/ways/thief.ts';
import { REFUNDS, withdraw } from '#testkit/simulation/ways/transfers.ts';
import { WAYS } from '#testkit/simulation/ways/ways.ts';
import { openWaysWorld, type WaysWorld } from '#testkit/simulation/ways/world.ts';
import { MUTATIONS } from '../mutations/mutation-list.ts';
import { killedBy, STRIKES } from './ways-kills.ts';

/**
 * Tests every way to pay in the table under every fault. `npm test -- --slow` restores the database
 * twice: with every combination in the table, and while a worker dies. The other faults take a
 * minute each and run in `npm run test:long -- test/long/ways.test.ts`.
 */
const LONG = { skip: process.env.WAYS === 'long' ? false : 'in the long run' };
/** The step of a recovery at which a dying worker leaves the most work. */
const MOST_WORK = 'recovery.payments_booked';
/** Reconciliation runs once a minute on blocks at least 15 seconds old. */
const FOUND_MS = 150_000;
/** One sale per way, for faults that do not depend on a backup. */
const ONE_EACH = CELLS.filter(({ young, way, tip }) => young === 'nothing' && tip === way.atTill);
/** Sales for all losses but the first. The backup contains each sale either fully or not at all. */
const OLD_AND_YOUNG = CELLS.filter(({ young }) => young === 'nothing' || young === 'payer');

type Credential = PaymentMethod['credential'];

let ways: WaysWorld;

before(async () => {
  ways = await openWaysWorld(2);
});
after(() => ways?.close());

describe('the table', () => {
  it('has a way for every method and credential that a payment can name', () => {
    const { credential } = PaymentSchema.properties.payment_method.properties;
    const named = (credential as unknown as { readonly enum: readonly Credential[] }).enum;
    const pair = ({ type, credential: by }: PaymentMethod) => `${type}/${by}`;
    const possible = named.filter((name) => name !== 'unknown').map((name) => pair(methodOf(name)));
    const used = new Set(WAYS.map(({ method }) => pair(method)));
    assert.deepEqual([...used].toSorted(), possible.toSorted());
  });

  it('names, for each way and fault, a mutation that it must detect', () => {
    const known = new Set(MUTATIONS.map(({ name }) => name));
    for (const strike of STRIKES) {
      for (const { name } of WAYS)
        assert.ok(known.has(killedBy(strike, name)), `${strike}: ${name}`);
    }
  });
});

/** Records the settlement numbers of the youngest merchants, whose accounts will be lost. */
async function noteUnbookable(plays: readonly Play[]): Promise<void> {
  const young = plays.filter(({ cell }) => cell.young === 'merchant');
  const rows = await ways.world.db.query<{ number: bigint }>(
    'select settlement_number as number from payments where account_id = any($1)',
    [young.map(({ till }) => till.account)],
  );
  for (const { number } of rows) ways.unbookable.add(number);
}

/** Plays these steps with a fault, and compares the result with ledger, chain and receiver. */
const playSales = (clients: readonly Step[][], rest: Pick<History, 'faults' | 'ended'> = {}) =>
  requireKept({ ground: ways.ground(), clients, repeat: repeatTest('faults/ways'), ...rest });

const playAll = (plays: readonly Play[], clients: Step[][], faults?: FaultSet) =>
  playSales(clients, { ended: () => checkPlays(ways, plays, 1), ...(faults && { faults }) });

interface Loss {
  readonly label: string;
  readonly cells: readonly Cell[];
  /** Called after all payments and before the restore. */
  readonly transfer?: (paidBefore: readonly Play[], all: readonly Play[]) => Promise<void>;
  readonly how?: Parameters<Awaited<ReturnType<WaysWorld['world']['backUp']>>>[0];
}

/** Sells, restores an earlier backup, and checks every sale. */
async function loseAfter({ label, cells, transfer, how }: Loss): Promise<void> {
  const { old, first, plays } = await beginOld(ways, cells, label);
  const restore = await ways.world.backUp(label);
  const young = await beginYoung(ways, cells, { old, label });
  const all = [...plays, ...young];
  const putBack = async () => {
    await transfer?.(first, all);
    await noteUnbookable(young);
    await restore(how);
  };
  await playAll(all, paymentsOf(all), oneFault('after', putBack));
}

const paymentOf = ({ result }: Play) => String(result?.payment);

/**
 * Refunds in every way, once for a payment in the backup and once for one that will be lost. Then
 * withdraws.
 */
async function refundAndWithdraw(before: readonly Play[], all: readonly Play[]): Promise<void> {
  const { client: office } = await enrolOwner(ways.url(0), ways.world.sandbox.dashboard);
  const at = { ...ways, office };
  const paid = [before, all].map((plays) => plays.filter(({ result }) => result?.payment != null));
  for (const [position, by] of Object.values(REFUNDS).entries()) {
    for (const plays of paid) {
      const play = plays[position % plays.length];
      if (play === undefined) continue;
      const answer = await by(at, { payment: paymentOf(play), amount: 100_000 + position });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
    }
  }
  await withdraw(ways, office, 500_000);
}

describe('every way of paying, when the database is restored to an earlier copy', () => {
  it('charges once, books each charge, and accepts no credential twice', async () => {
    await loseAfter({ label: 'put-back', cells: CELLS, transfer: refundAndWithdraw });
  });

  it('does so when a replica takes over that lacks the newest commits', LONG, async () => {
    await loseAfter({ label: 'tail', cells: OLD_AND_YOUNG, how: { promote: true } });
  });

  for (const point of FAILPOINTS.filter((name) => name.startsWith('recovery.'))) {
    const options = point === MOST_WORK ? {} : LONG;
    it(`does so when a worker dies at ${point}`, options, async () => {
      await loseAfter({ label: point, cells: OLD_AND_YOUNG, how: { dyingAt: point } });
    });
  }
});

describe('every way of paying, when nothing is lost', () => {
  it('survives a reorganization of the blocks that settled it', LONG, async () => {
    const { plays } = await beginOld(ways, ONE_EACH, 'reorg');
    const reorganize = () => ways.world.ground.testnet.reorganize(3);
    await playAll(plays, paymentsOf(plays), oneFault('after', reorganize));
  });

  it('survives kills of the API node that got the request, and of a worker', LONG, async () => {
    const { plays } = await beginOld(ways, ONE_EACH, 'kill');
    const [api, , worker] = ways.world.nodes;
    const underWay = `select from payment_intents where status = 'processing'`;
    const kill = async () => {
      const isPaid = async () => (await ways.world.db.query(underWay)).length > 0;
      assert.ok(await waitUntil(isPaid, REST_MS), 'nothing was under way');
      api?.kill();
      worker?.kill();
    };
    await playAll(plays, paymentsOf(plays), oneFault('one', kill));
  });

  it('is one payment when two nodes get requests at once', LONG, async () => {
    const { plays } = await beginOld(ways, ONE_EACH, 'nodes');
    const atBoth = plays.map((play) => async () => {
      const result = await Promise.all([play.attempt.pay(0), play.attempt.pay(1)]);
      play.result = result.find(({ said }) => said === 'succeeded') ?? result[0] ?? null;
    });
    await playAll(plays, [atBoth]);
  });

  it('spends a single-use credential once, at two nodes and for two sales', LONG, async () => {
    const single = ONE_EACH.filter(({ way }) => !way.again.includes('succeeded'));
    const { plays } = await beginOld(ways, single, 'spend');
    const twice = plays.map(({ cell, attempt }) => async () => {
      const result = await Promise.all([attempt.pay(0), attempt.spendAgain(1, ways.till)]);
      const paid = result.filter(({ said }) => said === 'succeeded').length;
      return paid <= 1 ? [] : [`${cell.way.name} has paid ${paid} times`];
    });
    await playSales([twice]);
  });
});

describe('every way of paying, when an attacker has the key of a sender', () => {
  it('continues, and books foreign payments only when operators accept them', LONG, async () => {
    const { world } = ways;
    const { request_count: requestCount } = await world.recovery();
    const { old, plays } = await beginOld(ways, ONE_EACH, 'thief');
    let stolen: readonly string[] = [];
    const rob = async () => {
      stolen = await steal(ways, present(old[0], 'payer').from);
    };
    const ended = async () => {
      const isFound = async () => (await foundForeign(ways)).length === stolen.length;
      await waitUntil(isFound, FOUND_MS);
      assert.deepEqual(await foundForeign(ways), stolen);
      const broken = await checkPlays(ways, plays, 1);
      const { request_count: countSince, status } = await world.recovery();
      assert.deepEqual([countSince, status], [requestCount, 'done'], 'closed or recovered');
      const booked = await world.db.query(`select from payments where order_id like 'STOLEN-%'`);
      assert.equal(booked.length, 0);
      await acceptForeign(ways);
      await world.recovered(requestCount);
      return broken;
    };
    await playSales(paymentsOf(plays), { ended, faults: oneFault('one', rob) });
  });
});
