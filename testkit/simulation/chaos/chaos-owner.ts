import { setTimeout as sleep } from 'node:timers/promises';
import { addFactorNow, totpCode } from '#testkit/apis/people.ts';
import { type PersonAnswer, PersonClient } from '#testkit/apis/person-client.ts';
import type { PauseMs, Random } from '#testkit/fixtures/core/random.ts';
import type { Journal, SeenWithdrawal } from '#testkit/simulation/chaos/chaos-journal.ts';
import type { Step } from '#testkit/simulation/history.ts';

/** An account owner, who occasionally withdraws on both networks. */
export interface ChaosOwner {
  /** Yields one sign-in, then withdrawals. */
  steps(random: Random, journal: Journal): Iterable<Step>;
  /**
   * Signs in once.
   * @returns a client for each node, all with the same session
   */
  signIn(random: Random, journal: Journal): Promise<readonly PersonClient[]>;
}

interface OwnerOptions {
  /** `http://127.0.0.1:1/api` of every node. */
  readonly urls: readonly string[];
  readonly account: string;
  readonly person: { readonly email: string; readonly password: string };
  /** The authenticator app's secret. */
  readonly secret: string;
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
export async function enrolOwner(
  url: string,
  person: OwnerOptions['person'],
): Promise<{ readonly secret: string; readonly client: PersonClient }> {
  const client = new PersonClient(`${url}/dashboard/v1`);
  await client.post('/session', person);
  return { secret: await addFactorNow(client, person.password), client };
}

interface Desk {
  readonly options: OwnerOptions;
  readonly random: Random;
  readonly journal: Journal;
  /** Aborts the waits of the current step. */
  signal?: AbortSignal;
  client: PersonClient;
}

/**
 * Switches to a random node, because the current one may be down. The cookies and the CSRF token
 * are valid on every node.
 */
function moveOn(desk: Desk): void {
  const { client, random, options } = desk;
  desk.client = clientAt(random.pick(options.urls), client);
}

/** Returns a client of this node that shares the session of another client. */
function clientAt(url: string, { cookies, csrfToken }: PersonClient): PersonClient {
  const client = new PersonClient(`${url}/dashboard/v1`);
  for (const [name, value] of cookies) client.cookies.set(name, value);
  client.csrfToken = csrfToken;
  return client;
}

async function attempt(ask: () => Promise<PersonAnswer>): Promise<PersonAnswer | null> {
  // The connection failed or timed out, so the result is unknown.
  return ask().catch(() => null);
}

/**
 * Signs in with both factors. Waits for the next code if necessary, because the service refuses a
 * code that was used.
 */
async function signIn(desk: Desk): Promise<void> {
  const { options } = desk;
  while (desk.signal?.aborted !== true) {
    moveOn(desk);
    const { client } = desk;
    const first = await attempt(() => client.post('/session', options.person));
    const code = totpCode(options.secret);
    const second =
      first?.status === 200
        ? await attempt(() => client.post('/session/second_factor', { code }))
        : null;
    desk.journal.count(`owner signs in ${second?.status ?? first?.status ?? 'unanswered'}`);
    if (second?.status === 200) return;
    await rest(desk, second === null ? AGAIN_MS : CODE_MS);
  }
}

/** Waits for this long, or until the run ends. */
const rest = ({ signal }: Desk, ms: number) =>
  sleep(ms, undefined, { ...(signal && { signal }) }).catch(() => {});

/**
 * Repeats the request until it gets a final response.
 * @returns `null` if the result is unknown
 */
async function persist(
  desk: Desk,
  ask: (client: PersonClient) => Promise<PersonAnswer>,
): Promise<PersonAnswer | null> {
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    const { journal } = desk;
    const restores = journal.restores();
    const received = await attempt(() => ask(desk.client));
    // Discards a response that predates the restore, because the restored database may lack its
    // data.
    const answer = journal.restores() === restores ? received : null;
    const code = answer?.body.error?.code ?? '';
    journal.count(`owner answer ${answer?.status ?? 'none'} ${code}`);
    if (received?.status === 500) journal.complain(`500 to the owner: ${received.text}`);
    if (answer?.status === 401 || code === 'second_factor_required') await signIn(desk);
    else if (answer !== null && answer.status < 500 && !isInProgress(code)) return answer;
    else moveOn(desk);
    await sleep(AGAIN_MS);
  }
  return null;
}

const isInProgress = (code: string) =>
  code === 'idempotency_request_in_progress' || code === 'rate_limit_exceeded';

function note(desk: Desk, answer: PersonAnswer | null): SeenWithdrawal | null {
  if (answer === null || answer.status >= 300) return null;
  const { id, amount, wallet, status } = answer.body as unknown as SeenWithdrawal;
  desk.journal.sawWithdrawal({ id, amount, wallet, status });
  return { id, amount, wallet, status };
}

async function withdraw(desk: Desk): Promise<void> {
  const { random, journal, options } = desk;
  const path = `/accounts/${options.account}/${random.pick(MODES)}/withdrawals`;
  const amount = random.between(AMOUNT.low, AMOUNT.high);
  const headers = { 'Idempotency-Key': random.key() };
  const once = async () =>
    note(desk, await persist(desk, (client) => client.post(path, { amount }, headers)));
  const restores = journal.restores();
  // Sometimes sends the request twice, like an owner who double-clicks.
  const [first, second] = await Promise.all(random.chance(15) ? [once(), once()] : [once()]);
  journal.count('withdrawal');
  const remembered = journal.restores() === restores;
  if (remembered && first != null && second != null && first.id !== second.id) {
    journal.complain(`one key withdrew twice: ${first.id} and ${second.id}`);
  }
  if (first != null) note(desk, await persist(desk, (client) => client.get(`${path}/${first.id}`)));
}

export function openOwner(options: OwnerOptions): ChaosOwner {
  return {
    signIn: async (random, journal) => {
      const client = new PersonClient(`${options.urls[0]}/dashboard/v1`);
      const desk: Desk = { options, random, journal, client };
      await signIn(desk);
      return options.urls.map((url) => clientAt(url, desk.client));
    },
    steps: function* (random, journal) {
      const client = new PersonClient(`${options.urls[0]}/dashboard/v1`);
      const { pauseMs } = options;
      const desk: Desk = { options, random, journal, client };
      const step = (act: () => Promise<void>) => (signal: AbortSignal) => {
        desk.signal = signal;
        return act();
      };
      yield step(() => signIn(desk));
      for (;;) {
        yield step(async () => {
          await withdraw(desk);
          await rest(desk, random.between(pauseMs.low, pauseMs.high));
        });
      }
    },
  };
}
