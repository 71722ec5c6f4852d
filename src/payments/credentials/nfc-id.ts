import { cellOfSecret } from '#core/bearer-secrets.ts';
import {
  selectPassesByHash,
  selectPayersByCredential,
  type TappedPass,
} from '#payers/payer-queries.ts';
import {
  type FoundPass,
  foundBy,
  hashOf,
  passKind,
  type Secret,
  type TappedKind,
} from '#payments/credentials/credential-kind.ts';

const FORM = /^nfc_[\x21-\x7e]{1,196}$/;

function ofPass(pass: TappedPass): FoundPass<'nfc_id'> {
  return { type: 'nfc_id', payerId: pass.payer_id, pass };
}

/** A pass on a static NFC chip. */
export const nfcId: TappedKind<Secret<'nfc_id'>, FoundPass<'nfc_id'>> = {
  ...passKind('nfc_id', ofPass),
  form: 'the credential on the chip of a pass: nfc_…',
  read: (value) => (FORM.test(value) ? { type: 'nfc_id', value } : null),
  value: ({ value }) => value,
  cell: ({ value }) => cellOfSecret('pass', value),
  ...foundBy(hashOf('pass'), selectPayersByCredential, async (tx, hashes) =>
    (await selectPassesByHash(tx, hashes)).map((pass) => [pass.hash, ofPass(pass)]),
  ),
  facts: () => ({ isCopied: true }),
};
