import { useSyncExternalStore } from 'react';
import type { PaymentResult } from '../data/payer-api.ts';

/** Results that this window has not shown yet, oldest first. */
let results: readonly PaymentResult[] = [];
const listeners = new Set<() => void>();

function change(next: readonly PaymentResult[]): void {
  results = next;
  for (const listener of listeners) listener();
}

/** A payment that was declined and then paid counts as paid. */
export function addResults(more: readonly PaymentResult[]): void {
  if (more.length === 0) return;
  const newest = new Map([...results, ...more].map((one) => [one.payment_intent, one]));
  change([...newest.values()]);
}

/** Goes on to the next result, when the user has seen this one. */
export function closeResult(): void {
  change(results.slice(1));
}

/** For another wallet, or another network. */
export function dropResults(): void {
  change([]);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the result that fills the screen now; `null` if none does. */
export function useResult(): PaymentResult | null {
  return useSyncExternalStore(subscribe, () => results[0] ?? null);
}
