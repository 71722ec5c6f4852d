import Type from 'typebox';
import { Timestamp } from '#http/schema.ts';
import type { BlockedRow } from '#settlement/blocked-requests.ts';

export const Waiting = Type.Object(
  {
    message: Type.String({ description: 'What USDC or the settlement contract says.' }),
    since: Timestamp,
  },
  { description: 'Why the transfer waits; null: it does not wait.' },
);

export function waitingOf(blocked: BlockedRow | undefined) {
  if (blocked === undefined) return null;
  return { message: blocked.blocked_by, since: blocked.blocked_since.toISOString() };
}
