import {
  concat,
  getCreate2Address,
  hexToBigInt,
  numberToHex,
  serializeErc6492Signature,
  slice,
} from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import { addContractWallet, delegate, keyWalletCode } from '#testkit/apis/pay-links.ts';
import { FACTORIES } from '#testkit/apis/undeployed-wallets.ts';
import { newWallet } from '#testkit/apis/wallet-sign-in.ts';
import type { TestNetwork } from '#testkit/network/test-network.ts';

/**
 * The expected verdict on a payment's signature, for each kind of code at the payer's address and
 * each form of signature. Both verifiers must agree with this table: the server's
 * (`verify-signature.ts`) and that of the package `tapline-x402` (`contract-wallets.ts`), which
 * cannot share code. The contract wallets in these tests check the first 65 bytes and accept both
 * values of s.
 */

/**
 * What is at the payer's address. `none`: an account with a key and no code. `wallet`: a contract
 * wallet. `delegated`: an account that is delegated (EIP-7702) to a wallet with another device's
 * key. `mute`: an account that is delegated to a contract which confirms no signature.
 * `undeployed`: a contract wallet that its factory, which is listed, has not deployed yet.
 * `precompile`: a precompiled contract, which never signs.
 */
const CODES = ['none', 'wallet', 'delegated', 'mute', 'undeployed', 'precompile'] as const;
type Code = (typeof CODES)[number];

/**
 * Forms of a signature, made with the account's or wallet's own key unless the name says otherwise.
 * `small_v`: with 0 or 1 instead of 27 or 28. `high_s`: the other valid form of the same signature.
 * `long`: with an extra byte. `listed`, `unlisted`: wrapped with the deployment call of a listed or
 * unlisted factory (ERC-6492). `badly_wrapped`: with the suffix of such a wrapper but without its
 * content.
 */
const FORMS = [
  ...(['own', 'device', 'stranger', 'small_v', 'high_s', 'long', 'empty'] as const),
  ...(['listed', 'listed_stranger', 'unlisted', 'badly_wrapped'] as const),
] as const;
type Form = (typeof FORMS)[number];

type Verdict = 'valid' | 'invalid' | 'delegate_refuses' | 'not_deployed';
type Verdicts = Readonly<Record<Code, Readonly<Record<Form, Verdict>>>>;

export const SIGNATURE_VERDICTS: Verdicts = {
  none: {
    own: 'valid',
    device: 'invalid',
    stranger: 'invalid',
    small_v: 'valid',
    high_s: 'invalid',
    long: 'not_deployed',
    empty: 'invalid',
    listed: 'invalid',
    listed_stranger: 'invalid',
    unlisted: 'not_deployed',
    badly_wrapped: 'not_deployed',
  },
  wallet: {
    own: 'valid',
    device: 'invalid',
    stranger: 'invalid',
    small_v: 'invalid',
    high_s: 'valid',
    long: 'valid',
    empty: 'invalid',
    listed: 'valid',
    listed_stranger: 'invalid',
    unlisted: 'valid',
    badly_wrapped: 'valid',
  },
  delegated: {
    own: 'delegate_refuses',
    device: 'valid',
    stranger: 'invalid',
    small_v: 'delegate_refuses',
    high_s: 'invalid',
    long: 'invalid',
    empty: 'invalid',
    listed: 'delegate_refuses',
    listed_stranger: 'invalid',
    unlisted: 'delegate_refuses',
    badly_wrapped: 'invalid',
  },
  mute: {
    own: 'delegate_refuses',
    device: 'invalid',
    stranger: 'invalid',
    small_v: 'delegate_refuses',
    high_s: 'invalid',
    long: 'invalid',
    empty: 'invalid',
    listed: 'delegate_refuses',
    listed_stranger: 'invalid',
    unlisted: 'delegate_refuses',
    badly_wrapped: 'invalid',
  },
  undeployed: {
    own: 'invalid',
    device: 'invalid',
    stranger: 'invalid',
    small_v: 'invalid',
    high_s: 'invalid',
    long: 'not_deployed',
    empty: 'invalid',
    listed: 'valid',
    listed_stranger: 'invalid',
    unlisted: 'not_deployed',
    badly_wrapped: 'not_deployed',
  },
  precompile: {
    own: 'invalid',
    device: 'invalid',
    stranger: 'invalid',
    small_v: 'invalid',
    high_s: 'invalid',
    long: 'invalid',
    empty: 'invalid',
    listed: 'invalid',
    listed_stranger: 'invalid',
    unlisted: 'invalid',
    badly_wrapped: 'invalid',
  },
};

/** P256VERIFY. */
const PRECOMPILE = numberToHex(0x100, { size: 20 });

const NO_SALT = numberToHex(0, { size: 32 });
const WRAPPER_MARK: Hex = `0x${'6492'.repeat(16)}`;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** An account, and a signature of a digest that is presented as the account's own. */
export interface CasePresented {
  readonly from: Hex;
  signatureOf(digest: Hex): Promise<Hex>;
}

/** Runs each case on this network, on which the factories must be deployed and listed. */
export async function verdictsOf(
  network: TestNetwork,
  check: (presented: CasePresented) => Promise<string>,
): Promise<Record<string, Record<string, string>>> {
  const verdicts: Record<string, Record<string, string>> = {};
  for (const code of CODES) {
    const account = await addAccount(network, code);
    const row: Record<string, string> = {};
    for (const form of FORMS) {
      const signatureOf = (digest: Hex) => signatureIn(form, account, digest);
      row[form] = await check({ from: account.from, signatureOf });
    }
    verdicts[code] = row;
  }
  return verdicts;
}

type Account = Awaited<ReturnType<typeof addAccount>>;

async function addAccount(network: TestNetwork, code: Code) {
  const [own, device, stranger] = [newWallet(), newWallet(), newWallet()];
  const keys = { own, device, stranger };
  if (code === 'wallet') {
    const { from, account } = await addContractWallet(network, { usdc: 0n });
    return { ...keys, own: account, from };
  }
  if (code === 'precompile') return { ...keys, from: PRECOMPILE };
  if (code === 'delegated') await delegate(network, own.address, { key: device.address });
  if (code === 'mute') await delegate(network, own.address, { to: network.config.usdc });
  if (code !== 'undeployed') return { ...keys, from: own.address };
  const bytecode = keyWalletCode(own.address);
  const from = getCreate2Address({ from: FACTORIES.honest, salt: NO_SALT, bytecode });
  return { ...keys, from };
}

async function signatureIn(form: Form, account: Account, hash: Hex): Promise<Hex> {
  const own = await account.own.sign({ hash });
  const data = keyWalletCode(account.own.address);
  const wrap = (address: Hex, signature: Hex) =>
    serializeErc6492Signature({ address, data, signature });
  switch (form) {
    case 'own':
      return own;
    case 'device':
    case 'stranger':
      return account[form].sign({ hash });
    case 'small_v':
      return concat([slice(own, 0, 64), numberToHex(recoveryIdOf(own), { size: 1 })]);
    case 'high_s': {
      const s = numberToHex(ORDER - hexToBigInt(slice(own, 32, 64)), { size: 32 });
      return concat([slice(own, 0, 32), s, numberToHex(28 - recoveryIdOf(own), { size: 1 })]);
    }
    case 'long':
      return concat([own, '0xab']);
    case 'empty':
      return '0x';
    case 'listed':
      return wrap(FACTORIES.honest, own);
    case 'listed_stranger':
      return wrap(FACTORIES.honest, await account.stranger.sign({ hash }));
    case 'unlisted':
      return wrap(FACTORIES.unlisted, own);
    case 'badly_wrapped':
      return concat([own, WRAPPER_MARK]);
  }
}

function recoveryIdOf(signature: Hex): number {
  return Number(slice(signature, 64)) - 27;
}
