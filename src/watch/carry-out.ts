import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { present } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import { describeError, type Log } from '#core/log.ts';
import type { Database } from '#db/database.ts';
import { insertAlarms } from '#settlement/alarms.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { decodeView } from '#settlement/chain/decode.ts';
import { RpcUnavailable } from '#settlement/chain/rpc.ts';
import { lensOf } from '#settlement/contract/lens.ts';
import { contractOf, numberOnContract } from '#settlement/editions.ts';
import type { Hex } from '#settlement/requests.ts';
import { type Signer, type SigningKey, signerOf } from '#settlement/signer.ts';
import { countTries, endSteps, type StepRow, selectOpenSteps } from '#watch/watch-queries.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { settlementLensAbi } from '../../contracts/artifacts/SettlementLens.ts';

export interface CarryOutDeps {
  /** Each address by itself. */
  readonly chains: readonly Chain[];
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

/** Three times what a pause costs. */
const GAS = 200_000n;
/** More than a chain that nobody uses asks for. */
const LEAST_TIP = 1_000_000n;
/** A block has room for it at twice its base fee; each try offers a quarter more. */
const BASE_FEES = 2n;
const MAX_RAISES = 20;
/** Then a person has to stop the contract. A try is made once a second. */
const TRIES_TO_TELL = 10;

const LENS = { abi: settlementLensAbi } as const;

function callOf({ step, merchant_number }: StepRow): Hex {
  const abi = settlementAbi;
  switch (step) {
    case 'pause_settling':
      return encodeFunctionData({ abi, functionName: 'pauseSettling' });
    case 'pause_refunding':
      return encodeFunctionData({ abi, functionName: 'pauseRefunding' });
    case 'cancel_wallet': {
      const args = [numberOnContract(merchant_number)] as const;
      return encodeFunctionData({ abi, functionName: 'cancelWallet', args });
    }
  }
}

/** What the chain of one address says: a paused contract, or a merchant without an announcement. */
async function isDone(chain: Chain, { step, merchant_number }: StepRow): Promise<boolean> {
  const settlement = contractOf(chain.config, merchant_number);
  if (step === 'cancel_wallet') {
    const args = [numberOnContract(merchant_number)] as const;
    const view = { abi: settlementAbi, functionName: 'walletChange' } as const;
    const data = encodeFunctionData({ ...view, args });
    const [answer] = await chain.calls([{ to: settlement, data, words: 3 }]);
    const [wallet] = decodeView(answer, (found) => decodeFunctionResult({ ...view, data: found }));
    return BigInt(wallet) === 0n;
  }
  const functionName = step === 'pause_settling' ? 'settlingPaused' : 'refundingPaused';
  const data = encodeFunctionData({ ...LENS, functionName });
  const [answer] = await chain.calls([{ to: lensOf(settlement), data, words: 1 }]);
  return decodeView(answer, (found) =>
    decodeFunctionResult({ ...LENS, functionName, data: found }),
  );
}

/** Whether every address that answers says so, and one does: a node that lies ends no step. */
async function isDoneForAll(chains: readonly Chain[], step: StepRow): Promise<boolean> {
  const said = await Promise.allSettled(chains.map((chain) => isDone(chain, step)));
  const answers = said.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  return answers.length > 0 && answers.every((done) => done);
}

/** Whether the contract would take it, says one address: a refusal costs coin, each second. */
async function isTaken(chains: readonly Chain[], from: Hex, step: StepRow): Promise<boolean> {
  const said = await Promise.allSettled(
    chains.map((chain) => {
      const to = contractOf(chain.config, step.merchant_number);
      return chain.calls([{ from, to, data: callOf(step), words: 'any' }]);
    }),
  );
  return said.some((one) => one.status === 'fulfilled' && one.value[0]?.ok === true);
}

/** The least that any address names: a gap would hold all that follows. */
async function nextNonce(chains: readonly Chain[], address: Hex): Promise<bigint> {
  const said = await Promise.allSettled(chains.map((chain) => chain.nonces([address])));
  const nonces = said.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  if (nonces.length === 0) throw new RpcUnavailable('no address names the nonce of the watchtower');
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

async function send(
  { chains, log }: CarryOutDeps,
  account: Signer,
  steps: readonly StepRow[],
): Promise<void> {
  const { config } = present(chains[0], 'an address of the chain');
  if (steps.length === 0) return;
  const first = await nextNonce(chains, account.address);
  for (const [place, step] of steps.entries()) {
    const fees = await feesOf(chains, step.tries);
    const unsigned = {
      ...({ type: 'eip1559', chainId: config.chainId, nonce: Number(first) + place } as const),
      ...{ to: contractOf(config, step.merchant_number), data: callOf(step), gas: GAS, ...fees },
    };
    const raw = await account.signTransaction(unsigned).catch((error: unknown) => {
      // A signer that does not answer or refuses: the next look asks again.
      const what = { network: config.network, step: step.step, error: describeError(error) };
      log.warn('a step of the watchtower was not signed', what);
      return null;
    });
    if (raw === null) return;
    const sent = await Promise.allSettled(
      chains.map((chain) => chain.rpc.call('eth_sendRawTransaction', [raw])),
    );
    // Known already, or a nonce that was just used: the next look at the contract decides.
    for (const one of sent) {
      if (one.status === 'fulfilled') continue;
      const error = describeError(one.reason);
      log.warn('a step of the watchtower was not taken', {
        ...{ network: config.network, step: step.step, error },
      });
    }
  }
}

/**
 * Sends a transaction for each open step, signed anew each time, until every address says that the
 * contract has it. Pausing twice is pausing once, so nothing is kept of the bytes.
 */
export async function carryOut(deps: CarryOutDeps, key: SigningKey | null): Promise<void> {
  const { chains, db, clock, log } = deps;
  const { livemode, network } = present(chains[0], 'an address of the chain').config;
  const open = await selectOpenSteps(db, livemode);
  if (open.length === 0) return;
  const done = await Promise.all(open.map((step) => isDoneForAll(chains, step)));
  const ended = open.filter((_, i) => done[i] === true);
  await endSteps(
    db,
    ended.map(({ id }) => id),
    clock.now(),
  );
  for (const { step, reason } of ended) {
    log.error('the watchtower has stopped something', { network, step, reason });
  }
  const left = open.filter((_, i) => done[i] !== true);
  if (left.length === 0 || key === null) return;
  await countTries(
    db,
    left.map(({ id }) => id),
  );
  const account = signerOf(key);
  const taken = await Promise.all(left.map((step) => isTaken(chains, account.address, step)));
  await send(
    deps,
    account,
    left.filter((_, i) => taken[i] === true),
  );
  const late = left.filter(({ tries }) => tries + 1 >= TRIES_TO_TELL);
  if (late.length === 0) return;
  const alarms = late.map(({ step, reason, merchant_number }) => ({
    kind: 'watchtower_cannot_stop',
    subject: step === 'cancel_wallet' ? `${step} ${merchant_number}` : step,
    details: { reason },
  }));
  await db.transaction((tx) => insertAlarms(tx, livemode, alarms, clock.now()));
}
