import type { Database } from '#db/database.ts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { addTestTerminal, type TestTerminal } from '../../../web/testing/till.ts';
import { WALLET_PASSWORD } from '../../../web/testing/wallet.ts';
import type { Hands } from './hands.ts';

/** The network that all journeys share, and a terminal that none of them opens. */
export interface Ground {
  readonly sandbox: SandboxFile;
  readonly db: Database;
  readonly terminal: TestTerminal;
}

/** Each journey starts in a new window without stored data. */
export type Journey = (hands: Hands, ground: Ground) => Promise<void>;
export type Journeys = Readonly<Record<string, Journey>>;

/** The account's time zone, different from that of every browser here. */
export const ZONE = 'Asia/Tokyo';

/** JavaScript that returns the value of the field with this label, or `null`. */
export const VALUE_OF = (label: string) => `(() => {
  const named = [...document.querySelectorAll('label')].find(
    (one) => one.textContent === '${label}');
  return (named?.control ?? document.querySelector('[aria-label="${label}"]'))?.value || null;
})()`;

export async function openTill(hands: Hands, { sandbox }: Ground): Promise<TestTerminal> {
  const own = await addTestTerminal(sandbox);
  await hands.goto(`${sandbox.web_url}/terminal#key=${own.deviceKey}`);
  await hands.click('button', /^Start shift/);
  await hands.sees(/Charge/);
  return own;
}

export async function signIn(
  hands: Hands,
  { sandbox }: Ground,
  app: 'dashboard' | 'operator',
): Promise<void> {
  const { email, password } = sandbox[app];
  await hands.goto(`${sandbox.web_url}/${app}`);
  await hands.fill('Email', email);
  await hands.fill('Password', password);
  await hands.click('button', /^Sign in/);
}

/** Creates a wallet with 100 USDC. */
export async function makeWallet(hands: Hands, { sandbox }: Ground): Promise<void> {
  await hands.goto(`${sandbox.web_url}/wallet`);
  await hands.click('button', /^Create wallet/);
  await hands.fill('Wallet password', WALLET_PASSWORD);
  await hands.fill('Repeat wallet password', WALLET_PASSWORD);
  await hands.click('button', /^Create wallet/);
  await hands.click('button', /^Get test USDC/);
  await hands.sees(/100\.00/);
}
