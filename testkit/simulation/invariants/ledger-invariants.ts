import type { Sql } from '#db/database.ts';
import type { Invariant } from '#testkit/simulation/invariants/invariant.ts';

/** The database of a history. */
export interface Ledger {
  readonly db: Sql;
  /** Settlement numbers of merchants whose accounts were lost. Alarms must report them. */
  readonly unbookable?: ReadonlySet<bigint>;
  /** Matches violations (written `promise: violation`) that the test itself causes. */
  readonly except?: RegExp;
}

/** An invariant as an SQL statement that selects violations. */
interface Rule extends Omit<Invariant<Ledger>, 'check'> {
  /** Selects one text column. Each row describes a violation. */
  readonly sql: string;
  readonly values?: (ledger: Ledger) => readonly unknown[];
}

/** Maximum number of rows that the report of a violation shows. */
const SHOWN = 5;

/** Tables in which each row has a position that is unique for its account and mode. */
const LISTED = [
  ...['events', 'payment_intents', 'payments', 'refunds', 'withdrawals', 'terminals'],
  'offline_payments',
]
  .map((table) => `select id, account_id, livemode, position, created from ${table}`)
  .join(' union all ');

export const NOT_EXPIRED = 'an agent token pays before it expires';

const MONEY: readonly Rule[] = [
  {
    promise: 'an intent has a payment exactly when it has succeeded',
    always: true,
    sql: `select i.id || ' is ' || i.status || ' with payment ' || coalesce(p.id, 'none')
      from payment_intents i full join payments p on p.payment_intent_id = i.id
      where (coalesce(i.status, '') = 'succeeded') <> (p.id is not null)
        or i.payment_id is distinct from p.id or (not p.recovered and i.amount + p.tip <> p.amount)
        or (p.recovered and (p.tip > 0 or i.amount > p.amount))`,
  },
  {
    promise: 'each payment has one settlement job, which has succeeded or is sent again',
    always: true,
    sql: `select p.id || ' has ' || count(r.id) from payments p
      left join chain_requests r on r.kind = 'payment' and r.subject_id = p.payment_intent_id
        and (r.status = 'succeeded'
          or (r.status in ('queued', 'submitted') and r.applied_at is not null))
      where not p.recovered
      group by p.id, p.settlement_number
      having count(r.id) <> 1 or bool_or(r.number is distinct from p.settlement_number)`,
  },
  {
    promise: 'an intent that did not succeed was never settled',
    sql: `select i.id || ' is ' || i.status from payment_intents i
      join chain_requests r on r.kind = 'payment' and r.subject_id = i.id
      where r.status = 'succeeded' and i.status <> 'succeeded'`,
  },
  {
    promise: 'a declined intent is paid by a later attempt only, or an alarm names it',
    always: true,
    sql: `with shown as (
        select object_id,
          max(position) filter (where type = 'payment_intent.payment_failed') as declined,
          max(position) filter (where type = 'payment_intent.processing') as begun
        from events
        where type in ('payment_intent.payment_failed', 'payment_intent.processing')
        group by object_id
      )
      select i.id || ' was declined and is ' || i.status
      from payment_intents i join shown t on t.object_id = i.id
      where i.status = 'succeeded' and not i.recovered and t.declined > coalesce(t.begun, 0)
        and not exists (select from chain_alarms a
          where a.kind = 'settled_after_decline' and a.subject = i.id)`,
  },
  {
    promise: 'an intent has succeeded if an alarm says that it settled after its decline',
    sql: `select i.id || ' is ' || i.status from payment_intents i
      join chain_alarms a on a.subject = i.id and a.kind = 'settled_after_decline'
      where i.status <> 'succeeded'`,
  },
  {
    promise: 'refunds never exceed their payment, and their sums are the sums of their rows',
    always: true,
    sql: `select p.id || ' refunded ' || p.amount_refunded || ' reserved ' || p.amount_reserved
      from payments p left join refunds r on r.payment_id = p.id
      group by p.id, p.amount, p.amount_refunded, p.amount_reserved
      having p.amount_reserved > p.amount
        or p.amount_refunded <> coalesce(sum(r.amount) filter (where r.status = 'succeeded'), 0)
        or p.amount_reserved <> coalesce(sum(r.amount) filter (where r.status <> 'failed'), 0)`,
  },
  {
    promise: 'the receipt numbers of a terminal count from 1 without gaps, in each series',
    always: true,
    sql: `with numbered as (
        select account_id, livemode, 'payment' as kind, receipt_number from payments
        union all select account_id, livemode, 'refund', receipt_number from refunds
        union all select account_id, livemode, 'shift', series || '-' || number from shift_reports
      ), given as (
        select account_id, livemode, kind, split_part(receipt_number, '-', 1) as prefix,
          count(*), min(split_part(receipt_number, '-', 2)::bigint) as first,
          max(split_part(receipt_number, '-', 2)::bigint) as last
        from numbered where receipt_number is not null group by 1, 2, 3, 4)
      select coalesce(s.prefix, g.prefix) || ' gave ' || coalesce(s.given, 0) || ', '
        || coalesce(g.count, 0) || ' are there, up to ' || coalesce(g.last, 0)
      from receipt_series s full join given g using (account_id, livemode, kind, prefix)
      where coalesce(s.given, 0) <> coalesce(g.count, 0) or s.given <> g.last or g.first <> 1`,
  },
  {
    // Excludes recovered refunds: recovery books them on the day on which it runs, although they
    // may have been requested earlier.
    promise: 'refunds of a day stay below the limit of the account',
    always: true,
    sql: `select a.id || ' refunded ' || sum(r.amount) from refunds r
      join accounts a on a.id = r.account_id where r.status <> 'failed' and not r.recovered
      group by a.id, a.refund_daily_limit, r.livemode, (r.created at time zone 'UTC')::date
      having sum(r.amount) > a.refund_daily_limit`,
  },
  {
    promise: 'no payment is above the limit of its payer',
    always: true,
    sql: `select p.id || ' of ' || p.amount from payments p join payers y on y.id = p.payer_id
      where p.amount > y.limit_per_payment`,
  },
  {
    promise: 'payments of a day stay below the limit of their payer',
    always: true,
    sql: `select y.id || ' paid ' || sum(p.amount) from payments p
      join payers y on y.id = p.payer_id
      group by y.id, y.limit_per_day, (p.settled_at at time zone 'UTC')::date
      having sum(p.amount) > y.limit_per_day`,
  },
  {
    promise: 'a blocked payer, a revoked pass and a spent token never pay',
    always: true,
    sql: `select p.id || ' by a blocked payer' from payments p join payers y on y.id = p.payer_id
      where y.blocked_at < p.created
      union all
      select i.id || ' by a revoked pass' from payment_intents i
      join passes s on s.id = i.attempt #>> '{credential,passId}'
      where i.status = 'succeeded' and s.revoked_at < i.created
      union all
      select i.attempt #>> '{credential,tokenId}' || ' paid ' || count(*) from payment_intents i
      where i.status = 'succeeded' and i.attempt #>> '{credential,type}' = 'agent_token'
      group by i.attempt #>> '{credential,tokenId}' having count(*) > 1`,
  },
  {
    promise: 'a payment uses a credential of its payer, within the terms of the credential',
    always: true,
    sql: `select p.id || ' by ' || coalesce(i.attempt ->> 'credential', 'nothing') from payments p
      join payment_intents i on i.id = p.payment_intent_id
      left join passes s on s.id = i.attempt #>> '{credential,passId}'
      left join cards c on c.id = i.attempt #>> '{credential,cardId}'
      left join agent_tokens t on t.id = i.attempt #>> '{credential,tokenId}'
      left join payers w on i.attempt #>> '{credential,type}' in ('authorization', 'chip')
        and w.address = i.attempt ->> 'payerAddress' and w.livemode = i.livemode
      where not p.recovered and coalesce(s.payer_id, c.payer_id, t.payer_id, w.id, '') <> p.payer_id
        or t.amount <> p.amount or t.account_id <> p.account_id or t.livemode <> p.livemode
        or t.revoked_at < i.created`,
  },
  {
    // Depends on the clocks of two processes, so it does not hold in runs that step or advance
    // clocks.
    promise: NOT_EXPIRED,
    always: true,
    sql: `select p.id || ' by ' || t.id from payments p
      join payment_intents i on i.id = p.payment_intent_id
      join agent_tokens t on t.id = i.attempt #>> '{credential,tokenId}'
      where t.expires_at < i.created`,
  },
  {
    promise: 'a payment has the account, location and order of its intent, a refund those of both',
    always: true,
    sql: `select p.id || ' differs from ' || i.id from payments p
      join payment_intents i on i.id = p.payment_intent_id
      where (p.account_id, p.livemode, p.terminal_id, p.location_id, p.split_group, p.cashier_id)
        is distinct from
        (i.account_id, i.livemode, i.terminal_id, i.location_id, i.split_group, i.cashier_id)
        or p.order_id <> i.order_id and not i.recovered
      union all
      select r.id || ' differs from ' || p.id from refunds r join payments p on p.id = r.payment_id
      where (r.account_id, r.livemode, r.location_id)
        is distinct from (p.account_id, p.livemode, p.location_id)
      union all
      select i.id || ' is not at a location of its account' from payment_intents i
      left join locations l on l.id = i.location_id and l.account_id = i.account_id
      where i.location_id is not null and l.id is null`,
  },
];

/** SQL for everything that changes a merchant's balance on the contract. */
const ENTRIES = `
  select account_id, livemode, created, amount from payments where not recovered
  union all select account_id, livemode, created, amount from balance_entries`;

const BOOKS: readonly Rule[] = [
  {
    promise: 'the closing balance of a statement is the sum of the entries before it',
    always: true,
    sql: `select c.account_id || ' closed at ' || c.at || ' with ' || c.balance || ', not '
        || coalesce(sum(e.amount), 0)
      from statement_closings c left join (${ENTRIES}) e
        on e.account_id = c.account_id and e.livemode = c.livemode and e.created < c.at
      group by c.account_id, c.livemode, c.at, c.balance
      having c.balance <> coalesce(sum(e.amount), 0)`,
  },
  {
    // A payment that was booked immediately is its own entry, so it has no other one.
    promise: 'the books have one entry for each movement of money',
    sql: `with moved as (
        select id, account_id, livemode, case when recovered then amount else 0 end as amount
        from payments
        union all
        select id, account_id, livemode, case status when 'succeeded' then -amount else 0 end
        from refunds
        union all
        select id, account_id, livemode, case status when 'succeeded' then -amount else 0 end
        from withdrawals
      ), booked as (
        select object_id as id, account_id, livemode, sum(amount) as amount from balance_entries
        where object_id not like 'own\\_%' group by 1, 2, 3
      )
      select id || ' moved ' || coalesce(m.amount::text, 'nothing') || ', booked '
        || coalesce(b.amount, 0)
      from moved m full join booked b using (id, account_id, livemode)
      where m.amount is distinct from coalesce(b.amount, 0)
        and not exists (select from reconciliation_differences d where d.resolved_at is null
          and coalesce(m.id, b.id) in (d.subject, d.details ->> 'payment'))`,
  },
  {
    promise: 'a period is paid out once, by the withdrawal that it names',
    always: true,
    sql: `select w.id || ' pays ' || w.period || ' of ' || count(p.period) || ' periods'
      from withdrawals w left join automatic_payouts p on p.withdrawal_id = w.id
        and p.account_id = w.account_id and p.livemode = w.livemode and p.period = w.period
      where w.period is not null group by w.id, w.period having count(p.period) <> 1
      union all
      select p.period || ' of ' || p.account_id || ' names ' || w.id from automatic_payouts p
      join withdrawals w on w.id = p.withdrawal_id where w.period is null`,
  },
];

const EVENTS: readonly Rule[] = [
  {
    promise: 'each intent has one event of its creation and one of its end',
    always: true,
    sql: `with shown as (
        select object_id, string_agg(type, ' ') as types,
          count(*) filter (where type = 'payment_intent.created') as created,
          count(*) filter (where type = 'payment_intent.succeeded') as succeeded,
          count(*) filter (where type = 'payment_intent.canceled') as canceled,
          count(*) filter (where type = 'payment_intent.processing') as processing
        from events where object_id like 'pi\\_%' group by object_id
      ), asked as (
        select subject_id, count(*) as requests from chain_requests
        -- Recovery inserts a job that is already applied, so there is no processing event.
        where kind = 'payment' and created is distinct from applied_at group by subject_id
      )
      select i.id || ' ' || i.status || ': ' || coalesce(t.types, 'no events')
      from payment_intents i left join shown t on t.object_id = i.id
      left join asked a on a.subject_id = i.id
      where t.created is distinct from 1
        or t.succeeded <> (i.status = 'succeeded')::int
        or t.canceled <> (i.status = 'canceled')::int and not i.recovered
        -- An offline sale may get several jobs, one after the other.
        or t.processing <> coalesce(a.requests, 0) and i.offline is null`,
  },
  {
    promise: 'the status of an offline sale matches its intent',
    always: true,
    sql: `select o.id || ' is ' || o.status || ', its intent ' || coalesce(i.status, 'missing')
      from offline_payments o left join payment_intents i on i.id = o.payment_intent_id
      where o.payment_intent_id is not null and (o.payment_id is distinct from i.payment_id
        or o.status <> case i.status when 'canceled' then 'bounced' else i.status end)`,
  },
  {
    promise: 'an offline sale in progress has a settlement job, or a time for its next try',
    always: true,
    sql: `select o.id || ' waits for nothing' from offline_payments o
      where o.status = 'processing' and o.retry_at is null and not exists (
        select from chain_requests r where r.kind = 'payment'
          and r.subject_id = o.payment_intent_id and r.applied_at is null)`,
  },
  {
    promise: 'each payment has one event of its success and one of its cashback',
    always: true,
    sql: `with shown as (
        select object_id, string_agg(type, ' ') as types,
          count(*) filter (where type = 'payment.succeeded') as succeeded,
          count(*) filter (where type = 'payment.cashback_paid') as cashback,
          count(*) filter (where type = 'payment.refunded') as refunded
        from events where object_id like 'pay\\_%' group by object_id
      ), back as (
        select payment_id, count(*) as refunds from refunds
        where status = 'succeeded' group by payment_id
      )
      select p.id || ': ' || coalesce(t.types, 'no events')
      from payments p left join shown t on t.object_id = p.id
      left join back b on b.payment_id = p.id
      where t.succeeded is distinct from 1
        or t.cashback <> (p.fee_cashback > 0)::int
        or t.refunded <> coalesce(b.refunds, 0)`,
  },
  {
    promise: 'each refund has one event per step',
    always: true,
    sql: `select r.id || ' ' || r.status || ': ' || coalesce(string_agg(e.type, ' '), 'no events')
      from refunds r left join events e on e.object_id = r.id
      group by r.id, r.status
      having count(*) filter (where e.type = 'refund.created') <> 1
        or count(*) filter (where e.type = 'refund.succeeded') <> (r.status = 'succeeded')::int
        or count(*) filter (where e.type = 'refund.failed') <> (r.status = 'failed')::int`,
  },
  {
    promise: 'no event is about an intent, a payment or a refund that its account does not have',
    always: true,
    sql: `with objects as (
        select id, account_id, livemode from payment_intents
        union all select id, account_id, livemode from payments
        union all select id, account_id, livemode from refunds
      )
      select v.id || ' tells of ' || v.object_id from events v
      left join objects o on o.id = v.object_id
        and o.account_id = v.account_id and o.livemode = v.livemode
      where split_part(v.type, '.', 1) in ('payment_intent', 'payment', 'refund')
        and o.id is null`,
  },
  {
    promise: 'an event has at most one delivery per endpoint',
    always: true,
    sql: `select endpoint_id || ' ' || event_id || ' ' || count(*) from (
        select endpoint_id, event_id from webhook_due
        union all select endpoint_id, event_id from webhook_deliveries) d
      group by endpoint_id, event_id having count(*) > 1`,
  },
];

const PLACES: readonly Rule[] = [
  {
    promise: 'positions in the order of an account are unique and in the order of time',
    always: true,
    sql: `select id || ' at ' || position from (
        select id, position, created,
          lag(position) over w as before, max(created) over
            (partition by account_id, livemode order by position
             rows between unbounded preceding and 1 preceding) as latest
        from (${LISTED}) l window w as (partition by account_id, livemode order by position)) o
      where before = position or created < latest`,
  },
  {
    promise: 'no position is above the last one that its account has assigned',
    always: true,
    sql: `select l.id || ' at ' || l.position from (${LISTED}) l
      left join account_modes m on m.account_id = l.account_id and m.livemode = l.livemode
      where m.position is null or l.position > m.position`,
  },
  {
    promise: 'the body of an event has its id, type and position',
    always: true,
    // Searches the text, because parsing every event as JSON every few seconds would be too slow.
    sql: `select id || ' says ' || left(body, 200) from events
      where strpos(body, '"id":"' || id || '",') = 0
        or strpos(body, '"type":"' || type || '",') = 0
        or strpos(body, '"sequence":' || position || ',') = 0`,
  },
];

/**
 * SQL that says what job `r` with transaction `t` is waiting for, so that a report explains itself.
 */
const WAITS_FOR = `
  'booked at ' || r.applied_at, 'tries ' || r.tries, 'next try at ' || r.next_attempt,
  'blocked by ' || r.blocked_by, 'due by ' || r.deadline,
  'transaction ' || t.id || ' at nonce ' || t.nonce || ' is ' || t.status,
  'in block ' || t.block_number, 'waits for ' || t.waits_for, 'valid until ' || t.valid_until,
  (select 'broadcasts ' || count(*) || ', the last at ' || max(a.created)
   from chain_attempts a where a.transaction_id = t.id),
  (select 'alarms ' || string_agg(a.kind || ' ' || a.details, ' ')
   from chain_alarms a where a.subject = r.subject_id and a.resolved_at is null),
  (select 'senders ' || string_agg(concat_ws(' ', s.role, s.sender, 'next nonce', s.next_nonce,
     'held by ' || s.lease_owner || ' until ' || s.lease_until, 'stopped at ' || s.stopped_at),
     '; ' order by s.sender)
   from relayer_senders s
   where s.livemode = r.livemode and s.sender = coalesce(t.sender, s.sender)),
  (select 'workers ' || string_agg(w.owner || ' seen at ' || w.seen_at || ' with '
     || w.funded_senders || ' of ' || w.senders || ' senders' || coalesce(' says '
     || nullif(array_to_string(w.reasons, ' '), ''), ''), '; ')
   from relayer_workers w where w.livemode = r.livemode),
  (select 'recovering' from network_states n where n.livemode = r.livemode and n.recovering)`;

const AT_REST: readonly Rule[] = [
  {
    promise: 'no intent is left in progress',
    sql: `select id || ' is ' || status from payment_intents
      where status in ('processing', 'requires_action')
        or (status = 'requires_payment_method' and expires_at < now() - interval '10 s')`,
  },
  {
    promise: 'every settlement job has a result, which was applied',
    sql: `select concat_ws(', ',
        r.kind || ' ' || r.subject_id || ' is ' || r.status, ${WAITS_FOR})
      from chain_requests r left join chain_transactions t on t.id = r.transaction_id
      where r.status in ('queued', 'submitted')
        or (r.applied_at is null
          and r.kind in ('payment', 'refund', 'withdrawal', 'merchant_registration'))`,
  },
  {
    promise: 'no refund and no withdrawal is left pending',
    sql: `select id || ' is pending' from refunds where status = 'pending'
      union all select id || ' is pending' from withdrawals where status = 'pending'`,
  },
  {
    promise: 'a refund or a withdrawal has succeeded exactly when the chain has paid it, once',
    sql: `with transfers as (
        select 'refund' as kind, id, status, amount from refunds where not recovered
        union all
        select 'withdrawal', id, status, amount from withdrawals where not recovered
      )
      select t.id || ' is ' || t.status || ' with ' || count(r.id) || ' on the chain'
      from transfers t left join chain_requests r
        on r.kind = t.kind and r.subject_id = t.id and r.status = 'succeeded'
      group by t.id, t.status, t.amount
      having count(r.id) <> (t.status = 'succeeded')::int
        or bool_or((r.payload ->> 'amount')::bigint <> t.amount)`,
  },
  {
    promise: 'no idempotency key is left in progress',
    sql: `select path || ' ' || key from idempotency_keys where status = 'in_progress'`,
  },
  {
    promise: 'no delivery to a working endpoint is left pending',
    sql: `select d.endpoint_id || ' waits for ' || d.event_type || ' ' || d.id from webhook_due d
      join webhook_endpoints e on e.id = d.endpoint_id where e.status = 'enabled'`,
  },
  {
    promise: 'the watchtower reports none of our own transactions',
    sql: `select 'found ' || kind || ' ' || tx_hash from watch_findings
      union all select step || ' for ' || reason from watch_steps`,
  },
  {
    promise: 'no alarm about money was raised',
    sql: `select kind || ' ' || subject || ' ' || details from chain_alarms
      where kind in ('number_taken', 'payment_missing', 'request_invalid', 'nonce_foreign',
        'foreign_settlement', 'order_id_taken', 'paid_after_failure', 'outcome_unreadable',
        'outcome_unfit', 'request_stuck')
        and not (kind = 'foreign_settlement' and subject = any($1))`,
    values: ({ unbookable = [] }) => [Array.from(unbookable, (number) => `payment ${number}`)],
  },
];

const RULES: readonly Rule[] = [...MONEY, ...BOOKS, ...EVENTS, ...PLACES, ...AT_REST];

async function selectViolations(ledger: Ledger, { promise, sql, values }: Rule) {
  const rows = await ledger.db.query<{ wrong: string }>(
    `select wrong from (${sql}) as broken (wrong)`,
    values?.(ledger) ?? [],
  );
  const isExcused = (wrong: string) => ledger.except?.test(`${promise}: ${wrong}`) === true;
  // Limits the rows only after the filter. Otherwise, excused violations could hide others.
  return rows.flatMap(({ wrong }) => (isExcused(wrong) ? [] : [wrong])).slice(0, SHOWN);
}

export const LEDGER_INVARIANTS: readonly Invariant<Ledger>[] = RULES.map((rule) => ({
  ...rule,
  check: (ledger) => selectViolations(ledger, rule),
}));
