import { LONG_NAME, RIGHT_TO_LEFT_NAME, type Shot } from '../testing/shots.ts';
import {
  addPass,
  allowPayments,
  fundWallet,
  WALLET_PASSWORD,
  type WalletWindow,
} from '../testing/wallet.ts';
import { answerWith, type Json, visitorShot, walletShot } from '../testing/wallet-shots.ts';
import { OWN_SHOTS } from './own-shots.ts';
import { PASS_SHOTS } from './pass-shots.ts';

const PAYMENT = {
  id: 'pay_000004OmWoCGFZbaeklcjR',
  merchant_name: 'Blue Door Café',
  amount: 2_500_000,
  tip: 0,
  amount_refunded: 0,
  status: 'succeeded',
  fees: { acquirer: 7_500, protocol: 5_000, cashback: 1_250 },
  total_charged: 2_512_500,
  payment_method: { type: 'wallet_pass', credential: 'qr' },
  settled_at: '2026-11-20T17:31:15.000Z',
  receipt_url: 'http://127.0.0.1/receipts/abc',
};

const PAYMENTS = [
  PAYMENT,
  {
    ...PAYMENT,
    id: 'pay_2',
    merchant_name: LONG_NAME,
    status: 'refunded',
    amount_refunded: 2_500_000,
  },
  {
    ...PAYMENT,
    id: 'pay_3',
    merchant_name: RIGHT_TO_LEFT_NAME,
    amount: 999_999_123_456,
    tip: 99_000_000_001,
    fees: { acquirer: 2_999_997_370, protocol: 1_999_998_246, cashback: 499_999_561 },
    total_charged: 1_004_999_119_072,
    status: 'partially_refunded',
    amount_refunded: 123_456,
  },
];

async function showPayments(wallet: WalletWindow): Promise<void> {
  await answerWith(wallet, 'payments*', (body) => ({ ...body, data: PAYMENTS }));
}

const STARTING: readonly Shot[] = [
  visitorShot('welcome', async () => {}),
  visitorShot('create', async (wallet) => {
    await wallet.button(/^Create wallet/).click();
  }),
  visitorShot('create-short-password', async (wallet) => {
    await wallet.button(/^Create wallet/).click();
    await wallet.field('Wallet password').fill('short');
    await wallet.inDialog(/^Create wallet/).click();
  }),
  visitorShot('import-bad-key', async (wallet) => {
    await wallet.button(/^Import wallet/).click();
    await wallet.field('Private key').fill('0x1234');
    await wallet.field('Wallet password').fill('long enough for it');
    await wallet.field('Repeat wallet password').fill('long enough for it');
    await wallet.inDialog(/^Import wallet/).click();
    await wallet.sees(/A private key has 64 characters/);
  }),
  walletShot('sign-in-wrong-password', async ({ wallet }) => {
    await wallet.page.evaluate(() => localStorage.setItem('tapline.wallet.sessions', '{}'));
    await wallet.page.reload();
    await wallet.field('Wallet password').fill('not the one it is');
    await wallet.button(/^Sign in/).click();
    await wallet.sees(/That isn’t this wallet’s password/);
  }),
];

const LIVING: readonly Shot[] = [
  walletShot('home-new', async () => {}),
  walletShot('allow', async ({ wallet }) => {
    await wallet.button(/^Allow payments/).click();
  }),
  walletShot('allow-wrong', async ({ wallet }) => {
    await wallet.button(/^Allow payments/).click();
    await wallet.field('Maximum per day').fill('10');
    await wallet.field('Total maximum').fill('a lot');
  }),
  walletShot('home-ready', async ({ wallet }) => {
    await fundWallet(wallet);
    await allowPayments(wallet);
    await showPayments(wallet);
    await wallet.sees('Latest payments');
  }),
  walletShot('home-rich', async ({ wallet }) => {
    await answerWith(wallet, 'approvals', (body) => ({ ...body, balance: 999_999_123_456 }));
    await wallet.sees('999,999.12');
  }),
  walletShot('passes-none', async ({ wallet }) => {
    await wallet.goTo('Passes');
    await wallet.sees('No passes yet');
  }),
  walletShot('pass-made', async ({ wallet }) => {
    await wallet.goTo('Passes');
    await wallet.button(/^Add pass/).click();
    await wallet.inDialog(/^Add pass/).click();
    await wallet.field('Pass code').waitFor();
  }),
  walletShot('card-made', async ({ wallet }) => {
    await wallet.goTo('Passes');
    await wallet.page.getByRole('link', { name: 'Cards with a chip' }).click();
    await wallet.button(/^Add card/).click();
    await wallet.field('Card name').fill('Blue card');
    await wallet.inDialog(/^Add card/).click();
    await wallet.field('Meta read key').waitFor();
  }),
  walletShot('passes', async ({ wallet }) => {
    await addPass(wallet, 'Keyring');
    await addPass(wallet, LONG_NAME);
    await wallet.button(/^Revoke Keyring/).click();
    await wallet.button(/^Revoke pass/).click();
    await wallet.page.getByText('Revoked', { exact: true }).waitFor();
  }),
  walletShot('history', async ({ wallet }) => {
    await showPayments(wallet);
    await wallet.goTo('History');
    await wallet.sees(LONG_NAME);
  }),
  walletShot('history-none', async ({ wallet }) => {
    await wallet.goTo('History');
    await wallet.sees('No payments yet');
  }),
];

async function ring(wallet: WalletWindow, part: Json = {}): Promise<void> {
  const question = {
    object: 'confirmation',
    payment_intent: 'pi_000004OmW9mMS5dYD9pdq7',
    status: 'requires_action',
    merchant_name: 'Blue Door Café',
    amount: 2_500_000,
    tip: 0,
    order_id: 'A-17',
    description: 'Two flat whites',
    reason_code: 'FIRST_MERCHANT_PAYMENT',
    expires_at: new Date(Date.now() + 50_000).toISOString(),
    payment: null,
    decline_code: null,
    ...part,
  };
  await answerWith(wallet, 'confirmations?*', (body) => ({ ...body, data: [question] }));
  await wallet.page.reload();
  await wallet.button(/^Approve/).waitFor();
}

const ASKED: readonly Shot[] = [
  walletShot('ring', async ({ wallet }) => ring(wallet)),
  walletShot('ring-long', async ({ wallet }) =>
    ring(wallet, { merchant_name: LONG_NAME, amount: 999_999_123_456, tip: 99_000_000_001 }),
  ),
  walletShot('ring-right-to-left', async ({ wallet }) =>
    ring(wallet, { merchant_name: RIGHT_TO_LEFT_NAME }),
  ),
  walletShot('ring-card', async ({ wallet }) =>
    ring(wallet, { reason_code: 'CARD_AFTER_RECOVERY' }),
  ),
  walletShot('pass-refused', async ({ wallet }) => {
    await addPass(wallet, 'Keyring');
    await answerWith(wallet, 'passes*', (body) => ({
      ...body,
      data: (body.data as Json[]).map((pass) => ({
        ...pass,
        last_declined: { declined_at: '2026-11-20T17:31:15.000Z', decline_code: 'limit_exceeded' },
      })),
    }));
    await wallet.page.reload();
    await wallet.sees('Declined at a till');
  }),
  walletShot('ring-late', async ({ wallet }) => {
    await ring(wallet);
    await wallet.button(/^Approve/).click();
    await wallet.sees('Not paid');
  }),
];

const LOOKED_AFTER: readonly Shot[] = [
  walletShot('limits-none', async ({ wallet }) => {
    await wallet.goTo('Limits');
    await wallet.field('Each day').waitFor();
  }),
  walletShot('limits', async ({ wallet }) => {
    await fundWallet(wallet);
    await allowPayments(wallet);
    await wallet.goTo('Limits');
    await wallet.field('Each day').waitFor();
  }),
  walletShot('settings', async ({ wallet }) => {
    await wallet.goTo('Settings');
    await wallet.field('Wallet address').waitFor();
  }),
  walletShot('backup', async ({ wallet }) => {
    await wallet.goTo('Settings');
    await wallet.button(/^Recovery phrase/).click();
    await wallet.field('Wallet password').fill(WALLET_PASSWORD);
    await wallet.inDialog(/^Recovery phrase/).click();
    // Words are never in a picture.
    await wallet.button(/^I’ve written them down/).click();
    await wallet.inDialog(/^Check/).waitFor();
  }),
  walletShot('agents-none', async ({ wallet }) => {
    await wallet.goTo('Passes');
    await wallet.page.getByRole('link', { name: /^Tokens for AI agents/ }).click();
    await wallet.sees('No tokens yet');
  }),
  walletShot('agent-token', async ({ wallet, sandbox }) => {
    await wallet.goTo('Passes');
    await wallet.page.getByRole('link', { name: /^Tokens for AI agents/ }).click();
    await wallet.button(/^Create a token/).click();
    await wallet.field('Shop').fill(sandbox.account);
    await wallet.field('Amount (USDC)').fill('3.50');
    await wallet.inDialog(/^Create a token/).click();
    await wallet.button(/^Done/).click();
    await wallet.sees('Active');
  }),
  walletShot('take-back', async ({ wallet, sandbox }) => {
    await wallet.page.goto(`${sandbox.web_url}/wallet/take-back`);
    await wallet.field('Wallet password').fill(WALLET_PASSWORD);
    await wallet.button(/^Sign the transaction/).click();
    await wallet.field('Signed transaction').waitFor();
  }),
  walletShot('contracts', async ({ wallet, sandbox }) => {
    await wallet.page.goto(`${sandbox.web_url}/wallet/contracts`);
    await wallet.sees('Main network');
  }),
  walletShot('contracts-changed', async (stage) => {
    await changeContracts(stage);
    await stage.wallet.page.getByRole('link', { name: /^Compare contracts/ }).click();
    await stage.wallet.sees('What the service reports now');
  }),
  walletShot('contracts-changed-home', changeContracts),
  walletShot('next-contract', async ({ wallet }) => {
    await answerWith(wallet, 'approvals', (body) => ({ ...body, policy: null, former: FORMER }));
    await wallet.page.reload();
    await wallet.sees('The network has a new contract');
  }),
];

/** An approval at the previous contract. */
const FORMER = {
  settlement: `0x${'66'.repeat(20)}`,
  policy: {
    ...{ per_payment: 50_000_000, per_period: 200_000_000, period_seconds: 86_400, spent: 0 },
    ...{ expires_at: '2027-06-01T00:00:00.000Z', max_fee_rate: 100 },
  },
  allowance: 1_000_000_000,
};

/** Makes the service name unknown contracts while the wallet is about to sign. */
async function changeContracts({ wallet }: { readonly wallet: WalletWindow }): Promise<void> {
  const settlement = `0x${'66'.repeat(20)}`;
  await answerWith(wallet, 'approvals', (body) => ({ ...body, settlement }));
  await wallet.button(/^Allow payments/).click();
  const sheet = wallet.dialog();
  await sheet.getByRole('button', { name: /^Allow payments/ }).click();
  await sheet.getByText(/nothing was signed/).waitFor();
  await sheet.getByRole('button', { name: /^Not now/ }).click();
}

export const SHOTS: readonly Shot[] = [
  ...STARTING,
  ...LIVING,
  ...PASS_SHOTS,
  ...ASKED,
  ...LOOKED_AFTER,
  ...OWN_SHOTS,
];
