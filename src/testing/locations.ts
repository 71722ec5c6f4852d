import assert from 'node:assert/strict';
import { createLocation, type LocationEdit } from '#accounts/locations.ts';
import { isRefusal } from '#core/answer.ts';
import { editTerminal } from '#terminals/change-terminal.ts';
import type { TestStore } from '#testing/store.ts';

const actor = { type: 'system', name: 'test' } as const;

/**
 * Adds a location to the store's account.
 * @returns its id
 */
export async function addLocation(
  { db, merchant, clock }: TestStore,
  location: LocationEdit & { readonly name: string },
): Promise<string> {
  const ref = { accountId: merchant.tenant.accountId, actor, now: clock.now() };
  const made = await db.transaction((tx) => createLocation(tx, ref, location));
  assert.ok(!isRefusal(made), JSON.stringify(made));
  return made.id;
}

/** Moves a terminal (default: the store's) to a location, or away from all locations. */
export async function moveTerminal(
  { db, merchant, terminalId, clock }: TestStore,
  location: string | null,
  id = terminalId,
): Promise<void> {
  const ref = { tenant: merchant.tenant, id, actor, now: clock.now() };
  const moved = await db.transaction((tx) => editTerminal(tx, ref, { version: null, location }));
  assert.ok(!isRefusal(moved), 'the terminal was not moved');
}
