import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { describeError, type Log } from '#observability/log.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/rpc/decode-call-answers.ts';
import { RpcUnavailable } from '#settlement/chain/rpc/rpc.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { lensOf } from '#settlement/contract/lens-address.ts';
import { contractOf, numberOnContract } from '#settlement/contract-versions.ts';
import { type Signer, type SigningKey, signerOf } from '#settlement/remote-signer.ts';
import {
  countCanceled,
  countTries,
  endSteps,
  type StepRow,
  selectOpenSteps,
} from '#watch/watch-queries.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../contracts/artifacts/SettlementLens.ts';

/** One chain client per provider. */
type Providers = readonly Chain[];

/** Gas limit of a pause or a drop (docs/gas-rules.md). */
export const WATCH_GAS = 200_000n;
/** Minimum priority fee, in wei: more than an idle chain requires. */
const LEAST_TIP = 1_000_000n;
/** Multiple of the base fee that the first try offers. Each retry offers a quarter more. */
const BASE_FEES = 2n;
const MAX_RAISES = 20;
/**
 * Number of tries, one per second, after which an alarm tells the operators to stop the contract
 * themselves.
 */
const ALERT_FROM_TRIES = 10;
/**
 * Keeps gas in reserve for this many pauses (two per contract, with retries at higher fees), so
 * that a thief cannot drain the balance with proposals that must be dropped.
 */
const PAUSES_KEPT = 20n;
/**
 * Alerts the operators if the balance pays for fewer transactions than this at the current gas
 * price.
 */
const ALERT_BELOW_TRANSACTIONS = 100n;
/**
 * A thief with the registrar's key can make a proposal in each block. After the first few,
 * proposals are collected for ten minutes and dropped together. None of them takes effect for at
 * least a day.
 */
const DROP_EVERY_MS = 600_000;
const DROPS_AT_ONCE = 10;
/**
 * A registrar with at most this many proposals has them canceled individually. Otherwise, one call
 * drops all of them.
 */
const MAX_SINGLE = 1;

const LENS = { abi: settlementLensAbi } as const;
const CHANGE = { abi: settlementAbi, functionName: 'walletChange' } as const;

interface Action {
  readonly to: Hex;
  readonly data: Hex;
  readonly isPause: boolean;
  readonly steps: readonly StepRow[];
}

/** A step's state according to one provider. `proposer` is set if the proposal is still pending. */
interface Said {
  readonly done: boolean;
  readonly proposer: Hex | null;
}

/** Reads the state of all steps from one provider, in one request. */
async function readSteps(chain: Chain, steps: readonly StepRow[]): Promise<Said[]> {
  const calls = steps.map(({ step, merchant_number }) => {
    const settlement = contractOf(chain.config, merchant_number);
    if (step === 'cancel_wallet') {
      const args = [numberOnContract(merchant_number)] as const;
      return { to: settlement, data: encodeFunctionData({ ...CHANGE, args }), words: 3 };
    }
    const functionName = step === 'pause_settling' ? 'settlingPaused' : 'refundingPaused';
    const data = encodeFunctionData({ ...LENS, functionName });
    return { to: lensOf(settlement), data, words: 1 };
  });
  const answers = await chain.calls(calls);
  return steps.map(({ step }, i): Said => {
    if (step !== 'cancel_wallet') {
      return { done: decodeView(answers[i], (data) => BigInt(data) === 1n), proposer: null };
    }
    const [wallet, , proposer] = decodeView(answers[i], (data) =>
      decodeFunctionResult({ ...CHANGE, data }),
    );
    return BigInt(wallet) === 0n ? { done: true, proposer: null } : { done: false, proposer };
  });
}

/**
 * Reads the steps' states from all providers. A step is done if at least one provider answered and
 * all that answered agree, so that one lying node cannot end it.
 */
async function readForAll(chains: readonly Chain[], steps: readonly StepRow[]): Promise<Said[]> {
  const said = await Promise.allSettled(chains.map((chain) => readSteps(chain, steps)));
  const answers = said.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return steps.map((_, i) => {
    const own = answers.flatMap((all) => all[i] ?? []);
    return {
      done: own.length > 0 && own.every(({ done }) => done),
      proposer: own.find(({ proposer }) => proposer !== null)?.proposer ?? null,
    };
  });
}

function pauseOf({ step }: StepRow): Hex {
  const abi = settlementAbi;
  return step === 'pause_settling'
    ? encodeFunctionData({ abi, functionName: 'pauseSettling' })
    : encodeFunctionData({ abi, functionName: 'pauseRefunding' });
}

/**
 * Returns the transactions to send: pauses first, then one per registrar, however many wallets that
 * registrar has proposed.
 */
function actionsOf(
  config: Chain['config'],
  steps: readonly { readonly step: StepRow; readonly proposer: Hex | null }[],
): Action[] {
  const toOf = ({ merchant_number }: StepRow) => contractOf(config, merchant_number);
  const isPause = ({ step }: { readonly step: StepRow }) => step.step !== 'cancel_wallet';
  const pauses = steps.filter(isPause).map(({ step }): Action => {
    return { to: toOf(step), data: pauseOf(step), isPause: true, steps: [step] };
  });
  const wallets = steps.filter((one) => !isPause(one));
  const groups = Map.groupBy(wallets, ({ step, proposer }) => `${toOf(step)} ${proposer}`);
  const drops = [...groups.values()].flatMap((group): Action[] => {
    const { step: first, proposer } = present(group[0], 'a proposal');
    const common = { to: toOf(first), isPause: false };
    if (group.length > MAX_SINGLE && proposer !== null) {
      const call = { functionName: 'dropWalletChangesOf', args: [proposer] } as const;
      const data = encodeFunctionData({ abi: settlementAbi, ...call });
      return [{ ...common, data, steps: group.map(({ step }) => step) }];
    }
    return group.map(({ step }) => {
      const args = [numberOnContract(step.merchant_number)] as const;
      const call = { functionName: 'cancelWallet', args } as const;
      return {
        ...common,
        data: encodeFunctionData({ abi: settlementAbi, ...call }),
        steps: [step],
      };
    });
  });
  return [...pauses, ...drops];
}

/**
 * True if a provider's simulation accepts the transaction. Sending transactions that fail would
 * waste gas every second.
 */
async function isTaken(
  chains: readonly Chain[],
  from: Hex,
  { to, data }: Action,
): Promise<boolean> {
  const said = await Promise.allSettled(
    chains.map((chain) => chain.calls([{ from, to, data, words: 'any' }])),
  );
  return said.some((one) => one.status === 'fulfilled' && one.value[0]?.ok === true);
}

/**
 * Returns the highest balance that any provider reports, so that a provider that hides the balance
 * cannot stop the watchtower.
 */
async function coinOf(chains: readonly Chain[], address: Hex): Promise<bigint | null> {
  const said = await Promise.allSettled(chains.map((chain) => chain.balances([address])));
  const coins = said.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  return coins.length === 0 ? null : coins.reduce((most, coin) => (coin > most ? coin : most));
}

/**
 * Returns the lowest nonce that any provider reports, because a nonce gap would block all later
 * transactions.
 */
async function nextNonce(chains: readonly Chain[], address: Hex): Promise<bigint> {
  const said = await Promise.allSettled(chains.map((chain) => chain.nonces([address])));
  const nonces = said.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (nonces.length === 0)
    throw new RpcUnavailable('no provider returned the nonce of the watchtower');
  return nonces.reduce((least, nonce) => (nonce < least ? nonce : least));
}

async function feesOf(chains: readonly Chain[], tries: number) {
  const { baseFeePerGas } = await Promise.any(chains.map((chain) => chain.newest()));
  const raise = 5n ** BigInt(Math.min(tries, MAX_RAISES));
  const raised = (wei: bigint) => (wei * raise) / 4n ** BigInt(Math.min(tries, MAX_RAISES));
  const tip = raised(baseFeePerGas / BASE_FEES + LEAST_TIP);
  const most = present(chains[0], 'an address of the chain').config.maxFeePerGasCeiling;
  const fee = raised(baseFeePerGas * BASE_FEES) + tip;
  const maxFeePerGas = fee < most ? fee : most;
  return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
}

/** Returns the actions that the balance pays for. Only pauses may use the reserve. */
async function affordable(
  chains: readonly Chain[],
  address: Hex,
  actions: readonly Action[],
): Promise<{ readonly action: Action; readonly fees: Fees }[]> {
  const price = WATCH_GAS * (await feesOf(chains, 0)).maxFeePerGas;
  let coin = await coinOf(chains, address);
  const chosen = [];
  for (const action of actions) {
    const fees = await feesOf(chains, Math.max(...action.steps.map(({ tries }) => tries)));
    const cost = WATCH_GAS * fees.maxFeePerGas;
    if (!action.isPause && coin !== null && coin - cost < PAUSES_KEPT * price) continue;
    if (coin !== null) coin -= cost;
    chosen.push({ action, fees });
  }
  return chosen;
}

type Fees = Awaited<ReturnType<typeof feesOf>>;

async function send(
  chains: Providers,
  log: Log,
  { account, actions }: { readonly account: Signer; readonly actions: readonly Action[] },
): Promise<void> {
  const { config } = present(chains[0], 'an address of the chain');
  if (actions.length === 0) return;
  const first = await nextNonce(chains, account.address);
  for (const [place, { action, fees }] of (
    await affordable(chains, account.address, actions)
  ).entries()) {
    const what = { network: config.network, step: action.steps[0]?.step ?? '' };
    const unsigned = {
      ...({ type: 'eip1559', chainId: config.chainId, nonce: Number(first) + place } as const),
      ...{ to: action.to, data: action.data, gas: WATCH_GAS, ...fees },
    };
    const raw = await account.signTransaction(unsigned).catch((error: unknown) => {
      // The signer is unreachable or refuses to sign. The next poll tries again.
      log.warn('a watchtower transaction was not signed', { ...what, error: describeError(error) });
      return null;
    });
    if (raw === null) return;
    const sent = await Promise.allSettled(
      chains.map((chain) => chain.rpc.call('eth_sendRawTransaction', [raw])),
    );
    // The transaction is already known, or its nonce was just used. The next read of the contract
    // shows whether it took effect.
    for (const one of sent) {
      if (one.status === 'fulfilled') continue;
      const error = describeError(one.reason);
      log.warn('a provider did not accept a watchtower transaction', { ...what, error });
    }
  }
}

/**
 * Sends a transaction for the open steps until every provider reports that they are done. Pausing
 * twice is harmless, so each try signs a new transaction, and none is stored.
 */
export async function carryOut(
  { db, clock, log }: Omit<ProcessContext, 'wakeups'>,
  chains: Providers,
  key: SigningKey | null,
): Promise<void> {
  const { config } = present(chains[0], 'an address of the chain');
  const { livemode, network } = config;
  const open = await selectOpenSteps(db, livemode);
  if (open.length === 0) return;
  const said = await readForAll(chains, open);
  const known = open.map((step, i) => ({ step, ...present(said[i], 'what is said of a step') }));
  const ended = known.filter(({ done }) => done).map(({ step }) => step);
  await endSteps(
    db,
    ended.map(({ id }) => id),
    clock.now(),
  );
  for (const { step, reason } of ended) {
    log.error('the watchtower has acted on the contract', { network, step, reason });
  }
  const all = known.filter(({ done }) => !done);
  const left = await notTooOften(db, clock.now(), { chains, left: all });
  if (left.length === 0 || key === null) return;
  await countTries(
    db,
    left.map(({ step }) => step.id),
  );
  const account = signerOf(key);
  const actions = actionsOf(config, left);
  const taken = await Promise.all(
    actions.map((action) => isTaken(chains, account.address, action)),
  );
  const untaken = actions.filter((_, i) => taken[i] === true);
  await send(chains, log, { account, actions: untaken });
  const late = left.filter(({ step }) => step.tries + 1 >= ALERT_FROM_TRIES);
  if (late.length === 0) return;
  const alarms = late.map(({ step: { step, reason, merchant_number } }) => ({
    kind: 'watchtower_cannot_stop',
    subject: step === 'cancel_wallet' ? `${step} ${merchant_number}` : step,
    details: { reason },
  }));
  await db.transaction((tx) => insertAlarms(tx, livemode, alarms, clock.now()));
}

/**
 * Returns the steps to take now: pauses always; drops of proposals wait if many were sent recently.
 */
async function notTooOften<T extends { readonly step: StepRow }>(
  db: Database,
  now: Date,
  { chains, left }: { readonly chains: Providers; readonly left: readonly T[] },
): Promise<T[]> {
  const { livemode } = present(chains[0], 'an address of the chain').config;
  const since = addMs(now, -DROP_EVERY_MS);
  const isDue =
    left.some(({ step }) => step.step === 'cancel_wallet' && step.created <= since) ||
    (await countCanceled(db, livemode, since)) < DROPS_AT_ONCE;
  return left.filter(({ step }) => isDue || step.step !== 'cancel_wallet');
}

/**
 * Raises an alarm if the key can pay for only a few more transactions: without gas the watchtower
 * cannot stop anything.
 */
export async function checkCoin(
  { db, clock, log }: Omit<ProcessContext, 'wakeups'>,
  chains: Providers,
  key: SigningKey | null,
): Promise<void> {
  if (key === null) return;
  const { livemode, network } = present(chains[0], 'an address of the chain').config;
  const { address } = signerOf(key);
  const coin = await coinOf(chains, address);
  if (coin === null) return;
  const price = WATCH_GAS * (await feesOf(chains, 0)).maxFeePerGas;
  if (coin >= ALERT_BELOW_TRANSACTIONS * price) return;
  const transactions = Number(coin / price);
  log.warn('the watchtower is running low on gas funds', { network, address, transactions });
  const alarm = { kind: 'watchtower_low_coin', subject: address, details: { coin, transactions } };
  await db.transaction((tx) => insertAlarms(tx, livemode, [alarm], clock.now()));
}
