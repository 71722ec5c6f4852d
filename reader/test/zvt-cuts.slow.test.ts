import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { present } from '../../src/core/assert.ts';
import { type Caller, caller } from '../../testkit/apis/api-client.ts';
import { openForTests } from '../../testkit/fixtures/core/open-for-tests.ts';
import { createRandom, type Random } from '../../testkit/fixtures/core/random.ts';
import { openSharedSandbox } from '../../testkit/network/shared-sandbox.ts';
import { readCommand } from '../src/zvt/read-command.ts';
import { tag } from './emulated-phones.ts';
import { type ServedRegister, serveTestRegister, TestRegister } from './test-register.ts';
import { ASK, authorization, frameOf } from './zvt-talk.ts';

/**
 * A real network, with a register whose connection breaks at any byte, and one that sends nonsense.
 */
let merchant: Caller;

const shared = openForTests(openSharedSandbox, async () => {
  merchant = caller(`${shared.sandbox.base_url}/v1`, shared.sandbox.test.secret_key);
});

const PAID = /^040f..2700/;
const COMPLETED = /^060f00/;
/** More bytes than a conversation has. */
const MOST_CUTS = 200;
const MUTATED = 100_000;
/** Number of frames sent before the test waits for an answer. */
const BURST = 50;
const ANSWER_MS = 2_000;

/** Returns how often a terminal was paid, by the amount in cents. */
async function paidBy({ till }: ServedRegister): Promise<Map<number, number>> {
  const paid = new Map<number, number>();
  let cursor = '';
  for (;;) {
    const { body } = await merchant.get(
      `/payments?terminal=${till.terminal.id}&limit=100${cursor}`,
    );
    for (const { presentment, amount } of body.data as Charge[]) {
      const cents = presentment?.amount ?? amount / 10_000;
      paid.set(cents, (paid.get(cents) ?? 0) + 1);
    }
    if (body.next_cursor === null) return paid;
    cursor = `&cursor=${String(body.next_cursor)}`;
  }
}

interface Charge {
  readonly presentment: { readonly amount: number } | null;
  readonly amount: number;
}

/**
 * Simulates a customer who taps whenever the reader waits.
 * @returns a function that stops it.
 */
function customer({ till }: ServedRegister): () => Promise<void> {
  const card = tag({ text: present(shared.sandbox.test.passes.ok, 'ok') });
  let isOver = false;
  let seen = 0;
  const running = (async () => {
    while (!isOver) {
      const waiting = till.events.slice(seen).some(({ status }) => status === 'waiting');
      seen = till.events.length;
      if (waiting) await till.tap(card);
      await setTimeout(10);
    }
  })();
  return async () => {
    isOver = true;
    await running;
  };
}

/** Limits the bytes that pass in both directions before the connection is cut. */
class Fuse {
  left: number;

  constructor(left: number) {
    this.left = left;
  }

  /** Returns how many of these bytes still pass. */
  take(bytes: number): number {
    const passing = Math.min(bytes, this.left);
    this.left -= passing;
    return passing;
  }
}

/**
 * Simulates a register that cuts its connection at the given byte.
 * @returns true if it reached the end.
 */
async function sellUntilCut(port: number, cents: number, fuse: Fuse): Promise<boolean> {
  const register = await TestRegister.connect(port);
  register.acknowledges = () => false;
  const send = async (hex: string) => {
    const passing = fuse.take(hex.length / 2);
    register.send(hex.slice(0, passing * 2));
    if (passing * 2 < hex.length || fuse.left === 0) {
      await setTimeout(20);
      throw new Cut();
    }
  };
  const until = async (expected: RegExp) => {
    const frame = await register.until(expected);
    if (fuse.take(frame.length / 2) * 2 < frame.length || fuse.left === 0) throw new Cut();
    return frame;
  };
  try {
    await send(ASK.registerPlain);
    await until(/^800000/);
    await until(/^060f/);
    await send(ASK.acknowledge);
    await send(authorization(cents));
    await until(/^800000/);
    // If the sale was paid before the cut, the cashier repeats its receipt.
    if (/^040f..2783/.test(await until(/^040f..27(00|83)/))) {
      await send(ASK.acknowledge);
      await until(/^061e0183/);
      await send(ASK.acknowledge);
      await send(ASK.repeatReceipt);
      await until(/^800000/);
      await until(PAID);
    }
    await send(ASK.acknowledge);
    await until(COMPLETED);
    await send(ASK.acknowledge);
    return true;
  } catch (error) {
    if (error instanceof Cut) return false;
    throw error;
  } finally {
    await register.cut();
  }
}

class Cut extends Error {}

test('cut at every byte of its conversation, a sale is charged once', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const leave = customer(served);
  let cuts = 0;
  let acknowledgedFrom = Number.POSITIVE_INFINITY;
  for (; cuts < MOST_CUTS; cuts++) {
    const cents = 100 + cuts;
    if (await sellUntilCut(served.port(), cents, new Fuse(cuts))) break;
    // The register reconnects, and requests the same amount until it has the result.
    const again = new Fuse(Number.POSITIVE_INFINITY);
    assert.ok(await sellUntilCut(served.port(), cents, again), `cut at byte ${cuts}`);
    const charged = (await paidBy(served)).get(cents) ?? 0;
    assert.ok(charged === 1 || charged === 2, `${charged} charges, cut at byte ${cuts}`);
    if (charged === 2) acknowledgedFrom = Math.min(acknowledgedFrom, cuts);
  }
  assert.ok(cuts > 90 && cuts < MOST_CUTS, `${cuts} cuts`);
  // Only a register that has acknowledged its result gets a second sale. At most the last 9 bytes
  // come after that: the end of the acknowledgment, the completion and its acknowledgment.
  assert.ok(acknowledgedFrom >= cuts - 9, `a second sale from byte ${acknowledgedFrom} of ${cuts}`);
  await leave();
  await served.end();
});

function mutated(random: Random): string {
  const valid = [...Object.values(ASK), authorization(1250), authorization(99, '0117')];
  const bytes = Buffer.from(random.pick(valid), 'hex');
  for (let times = random.between(1, 2); times > 0; times--) {
    // Never changes the length byte, so the next frame stays readable. The codec's tests truncate
    // frames.
    const at = random.below(bytes.length);
    if (at !== 2) bytes[at] = random.below(256);
  }
  return bytes.toString('hex');
}

function isPayment(hex: string): boolean {
  return readCommand(frameOf(hex)).type === 'authorization';
}

test('100,000 mutated frames over TCP are no more sales than they ask for', async () => {
  const served = await serveTestRegister(shared.sandbox);
  const leave = customer(served);
  let requests = 0;
  const random = createRandom(80, 'frames');
  let register = await served.connect();
  register.acknowledges = () => false;
  let slowest = 0;
  for (let sent = 0; sent < MUTATED; sent += BURST) {
    const frames = Array.from({ length: BURST }, () => mutated(random));
    requests += frames.filter(isPayment).length;
    const begun = performance.now();
    // Each frame gets an immediate answer, except for acknowledgments.
    const commands = frames.filter((frame) => !/^8000|^84/.test(frame)).length;
    const answered = register.frames.length + commands;
    register.send(frames.join(''));
    while (register.frames.length < answered && !register.socket.destroyed) await setTimeout(1);
    slowest = Math.max(slowest, performance.now() - begun);
    if (!register.socket.destroyed) continue;
    register = await served.connect();
    register.acknowledges = () => false;
  }
  assert.ok(slowest < ANSWER_MS, `${slowest} ms`);
  await register.cut();
  const back = await served.connect();
  back.send(ASK.register);
  await back.until(/^060f0a1900/);
  // Most sales before are aborted by a frame of the same burst. This one is not.
  back.send(authorization(4321));
  await back.until(PAID);
  requests += 1;
  await leave();
  const charges = [...(await paidBy(served)).values()].reduce((sum, count) => sum + count, 0);
  assert.ok(charges > 0 && charges <= requests, `${charges} charges of ${requests} payments`);
  await served.end();
});
