import Type from 'typebox';
import { Timestamp } from '#http/schema.ts';
import type { BlockedRow } from '#settlement/blocked-request-queries.ts';

export const Waiting = Type.Object(
  {
    message: Type.String({ description: 'The reason that USDC or the settlement contract gives.' }),
    since: Timestamp,
  },
  { description: 'The reason why the transfer waits; `null` if it does not wait.' },
);

export function waitingOf(blocked: BlockedRow | undefined) {
  if (blocked === undefined) return null;
  return { message: blocked.blocked_by, since: blocked.blocked_since.toISOString() };
}
