import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { MERCHANT_OF_INTENT } from '#payments/intent-queries.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export interface PayTerms {
  readonly salt: Hex;
  /** Unix seconds. */
  readonly valid_before: number;
  /** Basis points. */
  readonly acquirer: number;
  readonly protocol: number;
  readonly cashback: number;
}

/** The data of a pay link, without its intent. */
export interface PayLinkRow {
  merchant_name: string;
  merchant_number: bigint | null;
  account_status: 'active' | 'disabled';
  kyb_status: string;
  terminal_status: 'active' | 'inactive';
  /** The terms, oldest first. Empty until the link is first opened. */
  terms: readonly PayTerms[];
  /** Number of responses to authorizations by the requesting wallet. */
  answers: number;
  /** The fees of the intent's payment, in atoms; `null` until it is paid. */
  fees: Readonly<Record<'acquirer' | 'protocol' | 'cashback', number>> | null;
}

/** `address` is the requesting wallet, checksummed; `null` if unknown. */
export async function selectPayLink(
  sql: Sql,
  { intentId, address }: { readonly intentId: string; readonly address: Hex | null },
): Promise<PayLinkRow | undefined> {
  const rows = await sql.query<PayLinkRow>(
    `select a.name as merchant_name, ${MERCHANT_OF_INTENT} as merchant_number,
       a.status as account_status, a.kyb_status, t.status as terminal_status,
       coalesce(l.terms, '[]') as terms, coalesce(w.answers, 0) as answers,
       case when p.id is not null then jsonb_build_object('acquirer', p.fee_acquirer,
         'protocol', p.fee_protocol, 'cashback', p.fee_cashback) end as fees
     from payment_intents i
     join accounts a on a.id = i.account_id
     join terminals t on t.id = i.terminal_id
     left join payments p on p.id = i.payment_id
     left join pay_links l on l.payment_intent_id = i.id
     left join pay_link_answers w on w.payment_intent_id = i.id and w.address = $2
     where i.id = $1`,
    [intentId, address],
  );
  return rows[0];
}

/** Number of latest terms that are stored, because wallets may still be signing older ones. */
const KEPT_TERMS = 4;

/** Adds terms, unless other terms were added after `seen` was read. @returns the stored terms. */
export async function addPayTerms(
  sql: Sql,
  made: {
    readonly intentId: string;
    readonly seen: readonly PayTerms[];
    readonly added: PayTerms;
  },
): Promise<readonly PayTerms[]> {
  const next = [...made.seen, made.added].slice(-KEPT_TERMS);
  const written = await sql.query<{ terms: PayTerms[] }>(
    `insert into pay_links as l (payment_intent_id, terms) values ($1, $2::text::jsonb)
     on conflict (payment_intent_id) do update set terms = excluded.terms
     where l.terms = $3::text::jsonb
     returning terms`,
    [made.intentId, JSON.stringify(next), JSON.stringify(made.seen)],
  );
  const rows =
    written.length > 0
      ? written
      : await sql.query<{ terms: PayTerms[] }>(
          'select terms from pay_links where payment_intent_id = $1',
          [made.intentId],
        );
  return only(rows, 'pay link').terms;
}

/** Counts authorizations that got a response. The wallet then has to sign different terms. */
export async function countPayLinkAnswers(
  tx: Tx,
  answered: readonly { readonly intentId: string; readonly address: Hex }[],
): Promise<void> {
  await tx.query(
    `insert into pay_link_answers as w (payment_intent_id, address, answers)
     select i.intent_id, i.address, count(*)
     from unnest($1::text[], $2::text[]) as i (intent_id, address)
     group by 1, 2 order by 1, 2
     on conflict (payment_intent_id, address) do update set answers = w.answers + excluded.answers`,
    [answered.map(({ intentId }) => intentId), answered.map(({ address }) => address)],
  );
}

/** Maximum number of invalid signatures per link and minute (behavior.md 19.3). */
const MAX_FAILURES = 10;

/** Counts an invalid signature, by the database's clock. @returns true if there were too many. */
export async function countSignatureFailure(sql: Sql, intentId: string): Promise<boolean> {
  const rows = await sql.query<{ failures: number }>(
    `insert into pay_links as l (payment_intent_id, failures) values ($1, array[now()])
     on conflict (payment_intent_id) do update set failures = array(
       select at from unnest(l.failures) at where at > now() - interval '1 minute' and at <= now()
       order by at desc limit $2) || now()
     returning cardinality(failures) as failures`,
    [intentId, MAX_FAILURES],
  );
  return only(rows, 'pay link').failures > MAX_FAILURES;
}
