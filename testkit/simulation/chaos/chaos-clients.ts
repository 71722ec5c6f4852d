import { setTimeout as sleep } from 'node:timers/promises';
import type { PauseMs, Random } from '#testkit/fixtures/core/random.ts';
import {
  type ChaosAnswer,
  type ChaosCaller,
  openChaosCaller,
  pageThrough,
} from '#testkit/simulation/chaos/chaos-caller.ts';
import type { Journal, SeenIntent, SeenRefund } from '#testkit/simulation/chaos/chaos-journal.ts';
import type { ChaosWorld } from '#testkit/simulation/chaos/chaos-world.ts';
import type { Step } from '#testkit/simulation/history.ts';
import type { Till } from '#testkit/simulation/ways/shops.ts';
import { WAYS } from '#testkit/simulation/ways/ways.ts';

export interface ClientsOptions {
  /** `http://127.0.0.1:1/api` of every node. */
  readonly urls: readonly string[];
  /** The merchants with their terminals and payers. Each client belongs to one of these worlds. */
  readonly worlds: readonly ChaosWorld[];
  readonly journal: Journal;
  readonly random: Random;
  /** Webhook endpoints that clients may disable and re-enable. */
  readonly endpoints: readonly string[];
  /**
   * True in a soak: some prices are in euros, and half of the sales use the less common ways to
   * pay.
   */
  readonly everything: boolean;
  /** A client's pause between two scenes; `null` for no pause. */
  readonly pauseMs: PauseMs | null;
}

interface Client extends ClientsOptions {
  readonly world: ChaosWorld;
  readonly till: Till;
  readonly server: ChaosCaller;
  readonly counter: ChaosCaller;
}

type Scene = (client: Client) => Promise<unknown>;

interface IntentBody extends Omit<SeenIntent, 'declined' | 'tip'> {
  readonly tip: number | null;
  readonly last_payment_error: { readonly created: string } | null;
}

/** Records the intent that a response shows. */
function noteIntent({ journal }: Client, answer: ChaosAnswer | null): SeenIntent | null {
  if (answer === null || answer.status >= 300) return null;
  const { id, amount, tip, status, payment, ...body } = answer.body as unknown as IntentBody;
  // Recorded only while the intent can still be paid, because a paid intent keeps the error of an
  // earlier attempt.
  const isOpen = status === 'requires_payment_method';
  const declined = isOpen ? (body.last_payment_error?.created ?? null) : null;
  const intent = { id, amount, tip: tip ?? 0, status, payment, declined };
  journal.saw(intent);
  return intent;
}

/**
 * Does something once, or sometimes twice concurrently, like a client that retries too early.
 * Records the intent of each response as soon as it comes, because the database may be restored
 * before the second one comes.
 */
async function perhapsTwice(client: Client, what: string, ask: () => Promise<ChaosAnswer | null>) {
  const once = async () => noteIntent(client, await ask());
  const [first] = await Promise.all(client.random.chance(5) ? [once(), once()] : [once()]);
  client.journal.count(what);
  return first ?? null;
}

/** Returns a price in USDC, or sometimes in euros. */
function choosePrice({ random, everything }: Client) {
  const amount = random.between(1_000, 2_500_000);
  if (!everything || !random.chance(30)) return { amount };
  return { presentment: { currency: 'eur', amount: random.between(1, 230) } };
}

async function create(client: Client, terminal = client.till.terminal) {
  const { random, server, counter, till } = client;
  const price = choosePrice(client);
  const key = random.key();
  const cashier = terminal === till.terminal && random.chance(30);
  return perhapsTwice(client, 'create', () =>
    cashier
      ? counter.post('/payment_intents', price, key)
      : server.post('/payment_intents', { ...price, terminal }, key),
  );
}

function choosePass(client: Client): string {
  const { random, world } = client;
  if (random.chance(8)) return random.pick(world.poorPasses);
  if (world.confirmPass !== null && random.chance(3)) return world.confirmPass;
  return random.pick(world.passes);
}

async function tap(client: Client, { id }: SeenIntent) {
  const body = { credential: { type: 'nfc_id', value: choosePass(client) } };
  const key = client.random.key();
  const path = `/payment_intents/${id}/tap`;
  return perhapsTwice(client, 'tap', () => client.counter.post(path, body, key));
}

/** Polls until the intent is no longer settling or waiting for its payer. */
async function follow(client: Client, intentId: string): Promise<SeenIntent | null> {
  for (let looks = 0; looks < 40; looks++) {
    const intent = noteIntent(client, await client.server.get(`/payment_intents/${intentId}`));
    if (intent === null) return null;
    if (intent.status !== 'processing') return intent;
    await sleep(500);
  }
  return null;
}

async function answerPayer(client: Client, intent: SeenIntent): Promise<void> {
  const path = `/test_helpers/payment_intents/${intent.id}/payer_confirm`;
  const approve = client.random.chance(70);
  noteIntent(client, await client.server.send('POST', path, { approve }));
  client.journal.count('payer answer');
}

async function refund(client: Client, payment: string, amount: number): Promise<void> {
  const { random, server, counter } = client;
  const part = random.chance(40) ? {} : { amount: random.between(1, amount) };
  const from = random.chance(30) ? counter : server;
  const answer = await from.post('/refunds', { payment, ...part });
  client.journal.count('refund');
  if (answer?.status !== 201) return;
  const { id, amount: moved, status } = answer.body as unknown as SeenRefund;
  client.journal.sawRefund({ id, amount: moved, payment, status });
}

async function refundSome(client: Client, intent: SeenIntent): Promise<void> {
  const { payment, amount } = intent;
  if (payment === null) return;
  // Sometimes sends two concurrent refunds, which together must not exceed the refundable amount.
  const count = client.random.chance(30) ? 2 : 1;
  await Promise.all(Array.from({ length: count }, () => refund(client, payment, amount)));
}

/** A scene with a new intent. Polls the intent until it has ended. */
const withIntent =
  (play: (client: Client, made: SeenIntent) => Promise<unknown>): Scene =>
  async (client) => {
    const made = await create(client);
    if (made === null) return;
    await play(client, made);
    await follow(client, made.id);
  };

const sale: Scene = async (client) => {
  const made = await create(client);
  if (made === null) return;
  if (client.random.chance(10)) await client.counter.get('/payment_intents/next?wait=1');
  const tapped = await tap(client, made);
  if (tapped?.status === 'requires_action' && client.random.chance(80))
    await answerPayer(client, tapped);
  const seen = await follow(client, made.id);
  if (seen?.status === 'succeeded' && client.random.chance(12)) await refundSome(client, seen);
};

let orders = 0;

/**
 * Makes a sale by a random way to pay, with a matching payer. Sometimes presents the same
 * credential for a second sale.
 */
const byAnyWay: Scene = async (client) => {
  const { random, world, till, journal, urls } = client;
  if (world.payers.length === 0) return sale(client);
  const way = random.pick(WAYS);
  const payer = random.pick(world.payers.filter(({ kind }) => kind === way.payer));
  const amount = random.between(1_000, 2_000_000);
  const tip = way.atTill && random.chance(50) ? random.below(1_000) : null;
  const wish = { amount, tip, order: `Y${(++orders).toString(36)}` };
  const shopping = { url: () => random.pick(urls), till, payer, wish };
  try {
    const attempt = await way.begin(shopping);
    const result = await attempt.pay(0);
    if (random.chance(20)) await attempt.spendAgain(0, till);
    journal.count(`${way.name}: ${result.said}`);
    if (result.intent !== null) await follow(client, result.intent);
  } catch {
    // No response came in time. The run's final check compares all charges with the chain.
    journal.count(`${way.name}: gave up`);
  }
};

const cancelRace = withIntent((client, made) => {
  const { server, counter, random } = client;
  const canceling = async () => {
    await sleep(random.below(60));
    const by = random.chance(50) ? server : counter;
    const answer = await by.post(`/payment_intents/${made.id}/cancel`);
    client.journal.count('cancel');
    noteIntent(client, answer);
  };
  return Promise.all([canceling(), tap(client, made)]);
});

/** Lets two customers tap their passes for the same intent. */
const doubleTap = withIntent((client, made) => Promise.all([tap(client, made), tap(client, made)]));

const agentPays: Scene = async (client) => {
  const { random, server, world, journal } = client;
  const made = await create(client, world.agentTerminal);
  if (made === null) return;
  const token = await server.send('POST', '/test_helpers/agent_tokens', {
    amount: made.amount,
    pass: random.pick(world.passes),
  });
  const agentToken = token?.body.agent_token;
  if (typeof agentToken !== 'string') return;
  const path = `/payment_intents/${made.id}/confirm`;
  noteIntent(client, await server.post(path, { agent_token: agentToken }));
  journal.count('confirm');
  // The token is spent and must not pay for a second intent.
  if (random.chance(30)) {
    const second = await create(client, world.agentTerminal);
    const again = second && `/payment_intents/${second.id}/confirm`;
    if (again !== null) noteIntent(client, await server.post(again, { agent_token: agentToken }));
  }
  await follow(client, made.id);
};

const expireNow = withIntent(async (client, { id, ...made }) => {
  const path = `/test_helpers/payment_intents/${id}/expire`;
  const expiring = client.server.send('POST', path).then((answer) => noteIntent(client, answer));
  if (client.random.chance(50)) await tap(client, { id, ...made });
  await expiring;
});

const paginate: Scene = async ({ random, server, journal }) => {
  const list = random.pick(['payment_intents', 'payments', 'refunds', 'events']);
  if (await pageThrough(server, list, journal)) journal.count('pagination');
};

const switchEndpoint: Scene = async ({ random, server, endpoints, journal }) => {
  if (endpoints.length === 0) return;
  const path = `/webhook_endpoints/${random.pick(endpoints)}`;
  await server.send('PATCH', path, { status: 'disabled' });
  await sleep(random.below(1_000));
  await server.send('PATCH', path, { status: 'enabled' });
  journal.count('endpoint off and on');
};

/** Scenes that need the API's test helpers, which exist only in test mode. */
const TEST_ONLY: ReadonlySet<Scene> = new Set([agentPays, expireNow]);

/** Scenes, each with its probability in percent. */
const SCENES: readonly (readonly [number, Scene])[] = [
  [55, sale],
  [15, byAnyWay],
  [8, cancelRace],
  [6, doubleTap],
  [7, agentPays],
  [4, expireNow],
  [3, paginate],
  [2, switchEndpoint],
];

function chooseScene({ random, everything }: Client): Scene {
  if (everything && random.chance(50)) return byAnyWay;
  let rest = random.below(100);
  for (const [share, scene] of SCENES) {
    if (rest < share) return scene;
    rest -= share;
  }
  return sale;
}

function openClient(options: ClientsOptions, number: number): Client {
  const { worlds, journal, urls, random } = options;
  const world = worlds[number % worlds.length];
  const position = Math.floor(number / worlds.length);
  const terminal = world?.terminals[position % world.terminals.length];
  if (world === undefined || terminal === undefined) throw new Error('a world without terminals');
  const open = (surface: string, key: string) =>
    openChaosCaller({ urls: urls.map((url) => url + surface), key, random, journal });
  return {
    ...options,
    world,
    till: { ...world, terminal: terminal.id, deviceKey: terminal.deviceKey },
    server: open('/v1', world.secretKey),
    counter: open('/device/v1', terminal.deviceKey),
    endpoints: world.livemode ? [] : options.endpoints,
  };
}

/** Yields the scenes of one client. It makes sales, and cancels or refunds some of them. */
export function* scenesOf(options: ClientsOptions, number: number): Generator<Step> {
  const { pauseMs } = options;
  const client = openClient(options, number);
  const { random, world } = client;
  for (;;) {
    yield async (signal) => {
      const ms = pauseMs === null ? 0 : random.between(pauseMs.low, pauseMs.high);
      if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => {});
      const scene = chooseScene(client);
      const playable = !world.livemode || !TEST_ONLY.has(scene);
      if (!signal.aborted) await (playable ? scene : sale)(client);
    };
  }
}
