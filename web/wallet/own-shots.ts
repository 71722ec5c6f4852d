import { letAsk, PUSH_KEY } from '../testing/notifications.ts';
import type { Shot } from '../testing/shots.ts';
import {
  addPass,
  allowPayments,
  fundWallet,
  WALLET_PASSWORD,
  type WalletWindow,
} from '../testing/wallet.ts';
import { answerWith, visitorShot, walletShot } from '../testing/wallet-shots.ts';

const KEY = `0x${'4f'.repeat(32)}`;

async function showRings(wallet: WalletWindow, push: Readonly<Record<string, unknown>>) {
  await letAsk(wallet.page);
  await answerWith(wallet, 'push', (body) => ({ ...body, ...push }));
  await wallet.page.reload();
  await wallet.goTo('Settings');
  await wallet.page.getByRole('heading', { name: 'Notifications' }).waitFor();
}

async function lock(wallet: WalletWindow): Promise<void> {
  await wallet.goTo('Settings');
  await wallet.field('PIN').fill('2468');
  await wallet.button(/^Set PIN/).click();
  await wallet.button(/^Remove PIN/).waitFor();
  await wallet.page.reload();
  await wallet.page.getByRole('heading', { name: 'Locked' }).waitFor();
}

async function stopSheet(wallet: WalletWindow): Promise<void> {
  await fundWallet(wallet);
  await allowPayments(wallet);
  await wallet.goTo('Limits');
  await wallet.button(/^Stop all payments/).click();
  await wallet.dialog().waitFor();
}

async function reviewSending(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Send$/).click();
  await wallet.field('Recipient').fill('0x90F79bf6EB2c4f870365E785982E1f101E93b906');
  await wallet.field('Amount (USDC)').fill('2.50');
  await wallet.button(/^Review/).click();
  await wallet.button(/^Edit/).waitFor();
}

/** Screens for the key, the device and irreversible actions, which are seldom seen. */
export const OWN_SHOTS: readonly Shot[] = [
  visitorShot('import', async (wallet) => {
    await wallet.button(/^Import wallet/).click();
    await wallet.field('Private key').fill(KEY);
    await wallet.field('Wallet password').fill('long enough for it');
  }),
  visitorShot('import-passwords-differ', async (wallet) => {
    await wallet.button(/^Import wallet/).click();
    await wallet.field('Private key').fill(KEY);
    await wallet.field('Wallet password').fill('long enough for it');
    await wallet.field('Repeat wallet password').fill('long enough for that');
    await wallet.inDialog(/^Import wallet/).click();
  }),
  walletShot('rings-question', async ({ wallet }) => {
    await letAsk(wallet.page);
    await addPass(wallet, 'Keyring');
    await wallet.page.reload();
    await wallet.sees('Notify this device?');
  }),
  walletShot('rings-off', async ({ wallet }) => showRings(wallet, { public_key: PUSH_KEY })),
  walletShot('rings-on', async ({ wallet }) =>
    showRings(wallet, { public_key: PUSH_KEY, subscribed: true }),
  ),
  walletShot('rings-blocked', async ({ wallet }) => {
    await wallet.goTo('Settings');
    await wallet.button(/^Notify this device/).click();
    await wallet.sees(/^This browser blocks notifications from the wallet/);
  }),
  walletShot('locked', async ({ wallet }) => lock(wallet)),
  walletShot('locked-forgotten', async ({ wallet }) => {
    await lock(wallet);
    await wallet.button(/^Forgot the PIN/).click();
    await wallet.button(/^Open with your/).waitFor();
  }),
  walletShot('remove', async ({ wallet }) => {
    await wallet.goTo('Settings');
    await wallet.button(/^Remove wallet/).click();
    await wallet.inDialog(/^Remove wallet/).click();
    await wallet.sees('Check the box first.');
  }),
  walletShot('send-wrong', async ({ wallet }) => {
    await wallet.button(/^Send$/).click();
    await wallet.field('Recipient').fill('0x90f79bf6EB2c4f870365E785982E1f101E93b906');
    await wallet.field('Amount (USDC)').fill('2.50');
    await wallet.button(/^Review/).click();
    await wallet.sees(/isn’t a valid address/);
  }),
  walletShot('send-review', async ({ wallet }) => {
    await fundWallet(wallet);
    await reviewSending(wallet);
  }),
  walletShot('send-no-node', async ({ wallet }) => {
    await fundWallet(wallet);
    await answerWith(wallet, 'approvals', (body) => ({ ...body, gasless: null }));
    await wallet.page.reload();
    await reviewSending(wallet);
  }),
  walletShot('send-under-way', async ({ wallet }) => {
    await fundWallet(wallet);
    await wallet.context.route('**/transfers', () => {});
    await reviewSending(wallet);
    await wallet.field('Wallet password').fill(WALLET_PASSWORD);
    await wallet.button(/^Send 2/).click();
    await wallet.sees(/^On its way/);
  }),
  walletShot('stop', async ({ wallet }) => stopSheet(wallet)),
  walletShot('agent-new', async ({ wallet }) => {
    await wallet.goTo('Passes');
    await wallet.page.getByRole('link', { name: /^Tokens for AI agents/ }).click();
    await wallet.button(/^Create a token/).click();
    await wallet.field('Shop').fill('Blue Door');
    await wallet.inDialog(/^Create a token/).click();
  }),
  walletShot('offline', async ({ wallet }) => {
    await wallet.context.setOffline(true);
    await wallet.sees(/^Offline/);
  }),
];
