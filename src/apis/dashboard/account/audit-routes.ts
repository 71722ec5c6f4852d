import Type from 'typebox';
import { AuditEntrySchema } from '#apis/dashboard/account/account-schema.ts';
import { ACCOUNT, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { type AuditRow, selectNewest } from '#audit/audit-queries.ts';
import { type Answer, isRefusal, type Refusal } from '#core/answer.ts';
import { isId } from '#core/ids.ts';
import type { Sql } from '#db/database.ts';
import { answerPage, readPage } from '#http/cursors.ts';
import { listOf, pageParameters, text } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectPersonNames } from '#people/user-queries.ts';

export const AuditQuery = Type.Object({
  ...pageParameters,
  object: Type.Optional(text(100, 'Only changes of this object.', 1)),
});

/** Returns the people whose ids are the entry's object or values. */
function peopleIn({ object_id, before, after }: AuditRow): string[] {
  const values = [object_id, ...Object.values(before ?? {}), ...Object.values(after ?? {})];
  const ids = values.filter((value) => typeof value === 'string');
  return [...new Set(ids)].filter((id) => isId('user', id) || isId('staff', id));
}

function entryView(row: AuditRow, names: ReadonlyMap<string, string>) {
  const { previous_hash: _before, hash, chain: _chain, sequence, ...rest } = row;
  const people = peopleIn(row).map((id) => ({ id, name: names.get(id) ?? '' }));
  return { sequence: Number(sequence), ...rest, people, hash: hash.toString('hex') };
}

export async function answerAudit(
  sql: Sql,
  input: {
    readonly auditLog: string;
    readonly query: Type.Static<typeof AuditQuery>;
    readonly cursorKey: Buffer;
  },
): Promise<Answer | Refusal> {
  const { auditLog, query, cursorKey } = input;
  const tenant = { accountId: auditLog, livemode: false };
  const pagination = { list: 'audit_log', tenant, query, cursorKey };
  const page = readPage(pagination, query);
  if (isRefusal(page)) return page;
  const rows = await selectNewest(sql, {
    auditLog,
    before: page.after?.position ?? null,
    objectId: query.object ?? null,
    limit: page.limit + 1,
  });
  const names = await selectPersonNames(sql, rows.flatMap(peopleIn));
  const placed = rows.map((row) => ({ ...row, position: row.sequence }));
  return answerPage(pagination, page, placed, ({ position: _position, ...row }) =>
    entryView(row, names),
  );
}

export function auditRoutes({ db, keys: { cursor: cursorKey } }: ApiContext): PersonRoute[] {
  return [
    personRoute<typeof AuditQuery>({
      method: 'GET',
      path: `${ACCOUNT}/audit_log`,
      operationId: 'listAuditLog',
      moves: 'nothing',
      tag: 'Audit log',
      summary: 'List the audit log, newest entry first',
      access: 'admin',
      query: AuditQuery,
      response: listOf(AuditEntrySchema),
      errors: ['cursor_invalid'],
      handle: async ({ caller, query }) =>
        answerAudit(db, { auditLog: caller.tenant.accountId, query, cursorKey }),
    }),
  ];
}
