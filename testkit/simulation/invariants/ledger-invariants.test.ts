import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Abandon, codeOf, type Sql } from '#db/database.ts';
import { type HealthyStore, openHealthyStore } from '#testkit/simulation/healthy-store.ts';
import { violationsOf } from '#testkit/simulation/invariants/invariant.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';
import { LEDGER_INVARIANTS } from '#testkit/simulation/invariants/ledger-invariants.ts';
import { DELIVERY_INVARIANTS } from '#testkit/simulation/invariants/receiver-invariants.ts';

/** Statements that corrupt the ledger. `first` holds statements that must run before. */
interface Damage {
  /** Statements that drop a constraint. They run in a transaction that is rolled back. */
  readonly first?: readonly string[];
  readonly sql: readonly string[];
}

/** The end of an `update payment_intents` statement that cancels an intent without a payment. */
const CANCEL = `set status = 'canceled', payment_id = null, tx_hash = null, canceled_at = now(),
  cancellation_reason = 'requested_by_customer'`;

const WITHOUT_REFUNDS_OF_PAYMENTS = `alter table refunds drop constraint refunds_payment_id_fkey`;

function dropChecks(table: string): string {
  return `do $$ declare name text; begin
    for name in select conname from pg_constraint
      where conrelid = '${table}'::regclass and contype = 'c'
    loop execute format('alter table ${table} drop constraint %I', name); end loop;
  end $$`;
}

/**
 * Returns a statement that duplicates rows: those that `where` selects, with `changes` (SQL for a
 * JSON object).
 */
function copy(table: string, where: string, changes: string): string {
  return `insert into ${table}
    select (jsonb_populate_record(t, jsonb_build_object(${changes}))).*
    from ${table} t where ${where} limit 1`;
}

/** Returns two kinds of damage for each event type: the event is missing, or it exists twice. */
function wrongEvents(types: readonly string[]): Damage[] {
  return types.flatMap((type) => [
    { sql: [`delete from events where type = '${type}'`] },
    { sql: [copy('events', `type = '${type}'`, `'id', 'evt_second'`)] },
  ]);
}

/** Returns damage that adds an event for something that did not happen. */
function falseEvent(type: string, like: string): Damage {
  return { sql: [copy('events', `type = '${like}'`, `'id', 'evt_false', 'type', '${type}'`)] };
}

function alarm(kind: string): Damage {
  return {
    sql: [
      `insert into chain_alarms (livemode, kind, subject, details, created)
       values (false, '${kind}', 'subject', '{}', now())`,
    ],
  };
}

const SECOND_REQUEST = `insert into chain_requests (livemode, kind, subject_id, number, payload,
    status, outcome, created, applied_at)
  select livemode, kind, subject_id, number + 1000, payload, status, outcome, created, applied_at
  from chain_requests where kind = `;

/** Inserts an offline sale that is still in progress although its intent was paid. */
const STUCK_OFFLINE_SALE = `
  insert into offline_payments (id, account_id, livemode, position, created, terminal_id,
    payer_address, nonce, amount, value, accepted_at, counted_at, status, payment_intent_id)
  select 'ofp_1', account_id, livemode, position + 1000000, created, terminal_id, '0x',
    '0x' || repeat('0', 64), amount, amount, created, created, 'processing', id
  from payment_intents where status = 'succeeded' limit 1`;

/** Damage by invariant. For each, the checker must report a violation of that invariant. */
const DAMAGES: Readonly<Record<string, readonly Damage[]>> = {
  'an intent has a payment exactly when it has succeeded': [
    { first: [WITHOUT_REFUNDS_OF_PAYMENTS], sql: ['delete from payments'] },
    { sql: ['update payments set amount = amount + 1'] },
    { sql: [`update payment_intents ${CANCEL} where status = 'succeeded'`] },
    { sql: [`update payment_intents set payment_id = 'pay_other' where status = 'succeeded'`] },
    {
      first: ['alter table payments drop constraint payments_payment_intent_id_key'],
      sql: [
        copy(
          'payments',
          'true',
          `'id', 'pay_second', 'settlement_number', 1000, 'receipt_number', null`,
        ),
      ],
    },
  ],
  'each payment has one settlement job, which has succeeded or is sent again': [
    { sql: [`update chain_requests set number = number + 1 where kind = 'payment'`] },
    { sql: [`delete from chain_requests where kind = 'payment'`] },
    { sql: [`update chain_requests set status = 'failed' where kind = 'payment'`] },
    { first: ['drop index chain_requests_once'], sql: [`${SECOND_REQUEST} 'payment'`] },
  ],
  'an intent that did not succeed was never settled': [
    { sql: [`update payment_intents ${CANCEL} where status = 'succeeded'`] },
  ],
  'a declined intent is paid by a later attempt only, or an alarm names it': [
    {
      sql: [
        `insert into events select (jsonb_populate_record(v, jsonb_build_object('id', 'evt_late',
           'type', 'payment_intent.payment_failed', 'position', v.position + 1000))).*
         from events v where v.type = 'payment_intent.processing' limit 1`,
      ],
    },
  ],
  'an intent has succeeded if an alarm says that it settled after its decline': [
    {
      sql: [
        `insert into chain_alarms (livemode, kind, subject, details, created)
         select livemode, 'settled_after_decline', id, '{}', now() from payment_intents
         where status = 'requires_payment_method' limit 1`,
      ],
    },
  ],
  'the status of an offline sale matches its intent': [{ sql: [STUCK_OFFLINE_SALE] }],
  'an offline sale in progress has a settlement job, or a time for its next try': [
    { sql: [STUCK_OFFLINE_SALE] },
  ],
  'refunds never exceed their payment, and their sums are the sums of their rows': [
    { sql: ['update payments set amount_reserved = 5, amount_refunded = 5'] },
    { sql: ['update payments set amount_refunded = 0'] },
    { sql: ['update payments set amount_reserved = amount'] },
    { sql: ['delete from refunds'] },
    {
      first: [dropChecks('payments')],
      sql: [
        'update refunds set amount = 2500001',
        `update payments set amount_reserved = 2500001, amount_refunded = 2500001
         where amount_refunded > 0`,
      ],
    },
  ],
  'refunds of a day stay below the limit of the account': [
    { sql: ['update accounts set refund_daily_limit = 499999'] },
  ],
  'no payment is above the limit of its payer': [
    { sql: ['update payers set limit_per_payment = 2499999'] },
  ],
  'payments of a day stay below the limit of their payer': [
    { sql: ['update payers set limit_per_day = 2499999'] },
    {
      sql: [
        'update payers set limit_per_day = 4999999',
        'update payments set payer_id = (select min(payer_id) from payments)',
      ],
    },
  ],
  'a blocked payer, a revoked pass and a spent token never pay': [
    { sql: [`update payers set blocked_at = '2020-01-01'`] },
    { sql: [`update passes set revoked_at = '2020-01-01'`] },
    {
      sql: [
        `update payment_intents set attempt = (select attempt from payment_intents
           where attempt #>> '{credential,type}' = 'agent_token')
         where status = 'succeeded'`,
      ],
    },
  ],
  'an agent token pays before it expires': [
    { sql: [`update agent_tokens set expires_at = '2020-01-01'`] },
  ],
  'a payment uses a credential of its payer, within the terms of the credential': [
    { sql: ['update passes set payer_id = (select max(payer_id) from payments)'] },
    {
      sql: [
        `update agent_tokens t set payer_id = p.payer_id from payments p
         where p.credential_type = 'nfc_id'`,
      ],
    },
    { sql: [`update payment_intents set attempt = attempt - 'credential'`] },
    {
      sql: [
        `update payment_intents set attempt = attempt
           || '{"payerAddress": "0x01", "credential": {"type": "authorization"}}'`,
      ],
    },
    { sql: ['update agent_tokens set amount = amount - 1'] },
    { sql: ['update agent_tokens set livemode = true'] },
    { sql: [`update agent_tokens set revoked_at = '2020-01-01'`] },
    {
      sql: [
        `insert into accounts (id, name, created) values ('acct_other', 'Other', now())`,
        `update agent_tokens set account_id = 'acct_other'`,
      ],
    },
  ],
  'the receipt numbers of a terminal count from 1 without gaps, in each series': [
    ...['payment', 'refund', 'shift'].map((kind) => ({
      sql: [`update receipt_series set given = given + 1 where kind = '${kind}'`],
    })),
    ...['payments', 'refunds'].map((table) => ({
      sql: [`update ${table} set receipt_number = receipt_number || '9'`],
    })),
    { sql: [`update payments set receipt_number = null`] },
    { sql: [`update refunds set receipt_number = 'RXXXX-1' where receipt_number like '%-1'`] },
  ],
  'a payment has the account, location and order of its intent, a refund those of both': [
    ...['account_id', 'terminal_id', 'location_id', 'order_id', 'split_group', 'cashier_id'].map(
      (column) => ({ sql: [`update payments set ${column} = 'other'`] }),
    ),
    { sql: ['update payments set livemode = true'] },
    { sql: [`update refunds set account_id = 'acct_other'`] },
    { sql: ['update refunds set livemode = true'] },
    { sql: [`update refunds set location_id = 'other'`] },
    // Changes all three tables in the same way, so that they agree on a location that does not
    // belong to the account.
    {
      sql: ['payment_intents', 'payments', 'refunds'].map(
        (table) => `update ${table} set location_id = 'other'`,
      ),
    },
  ],
  'the closing balance of a statement is the sum of the entries before it': [
    { sql: ['update statement_closings set balance = balance + 1'] },
    { sql: ['update payments set amount = amount + 1'] },
    ...['refund', 'payout'].map((type) => ({
      sql: [`delete from balance_entries where type = '${type}'`],
    })),
    {
      sql: [copy('balance_entries', `type = 'payout'`, `'position', 1, 'type', 'correction'`)],
    },
  ],
  'the books have one entry for each movement of money': [
    ...['refund', 'payout'].map((type) => ({
      sql: [`delete from balance_entries where type = '${type}'`],
    })),
    { sql: ['update balance_entries set amount = amount - 1'] },
    { sql: ['update payments set recovered = true'] },
    { sql: [`update balance_entries set object_id = 're_other' where type = 'refund'`] },
    { sql: [copy('balance_entries', 'true', `'position', 1, 'type', 'correction'`)] },
    { sql: [`update refunds set status = 'failed', failure_code = 'settlement_failed'`] },
    {
      first: ['drop index balance_entries_object'],
      sql: [copy('balance_entries', 'true', `'position', 1`)],
    },
  ],
  'a period is paid out once, by the withdrawal that it names': [
    { sql: ['delete from automatic_payouts'] },
    { sql: [`update withdrawals set period = '2020-01-01' where period is not null`] },
    { sql: ['update withdrawals set period = null'] },
    { sql: ['update automatic_payouts set livemode = true'] },
    { sql: [copy('withdrawals', 'period is not null', `'id', 'wdr_second', 'number', 1`)] },
    { sql: [copy('automatic_payouts', 'true', `'every', 'weekly'`)] },
  ],
  'each intent has one event of its creation and one of its end': [
    ...wrongEvents([
      'payment_intent.created',
      'payment_intent.processing',
      'payment_intent.succeeded',
    ]),
    falseEvent('payment_intent.canceled', 'payment_intent.created'),
    { sql: [`update payment_intents ${CANCEL} where status = 'requires_payment_method'`] },
  ],
  'each payment has one event of its success and one of its cashback': wrongEvents([
    'payment.succeeded',
    'payment.cashback_paid',
    'payment.refunded',
  ]),
  'each refund has one event per step': [
    ...wrongEvents(['refund.created', 'refund.succeeded']),
    falseEvent('refund.failed', 'refund.succeeded'),
  ],
  'no event is about an intent, a payment or a refund that its account does not have': [
    { sql: ['delete from refunds'] },
    { first: [WITHOUT_REFUNDS_OF_PAYMENTS], sql: ['delete from payments'] },
    { sql: [`delete from payment_intents where status = 'requires_payment_method'`] },
    { sql: [`update refunds set livemode = true`] },
  ],
  'an event has at most one delivery per endpoint': [
    { sql: [copy('webhook_deliveries', 'true', `'status', 'failed'`)] },
    {
      sql: [
        `insert into webhook_due (endpoint_id, event_created, event_position, id, account_id,
           livemode, event_id, event_type, created, updated, due_at)
         select endpoint_id, event_created, event_position, id, account_id, livemode, event_id,
           event_type, created, updated, updated from webhook_deliveries`,
      ],
    },
  ],
  'positions in the order of an account are unique and in the order of time': [
    { sql: ['update events set position = 7'] },
    ...['payments', 'refunds', 'withdrawals', 'terminals'].map((table) => ({
      sql: [`update ${table} set position = (select min(position) from payment_intents)`],
    })),
    {
      sql: [
        `update payment_intents set position = (select min(position) from events)
         where position = (select max(position) from payment_intents)`,
      ],
    },
    {
      sql: [
        `update events set created = created - interval '1 day'
         where position = (select max(position) from events)`,
      ],
    },
  ],
  'no position is above the last one that its account has assigned': [
    { sql: ['update account_modes set position = position - 1'] },
    { sql: ['update refunds set livemode = true'] },
  ],
  'the body of an event has its id, type and position': [
    { sql: [`update events set body = replace(body, '"sequence":', '"sequence":1')`] },
    { sql: [`update events set body = replace(body, '"evt_', '"evt_0')`] },
    { sql: [`update events set type = 'ping' where type = 'refund.created'`] },
  ],
  'no intent is left in progress': [
    {
      sql: [
        `update payment_intents set status = 'processing', attempt = '{}'
         where status = 'requires_payment_method'`,
      ],
    },
    {
      sql: [
        `update payment_intents set status = 'requires_action', attempt = '{}', confirm_by = now()
         where status = 'requires_payment_method'`,
      ],
    },
    { sql: [`update payment_intents set expires_at = now() - interval '11 s'`] },
  ],
  'every settlement job has a result, which was applied': [
    { sql: [`update chain_requests set status = 'queued', outcome = null`] },
    ...['payment', 'refund', 'withdrawal'].map((kind) => ({
      sql: [`update chain_requests set applied_at = null where kind = '${kind}'`],
    })),
  ],
  'no refund and no withdrawal is left pending': [
    { sql: [`update refunds set status = 'pending'`] },
    { sql: [`update withdrawals set status = 'pending'`] },
  ],
  'a refund or a withdrawal has succeeded exactly when the chain has paid it, once': [
    { sql: [`delete from chain_requests where kind = 'refund'`] },
    { sql: [`delete from chain_requests where kind = 'withdrawal'`] },
    { sql: [`update refunds set status = 'failed', failure_code = 'settlement_failed'`] },
    { sql: ['update refunds set amount = amount - 1'] },
    { first: ['drop index chain_requests_once'], sql: [`${SECOND_REQUEST} 'refund'`] },
  ],
  'no idempotency key is left in progress': [
    {
      sql: [
        `update idempotency_keys set status = 'in_progress', response_status = null,
           response_body = null`,
      ],
    },
  ],
  'no delivery to a working endpoint is left pending': [
    {
      sql: [
        `insert into webhook_due (endpoint_id, event_created, event_position, id, account_id,
           livemode, event_id, event_type, created, updated, due_at)
         select w.id, v.created, v.position, 'wdl_late', v.account_id, v.livemode, v.id, v.type,
           v.created, v.created, v.created
         from webhook_endpoints w, events v where v.type = 'payment_intent.created' limit 1`,
      ],
    },
  ],
  'the watchtower reports none of our own transactions': [
    {
      sql: [
        `insert into watch_findings (livemode, tx_hash, log_index, kind, amount, confirmed, found)
         values (false, '0x11', 0, 'payment', 1, false, now())`,
      ],
    },
    {
      sql: [
        `insert into watch_steps (livemode, step, merchant_number, reason, created)
         values (false, 'pause_settling', 0, 'RoleGranted 0x11/0', now())`,
      ],
    },
  ],
  'no alarm about money was raised': [
    alarm('number_taken'),
    alarm('payment_missing'),
    alarm('request_invalid'),
    alarm('request_stuck'),
    alarm('nonce_foreign'),
    alarm('outcome_unfit'),
    alarm('foreign_settlement'),
    alarm('order_id_taken'),
    alarm('paid_after_failure'),
    alarm('outcome_unreadable'),
  ],
};

const short = (sql: readonly string[]) => sql.join('; ').replace(/\s+/g, ' ');
const all = Object.entries(DAMAGES).flatMap(([promise, damages]) =>
  damages.map((damage) => ({ promise, damage })),
);

let store: HealthyStore;
before(async () => {
  store = await openHealthyStore();
});
after(() => store?.close());

describe('the invariant checker', () => {
  it('finds nothing in a correct database', async () => {
    assert.deepEqual(await violationsOf(LEDGER_INVARIANTS, store), []);
  });

  it('has a test that violates each invariant', () => {
    const promises = LEDGER_INVARIANTS.map(({ promise }) => promise);
    assert.deepEqual(Object.keys(DAMAGES).sort(), promises.sort());
  });

  for (const { promise, damage } of all) {
    it(`finds that "${promise}" is broken by: ${short(damage.sql)}`, async () => {
      const broken = await store.db.transaction(async (tx) => {
        for (const sql of [...(damage.first ?? []), ...damage.sql]) await tx.query(sql);
        return new Abandon(await violationsOf(LEDGER_INVARIANTS, { db: tx }));
      });
      const named = broken.filter((one) => one.promise === promise);
      assert.ok(named.length > 0, `found only: ${JSON.stringify(broken)}`);
    });
  }
});

describe('the report of an unsettled job', () => {
  it('says what it waits for: tries, transaction, alarms, senders and workers', async () => {
    const { db } = store;
    const report = async (...damage: readonly string[]) =>
      db.transaction(async (tx) => {
        for (const sql of damage) await tx.query(sql);
        const broken = await violationsOf(LEDGER_INVARIANTS, { db: tx });
        const jobs = broken.filter(({ promise }) => promise.startsWith('every settlement job has'));
        return new Abandon(jobs.map(({ detail }) => detail).join('\n'));
      });
    const sent = await report(
      `insert into relayer_senders (livemode, sender, role, address, next_nonce)
       values (false, 7, 'operator', '0x77', 6)`,
      `insert into chain_transactions
         (livemode, sender, nonce, kind, status, created, target, input, gas_limit, valid_until)
       values (false, 7, 5, 'payment', 'signed', now(), '0x88', '', 1, now())`,
      `insert into chain_attempts
         (tx_hash, transaction_id, raw, max_fee_per_gas, max_priority_fee_per_gas, created)
       select '0x99', id, '', 1, 1, now() from chain_transactions where sender = 7`,
      `update chain_requests r set status = 'submitted', outcome = null, transaction_id = t.id
       from chain_transactions t where t.sender = 7 and r.kind = 'payment' and not r.livemode`,
    );
    assert.match(sent, /payment pi_\w+ is submitted, booked at .*, tries 0, /);
    assert.match(sent, /transaction \d+ at nonce 5 is signed, valid until .*, broadcasts 1, the /);
    assert.match(sent, /senders operator 7 next nonce 6/);
    const queued = await report(
      `update chain_requests set status = 'queued', outcome = null, transaction_id = null,
         tries = 3, next_attempt = 'infinity' where kind = 'payment'`,
      `insert into chain_alarms (livemode, kind, subject, details, created)
       select livemode, 'sale_not_settled', subject_id, '{"why": "no funds"}', now()
       from chain_requests where kind = 'payment'`,
      `insert into relayer_workers (livemode, owner, seen_at, reasons)
       values (false, 'box:1', now(), '{no_node}')`,
      'update network_states set recovering = true',
    );
    assert.match(queued, /is queued, booked at .*, tries 3, next try at infinity, /);
    assert.match(queued, /alarms sale_not_settled \{"why": "no funds"\}, workers box:1 seen at /);
    assert.match(queued, / with 0 of 0 senders says no_node.*, recovering$/m);
  });
});

describe('the database', () => {
  for (const { damage } of all.filter(({ damage: { first } }) => first !== undefined)) {
    it(`itself refuses: ${short(damage.sql)}`, async () => {
      const refused = store.db.transaction(async (tx) => {
        for (const sql of damage.sql) await tx.query(sql);
        return new Abandon(null);
      });
      // A SQLSTATE that begins with 23 means that an integrity constraint was violated.
      await assert.rejects(refused, (error) => /^23/.test(codeOf(error)));
    });
  }
});

describe('an alarm about a settlement that cannot be booked', () => {
  it('is expected, and every other one is not', async () => {
    const alarms = await store.db.transaction(async (tx) => {
      await tx.query(
        `insert into chain_alarms (livemode, kind, subject, details, created)
         values (false, 'foreign_settlement', 'payment 7', '{}', now()),
           (false, 'foreign_settlement', 'payment 8', '{}', now()),
           (false, 'number_taken', 'payment 7', '{}', now())`,
      );
      const ledger = { db: tx, unbookable: new Set([7n]) };
      return new Abandon(await violationsOf(LEDGER_INVARIANTS, ledger));
    });
    assert.deepEqual(alarms.map(({ detail }) => detail).toSorted(), [
      'foreign_settlement payment 8 {}',
      'number_taken payment 7 {}',
    ]);
  });
});

describe('the wait for rest', () => {
  /** Breaks the ledger before the first check, and repairs it soon after. */
  const restAfter = async (broken: string, mended: string) => {
    const statements = [broken, mended];
    const hurry = async () => {
      for (const sql of statements.splice(0, 1)) await store.db.query(sql);
    };
    const result = await comeToRest({ db: store.db }, { limitMs: 5_000, hurry });
    await hurry();
    return result;
  };

  it('reports a violation of a rule that always holds, even if it is short', async () => {
    const move = (by: string) => `update account_modes set position = position ${by} 1000`;
    const broken = await restAfter(move('-'), move('+'));
    assert.ok(broken.length > 0);
    for (const one of broken) assert.match(one, /^no position is above the last one/);
  });

  it('waits for rules that hold only at rest', async () => {
    const [sql = ''] = alarm('request_stuck').sql;
    assert.deepEqual(await restAfter(sql, 'delete from chain_alarms'), []);
  });
});

describe('the check of deliveries', () => {
  const check = async (endpoint = store.endpoint, db: Sql = store.db) => {
    const broken = await violationsOf(DELIVERY_INVARIANTS, { db, endpoints: [endpoint] });
    return broken.map(({ detail }) => detail);
  };
  const checkAfter = (sql: string) =>
    store.db.transaction(async (tx) => {
      await tx.query(sql);
      return new Abandon(await check(store.endpoint, tx));
    });

  it('finds nothing while each event has reached its endpoint', async () => {
    assert.ok(store.endpoint.accepted.size > 0);
    assert.deepEqual(await check(), []);
  });

  it('finds an event whose delivery was lost', async () => {
    const lost = `delete from webhook_deliveries where event_type = 'refund.created'`;
    assert.match((await checkAfter(lost)).join(), /lacks 1 events, evt_/);
  });

  it('finds an event whose delivery was given up', async () => {
    const failed = `update webhook_deliveries set status = 'failed'
      where event_type = 'refund.created'`;
    assert.match((await checkAfter(failed)).join(), /lacks 1 events, evt_/);
  });

  it('finds a successful delivery that its receiver never acknowledged', async () => {
    const [, ...accepted] = store.endpoint.accepted;
    const broken = await check({ ...store.endpoint, accepted: new Set(accepted) });
    assert.match(broken.join(), /has 1 successes that its receiver never answered/);
  });

  it('finds a deleted endpoint', async () => {
    assert.match((await checkAfter('delete from webhook_endpoints')).join(), /is gone/);
  });
});
