import { assert } from '#core/assert.ts';
import { cellOfSecret } from '#core/bearer-secrets.ts';
import {
  lockPassCodes,
  type PassCodeRow,
  selectPayersOfCodes,
  useUpPassCodes,
} from '#payers/pass-code-queries.ts';
import type { TappedPass } from '#payers/payer-queries.ts';
import {
  type FoundPass,
  foundBy,
  hashOf,
  passKind,
  type Secret,
  type TappedKind,
} from '#payments/credentials/credential-kind.ts';

interface QrState extends FoundPass<'qr'> {
  /** The code; `null` for an attempt in progress, whose code was consumed before. */
  readonly code: PassCodeRow | null;
}

function ofPass(pass: TappedPass, code: PassCodeRow | null): QrState {
  return { type: 'qr', payerId: pass.payer_id, pass, code };
}

/** A code that the wallet app shows for a pass. It is valid for one minute and one attempt. */
export const qr: TappedKind<Secret<'qr'>, QrState> = {
  ...passKind('qr', (pass) => ofPass(pass, null)),
  isCode: true,
  form: 'the text of the code',
  read: (value) => ({ type: 'qr', value }),
  value: ({ value }) => value,
  cell: ({ value }) => cellOfSecret('passCode', value),
  ...foundBy(hashOf('passCode'), selectPayersOfCodes, async (tx, hashes) =>
    (await lockPassCodes(tx, hashes)).map((code) => [code.hash, ofPass(code, code)]),
  ),
  verify(state, _, { now }) {
    const { code } = state;
    if (code === null) return { decline: null, after: state };
    if (code.used_at !== null) return { decline: 'pass_code_used', after: state };
    const after = { ...state, code: { ...code, used_at: now } };
    return { decline: code.expires_at <= now ? 'pass_code_expired' : null, after };
  },
  async consume(tx, used, now) {
    const codes = used.flatMap(({ code }) => code?.hash ?? []);
    assert((await useUpPassCodes(tx, codes, now)) === codes.length, 'a code was used twice');
  },
};
