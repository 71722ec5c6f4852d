import type { Chain } from '#settlement/chain/chain.ts';
import { marksOf } from '#settlement/chain/final-block.ts';
import type { CountsRule, NetworkConfig } from '#settlement/networks.ts';
import {
  isUnmined,
  type OpenRequest,
  type OpenTransaction,
} from '#settlement/relayer/machine/transaction.ts';
import type { Result } from '#settlement/relayer/rows/kinds.ts';
import type { RequestPayloads } from '#settlement/requests.ts';

type Rules = Pick<NetworkConfig, 'countsFrom' | 'profile'>;

/** What a payment waits for once it is in a block; null: nothing more than all others. */
export function patienceOf(
  { countsFrom, profile }: Rules,
  { kind, payload }: Pick<OpenRequest, 'kind' | 'payload'>,
): CountsRule | null {
  if (kind !== 'payment' || countsFrom.length === 0) return null;
  const amount = BigInt((payload as RequestPayloads['payment']).amount);
  const rule = countsFrom.findLast(({ from }) => amount >= from);
  if (rule === undefined || rule.waitsFor === 'inclusion') return null;
  const isFinal = profile.finality === 'deterministic' && rule.waitsFor !== 'time';
  return isFinal ? null : rule;
}

/**
 * Whether a success that was found on the chain may be booked, or its payment still waits.
 * @throws RpcUnavailable
 */
export async function countsYet(
  chain: Chain,
  request: Pick<OpenRequest, 'kind' | 'payload'>,
  result: Result,
): Promise<boolean> {
  const rule = patienceOf(chain.config, request);
  if (rule === null || !result.succeeded) return true;
  const head = await chain.newest();
  const { blockNumber, blockTime } = result.facts;
  if (rule.waitsFor === 'time') {
    // Both times are whole seconds, so one may be nearly a second too early.
    return head.time.getTime() - Date.parse(blockTime) >= rule.ms + SECOND_MS;
  }
  const { safe, finalized } = await marksOf(chain, head.number);
  return BigInt(blockNumber) <= (rule.waitsFor === 'safe' ? safe : finalized);
}

const SECOND_MS = 1_000;

const CERTAINTY = { inclusion: 0, time: 1, safe: 2, finalized: 3 } as const;

/** The rule that takes longest. */
export function mostPatient(rules: readonly (CountsRule | null)[]): CountsRule | null {
  const known = rules.filter((rule) => rule !== null);
  return (
    known.toSorted((a, b) => CERTAINTY[b.waitsFor] - CERTAINTY[a.waitsFor] || b.ms - a.ms)[0] ??
    null
  );
}

/** Apart, so that a small sum never waits for a large one. */
export function groupByPatience<T extends Pick<OpenRequest, 'kind' | 'payload'>>(
  config: Rules,
  requests: readonly T[],
): T[][] {
  return [...Map.groupBy(requests, (request) => patienceOf(config, request)).values()];
}

/** Those whose nonce still waits for a block. */
export function unmined(open: ReadonlyMap<bigint, Pick<OpenTransaction, 'phase'>>): number {
  return [...open.values()].filter(isUnmined).length;
}
