import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WALLET_APPS } from './wallet-apps.ts';

const PAGE = new URL('https://pay.shop.test/till/pay/Ab12?tip=1&x=%C3%A9');

test('each link has the form that the app’s maker documents', () => {
  const links = Object.fromEntries(WALLET_APPS.map(({ name, linkTo }) => [name, linkTo(PAGE)]));
  const page = 'https%3A%2F%2Fpay.shop.test%2Ftill%2Fpay%2FAb12%3Ftip%3D1%26x%3D%25C3%25A9';
  const inOkx = encodeURIComponent(`okx://wallet/dapp/url?dappUrl=${page}`);
  assert.deepEqual(links, {
    MetaMask: 'https://link.metamask.io/dapp/pay.shop.test/till/pay/Ab12?tip=1&x=%C3%A9',
    'Base or Coinbase Wallet': `https://go.cb-w.com/dapp?cb_url=${page}`,
    'Trust Wallet': `https://link.trustwallet.com/open_url?coin_id=60&url=${page}`,
    Phantom: `https://phantom.app/ul/browse/${page}?ref=https%3A%2F%2Fpay.shop.test`,
    'OKX Wallet': `https://web3.okx.com/download?deeplink=${inOkx}`,
  });
});

test('each link contains the complete page URL, whatever characters it has', () => {
  for (const { name, linkTo } of WALLET_APPS) {
    const { pathname, searchParams, host } = new URL(linkTo(PAGE));
    const told = [...searchParams.values()].map((value) => value.replace(/^.*dappUrl=/, ''));
    const carried = [...told, ...pathname.split('/')].flatMap((part) => [
      part,
      decodeURIComponent(part),
    ]);
    const isPath = host === 'link.metamask.io' && linkTo(PAGE).endsWith(PAGE.href.slice(8));
    assert.ok(isPath || carried.includes(PAGE.href), name);
  }
});
