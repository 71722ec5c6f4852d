import type { Mutation } from './mutation.ts';

const WAYS = 'test/faults/ways.slow.test.ts';

/** Bugs that the table of ways to pay must detect: see `test/faults/ways-kills.ts`. */
export const WAY_MUTATIONS: readonly Mutation[] = [
  {
    name: 'a payment of the lost period is not booked',
    file: 'src/recovery/book-payments.ts',
    by: WAYS,
    from: '  if (requestId === null) return {',
    to: "  if (requestId === null) return { kind: 'leave' };\n  if (requestId === null) return {",
  },
  {
    name: 'a loss ends no credentials that may have been used',
    file: 'src/recovery/recover.ts',
    by: WAYS,
    from: '  if (run.loss_shown) await giveUp(deps, run);\n',
    to: '',
  },
  {
    name: 'codes of the lost period still pay',
    file: 'src/recovery/end-credentials.ts',
    by: 'src/recovery/end-credentials.test.ts',
    from: 'where p.id = c.pass_id and y.id = p.payer_id and y.livemode = $1',
    to: 'where false and p.id = c.pass_id and y.id = p.payer_id and y.livemode = $1',
  },
  {
    name: 'phone taps of the lost period still pay',
    file: 'src/recovery/end-credentials.ts',
    by: WAYS,
    from: 'where p.id = f.pass_id and y.id = p.payer_id and y.livemode = $1',
    to: 'where false and p.id = f.pass_id and y.id = p.payer_id and y.livemode = $1',
  },
  {
    name: 'agent tokens of the lost period still pay',
    file: 'src/recovery/end-credentials.ts',
    by: WAYS,
    from: 'update agent_tokens set revoked_at = $3',
    to: 'update agent_tokens set revoked_at = null',
  },
  {
    name: 'a recovery is never taken over from a worker that died',
    file: 'src/settlement/network-recovery-queries.ts',
    by: WAYS,
    from: '(lease_owner is null or lease_owner = $2 or lease_until < now())',
    to: '(lease_owner is null or lease_owner = $2)',
  },
  {
    name: 'foreign settlements are booked as after a loss',
    file: 'src/settlement/network-recovery-queries.ts',
    by: 'src/settlement/reconciliation/reconcile-once.test.ts',
    from: "bool_or(f.decision is distinct from 'accepted')",
    to: "bool_or(f.decision = 'refused')",
  },
  {
    name: 'a sender is never taken over from a worker that died',
    file: 'src/settlement/relayer/jobs/sender-queries.ts',
    by: WAYS,
    from: '(lease_owner is null or lease_until < now() or lease_owner = $2)',
    to: '(lease_owner is null or lease_owner = $2)',
  },
  {
    name: 'a signature pays for anything',
    file: 'src/payments/verify-authorization.ts',
    by: WAYS,
    from: "  if (verdict.status === 'invalid') return signatureFailed(db, link.intent.id);",
    to:
      "  if (verdict.status === 'invalid') " +
      "return { terms: present(newestFirst[0], 'terms of a signature'), signature, deployment };",
  },
  {
    name: 'a code pays as often as it is shown',
    file: 'src/payments/credentials/qr.ts',
    by: WAYS,
    from: "    if (code.used_at !== null) return { decline: 'pass_code_used', after: state };\n",
    to: '',
  },
  {
    name: 'a tap of a card pays as often as it is sent',
    file: 'src/payments/credentials/nfc-sun.ts',
    by: WAYS,
    from: 'tap !== null && tap.counter > card.counter && ',
    to: 'tap !== null && ',
  },
  {
    name: 'a tap of a phone pays as often as it is sent',
    file: 'src/payments/credentials/phone-pass.ts',
    by: WAYS,
    from: 'if (isUsed || !isTimely(tap, phone.doubtedAt, now)) {',
    to: 'if (!isTimely(tap, phone.doubtedAt, now)) {',
  },
  {
    name: 'a rotating code pays as often as it is shown',
    file: 'src/payers/check-rotating-code.ts',
    by: 'src/apis/payer/rotating-codes.test.ts',
    from: "if (step <= Number(row.last_step)) return { decline: 'pass_code_used', after: row };",
    to: '',
  },
  {
    name: 'rotating codes of the lost period still pay',
    file: 'src/payers/check-rotating-code.ts',
    by: 'src/apis/payer/rotating-codes.test.ts',
    from: "if (step <= Number(row.lost_step)) return { decline: 'pass_code_expired', after: row };",
    to: '',
  },
  {
    name: 'a spent token pays again',
    file: 'src/payments/credentials/agent-token.ts',
    by: WAYS,
    from: 'usedBy?.id !== intent.id && isTokenTaken(token.id, usedBy, now)',
    to: 'false',
  },
  {
    name: 'a signature of x402 buys a second thing',
    file: 'x402/src/sale-intent.ts',
    by: WAYS,
    from: 'metadata.x402_requirements === requirementsHashOf(sale) &&',
    to: '',
  },
];
