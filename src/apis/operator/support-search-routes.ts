import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import { IntentPresentment } from '#apis/merchant/presentment-schema.ts';
import type { OperatorParts } from '#apis/operator/operator-dependencies.ts';
import { type OperatorPayerRow, searchPayers } from '#apis/operator/operator-queries.ts';
import {
  type NamedAccountRow,
  SHOWN,
  selectAccountIds,
  selectIntentsById,
  selectIntentsByOrder,
  selectIntentsByReceipt,
  selectIntentsByTransaction,
  selectIntentsOfPayer,
  selectNamedAccounts,
} from '#apis/operator/support-search-queries.ts';
import { answerWith } from '#core/answer.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Sql } from '#db/database.ts';
import { AtomsOut, nullable, oneOf, Timestamp, text, textOut } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { paidNow, renderPrice } from '#payments/paid-quote.ts';
import { asOf, attemptOf } from '#payments/payment-intent.ts';

export const FoundSchema = Type.Object({
  cell: nullable(Type.Integer({ description: 'The cell of the result; `null` for this one.' })),
  console_url: nullable(textOut('The console of that cell; `null` for this one.')),
  kind: oneOf(['payment_intent', 'account', 'payer'] as const, 'The kind of result.'),
  id: textOut('The id of the result.'),
  account: nullable(textOut('The account that it belongs to; `null` for a payer.')),
  account_name: nullable(textOut('The name of that account.')),
  mode: nullable(oneOf(['test', 'live'] as const, 'The mode; `null` for an account.')),
  status: textOut('Its status: of an intent, of an account; of a payer, active or blocked.'),
  amount: nullable(AtomsOut),
  paid: nullable({
    ...AtomsOut,
    description: 'What left the payer’s wallet, or would now; `null` while unknown.',
  }),
  presentment: IntentPresentment,
  order_id: nullable(textOut('The order id of an intent.')),
  created: Timestamp,
});

const SearchQuery = Type.Object({
  text: text(
    254,
    'An id, an order id, a transaction, a wallet, a receipt number or an email address, in full.',
    1,
  ),
});

/**
 * Finds the intents that a text may identify. If the text has several possible formats, searches
 * for each.
 */
async function intentsMeant(sql: Sql, text: string, payers: readonly OperatorPayerRow[]) {
  if (/^0x[0-9a-f]{64}$/i.test(text)) {
    return selectIntentsByTransaction(sql, text.toLowerCase());
  }
  if (payers.length > 0) {
    return (await Promise.all(payers.map(({ id }) => selectIntentsOfPayer(sql, id)))).flat();
  }
  if (/^(pi|pay|re)_/.test(text)) return selectIntentsById(sql, text);
  const [ofOrder, ofReceipt] = await Promise.all([
    /^[A-Za-z0-9_-]{1,8}$/.test(text) ? selectIntentsByOrder(sql, text) : [],
    /^[2-9A-Za-z]{5}-[1-9]\d*$/.test(text) ? selectIntentsByReceipt(sql, text.toUpperCase()) : [],
  ]);
  return [...ofOrder, ...ofReceipt];
}

function modeOf(livemode: boolean): 'test' | 'live' {
  return livemode ? 'live' : 'test';
}

const NO_SUMS = { amount: null, paid: null, presentment: null };

function intentFound(intent: PaymentIntent, accounts: ReadonlyMap<string, NamedAccountRow>) {
  const { account_id: account, livemode, status, order_id, created } = intent;
  const paid = paidNow(intent, attemptOf(intent)?.tip ?? 0n);
  return {
    kind: 'payment_intent',
    id: intent.id,
    account,
    account_name: accounts.get(account)?.name ?? null,
    mode: modeOf(livemode),
    status,
    amount: toJsonAtoms(intent.amount),
    paid: paid === null ? null : toJsonAtoms(paid),
    presentment: renderPrice(intent),
    order_id,
    created,
  };
}

function accountFound({ id, name, status, created }: NamedAccountRow) {
  const none = { mode: null, order_id: null, ...NO_SUMS };
  return { kind: 'account', id, account: id, account_name: name, status, created, ...none };
}

function payerFound({ id, livemode, blocked_at: blocked, created }: OperatorPayerRow) {
  const none = { account: null, account_name: null, order_id: null, ...NO_SUMS };
  const status = blocked === null ? 'active' : 'blocked';
  return { kind: 'payer', id, mode: modeOf(livemode), status, created, ...none };
}

/** Searches this cell alone. */
export async function search(sql: Sql, text: string, now: Date): Promise<object[]> {
  const payers = await searchPayers(sql, text);
  const [intentIds, accountIds] = await Promise.all([
    intentsMeant(sql, text, payers),
    selectAccountIds(sql, text),
  ]);
  const intents = (await selectIntents(sql, [...new Set(intentIds)]))
    .map((intent) => asOf(intent, now))
    .sort((a, b) => b.created.getTime() - a.created.getTime())
    .slice(0, SHOWN);
  const owners = intents.map((intent) => intent.account_id);
  const accounts = await selectNamedAccounts(sql, [...owners, ...accountIds]);
  const named = new Map(accounts.map((one) => [one.id, one]));
  const results = [
    ...payers.map(payerFound),
    ...accounts.filter(({ id }) => accountIds.includes(id)).map(accountFound),
    ...intents.map((intent) => intentFound(intent, named)),
  ];
  return results.map((one) => ({ cell: null, console_url: null, ...one }));
}

/**
 * Returns the route that searches for anything that a caller on the phone may know about a payment.
 */
export function supportSearchRoute({ db }: ApiContext, { cells }: OperatorParts): PersonRoute {
  return personRoute<typeof SearchQuery>({
    method: 'GET',
    path: '/search',
    operationId: 'searchNetwork',
    moves: 'nothing',
    tag: 'Support',
    summary: 'Find payments, accounts and payers of both modes by any of their identifiers',
    description:
      'By id, order id, transaction, wallet, receipt number, or the email address of one ' +
      'of an account’s people. Exact matches only. Reading the payment itself needs a reason. A ' +
      'network of several cells searches all of them.',
    access: 'operator',
    records: 'network.searched',
    query: SearchQuery,
    response: listed(FoundSchema, 'The results, the newest payments first.'),
    handle: async ({ query, now }) => {
      const text = query.text.trim();
      const [own, others] = await Promise.all([search(db, text, now), cells?.search(text)]);
      return answerWith(200, { object: 'list', data: [...own, ...(others ?? [])] });
    },
  });
}
