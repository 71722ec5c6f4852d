import type { RotatingKey } from '#core/bearer-secrets.ts';
import type { Sql } from '#db/database.ts';
import { openRotatingKey } from '#payers/check-rotating-code.ts';
import { openPhonePass } from '#payers/issue-phone-pass.ts';
import { type PassWallet, selectCopiedPass } from '#payers/pass-copy-queries.ts';
import type { ShownPass } from '#payers/pass-files.ts';
import type { PhoneKind } from '#payers/phone-tap.ts';

const NAMELESS = 'Payment pass';

/** The protocol by which each phone wallet talks to readers. */
export const READER_KINDS: Readonly<Record<PassWallet, PhoneKind>> = {
  google: 'smart_tap',
  apple: 'apple_vas',
};

/**
 * Returns the current content of a wallet's copy of a pass, and when it last changed; undefined if
 * the wallet has no copy.
 */
export async function readShownPass(
  sql: Sql,
  filter: {
    readonly passId: string;
    readonly wallet: PassWallet;
    readonly cardKey: RotatingKey;
    readonly walletUrl: string;
  },
): Promise<{ readonly pass: ShownPass; readonly changedAt: Date } | undefined> {
  const { passId, wallet, cardKey, walletUrl } = filter;
  const kind = READER_KINDS[wallet];
  const row = await selectCopiedPass(sql, { passId, wallet, kind });
  if (row === undefined) return undefined;
  const { phone_sealed: sealed, rotating_key: key } = row;
  return {
    changedAt: row.changed_at,
    pass: {
      id: passId,
      name: row.label || NAMELESS,
      walletUrl,
      readerValue: sealed && openPhonePass(cardKey, { passId, kind, sealed }),
      rotatingKey: key && openRotatingKey(cardKey, { pass_id: passId, key }),
      isVoid: row.id === null || row.revoked_at !== null,
    },
  };
}
