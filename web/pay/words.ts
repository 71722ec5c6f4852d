import { formatUsdc } from '../ui/money.ts';
import type { Trouble } from './ethereum.ts';
import type { Outcome } from './machine.ts';

/** Sentences of the page. Names that scripts rely on: behavior.md 21. */
export const WORDS = {
  outcome: {
    paid: 'Paid',
    canceled: 'Canceled',
    expired: 'Expired',
  } satisfies Record<Outcome, string>,
  outcomeHint: {
    paid: 'The till shows it too.',
    canceled: 'This payment was canceled at the till. Nothing was charged.',
    expired: 'This payment has expired. Nothing was charged. Ask at the till to start again.',
  } satisfies Record<Outcome, string>,
  checking: 'Checking…',
  checkingHint: 'Waiting for the result. Leave this page open. You won’t be charged twice.',
  declined: 'Declined',
  /** For a try whose answer did not come here: the link says only that it can be paid again. */
  notPaid: 'Your last attempt did not go through. Nothing was charged.',
  refused: 'You did not sign in your wallet. Nothing was charged.',
  offline: 'You are offline. Nothing was sent.',
  otherMessage:
    'The payment to sign does not match what this page shows, so your wallet was not asked. ' +
    'Nothing was charged. Tell the shop.',
  otherContracts:
    'This payment uses different contracts or higher fees than this browser knows, so nothing ' +
    'was signed. Nothing was charged. Tell the shop.',
  priceChanged: 'The fees have changed. Check the new total before you pay.',
  failed: 'Your wallet could not be reached. Nothing was charged. Try again.',
  missing: 'This payment does not exist. Scan the code on the till again.',
  unreachable: 'The service cannot be reached. Check the connection.',
  inWallet: 'Continue in your wallet. It shows what you are signing.',
} as const;

const CHAINS: Readonly<Record<number, string>> = {
  1: 'Ethereum',
  10: 'OP Mainnet',
  137: 'Polygon',
  8453: 'Base',
  42161: 'Arbitrum One',
};

function chainName(chainId: number): string {
  return CHAINS[chainId] ?? `chain ${chainId}`;
}

/** What is wrong with a wallet, and what to do about it. */
export function troubleWords(
  trouble: Trouble,
  { price, chainId }: { readonly chainId: number; readonly price: bigint },
): string {
  if (trouble.is === 'too_little') {
    const [has, needs] = [formatUsdc(trouble.balance), formatUsdc(price)];
    return `This wallet holds ${has}, the payment needs ${needs}. Add USDC or use another wallet.`;
  }
  const [here, there] = [chainName(trouble.chainId), chainName(chainId)];
  return trouble.known
    ? `Your wallet is on ${here}. Switch it to ${there} to pay.`
    : `Your wallet is on ${here} and does not have ${there}. Add it there, or use another wallet.`;
}

/** `1:05`. */
export function formatLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
