import type { DeviceApi, Signed } from '../data/device-api.ts';
import { fromRoot } from '../data/root-path.ts';
import { within } from '../data/run-within.ts';
import type { FiscalReceipt } from '../data/types/device.ts';
import { policyCookie, setPolicyCookie } from './policy-cookie.ts';
import type { Till } from './till-phases.ts';
import type { TillRunner } from './till-runner.ts';

/**
 * Sends this till's receipts to the fiscal signer in its own network, and submits the responses to
 * the service. The service lists each receipt until it is signed, so nothing is stored here: after
 * a reload or a lost response, the same request with the same id is sent again.
 */
interface Signing {
  readonly api: DeviceApi;
  readonly runner: TillRunner;
  /** False if the account's tills no longer call the signer themselves. */
  readonly signs: boolean;
  readonly signal: AbortSignal;
}

const COOKIE = 'tapline_signer';
/**
 * Session-storage key of the signer for which the page was reloaded. A page from the cache keeps
 * its old CSP, and would otherwise reload forever.
 */
const RELOADED = 'tapline.terminal.reloaded-for';
/** Limits for a signer's response, the same when the service calls the signer. */
const ANSWER_MS = 10_000;
const MAX_ANSWER = 16 * 1024;
/** Interval of checks for receipts of refunds, and of sales from other pages. */
const POLL_MS = 3_000;
/** Pauses after the first, second and every later failed round. */
const AGAIN_MS = [5_000, 30_000, 120_000] as const;

/** True at an empty keypad, where a reload loses nothing. */
function isIdle({ phase, typed, cart, split }: Till): boolean {
  const isEmpty = phase.at === 'keypad' && typed === '' && cart === null && split === null;
  return isEmpty && location.pathname === fromRoot('terminal').pathname;
}

/** Calls the listener at each result of a sale, until the returned function is called. */
function onResult(runner: TillRunner, listener: () => void): () => void {
  let before = runner.view().till.phase.at;
  return runner.subscribe(() => {
    const { at } = runner.view().till.phase;
    if (at === 'result' && before !== at) listener();
    before = at;
  });
}

/**
 * The signal ends the pause early, and so does the result of a sale, so that its receipt is signed
 * before it is printed.
 */
async function pause(ms: number, { signal, runner }: Signing): Promise<void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const timer = setTimeout(end, ms);
  const forget = onResult(runner, end);
  signal.addEventListener('abort', end);
  await ended;
  clearTimeout(timer);
  forget();
  signal.removeEventListener('abort', end);
}

function readSigned(body: string): Signed | null {
  try {
    const { signature, text = null } = JSON.parse(body) as Record<string, unknown>;
    if (typeof signature !== 'string' || signature === '') return null;
    return text === null || typeof text === 'string' ? { signature, text } : null;
  } catch {
    return null;
  }
}

/** Returns the signature, `null` if the signer gave none, or `away` if it did not respond. */
async function askSigner(
  { url, request }: FiscalReceipt,
  signal: AbortSignal,
): Promise<Signed | null | 'away'> {
  try {
    return await within({ ms: ANSWER_MS, until: signal }, async (end) => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request),
        redirect: 'error',
        credentials: 'omit',
        cache: 'no-store',
        signal: end,
      });
      const body = await answer.text();
      return answer.ok && body.length <= MAX_ANSWER ? readSigned(body) : null;
    });
  } catch {
    return 'away';
  }
}

/**
 * True if this page's CSP allows calls to the signer. Otherwise reloads an idle till, because the
 * next load allows them.
 */
function mayCall(url: string, runner: TillRunner): boolean {
  const { origin } = new URL(url);
  if (policyCookie(COOKIE) !== origin) setPolicyCookie(COOKIE, origin);
  if (loadedFor === origin) return true;
  if (isIdle(runner.view().till) && sessionStorage.getItem(RELOADED) !== origin) {
    sessionStorage.setItem(RELOADED, origin);
    location.reload();
  }
  return false;
}

/** The origin that this page's CSP allows. */
const loadedFor = policyCookie(COOKIE);

/**
 * Has all unsigned receipts signed.
 * @returns true if no receipt remains unsigned.
 */
async function signAll({ api, signal, runner }: Signing): Promise<boolean> {
  const listed = await api.unsigned();
  if (listed.is !== 'done') return false;
  let isDone = true;
  for (const receipt of listed.value.data) {
    if (signal.aborted || !mayCall(receipt.url, runner)) return false;
    const signed = await askSigner(receipt, signal);
    if (signed === 'away') return false;
    if (signed === null) isDone = false;
    else if ((await api.signed(receipt.receipt_number, signed)).is !== 'done') isDone = false;
  }
  return isDone;
}

/** Runs until the signal aborts. On a till that must not sign, only removes the signer's cookie. */
export async function signReceipts(signing: Signing): Promise<void> {
  const { signal, signs } = signing;
  if (!signs) return setPolicyCookie(COOKIE, null);
  let failures = 0;
  while (!signal.aborted) {
    failures = (await signAll(signing)) ? 0 : failures + 1;
    const again = AGAIN_MS[Math.min(failures, AGAIN_MS.length) - 1];
    await pause(again ?? POLL_MS, signing);
  }
}
