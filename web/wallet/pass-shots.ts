import { LONG_NAME, RIGHT_TO_LEFT_NAME, type Shot } from '../testing/shots.ts';
import { addPass, type WalletWindow } from '../testing/wallet.ts';
import { answerWith, issuesPassFiles, walletShot } from '../testing/wallet-shots.ts';

/** The limit that the card gets. */
const MOST = '1000000';
/**
 * Validity of the code in the screenshots. The real code could expire before every variant is
 * photographed.
 */
const LONG_MS = 99_000;

async function openCards(wallet: WalletWindow): Promise<void> {
  await wallet.goTo('Passes');
  await wallet.page.getByRole('link', { name: 'Cards with a chip' }).click();
}

async function addCard(wallet: WalletWindow, name: string, limit: string): Promise<void> {
  await wallet.button(/^Add card/).click();
  await wallet.field('Card name').fill(name);
  await wallet.field('Maximum per payment').fill(limit);
  await wallet.inDialog(/^Add card/).click();
  await wallet.field('Meta read key').waitFor();
}

async function openCode(wallet: WalletWindow, name: string, expiresAt: () => Date): Promise<void> {
  await addPass(wallet, name);
  await answerWith(wallet, 'passes/*/codes', (body) => ({
    ...body,
    expires_at: expiresAt().toISOString(),
  }));
  await wallet.button(/^Show code/).click();
  await wallet.inDialog(/^New code/).click();
}

const CHIP = {
  id: 'chip_1',
  object: 'chip',
  livemode: false,
  network: 'testnet',
  address: '0x5B38Da6a701c568545dCfcB03FcB875f56beddC4',
  label: 'Ring',
  per_payment_limit: 20_000_000,
  blocked: false,
  created: '2026-11-20T17:31:15.000Z',
};

/** Opens the page on a phone that reads chips, with some already registered. */
async function openChips(wallet: WalletWindow): Promise<void> {
  const more = [
    { ...CHIP, id: 'chip_2', label: LONG_NAME, blocked: true, per_payment_limit: null },
    { ...CHIP, id: 'chip_3', label: '' },
  ];
  await answerWith(wallet, 'chips', (body) => ({ ...body, data: [CHIP, ...more] }));
  await wallet.page.addInitScript(() => {
    class NDEFReader extends EventTarget {
      scan = async () => {};
    }
    Object.assign(window, { NDEFReader });
  });
  await wallet.page.reload();
  await openCards(wallet);
  await wallet.button(/^Change Ring/).waitFor();
}

const CARDS: readonly Shot[] = [
  walletShot('chips', ({ wallet }) => openChips(wallet)),
  walletShot('chips-add', async ({ wallet }) => {
    await openChips(wallet);
    await wallet.button(/^Register a chip/).click();
    await wallet.button(/^Hold the chip here/).click();
    await wallet.sees('Hold the chip against this phone');
  }),
  walletShot('chips-change', async ({ wallet }) => {
    await openChips(wallet);
    await wallet.button(/^Change Ring/).click();
  }),
  walletShot('cards-none', async ({ wallet }) => {
    await openCards(wallet);
    await wallet.sees('No cards yet');
  }),
  walletShot('card-new', async ({ wallet }) => {
    await openCards(wallet);
    await wallet.button(/^Add card/).click();
    await wallet.field('Maximum per payment').fill('nothing');
  }),
  walletShot('card-made', async ({ wallet }) => {
    await openCards(wallet);
    await addCard(wallet, 'Blue card', '50.00');
  }),
  walletShot('cards', async ({ wallet }) => {
    await openCards(wallet);
    for (const [name, limit] of [
      ['Blue card', '50.00'],
      [LONG_NAME, MOST],
      [RIGHT_TO_LEFT_NAME, '999999.123456'],
    ] as const) {
      await addCard(wallet, name, limit);
      await wallet.button(/^Done/).click();
    }
    await wallet.button(/^Revoke Blue card/).click();
    await wallet.button(/^Revoke card/).click();
    await wallet.page.getByText('Revoked', { exact: true }).waitFor();
  }),
  walletShot('card-revoke', async ({ wallet }) => {
    await openCards(wallet);
    await addCard(wallet, LONG_NAME, MOST);
    await wallet.button(/^Done/).click();
    await wallet.button(/^Revoke/).click();
    await wallet.dialog().waitFor();
  }),
];

const CODES: readonly Shot[] = [
  walletShot('pass-code', async ({ wallet }) => {
    await openCode(wallet, 'Keyring', () => new Date(Date.now() + LONG_MS));
    await wallet.page.getByRole('img', { name: 'Code for the till' }).waitFor();
  }),
  walletShot('pass-code-long', async ({ wallet }) => {
    await openCode(wallet, LONG_NAME, () => new Date(Date.now() + LONG_MS));
    await wallet.page.getByRole('img', { name: 'Code for the till' }).waitFor();
  }),
  walletShot('pass-code-over', async ({ wallet }) => {
    await openCode(wallet, RIGHT_TO_LEFT_NAME, () => new Date());
    await wallet.sees('This code has expired.');
  }),
  walletShot('pass-code-changing', async ({ wallet }) => {
    await addPass(wallet, 'Keyring');
    await wallet.button(/^Show code/).click();
    await wallet.button(/^Set up a rotating code/).click();
    await wallet.field('Rotating code').waitFor();
  }),
  walletShot('pass-files', async ({ wallet }) => {
    await answerWith(wallet, 'networks', issuesPassFiles);
    await addPass(wallet, 'Keyring');
    await wallet.page.reload();
    await wallet.button(/^Show code/).click();
    await wallet.button(/^Add to Google Wallet/).waitFor();
  }),
  walletShot('pass-revoke', async ({ wallet }) => {
    await addPass(wallet, LONG_NAME);
    await wallet.button(/^Revoke/).click();
    await wallet.dialog().waitFor();
  }),
];

export const PASS_SHOTS: readonly Shot[] = [...CARDS, ...CODES];
