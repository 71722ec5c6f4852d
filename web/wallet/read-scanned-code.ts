import { fromRoot } from '../data/root-path.ts';

/** What the wallet can do with a code that its camera has read. */
export type ScannedCode =
  | { readonly is: 'address'; readonly address: string }
  | { readonly is: 'other_chain' }
  /** A payment page of this service, as a path. */
  | { readonly is: 'pay_link'; readonly path: string };

/** An address alone, or in an EIP-681 link without a function: `ethereum:0x…@8453`. */
const ADDRESS = /^(?:ethereum:(?:pay-)?)?(0x[0-9a-f]{40})(?:@(\d+))?$/i;
/** Payment pages: of a pay link, and of a till's tag. */
const PAGES = /^(?:pay|t)\/[0-9A-Za-z_-]+$/;

/**
 * Reads a code with an address or a pay link.
 *
 * @returns `null` for any other code, and for pages of other sites.
 */
export function readScannedCode(text: string, chainId: number | undefined): ScannedCode | null {
  const [, address, chain] = ADDRESS.exec(text.trim()) ?? [];
  if (address !== undefined) {
    const isHere = chain === undefined || Number(chain) === chainId;
    return isHere ? { is: 'address', address } : { is: 'other_chain' };
  }
  const root = fromRoot('.').href;
  const path = text.trim().startsWith(root) ? text.trim().slice(root.length) : '';
  return PAGES.test(path) ? { is: 'pay_link', path } : null;
}
