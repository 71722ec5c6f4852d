import { SECOND_MS } from '#core/durations.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { finalityOf } from '#settlement/chain/read/final-block.ts';
import type { ChainPlace, RequestKind, RequestPayloads } from '#settlement/chain-requests.ts';
import type { CountsRule, NetworkConfig } from '#settlement/network-config.ts';

type Rules = Pick<NetworkConfig, 'countsFrom' | 'profile'>;

interface Payable {
  readonly kind: RequestKind;
  readonly payload: unknown;
}

type Outcome =
  | { readonly succeeded: false }
  | { readonly succeeded: true; readonly facts: Pick<ChainPlace, 'blockNumber' | 'blockTime'> };

/**
 * Returns the additional wait that `countsFrom` requires of a payment of this amount; `null` if it
 * requires none.
 */
export function countsRuleOf(
  { countsFrom, profile }: Rules,
  { kind, payload }: Payable,
): CountsRule | null {
  if (kind !== 'payment' || countsFrom.length === 0) return null;
  const amount = BigInt((payload as RequestPayloads['payment']).amount);
  const rule = countsFrom.findLast(({ from }) => amount >= from);
  if (rule === undefined || rule.waitsFor === 'inclusion') return null;
  const isFinal = profile.finality === 'deterministic' && rule.waitsFor !== 'time';
  return isFinal ? null : rule;
}

/**
 * True if a success that was found on the chain may be booked now; false while the payment must
 * wait.
 */
export async function countsYet(chain: Chain, request: Payable, result: Outcome): Promise<boolean> {
  const rule = countsRuleOf(chain.config, request);
  if (rule === null || !result.succeeded) return true;
  const head = await chain.newest();
  const { blockNumber, blockTime } = result.facts;
  if (rule.waitsFor === 'time') {
    // Both times are whole seconds, so their difference may be almost a second too long.
    return head.time.getTime() - Date.parse(blockTime) >= rule.ms + SECOND_MS;
  }
  const { safe, finalized } = await finalityOf(chain, head.number);
  return BigInt(blockNumber) <= (rule.waitsFor === 'safe' ? safe : finalized);
}

const CERTAINTY = { inclusion: 0, time: 1, safe: 2, finalized: 3 } as const;

export function strictestRule(rules: readonly (CountsRule | null)[]): CountsRule | null {
  const isLonger = (a: CountsRule, b: CountsRule) =>
    CERTAINTY[b.waitsFor] - CERTAINTY[a.waitsFor] || b.ms - a.ms;
  return rules.filter((rule) => rule !== null).toSorted(isLonger)[0] ?? null;
}

/** Groups payments by their additional wait, so that a small sum never waits for a large one. */
export function groupByRule<T extends Payable>(config: Rules, requests: readonly T[]): T[][] {
  return [...Map.groupBy(requests, (request) => countsRuleOf(config, request)).values()];
}
