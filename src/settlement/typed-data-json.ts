import type { Json } from '#core/canonical-json.ts';
import { DOMAIN_FIELDS } from '#core/typed-data-fields.ts';

interface Signable {
  readonly domain: object;
  readonly types: object;
  readonly primaryType: string;
  readonly message: object;
}

/**
 * MetaMask's library would otherwise assume that the domain has no fields, and sign another digest.
 */
export function withDomainType<T extends Signable>(signable: T) {
  return { ...signable, types: { EIP712Domain: DOMAIN_FIELDS, ...(signable.types as T['types']) } };
}

/**
 * Renders JSON as `eth_signTypedData_v4` expects it: with the domain's type, and integers as
 * decimal text.
 */
export function walletJson(signable: Signable): Json {
  const text = JSON.stringify(withDomainType(signable), (_key, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  return JSON.parse(text) as Json;
}
