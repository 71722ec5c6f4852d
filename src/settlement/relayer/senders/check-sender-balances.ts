import type { Block } from '#settlement/chain/chain.ts';
import { dataFees } from '#settlement/chain/fees/data-fee.ts';
import { TIP_BLOCKS } from '#settlement/chain/fees/gas-fees.ts';
import { cancellationGasLimit, FULL_BATCH_GAS } from '#settlement/relayer/send/gas-limits.ts';
import { timeoutBlocks } from '#settlement/relayer/state-machine/chain-view.ts';
import type { HeldSender, RelayerState } from '#settlement/relayer/state-machine/relayer-state.ts';
import {
  countSendersAtWork,
  daysLeftOf,
  feesAt,
  IDLE_TIPS_MS,
  isLow,
  paymentsLeftOf,
  recentTips,
  SIZES,
  weeklyRate,
} from '#settlement/status/low-gas-balance.ts';

/** Tips are reused for this long. They change little, and each read costs a request. */
const TIPS_MS = 30_000;

/** Computes the fees to offer from the head's base fee and the tips of recent blocks. */
export async function readFees(relayer: RelayerState, head: Block): Promise<void> {
  const { chain, senders } = relayer;
  const isIdle = [...senders.values()].every((sender) => sender.open.size === 0);
  const blocks = timeoutBlocks(relayer, TIP_BLOCKS);
  const tips = await recentTips(chain, { blocks, maxAgeMs: isIdle ? IDLE_TIPS_MS : TIPS_MS });
  // If no node answered, the known tips are used. Without any, the lowest tip is used until the
  // next read.
  const known = tips ?? relayer.tips;
  relayer.see({ tips: known, fees: feesAt(chain, head, known) });
}

/**
 * Most chains want 21,000 for a cancellation or less. Some charge for publishing it, too, and that
 * price changes with their fees.
 */
const CANCELLATION_MS = 60_000;
const IDLE_CANCELLATION_MS = 600_000;

/** Reads what a cancellation needs, so that it is known before one is signed. Never throws. */
export async function readCancellationGas(relayer: RelayerState): Promise<void> {
  const { chain, configured, senders } = relayer;
  const isIdle = [...senders.values()].every((sender) => sender.open.size === 0);
  const maxAgeMs = isIdle ? IDLE_CANCELLATION_MS : CANCELLATION_MS;
  const [first] = configured;
  if (first === undefined) return;
  const call = { from: first.address, to: first.address, data: '0x' };
  try {
    const gas = await chain.remember('gas of a cancellation', maxAgeMs, async () => {
      return BigInt(String(await chain.rpc.call('eth_estimateGas', [call])));
    });
    relayer.see({ cancellationGas: cancellationGasLimit(gas) });
  } catch {
    // Without an answer, the known limit stays.
  }
}

/**
 * Check intervals, in polls of an idle chain: for senders without gas, and for the next idle
 * sender.
 */
const DRY_LOOKS = 2;
const ROUND_LOOKS = 8;

/**
 * Creates a function that selects the senders to check now: active ones each time, those without
 * gas less often, and idle ones in turn. A sender whose nonce is ahead is checked each time until
 * the reason is known.
 */
export function createBalanceRound(relayer: RelayerState): () => HeldSender[] {
  const { idleHeadMs } = relayer.chain.config;
  let dryAt = performance.now();
  let roundAt = performance.now();
  let turn = 0;
  return () => {
    const now = performance.now();
    const senders = [...relayer.senders.values()];
    const withDry = now - dryAt > idleHeadMs * DRY_LOOKS;
    if (withDry) dryAt = now;
    const due = new Set(
      senders.filter(
        (sender) =>
          sender.open.size > 0 ||
          (sender.isStarved && withDry) ||
          (!sender.isStopped && relayer.sightings.has(sender.sender)),
      ),
    );
    if (now - roundAt > idleHeadMs * ROUND_LOOKS) {
      roundAt = now;
      const next = senders[turn++ % Math.max(1, senders.length)];
      if (next !== undefined) due.add(next);
    }
    return [...due];
  };
}

/**
 * A sender that cannot pay for a full batch takes no new work, so that payments go to other
 * senders. A low balance is logged.
 */
export async function checkBalances(
  relayer: RelayerState,
  senders: readonly HeldSender[],
): Promise<void> {
  const { chain, log, fees, head } = relayer;
  const { lowBalance } = chain.config;
  const balances = await chain.balances(senders.map((sender) => sender.address));
  const [ofOne = 0n, ofFull = 0n] = await dataFees(chain, [SIZES.one, SIZES.full]);
  const price = {
    baseFeePerGas: head?.baseFeePerGas ?? 0n,
    tip: fees?.maxPriorityFeePerGas ?? 0n,
    dataFee: ofOne,
  };
  const needed = FULL_BATCH_GAS * (fees?.maxFeePerGas ?? 0n) + ofFull;
  for (const [index, sender] of senders.entries()) {
    const balance = balances[index] ?? 0n;
    const paymentsLeft = paymentsLeftOf(balance, price);
    const { sender: number, address, isStarved: wasStarved } = sender;
    const told = { sender: number, address, balance, paymentsLeft };
    const isStarved = balance < needed;
    sender.see({ isStarved, paymentsLeft });
    const low = isLow(paymentsLeft, lowBalance);
    const fields = low ? { ...told, daysLeft: await daysOf(sender) } : told;
    if (isStarved && !wasStarved)
      log.error('a sender cannot pay for gas: fund its address', fields);
    else if (low) log.warn('a sender is running low on gas funds', fields);
  }
}

/**
 * Returns how many days the sender's balance lasts if it sends its share of payments at last week's
 * rate.
 */
async function daysOf({
  relayer: { db, chain },
  paymentsLeft,
}: HeldSender): Promise<number | null> {
  const senders = await countSendersAtWork(db, chain.config.livemode);
  return daysLeftOf(paymentsLeft, (await weeklyRate(db, chain)) / Math.max(1, senders));
}
