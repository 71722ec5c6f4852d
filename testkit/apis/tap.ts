import type { Caller, Reply } from '#testkit/apis/api-client.ts';

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
