import { setTimeout as sleep } from 'node:timers/promises';
import { addFactorNow, totpCode } from '#testkit/apis/people.ts';
import { type PersonAnswer, PersonClient } from '#testkit/apis/person-client.ts';
import type { PauseMs, Random } from '#testkit/fixtures/core/random.ts';
import { attempt } from '#testkit/simulation/chaos/chaos-caller.ts';
import type { Journal, SeenWithdrawal } from '#testkit/simulation/chaos/chaos-journal.ts';
import type { Step } from '#testkit/simulation/history.ts';

/** A person who signs in with two factors. */
interface Person {
  /** `http://127.0.0.1:1/api` of every node. */
  readonly urls: readonly string[];
  readonly person: { readonly email: string; readonly password: string };
  /** The authenticator app's secret. */
  readonly secret: string;
}

/** An account owner, who occasionally withdraws on both networks. */
export interface ChaosOwner extends Person {
  readonly account: string;
  /** The pause between two withdrawals. */
  readonly pauseMs: PauseMs;
}

const MODES = ['test', 'live'] as const;
/**
 * Range of withdrawals, in atoms. It is about what a few seconds of sales bring in, so that the
 * service refuses some.
 */
const AMOUNT = { low: 1_000, high: 6_000_000 };
/** Time limit of a request's retries. Outages in a run last a few seconds. */
const GIVE_UP_MS = 60_000;
const AGAIN_MS = 400;
/** Validity of a TOTP code. Each code is accepted only once. */
const CODE_MS = 30_000;

/**
 * Sets up the authenticator app that withdrawals require.
 * @returns its secret, and a client whose session has just used it
 */
export async function enrolOwner(url: string, person: Person['person']) {
  const client = new PersonClient(`${url}/dashboard/v1`);
  await client.post('/session', person);
  return { secret: await addFactorNow(client, person.password), client };
}

interface Desk extends Person {
  readonly random: Random;
  readonly journal: Journal;
  /** Aborts the waits of the current step. */
  signal?: AbortSignal;
  client: PersonClient;
}

function openDesk<Owner extends Person>(
  owner: Owner,
  random: Random,
  journal: Journal,
): Owner & Desk {
  return { ...owner, random, journal, client: new PersonClient('') };
}

/** Returns a client of this node that shares the session of another client. */
function clientAt(url: string, { cookies, csrfToken }: PersonClient): PersonClient {
  const client = new PersonClient(`${url}/dashboard/v1`);
  for (const [name, value] of cookies) client.cookies.set(name, value);
  client.csrfToken = csrfToken;
  return client;
}

/**
 * Switches to a random node, because the current one may be down. The cookies and the CSRF token
 * are valid on every node.
 */
function moveOn(desk: Desk): void {
  desk.client = clientAt(desk.random.pick(desk.urls), desk.client);
}

/**
 * Signs in with both factors. Waits for the next code if necessary, because the service refuses a
 * code that was used.
 */
async function signIn(desk: Desk): Promise<void> {
  while (desk.signal?.aborted !== true) {
    moveOn(desk);
    const { client, person, secret, journal } = desk;
    const first = await client.post('/session', person).catch(() => null);
    const code = totpCode(secret);
    const second =
      first?.status === 200
        ? await client.post('/session/second_factor', { code }).catch(() => null)
        : null;
    journal.count(`owner signs in ${second?.status ?? first?.status ?? 'unanswered'}`);
    if (second?.status === 200) return;
    await rest(desk, second === null ? AGAIN_MS : CODE_MS);
  }
}

/** Waits for this long, or until the run ends. */
const rest = ({ signal }: Desk, ms: number) =>
  sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => {});

/**
 * Repeats the request until it gets a final response, and records the withdrawal that it shows.
 * @returns `null` if the result is unknown or an error
 */
async function persist(
  desk: Desk,
  ask: (client: PersonClient) => Promise<PersonAnswer>,
): Promise<SeenWithdrawal | null> {
  const deadline = performance.now() + GIVE_UP_MS;
  const noted = { journal: desk.journal, by: 'owner answer', what: 'the owner' };
  const busy = ['idempotency_request_in_progress', 'rate_limit_exceeded'];
  while (performance.now() < deadline) {
    const { answer, code } = await attempt(noted, () => ask(desk.client));
    if (answer?.status === 401 || code === 'second_factor_required') await signIn(desk);
    else if (answer === null || answer.status >= 500 || busy.includes(code)) moveOn(desk);
    else if (answer.status >= 300) return null;
    else {
      const { id, amount, wallet, status } = answer.body as unknown as SeenWithdrawal;
      desk.journal.sawWithdrawal({ id, amount, wallet, status });
      return { id, amount, wallet, status };
    }
    await sleep(AGAIN_MS);
  }
  return null;
}

async function withdraw(desk: ChaosOwner & Desk): Promise<void> {
  const { random, journal } = desk;
  const path = `/accounts/${desk.account}/${random.pick(MODES)}/withdrawals`;
  const amount = random.between(AMOUNT.low, AMOUNT.high);
  const headers = { 'Idempotency-Key': random.key() };
  const once = () => persist(desk, (client) => client.post(path, { amount }, headers));
  const restores = journal.restores();
  // Sometimes sends the request twice, like an owner who double-clicks.
  const [first, second] = await Promise.all(random.chance(15) ? [once(), once()] : [once()]);
  journal.count('withdrawal');
  const remembered = journal.restores() === restores;
  if (remembered && first != null && second != null && first.id !== second.id)
    journal.complain(`one key withdrew twice: ${first.id} and ${second.id}`);
  if (first != null) await persist(desk, (client) => client.get(`${path}/${first.id}`));
}

/**
 * Signs in once.
 * @returns a client for each node, all with the same session
 */
export async function signInEverywhere(owner: Person, random: Random, journal: Journal) {
  const desk = openDesk(owner, random, journal);
  await signIn(desk);
  return owner.urls.map((url) => clientAt(url, desk.client));
}

/** Yields one sign-in, then withdrawals. */
export function* ownerSteps(owner: ChaosOwner, random: Random, journal: Journal): Generator<Step> {
  const desk = openDesk(owner, random, journal);
  const step = (act: () => Promise<void>) => (signal: AbortSignal) => {
    desk.signal = signal;
    return act();
  };
  yield step(() => signIn(desk));
  for (;;) {
    yield step(async () => {
      await withdraw(desk);
      await rest(desk, random.between(owner.pauseMs.low, owner.pauseMs.high));
    });
  }
}
