import assert from 'node:assert/strict';
import type { Body, Caller, Reply } from '#testkit/apis/api-client.ts';
import { addPayer, type TestStore } from '#testkit/fixtures/payments/store.ts';

/** A credential as a terminal sends it. */
export interface Presented {
  readonly type: string;
  readonly value: unknown;
}

/** Taps a credential at a terminal, or a pass by the value on its chip. */
export function tap(
  terminal: Caller,
  intentId: unknown,
  credential: string | Presented,
  { key, tip }: { readonly key?: string | undefined; readonly tip?: number } = {},
): Promise<Reply> {
  const presented =
    typeof credential === 'string' ? { type: 'nfc_id', value: credential } : credential;
  const body = { credential: presented, ...(tip === undefined ? {} : { tip_amount: tip }) };
  return terminal.post(`/payment_intents/${intentId}/tap`, body, key);
}

/** Sells at a terminal to a new payer. @returns the paid intent */
export async function sellAt(
  store: TestStore,
  terminal: Caller,
  sale: object,
  tip?: number,
): Promise<Body> {
  const { pass } = await addPayer(store);
  const created = await terminal.post('/payment_intents', sale);
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const paid = await tap(terminal, created.body.id, pass, tip === undefined ? {} : { tip });
  assert.equal(paid.body.status, 'succeeded', JSON.stringify(paid.body));
  return paid.body;
}
