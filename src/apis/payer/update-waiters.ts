import { type Refusal, refuse } from '#core/answer.ts';

/**
 * Requests of one wallet that wait at the same time in a process. All windows of a browser share
 * one, so this is enough for sixteen devices.
 */
export const MAX_WAITING_OF_WALLET = 16;
/**
 * Requests that wait at the same time in a process. So many take 390 MB and half a core
 * (`wallets` in bench/README.md); more would slow down the tills.
 */
const MAX_WAITING = 10_000;

/** Counts the requests that wait, in this process. */
export function createWaiters(most = MAX_WAITING) {
  const ofWallets = new Map<string, number>();
  let all = 0;
  return {
    /** Takes a place. @returns a function that frees it, or a refusal if there are too many. */
    take: (payerId: string): (() => void) | Refusal => {
      const mine = ofWallets.get(payerId) ?? 0;
      if (mine >= MAX_WAITING_OF_WALLET) return tooMany();
      if (all >= most) return full();
      ofWallets.set(payerId, mine + 1);
      all++;
      return () => {
        const left = (ofWallets.get(payerId) ?? 1) - 1;
        if (left === 0) ofWallets.delete(payerId);
        else ofWallets.set(payerId, left);
        all--;
      };
    },
  };
}

function tooMany(): Refusal {
  const message = `This wallet has ${MAX_WAITING_OF_WALLET} waiting requests. Close a window.`;
  return { ...refuse('rate_limit_exceeded', message), headers: { 'Retry-After': '5' } };
}

function full(): Refusal {
  const message = 'Too many wallets are waiting. Ask again in a few seconds.';
  return { ...refuse('service_unavailable', message), headers: { 'Retry-After': '5' } };
}
