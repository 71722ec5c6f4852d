import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keccak256 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { connectRpc } from '#sandbox/json-rpc.ts';
import type { Block } from '#settlement/chain/chain.ts';
import {
  quantity,
  type RawBlock,
  type RawReceipt,
  toBlock,
  toReceipt,
} from '#settlement/chain/rpc/decode-call-answers.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  isDue,
  receiptsToAsk,
  step,
} from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import {
  type Attempt,
  type Effect,
  fromRows,
  type Now,
  type Observation,
  type Offer,
  type OpenTransaction,
  type Transaction,
} from '#settlement/relayer/state-machine/transaction.ts';
import { createRandom, SEED } from '#testkit/fixtures/core/random.ts';
import { startThrowawayChain, type ThrowawayChain } from '#testkit/network/throwaway-chain.ts';

// Plays random histories of one transaction each on a real chain: lost broadcasts, evicted
// transactions, reorganizations, crashes, fee bumps. The state machine's result must match what
// anvil mined.

const HISTORIES = Number(process.env.ANVIL_HISTORIES ?? 1_000);
const CHAIN_ID = 31_777;
const MOVES = 24;
/** Number of blocks in which everything settles without faults, as in the model. */
const CALM_BLOCKS = 30;
const CONFIRMATIONS = 1n;
const GWEI = 1_000_000_000n;
const FEES = { maxFeePerGas: 20n * GWEI, maxPriorityFeePerGas: GWEI };
const FEE_CEILING = 200n * GWEI;
/**
 * Blocks between two histories, more than any reorganization removes, so that they do not affect
 * each other.
 */
const APART = 4;

const account = privateKeyToAccount(generatePrivateKey());
let node: ThrowawayChain;

const ask = (method: string, ...params: readonly unknown[]) =>
  connectRpc(node.rpcUrl)(method, params);

const newest = async () =>
  toBlock((await ask('eth_getBlockByNumber', 'latest', false)) as RawBlock);
const usedNonces = async () =>
  BigInt(String(await ask('eth_getTransactionCount', account.address, 'latest')));

before(async () => {
  node = await startThrowawayChain({ chainId: CHAIN_ID, blockTime: 'manual' });
  await ask('anvil_setBalance', account.address, quantity(10n ** 24n));
  for (let i = 0; i < APART; i++) await ask('evm_mine');
});
after(() => node.stop());

/** One transaction with its relayer, its rows, and the node that it queries. */
class Follower {
  readonly nonce: bigint;
  readonly #roll: (sides: number) => number;
  /** The attempts as stored in the transaction's rows. */
  #stored: Attempt[] = [];
  #known: Transaction | null = null;
  #head: Block | null = null;
  #isLossy = true;
  #result: { readonly hash: Hex; readonly block: Hex } | null = null;

  constructor(nonce: bigint, roll: (sides: number) => number) {
    this.nonce = nonce;
    this.#roll = roll;
  }

  get result() {
    return this.#result;
  }

  get attempts(): readonly Attempt[] {
    return this.#stored;
  }

  /** Ends the faults. */
  calm(): void {
    this.#isLossy = false;
  }

  async begin(): Promise<void> {
    this.#stored.push(await this.#sign({ cancels: false, fees: FEES }));
    this.load();
    await this.#carryOut([{ kind: 'broadcast' }]);
  }

  /** Discards all memory and reads the rows again. */
  load(): void {
    this.#head = null;
    if (this.#result !== null) return;
    const facts = {
      ...({ id: 1n, nonce: this.nonce, kind: 'payment', target: '0x', input: '0x' } as const),
      ...{ gasLimit: 21_000n, validUntil: null, signedAtMs: null, requests: [] },
      ...{ attempts: [...this.#stored], wanted: null },
    };
    this.#known = fromRows(facts, 'always', false);
  }

  /** Reads a head, the receipts and the nonce, like the relayer's loops. */
  async poll(): Promise<void> {
    const head = await newest();
    await this.#reopen();
    const before = this.#head;
    this.#head = head;
    if (before?.hash === head.hash) return;
    if (before !== null && head.parentHash !== before.hash) {
      const isSkipped = head.number > before.number + 1n;
      await this.#observe(
        isSkipped ? { kind: 'blocks_skipped', number: head.number } : { kind: 'reorganized' },
      );
      // The follower skipped a block, which may also mean a reorganization.
      if (isSkipped) await this.#observe({ kind: 'reorganized' });
    }
    await this.#askReceipts(head);
    await this.#observe({ kind: 'head', number: head.number });
    await this.#tend();
  }

  #now(): Now {
    return {
      ...{ ms: performance.now(), head: this.#head, fees: FEES, feeCeiling: FEE_CEILING },
      finality: { safe: 0n, finalized: 0n },
      depth: { blocks: CONFIRMATIONS, ms: 0 },
      timeouts: { overdueBlocks: 2n, foreignHeads: 5, unreadablePolls: 8 },
    };
  }

  get #open(): OpenTransaction | null {
    return this.#known === null || this.#known.phase === 'done' ? null : this.#known;
  }

  async #observe(observation: Observation): Promise<readonly Effect[]> {
    if (this.#open === null) return [];
    const { transaction, effects } = step(this.#open, observation, this.#now());
    this.#known = transaction;
    await this.#carryOut(effects);
    return effects;
  }

  async #askReceipts(head: Block): Promise<void> {
    if (this.#open === null) return;
    const listed = new Set(head.transactions);
    const request = { now: this.#now(), listed, everything: true };
    for (const hash of receiptsToAsk(this.#open, request)) {
      const raw = (await ask('eth_getTransactionReceipt', hash)) as RawReceipt | null;
      const receipt = raw === null ? null : toReceipt(raw, 'anvil');
      if (receipt === null) continue;
      const effects = await this.#observe({ kind: 'receipt', receipt });
      if (!effects.some(({ kind }) => kind === 'read_result')) return;
      const then = await this.#observe({ kind: 'result_read', rule: null });
      assert(then.some(({ kind }) => kind === 'apply_result'));
      assert(head.number - receipt.blockNumber >= CONFIRMATIONS, 'it counts before its depth');
      this.#result = { hash, block: receipt.blockHash };
      await this.#observe({ kind: 'result_written' });
      return;
    }
    await this.#observe({ kind: 'no_receipt', isListed: false });
  }

  async #tend(): Promise<void> {
    if (this.#open === null || !isDue(this.#open, this.#now())) return;
    const used = (await usedNonces()) > this.nonce;
    await this.#observe(
      used ? { kind: 'nonce_used' } : { kind: 'nonce_unused', isNext: true, isOverdue: true },
    );
  }

  /** Reopens a result whose block left the chain. */
  async #reopen(): Promise<void> {
    if (this.#result === null) return;
    const raw = (await ask('eth_getTransactionReceipt', this.#result.hash)) as RawReceipt | null;
    if (raw?.blockHash === this.#result.block) return;
    this.#result = null;
    this.load();
  }

  async #carryOut(effects: readonly Effect[]): Promise<void> {
    for (const effect of effects) {
      if (effect.kind === 'broadcast') await this.#send();
      if (effect.kind !== 'replace' && effect.kind !== 'cancel') continue;
      const attempt = await this.#sign(effect.offer);
      this.#stored.push(attempt);
      await this.#observe({ kind: 'attempt_stored', attempt, isRequeued: false });
    }
  }

  async #send(): Promise<void> {
    const attempt = present(this.#open?.attempts.at(-1), 'bytes');
    await this.#observe({ kind: 'sent', atBlock: this.#head?.number ?? 0n });
    if (this.#isLossy && this.#roll(3) === 0) return;
    try {
      await ask('eth_sendRawTransaction', attempt.raw);
    } catch (error) {
      const text = String(error);
      if (!/underpriced/.test(text)) return;
      await this.#observe({ kind: 'refused', hash: attempt.hash, verdict: 'underpriced' });
    }
  }

  async #sign({ cancels, fees }: Offer): Promise<Attempt> {
    const raw = await account.signTransaction({
      ...({ type: 'eip1559', chainId: CHAIN_ID, to: account.address, gas: 21_000n } as const),
      ...{ nonce: Number(this.nonce), ...fees },
    });
    return { hash: keccak256(raw), raw, cancels, fees };
  }
}

const TROUBLES = {
  block: () => ask('evm_mine'),
  'a pool that forgets': async (follower: Follower) => {
    for (const { hash } of follower.attempts)
      await ask('anvil_dropTransaction', hash).catch(() => {});
  },
  reorganization: (_: Follower, roll: (sides: number) => number) =>
    ask('anvil_reorg', 1 + roll(3), []),
  crash: async (follower: Follower) => follower.load(),
  poll: (follower: Follower) => follower.poll(),
} as const;
type Trouble = keyof typeof TROUBLES;
const OFTEN: readonly Trouble[] = [
  ...(['block', 'block', 'block', 'poll', 'poll', 'poll', 'poll'] as const),
  ...(['a pool that forgets', 'reorganization', 'crash'] as const),
];

async function live(nonce: bigint, roll: (sides: number) => number): Promise<Follower> {
  const follower = new Follower(nonce, roll);
  await follower.begin();
  for (let move = 0; move < MOVES; move++) {
    const trouble = present(OFTEN[roll(OFTEN.length)], 'trouble');
    await TROUBLES[trouble](follower, roll);
  }
  follower.calm();
  for (let block = 0; block < CALM_BLOCKS; block++) {
    await follower.poll();
    if (follower.result !== null) break;
    await ask('evm_mine');
  }
  return follower;
}

test(`the results of ${HISTORIES} histories are what anvil has mined`, async (test) => {
  const { below: roll } = createRandom(SEED, 'histories');
  const first = await usedNonces();
  let [replaced, total] = [0, 0];
  for (let history = 0n; history < BigInt(HISTORIES); history++) {
    const nonce = first + history;
    const follower = await live(nonce, roll);
    const which = `seed ${SEED}, history ${history}`;
    const { result, attempts } = follower;
    assert(result !== null, `${which}: calm does not settle it`);
    const receipts = await Promise.all(
      attempts.map(({ hash }) => ask('eth_getTransactionReceipt', hash)),
    );
    const mined = receipts.flatMap((raw) => (raw === null ? [] : [raw as RawReceipt]));
    assert.deepEqual(
      mined.map(({ transactionHash, blockHash }) => ({ hash: transactionHash, block: blockHash })),
      [result],
      which,
    );
    assert.equal(await usedNonces(), nonce + 1n, `${which}: a nonce is skipped`);
    replaced += attempts.length > 1 ? 1 : 0;
    total += attempts.length;
    for (let i = 0; i < APART; i++) await ask('evm_mine');
  }
  test.diagnostic(`seed ${SEED}: ${HISTORIES} histories, ${replaced} raised, ${total} broadcasts`);
});
