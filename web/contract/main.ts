import '../ui/base.css';
import '../receipt/receipt.css';
import './contract.css';
import type { Hex } from '../data/bytes.ts';
import { NoContract } from '../data/contract-holdings.ts';
import { type Provider, watchWallets } from '../data/injected-wallets.ts';
import { WALLET_APPS } from '../data/wallet-apps.ts';
import { element } from '../ui/elements.ts';
import { textNodes } from '../ui/text/text-nodes.ts';
import { type Deps, type Facts, showContract } from './sections.ts';
import { connectTo, OtherChain } from './send-from-wallet.ts';

/**
 * This page lets users act on the contract through their own wallet: withdraw, revoke, pause and
 * cancel. It contacts only the wallet's node, so it also works as a single file after the service
 * has shut down.
 */

let wallet: Provider | null = null;

function field(name: string, label: string, value: string): HTMLElement {
  const input = element('input', {
    name,
    id: name,
    value,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  return element('p', { class: 'field' }, element('label', { for: name }, label), input);
}

/** Reads the contract's facts from the URL fragment, which browsers never send to a server. */
function factsGiven(): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

function readFacts(form: HTMLFormElement): Facts | string {
  const typed = new FormData(form);
  const text = (name: string) => String(typed.get(name) ?? '').trim();
  const settlement = text('settlement');
  if (!/^0x[0-9a-fA-F]{40}$/.test(settlement))
    return 'The contract’s address is 0x and 40 hex digits.';
  const chainId = Number(text('chain'));
  if (!Number.isSafeInteger(chainId) || chainId <= 0) return 'The chain’s id is a number.';
  const merchant = text('merchant');
  if (!/^\d{0,9}$/.test(merchant)) return 'The merchant number is a number, or left out.';
  return {
    settlement: settlement as Hex,
    chainId,
    merchant: merchant === '' ? null : Number(merchant),
  };
}

function troubleWords(error: unknown, { chainId }: Facts): string {
  if (error instanceof OtherChain) {
    return `Your wallet is on another chain. Choose chain ${chainId} in it, and connect again.`;
  }
  if (error instanceof NoContract) {
    return 'There is no such contract on this chain. Compare address and chain with your receipt.';
  }
  return 'The wallet did not answer, or you refused. Connect again.';
}

function withoutWallet(): HTMLElement {
  const isFile = location.protocol === 'file:';
  const apps = WALLET_APPS.map(({ name, linkTo }) =>
    element(
      'li',
      {},
      element('a', { href: linkTo(new URL(location.href)), rel: 'noreferrer' }, name),
    ),
  );
  return element(
    'div',
    { class: 'verdict plain' },
    element(
      'p',
      {},
      'This browser has no wallet. On a computer, use a browser with a wallet extension.',
    ),
    isFile
      ? 'A wallet may have to be allowed to see files. Or put this file on any web server.'
      : element(
          'div',
          {},
          element('p', {}, 'On a phone, open this page in:'),
          element('ul', {}, ...apps),
        ),
  );
}

function start(root: HTMLElement): void {
  const given = factsGiven();
  const status = element('p', { role: 'status', class: 'soft' });
  const result = element('div', { class: 'result' });
  const form = element(
    'form',
    {},
    field('chain', 'Chain id', given.chain ?? ''),
    field('settlement', 'Settlement contract', given.settlement ?? ''),
    field('merchant', 'Merchant number (merchants only)', given.merchant ?? ''),
    element('button', { class: 'act', type: 'submit' }, 'Connect wallet'),
  ) as HTMLFormElement;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void connect({ form, status, result });
  });
  root.replaceWith(
    element(
      'main',
      {},
      element('h1', {}, 'The contract, with your own wallet'),
      element(
        'p',
        {},
        'This page talks only to your wallet. It withdraws your money, ends a permission, or ' +
          'stops the contract, even when the service is gone.',
      ),
      form,
      status,
      result,
    ),
  );
}

interface Places {
  readonly form: HTMLFormElement;
  readonly status: HTMLElement;
  readonly result: HTMLElement;
}

async function connect({ form, status, result }: Places): Promise<void> {
  const facts = readFacts(form);
  result.replaceChildren();
  if (typeof facts === 'string') {
    status.textContent = facts;
    return;
  }
  if (wallet === null) {
    status.textContent = '';
    result.replaceChildren(withoutWallet());
    return;
  }
  status.textContent = 'Asking your wallet …';
  try {
    const account = await connectTo(wallet, facts.chainId);
    const deps: Deps = { provider: wallet, account, facts, status };
    result.replaceChildren(...(await showContract(deps)));
    status.replaceChildren(...textNodes(`Connected as ${account}`));
  } catch (error) {
    status.textContent = troubleWords(error, facts);
  }
}

watchWallets((provider) => {
  wallet ??= provider;
});
const root = document.getElementById('app');
if (root !== null) start(root);
