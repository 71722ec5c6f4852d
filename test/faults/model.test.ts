import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type Caller, caller, type Reply } from '#testkit/apis/api-client.ts';
import {
  answerPayer,
  cancel,
  confirm,
  type Expected,
  expire,
  lastEventOf,
  MODEL_PASSES,
  type Model,
  type ModelIntent,
  type ModelPass,
  refund,
  tap,
} from '#testkit/apis/api-model.ts';
import { errorCodeOf } from '#testkit/apis/error-code.ts';
import { SEED } from '#testkit/fixtures/core/random.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { repeatTest, requireKept, type Step } from '#testkit/simulation/history.ts';
import { type QuickNetwork, startQuickNetwork } from '#testkit/simulation/model-network.ts';

/** `FAULTS=nightly` runs this many seeds. `npm test` runs few, the long run 100. */
const NIGHTLY_RUNS = 300;
const RUNS = Number(
  process.env.FAULTS_RUNS ?? (process.env.FAULTS === 'nightly' ? NIGHTLY_RUNS : 6),
);
const COMMANDS = 30;
const REPEAT = repeatTest('faults/model');
/** Time limit until the network has finished the work of all runs. */
const REST_MS = 30_000;

let database: TestDatabase;
let network: QuickNetwork;
let merchant: Caller;
let terminal: Caller;
/** Passes that have paid on the real network, which all runs share; each run gets a new model. */
const paidHere = new Set<ModelPass>();

before(async () => {
  database = await testDatabase();
  network = await startQuickNetwork({ database });
  const { base_url, test: mode } = network.sandbox;
  merchant = caller(`${base_url}/v1`, mode.secret_key);
  terminal = caller(`${base_url}/device/v1`, mode.device_key);
});

after(async () => {
  await network?.close();
  await database?.close();
});

interface Real {
  /** Order IDs are unique forever, so each run uses its own. */
  readonly run: number;
  /** Balance before the run. */
  readonly balance: number;
  /** The last request with a key, for replay. */
  last: {
    readonly path: string;
    readonly body: unknown;
    readonly key: string;
    reply: Reply;
  } | null;
}

type Command = fc.AsyncCommand<Model, Real>;

let keys = 0;

async function balance(): Promise<number> {
  const { body } = await merchant.get('/balance');
  return (body.available as { amount: number }[])[0]?.amount ?? Number.NaN;
}

async function post(real: Real, path: string, body: unknown, from = merchant): Promise<Reply> {
  const key = `model ${++keys}`;
  const reply = await from.post(path, body, key);
  if (from === merchant) real.last = { path, body, key, reply };
  return reply;
}

/**
 * Checks that the response is the refusal that the model expects, or the intent in the model's
 * state.
 */
function checkReply(reply: Reply, expected: Expected, intent: ModelIntent): void {
  if (expected.kind === 'refused') {
    assert.deepEqual([reply.status, errorCodeOf(reply.body)], [expected.status, expected.code]);
    return;
  }
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  checkIntent(reply, intent);
}

function checkIntent({ body }: Reply, intent: ModelIntent): void {
  const error = body.last_payment_error as { decline_code: string } | null;
  assert.deepEqual(
    {
      status: body.status,
      amount: body.amount,
      decline: error?.decline_code ?? null,
      reason: body.cancellation_reason,
      canceled: body.canceled_at !== null,
      next: (body.next_action as { type: string } | null)?.type ?? null,
      paid: body.payment !== null && body.tx_hash !== null,
    },
    {
      status: intent.status,
      amount: intent.amount,
      decline: intent.declineCode,
      reason: intent.cancellationReason,
      canceled: intent.status === 'canceled',
      next: intent.status === 'requires_action' ? 'payer_confirmation' : null,
      paid: intent.status === 'succeeded',
    },
  );
  if (intent.paymentId === null && typeof body.payment === 'string') {
    intent.paymentId = body.payment;
  }
  assert.equal(body.payment, intent.paymentId);
}

/** Returns a command on the intent at index `at`, modulo their number. */
function onIntent(
  name: string,
  at: number,
  run: (model: Model, real: Real, intent: ModelIntent) => Promise<void>,
): Command {
  const choose = (model: Model) => model.intents[at % Math.max(1, model.intents.length)];
  return {
    check: (model) => model.intents.length > 0,
    run: async (model, real) => {
      const intent = choose(model);
      if (intent !== undefined) await run(model, real, intent);
    },
    toString: () => `${name} #${at}`,
  };
}

function createCommand(amount: number, order: number | null): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      const { agent_terminal, terminal: counter } = network.sandbox.test;
      const orderId = order === null ? null : `m${real.run}-${order}`;
      const body = {
        amount,
        terminal: amount % 2 === 0 ? counter : agent_terminal,
        ...(orderId === null ? {} : { order_id: orderId }),
      };
      const reply = await post(real, '/payment_intents', body);
      if (orderId !== null && model.orderIds.has(orderId)) {
        assert.deepEqual([reply.status, errorCodeOf(reply.body)], [409, 'order_id_in_use']);
        return;
      }
      assert.equal(reply.status, 201, JSON.stringify(reply.body));
      if (orderId !== null) model.orderIds.add(orderId);
      const intent: ModelIntent = {
        id: String(reply.body.id),
        amount,
        status: 'requires_payment_method',
        pass: null,
        token: null,
        declineCode: null,
        cancellationReason: null,
        paymentId: null,
        refunded: 0,
      };
      model.intents.push(intent);
      checkIntent(reply, intent);
    },
    toString: () => `create ${amount} ${order ?? ''}`,
  };
}

function tapCommand(at: number, pass: ModelPass): Command {
  return onIntent(`tap ${pass}`, at, async (model, _real, intent) => {
    const { passes, terminal: counter } = network.sandbox.test;
    const value = passes[pass];
    const path = `/payment_intents/${intent.id}/tap`;
    const body = { credential: { type: 'nfc_id', value } };
    const reply = await terminal.post(path, body, `model tap ${++keys}`);
    // A terminal does not see another terminal's intents.
    if ((await terminalOf(intent)) !== counter) {
      assert.deepEqual([reply.status, errorCodeOf(reply.body)], [404, 'resource_missing']);
      return;
    }
    checkReply(reply, tap(model, intent, pass), intent);
  });
}

async function terminalOf(intent: ModelIntent): Promise<unknown> {
  return (await merchant.get(`/payment_intents/${intent.id}`)).body.terminal;
}

const mintCommand = (amount: number, pass: ModelPass): Command => ({
  check: () => true,
  run: async (model) => {
    const body = { amount, pass: network.sandbox.test.passes[pass] };
    const reply = await merchant.post('/test_helpers/agent_tokens', body);
    assert.equal(reply.status, 201, JSON.stringify(reply.body));
    model.tokens.push({ secret: String(reply.body.agent_token), amount, pass });
  },
  toString: () => `mint ${amount} ${pass}`,
});

function confirmCommand(at: number, which: number): Command {
  const command = onIntent(`confirm with token ${which}`, at, async (model, real, intent) => {
    const token = model.tokens[which % model.tokens.length];
    if (token === undefined) return;
    const path = `/payment_intents/${intent.id}/confirm`;
    const reply = await post(real, path, { agent_token: token.secret });
    checkReply(reply, confirm(model, intent, token), intent);
  });
  const check = (model: Readonly<Model>) => model.intents.length > 0 && model.tokens.length > 0;
  return { ...command, check };
}

const payerCommand = (at: number, approve: boolean) =>
  onIntent(`payer says ${approve}`, at, async (model, _real, intent) => {
    const path = `/test_helpers/payment_intents/${intent.id}/payer_confirm`;
    const reply = await merchant.post(path, { approve });
    checkReply(reply, answerPayer(model, intent, approve), intent);
  });

const cancelCommand = (at: number) =>
  onIntent('cancel', at, async (_model, real, intent) => {
    const reply = await post(real, `/payment_intents/${intent.id}/cancel`, undefined);
    checkReply(reply, cancel(intent), intent);
  });

const expireCommand = (at: number) =>
  onIntent('expire', at, async (_model, _real, intent) => {
    const reply = await merchant.post(`/test_helpers/payment_intents/${intent.id}/expire`);
    checkReply(reply, expire(intent), intent);
  });

const refundCommand = (at: number, amount: number | null) =>
  onIntent(`refund ${amount}`, at, async (model, real, intent) => {
    if (intent.paymentId === null) return;
    const payment = intent.paymentId;
    const reply = await post(real, '/refunds', { payment, ...(amount === null ? {} : { amount }) });
    const expected = refund(model, intent, amount);
    if (expected.kind === 'refused') {
      assert.deepEqual([reply.status, errorCodeOf(reply.body)], [expected.status, expected.code]);
      return;
    }
    const { status, amount: moved } = reply.body;
    assert.deepEqual([reply.status, status, moved], [201, 'succeeded', expected.amount]);
    const paid = (await merchant.get(`/payments/${payment}`)).body;
    const left = intent.amount - intent.refunded;
    assert.equal(paid.amount_refunded, intent.refunded);
    assert.equal(paid.status, left === 0 ? 'refunded' : 'partially_refunded');
  });

/** An optional field that turns a valid request into a different one. */
const OPTIONAL_FIELD: Readonly<Record<string, string>> = {
  '/payment_intents': 'description',
  '/refunds': 'reason',
};

/**
 * Repeats a key: with the same body it must replay the response without effect, with another body
 * it must be refused.
 */
const replayCommand = (changed: boolean): Command => ({
  check: () => true,
  run: async (_model, real) => {
    if (real.last === null) return;
    const { path, key, body, reply } = real.last;
    // Validation errors release their key, so the request would run again.
    if (reply.status === 400) return;
    const field = OPTIONAL_FIELD[path];
    if (changed && field === undefined) return;
    const other = changed ? { ...(body as object), [field ?? '']: 'changed' } : body;
    const again = await merchant.post(path, other, key);
    if (changed) {
      assert.deepEqual([again.status, errorCodeOf(again.body)], [409, 'idempotency_key_reused']);
      return;
    }
    assert.equal(again.status, reply.status);
    assert.deepEqual(again.body, reply.body);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
  },
  toString: () => (changed ? 'send other body with last key' : 'send last again'),
});

/** Every read must match the model. */
const readCommand: Command = {
  check: () => true,
  run: async (model, real) => {
    const count = model.intents.length;
    const ids: string[] = [];
    let cursor = '';
    while (ids.length < count) {
      const { body } = await merchant.get(`/payment_intents?limit=7${cursor}`);
      ids.push(...(body.data as { id: string }[]).map(({ id }) => id));
      cursor = `&cursor=${encodeURIComponent(String(body.next_cursor))}`;
    }
    const newestFirst = model.intents.map(({ id }) => id).reverse();
    assert.deepEqual(ids.slice(0, count), newestFirst);
    for (const intent of model.intents) {
      checkIntent(await merchant.get(`/payment_intents/${intent.id}`), intent);
    }
    assert.equal(await balance(), real.balance + model.balance);
    const [newest] = model.intents.slice(-1);
    if (newest === undefined) return;
    const events = (await merchant.get('/events?type=payment_intent.*&limit=100')).body.data;
    const own = (events as { type: string; data: { object: { id: string } } }[]).filter(
      (event) => event.data.object.id === newest.id,
    );
    assert.equal(own[0]?.type, lastEventOf(newest));
    assert.equal(own.at(-1)?.type, 'payment_intent.created');
  },
  toString: () => 'read everything',
};

const at = fc.nat({ max: 9 });
const amount = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 3_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 50_000_000, max: 60_000_000 }) },
  // Few amounts, so that tokens often match.
  { weight: 4, arbitrary: fc.constantFrom(1_000_000, 1_000_001) },
);
const pass = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<ModelPass>('ok', 'ok_2', 'confirm', 'over_limit') },
  { weight: 1, arbitrary: fc.constantFrom<ModelPass>(...MODEL_PASSES) },
);
const orderId = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }) },
);

function allCommands() {
  return [
    fc.tuple(amount, orderId).map(([value, id]) => createCommand(value, id)),
    fc.tuple(at, pass).map(([index, name]) => tapCommand(index, name)),
    fc.tuple(at, pass).map(([index, name]) => tapCommand(index, name)),
    fc.tuple(amount, pass).map(([value, name]) => mintCommand(value, name)),
    fc.tuple(at, at).map(([index, which]) => confirmCommand(index, which)),
    fc.tuple(at, fc.boolean()).map(([index, yes]) => payerCommand(index, yes)),
    at.map(cancelCommand),
    at.map(expireCommand),
    fc.tuple(at, fc.option(amount)).map(([index, value]) => refundCommand(index, value)),
    fc.boolean().map(replayCommand),
    fc.constant(readCommand),
  ];
}

/** The shortest sequence that differs from the model, as printed by an earlier run. */
const [path, replayPath] = (process.env.SEQUENCE ?? '').split(' ');
const REPLAYED = path ? { path, endOnFailure: true } : {};

/** Plays random sequences. @returns the shortest that differs from the model. */
const playSequences: Step = async () => {
  let runs = 0;
  const sizes = { maxCommands: COMMANDS, size: 'max', ...(replayPath && { replayPath }) } as const;
  const property = fc.asyncProperty(fc.commands(allCommands(), sizes), async (commands) => {
    runs++;
    await fc.asyncModelRun(async () => {
      const model: Model = { intents: [], tokens: [], orderIds: new Set(), paidHere, balance: 0 };
      return { model, real: { run: runs, balance: await balance(), last: null } };
    }, commands);
  });
  const details = await fc.check(property, { seed: SEED, numRuns: RUNS, ...REPLAYED });
  await cancelWaiting();
  if (!details.failed) return [];
  const [sequence] = details.counterexample ?? [];
  const at = /replayPath="(.*?)"/.exec(String(sequence))?.[1];
  return [
    `${sequence}\n${details.errorInstance}\n` +
      `this sequence alone: SEQUENCE="${details.counterexamplePath} ${at}" ${REPEAT}`,
  ];
};

/** Cancels the payments that wait for their payers, which otherwise takes a minute. */
async function cancelWaiting(): Promise<void> {
  const rows = await database.db.query<{ id: string }>(
    `select id from payment_intents where status = 'requires_action'`,
  );
  for (const { id } of rows) {
    const reply = await merchant.post(`/payment_intents/${id}/cancel`, undefined, `rest ${id}`);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
  }
}

test('for any sequence of requests the API responds as its model, and its ledger agrees', () =>
  requireKept({
    ground: { db: database.db, chains: [network.testnet], limitMs: REST_MS },
    clients: [[playSequences]],
    repeat: REPEAT,
  }));
