import Type from 'typebox';
import { personRoute } from '#apis/dashboard/person-route.ts';
import { NETWORK_AUDIT_LOG } from '#audit/audit.ts';
import { verifyStretch } from '#audit/verify-audit-log.ts';
import { answerWith } from '#core/answer.ts';
import { idOf, nullable, objectType } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';

const Query = Type.Object({
  account: Type.Optional(idOf('acct_', 'account')),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Continue after this entry: `verified_to` of the previous response.',
    }),
  ),
});

const Verification = Type.Object(
  {
    object: objectType('audit_verification'),
    intact: Type.Boolean({
      description: 'True if each entry that was read matches the one before it.',
    }),
    verified_to: Type.Integer({ description: 'The last entry that matches.' }),
    hash: Type.String({ description: 'Its hash. Compare it with a recorded one.' }),
    broken_at: nullable(Type.Integer({ description: 'The first entry that does not match.' })),
    reason: nullable(Type.String({ description: 'The kind of mismatch.' })),
    has_more: Type.Boolean({ description: 'More entries follow: ask again with `after`.' }),
  },
  { description: 'The result of checking the entries that were read.' },
);

export function auditVerificationRoute({ db }: ApiContext) {
  return personRoute<typeof Query>({
    method: 'GET',
    path: '/audit_log/verification',
    operationId: 'verifyAuditLog',
    moves: 'nothing',
    tag: 'Network',
    summary: "Verify that the network's audit log, or an account's, is unchanged",
    description:
      'Recomputes the hashes of up to 1,000 entries. A log whose newest entries were removed ' +
      'still verifies: compare the hash of its newest entry with one that was stored elsewhere.',
    access: 'operator',
    query: Query,
    response: Verification,
    handle: async ({ query }) => {
      const { account, after = 0 } = query;
      const auditLog = account ?? NETWORK_AUDIT_LOG;
      const { head, broken, hasMore } = await verifyStretch(db, { auditLog, after: BigInt(after) });
      return answerWith(200, {
        object: 'audit_verification',
        intact: broken === null,
        verified_to: Number(head.sequence),
        hash: head.hash.toString('hex'),
        broken_at: broken === null ? null : Number(broken.at),
        reason: broken?.reason ?? null,
        has_more: hasMore,
      });
    },
  });
}
