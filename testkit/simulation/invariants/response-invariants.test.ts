import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Abandon, type Sql } from '#db/database.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { openChaosCaller, pageThrough } from '#testkit/simulation/chaos/chaos-caller.ts';
import {
  type Journal,
  openJournal,
  type SeenIntent,
  type SeenRefund,
  type SeenWithdrawal,
} from '#testkit/simulation/chaos/chaos-journal.ts';
import { type HealthyStore, openHealthyStore } from '#testkit/simulation/healthy-store.ts';
import { violationsOf } from '#testkit/simulation/invariants/invariant.ts';
import { RESPONSE_INVARIANTS } from '#testkit/simulation/invariants/response-invariants.ts';

let store: HealthyStore;
let intent: SeenIntent;
let refund: SeenRefund;
let withdrawal: SeenWithdrawal;

before(async () => {
  store = await openHealthyStore();
  const { id: payment, payment_intent_id: id } = store.payment;
  intent = { id, amount: 2_500_000, tip: 0, status: 'succeeded', payment, declined: null };
  const [row] = await store.db.query<{ id: string }>('select id from refunds');
  refund = { id: row?.id ?? '', amount: 500_000, status: 'succeeded', payment };
  const [paid] = await store.db.query<{ id: string }>('select id from withdrawals');
  withdrawal = { id: paid?.id ?? '', amount: 250_000, status: 'succeeded', wallet: '0x' };
});
after(() => store?.close());

/** Creates the journal of clients that received only correct responses. */
function honest(): Journal {
  const journal = openJournal();
  journal.saw(intent);
  journal.sawRefund(refund);
  journal.sawWithdrawal(withdrawal);
  journal.answered('key', { status: 201, text: '{}' });
  return journal;
}

/** Invariants for which a test has found a violation. */
const seenBroken = new Set<string>();

async function check(db: Sql, journal: Journal): Promise<string> {
  const result = await violationsOf(RESPONSE_INVARIANTS, { db, journal });
  for (const { promise } of result) seenBroken.add(promise);
  return result.map(({ detail }) => detail).join('\n');
}

/** Returns the violations after these statements, which are then rolled back. */
function checkAfter(...damage: readonly string[]): Promise<string> {
  return store.db.transaction(async (tx) => {
    for (const sql of damage) await tx.query(sql);
    return new Abandon(await check(tx, honest()));
  });
}

const CANCELED = `update payment_intents set status = 'canceled', payment_id = null, tx_hash = null,
  canceled_at = now(), cancellation_reason = 'requested_by_customer' where status = 'succeeded'`;

const OTHER_PAYMENT = `update payment_intents set payment_id = 'pay_other'
  where payment_id is not null`;
const MOVED_REFUND = `update refunds
  set payment_id = (select id from payments where id <> payment_id limit 1)`;
const FAILED_REFUND = `update refunds set status = 'failed', failure_code = 'settlement_failed'`;

/** Declares a test that the check finds this, and nothing else, after these statements. */
function failsIf(what: string, damage: string, expected: () => string): void {
  it(`fails if ${what}`, async () => {
    assert.equal(await checkAfter(...damage.split(';')), expected());
  });
}

describe('the check against the responses that clients got', () => {
  it('passes if the database agrees with them', async () => {
    assert.equal(await check(store.db, honest()), '');
  });

  it('fails if an intent is lost', async () => {
    const result = await checkAfter(
      'delete from refunds',
      'delete from payments',
      'delete from payment_intents',
    );
    assert.match(result, new RegExp(`${intent.id} was in a response and is missing`));
    assert.match(result, new RegExp(`${refund.id} was in a response and is missing`));
  });

  failsIf('an intent has another amount', 'update payment_intents set amount = amount + 1', () => {
    return `${intent.id} has another amount`;
  });
  failsIf('an intent has another final state', CANCELED, () => {
    return `${intent.id} was reported succeeded and is canceled`;
  });
  failsIf('an intent has another payment', OTHER_PAYMENT, () => {
    return `${intent.id} was reported payment ${intent.payment} and has pay_other`;
  });
  failsIf('a refund has another amount', 'update refunds set amount = amount + 1', () => {
    return `${refund.id} has another amount`;
  });
  failsIf('a refund is of another payment', MOVED_REFUND, () => {
    return `${refund.id} has another payment`;
  });
  failsIf('a refund has another final state', FAILED_REFUND, () => {
    return `${refund.id} was reported succeeded and is failed`;
  });
});

describe('the check of a withdrawal that a response showed to the owner', () => {
  failsIf('it is lost', 'delete from automatic_payouts; delete from withdrawals', () => {
    return `${withdrawal.id} was in a response and is missing`;
  });
  failsIf('it has another amount', 'update withdrawals set amount = amount + 1', () => {
    return `${withdrawal.id} has another amount`;
  });
  failsIf('it went to another wallet', `update withdrawals set wallet = '0x1'`, () => {
    return `${withdrawal.id} has another wallet`;
  });
  failsIf('it has another final state', `update withdrawals set status = 'failed'`, () => {
    return `${withdrawal.id} was reported succeeded and is failed`;
  });
});

/** The time of a decline, as a response shows it. */
const DECLINED = '2026-01-02T03:04:05.678Z';

/**
 * Returns the violations if a client's payment was declined and these events exist, in this order.
 */
function checkDeclined(types: readonly string[], ...damage: readonly string[]): Promise<string> {
  return store.db.transaction(async (tx) => {
    const body = { data: { object: { last_payment_error: { created: DECLINED } } } };
    await tx.query(`delete from events where object_id = $1 and type = any($2)`, [
      intent.id,
      ['payment_intent.processing', 'payment_intent.payment_failed'],
    ]);
    for (const [position, type] of types.entries()) {
      await tx.query(
        `insert into events select (jsonb_populate_record(v, jsonb_build_object('id', $2::text,
           'type', $3::text, 'position', $4::bigint, 'body', $5::text))).*
         from events v where object_id = $1 and type = 'payment_intent.created'`,
        [
          intent.id,
          `evt_${position}`,
          `payment_intent.${type}`,
          1000 + position,
          JSON.stringify(body),
        ],
      );
    }
    for (const sql of damage) await tx.query(sql);
    const journal = honest();
    journal.saw({ ...intent, status: 'requires_payment_method', declined: DECLINED });
    return new Abandon(await check(tx, journal));
  });
}

const ALARM = `insert into chain_alarms (livemode, kind, subject, details, created)
  select livemode, 'settled_after_decline', id, '{}', now() from payment_intents`;

describe('the check of a payment that a response showed as declined', () => {
  it('passes if a later attempt pays', async () => {
    assert.equal(await checkDeclined(['processing', 'payment_failed', 'processing']), '');
  });

  it('fails if the declined attempt was charged', async () => {
    const result = await checkDeclined(['processing', 'payment_failed']);
    assert.equal(result, `${intent.id} was reported declined at ${DECLINED}, and was charged`);
  });

  it('fails if no event reports it', async () => {
    const result = await checkDeclined(['processing']);
    assert.equal(result, `${intent.id} was reported declined at ${DECLINED}, without an event`);
  });

  it('passes if an alarm names the charge', async () => {
    assert.equal(await checkDeclined(['processing', 'payment_failed'], ALARM), '');
  });

  it('fails if an alarm names only another intent', async () => {
    const others = `${ALARM} where id <> '${intent.id}'`;
    const result = await checkDeclined(['processing', 'payment_failed'], others);
    assert.equal(result, `${intent.id} was reported declined at ${DECLINED}, and was charged`);
  });
});

describe('a response from before the database was restored', () => {
  /**
   * Returns the violations if clients received these responses before and after the database was
   * copied, and the copy was then restored.
   */
  async function checkRestored(
    tell: (journal: Journal) => void,
    ...damage: readonly string[]
  ): Promise<string> {
    return store.db.transaction(async (tx) => {
      for (const sql of damage) await tx.query(sql);
      const journal = openJournal();
      journal.copied();
      tell(journal);
      journal.restored();
      return new Abandon(await check(tx, journal));
    });
  }

  it('may be lost, except payments', async () => {
    const told = (journal: Journal) => {
      journal.saw({ ...intent, id: 'pi_open', status: 'requires_payment_method', payment: null });
      journal.saw({ ...intent, id: 'pi_canceled', status: 'canceled', payment: null });
      journal.saw(intent);
      journal.saw({ ...intent, id: 'pi_paid', payment: 'pay_lost' });
    };
    assert.equal(await checkRestored(told), 'pi_paid was in a response and is missing');
  });

  it('may have its tip in its amount, because the chain knows only the sum', async () => {
    const withTip = (tip: number) => (journal: Journal) => {
      journal.saw({ ...intent, amount: intent.amount - 500_000, tip });
    };
    assert.equal(await checkRestored(withTip(500_000)), '');
    assert.equal(await checkRestored(withTip(400_000)), `${intent.id} has another amount`);
    assert.equal(await checkAnswers(withTip(500_000)), `${intent.id} changed its amount`);
  });

  it('fails the check if a payment has another id', async () => {
    const other = `update payment_intents set payment_id = 'pay_other' where id = '${intent.id}'`;
    const result = await checkRestored((journal) => journal.saw(intent), other);
    assert.equal(result, `${intent.id} was reported payment ${intent.payment} and has pay_other`);
  });
});

/** Returns the violations if clients additionally received these responses. */
async function checkAnswers(tell: (journal: Journal) => void): Promise<string> {
  const journal = honest();
  tell(journal);
  return check(store.db, journal);
}

describe('answers that contradict each other', () => {
  const areFoundIf = (what: string, tell: (journal: Journal) => void, expected: () => string) =>
    it(`are found if ${what}`, async () => assert.equal(await checkAnswers(tell), expected()));

  areFoundIf(
    'one key got two answers',
    (journal) => journal.answered('key', { status: 201, text: '{"id":"other"}' }),
    () => 'key key answered first 201 {} then 201 {"id":"other"}',
  );
  areFoundIf(
    'one key got two statuses',
    (journal) => journal.answered('key', { status: 200, text: '{}' }),
    () => 'key key answered first 201 {} then 200 {}',
  );
  areFoundIf(
    'an intent ended in two ways',
    (journal) => journal.saw({ ...intent, status: 'canceled' }),
    () => `${intent.id} was succeeded and became canceled`,
  );
  areFoundIf(
    'a withdrawal ended in two ways',
    (journal) => journal.sawWithdrawal({ ...withdrawal, status: 'failed' }),
    () => `${withdrawal.id} was succeeded and became failed`,
  );
  areFoundIf(
    'an intent changed its amount',
    (journal) => journal.saw({ ...intent, amount: 1 }),
    () => `${intent.id} changed its amount`,
  );
  areFoundIf(
    'a refund ended in two ways',
    (journal) => journal.sawRefund({ ...refund, status: 'failed' }),
    () => `${refund.id} was succeeded and became failed`,
  );

  it('do not include older answers that arrive late', async () => {
    const result = await checkAnswers((journal) => {
      journal.saw({ ...intent, status: 'processing', payment: null });
      journal.sawRefund({ ...refund, status: 'pending' });
      journal.answered('key', { status: 201, text: '{}' });
    });
    assert.equal(result, '');
  });
});

describe('a client of a chaos run', () => {
  let receiver: TestReceiver;
  before(async () => {
    receiver = await startReceiver();
  });
  after(() => receiver?.close());

  interface Said {
    readonly status: number;
    readonly code?: string;
    readonly replayed?: boolean;
  }

  /** Returns the complaints of a client that gets these responses to its attempts. */
  async function complaintsOf(answers: readonly Said[]): Promise<readonly string[]> {
    const said = [...answers];
    receiver.answer((_received, response) => {
      const { status, code, replayed } = said.shift() ?? { status: 418 };
      if (replayed) response.setHeader('Idempotent-Replayed', 'true');
      response.statusCode = status;
      response.end(JSON.stringify(code === undefined ? {} : { error: { code } }));
    });
    const journal = openJournal();
    const random = createRandom(1, 'client');
    const caller = openChaosCaller({ urls: [receiver.url], key: 'sk', random, journal });
    await caller.post('/payment_intents', {}, 'one key');
    assert.deepEqual(said, []);
    return journal.complaints;
  }

  it('complains about a response with status 500', async () => {
    const [complaint] = await complaintsOf([{ status: 500 }, { status: 201 }]);
    assert.match(complaint ?? '', /^500 to POST \/payment_intents/);
  });

  it('complains about work that was done although every response denied it', async () => {
    const nothing = { status: 503, code: 'service_unavailable' };
    const [complaint] = await complaintsOf([nothing, nothing, { status: 201, replayed: true }]);
    assert.match(complaint ?? '', /was done though all answers said it was not/);
  });

  it('does not complain about work that may have been done, and was', async () => {
    const nothing = { status: 503, code: 'service_unavailable' };
    const unknown = { status: 503, code: 'outcome_unknown' };
    assert.deepEqual(await complaintsOf([nothing, unknown, { status: 201, replayed: true }]), []);
  });

  it('does not complain about work that was refused first and done later', async () => {
    const nothing = { status: 503, code: 'service_unavailable' };
    assert.deepEqual(await complaintsOf([nothing, nothing, { status: 201 }]), []);
  });

  it('ignores a response that arrives after the database was restored', async () => {
    const journal = openJournal();
    let requests = 0;
    receiver.answer((_received, response) => {
      if (requests++ === 0) {
        journal.copied();
        journal.restored();
      }
      response.writeHead(201).end(JSON.stringify({ id: `answer ${requests}` }));
    });
    // Disables the random short time-outs, so that no request times out.
    const random = { ...createRandom(1, 'client'), chance: () => false };
    const caller = openChaosCaller({ urls: [receiver.url], key: 'sk', random, journal });
    const answer = await caller.post('/payment_intents', { amount: 1 }, 'a key');
    assert.equal(answer?.body.id, 'answer 2');
    assert.deepEqual(journal.complaints, []);
  });

  /** Returns the complaints of a client that reads a list whose pages contain these ids. */
  async function complaintsOfPagination(pages: readonly (readonly string[])[]): Promise<string[]> {
    receiver.answer(({ path }, response) => {
      const page = Number(new URL(path, receiver.url).searchParams.get('cursor'));
      const data = (pages[page] ?? []).map((id) => ({ id }));
      const next_cursor = page + 1 < pages.length ? String(page + 1) : null;
      response.end(JSON.stringify({ data, next_cursor }));
    });
    const journal = openJournal();
    const random = createRandom(1, 'pagination');
    const server = openChaosCaller({ urls: [receiver.url], key: 'sk', random, journal });
    assert.equal(await pageThrough(server, 'events', journal), true);
    return [...journal.complaints];
  }

  it('complains about an object that appears twice while it pages through a list', async () => {
    const twice = await complaintsOfPagination([
      ['evt_1', 'evt_2'],
      ['evt_2', 'evt_3'],
    ]);
    assert.deepEqual(twice, ['evt_2 appeared twice in one pagination of events']);
  });

  it('does not complain if every object appears once', async () => {
    assert.deepEqual(await complaintsOfPagination([['evt_1'], ['evt_2'], []]), []);
  });
});

it('every invariant was violated by a test', () => {
  const promises = RESPONSE_INVARIANTS.map(({ promise }) => promise);
  assert.deepEqual([...seenBroken].toSorted(), promises.toSorted());
});
