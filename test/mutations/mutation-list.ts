import type { Mutation } from './mutation.ts';

/** Mistakes that somebody could really make, each named after what goes wrong. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a token held by an intent that waits for its payer counts as free',
    file: 'src/payments/pay-batch.ts',
    from: "  if (after.status !== 'processing' && after.status !== 'requires_action') return;",
    to: "  if (after.status !== 'processing') return;",
  },
  {
    name: 'what the batch itself has under way is not counted',
    file: 'src/payments/pay-batch.ts',
    from: '    under_way: activity.under_way + atoms,',
    to: '    under_way: activity.under_way,',
  },
  {
    name: "another account's intent can be paid",
    file: 'src/payments/pay-batch.ts',
    from: ' || tenantKey(intent.tenant) !== tenantKey(standing.tenant)',
    to: '',
  },
  {
    name: "another terminal's intent can be tapped",
    file: 'src/payments/pay-batch.ts',
    from: '  return terminalId === undefined || intent.terminalId === terminalId ? intent : null;',
    to: '  return intent;',
  },
  {
    name: 'a payment goes ahead though the chain was not asked',
    file: 'src/payments/pay-batch.ts',
    from: '  if (preflight === null) return serviceUnavailable();',
    to: "  if (preflight === null) return { type: 'decline', decline: 'pass_unknown' };",
  },
  {
    name: 'a blocked payer pays',
    file: 'src/payments/assess.ts',
    from: "  if (payer.blocked_at !== null) return { kind: 'decline', decline: 'risk_blocked' };\n",
    to: '',
  },
  {
    name: "the payer's limit per payment is off by one atom",
    file: 'src/payments/assess.ts',
    from: 'intent.amount > perPayment',
    to: 'intent.amount >= perPayment',
  },
  {
    name: 'what is on its way does not count against the limit of the day',
    file: 'src/payments/assess.ts',
    from: 'activity.settled_today + activity.under_way + intent.amount',
    to: 'activity.settled_today + intent.amount',
  },
  {
    name: "the chain's refusal is ignored",
    file: 'src/payments/assess.ts',
    from: "  if (!preflight.ok) return { kind: 'decline', decline: preflight.decline };\n",
    to: '',
  },
  {
    name: 'the refund window is not asked',
    file: 'src/refunds/create.ts',
    from: '  if (failure !== null) {',
    to: "  if (failure !== null && failure !== 'refund_window_expired') {",
  },
  {
    name: 'the daily refund limit is not asked',
    file: 'src/refunds/create.ts',
    from: '      refundedToday: await selectRefundedSince(tx, tenant, startOfUtcDay(now)),',
    to: '      refundedToday: 0n,',
  },
  {
    name: 'a refund reserves nothing',
    file: 'src/refunds/create.ts',
    from: '  await reserve(tx, pending.paymentId, pending.amount);\n',
    to: '',
  },
  {
    name: 'a settled payment of another payer answers the request',
    file: 'src/settlement/facts.ts',
    from: '    sameAddress(event.payer, payment.payer) &&\n',
    to: '',
  },
  {
    name: 'a settled payment of another amount answers the request',
    file: 'src/settlement/facts.ts',
    from: '    event.amount === payment.amount &&\n',
    to: '',
  },
  {
    name: 'a withdrawal of another merchant answers the request',
    file: 'src/settlement/facts.ts',
    from: '        event.merchantNumber === BigInt(merchantNumber) &&\n',
    to: '',
  },
  {
    name: 'a withdrawal to another wallet answers the request',
    file: 'src/settlement/facts.ts',
    from: '        sameAddress(event.wallet, wallet) &&\n        event.number',
    to: '        event.number',
  },
  {
    name: 'a withdrawal of another number answers the request',
    file: 'src/settlement/facts.ts',
    from: '        event.number === numberOf(request) &&\n',
    to: '',
  },
  {
    name: 'a block that left the chain is marked final',
    file: 'src/settlement/finality.ts',
    from: ' && !goneHashes.has(row.block_hash)',
    to: '',
  },
  {
    name: 'blocks that left the chain are not noticed',
    file: 'src/settlement/finality.ts',
    from: '  if (gone.length > 0) await resend(relayer, head, gone);\n',
    to: '',
  },
  {
    name: 'outcomes are written without holding the lanes',
    file: 'src/settlement/finish.ts',
    from: '    await holdLanes(tx, relayer, [...new Set(resolutions.map((one) => one.lane))]);\n',
    to: '',
  },
  {
    name: 'what is owed is not sent again',
    file: 'src/settlement/finish.ts',
    from: '    else if (isStillOwed({ kind: before.kind, owed }, one.result)) again.push(one);\n',
    to: '',
  },
  {
    name: 'an applied outcome is rewritten',
    file: 'src/settlement/outcome-queries.ts',
    from: 'where id = $1 and applied_at is null and status',
    to: 'where id = $1 and status',
  },
  {
    name: 'an outcome is written to a request of another transaction',
    file: 'src/settlement/outcome-queries.ts',
    from: '\n       and r.transaction_id is not distinct from i.transaction_id',
    to: '',
  },
  {
    name: 'a request is queued again out of another transaction',
    file: 'src/settlement/outcome-queries.ts',
    from: ' and r.transaction_id = i.transaction_id',
    to: '',
  },
  {
    name: 'an older fence still works a lane',
    file: 'src/settlement/lane-queries.ts',
    from: ' and fence = $4 for update',
    to: ' and $4::bigint is not null for update',
  },
  {
    name: 'a withdrawal ignores pending refunds',
    file: 'src/accounts/withdrawal-queries.ts',
    from: `
       + coalesce((select sum(amount) from refunds
         where account_id = $1 and livemode = $2 and status = 'pending'), 0)::bigint`,
    to: '',
  },
  {
    name: 'a withdrawal ignores pending withdrawals',
    file: 'src/accounts/withdraw.ts',
    from: ' - (await selectSpokenFor(tx, tenant))',
    to: '',
  },
  {
    name: 'two withdrawals count on one balance at once',
    file: 'src/accounts/withdraw.ts',
    from: "  present(await lockAccount(tx, tenant.accountId), 'account');\n",
    to: '',
  },
  {
    name: 'a key that has expired still replays',
    file: 'src/idempotency/queries.ts',
    from: ' and expires_at > $5`',
    to: ' and $5::timestamptz is not null`',
  },
  {
    name: 'a key that has expired cannot be claimed',
    file: 'src/idempotency/queries.ts',
    from: '     where k.expires_at <= excluded.created\n',
    to: '     where false\n',
  },
  {
    name: 'another body gets the stored response',
    file: 'src/idempotency/run-once.ts',
    from: '  if (!row.fingerprint.equals(fingerprint)) return keyReused();\n',
    to: '',
  },
  {
    name: 'a refusal that frees the key is stored',
    file: 'src/idempotency/run-once.ts',
    from: '(request === null || freesKey(result.code))',
    to: '(request === null)',
  },
  {
    name: 'kyb_required frees the key',
    file: 'src/idempotency/request.ts',
    from: "  if (status === 403) return code !== 'kyb_required';",
    to: '  if (status === 403) return true;',
  },
  {
    name: 'a second response overwrites the first',
    file: 'src/idempotency/queries.ts',
    from: `       response_body = $7
     where account_id = $1 and livemode = $2 and caller = $3 and key = $4
       and status = 'in_progress'`,
    to: `       response_body = $7
     where account_id = $1 and livemode = $2 and caller = $3 and key = $4`,
  },
];
