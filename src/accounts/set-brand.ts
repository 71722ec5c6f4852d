import { createHash } from 'node:crypto';
import { lockOwnAccount } from '#accounts/account-queries.ts';
import {
  type BrandRow,
  deleteOtherLogos,
  insertLogo,
  saveBrand,
  selectBrand,
} from '#accounts/brand-queries.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';

/** Maximum size of a logo: small enough to load quickly. The table checks the limit as well. */
export const MAX_LOGO_BYTES = 100 * 1024;
/**
 * Minimum and maximum pixels per side, so that a browser never decodes more than four megabytes.
 */
const SIDE = { least: 16, most: 1024 } as const;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The first chunk of a PNG always begins with width and height. */
const HEADER = Buffer.from('IHDR');

type Look = Pick<BrandRow, 'color' | 'logo_id'>;
const NONE: Look = { color: null, logo_id: null };

/** Checks the logo's bytes, because the declared type proves nothing. */
function checkLogo(bytes: Buffer): Refusal | null {
  const isPng =
    bytes.length > 24 && bytes.subarray(0, 8).equals(PNG) && bytes.subarray(12, 16).equals(HEADER);
  if (!isPng) {
    return refuse('content_type_unsupported', 'The file is not a PNG.');
  }
  const sides = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (sides.every((side) => side >= SIDE.least && side <= SIDE.most)) return null;
  const allowed = `Each side must be ${SIDE.least} to ${SIDE.most} pixels`;
  return refuse('parameter_invalid', `${allowed}; this image is ${sides.join(' × ')}.`);
}

async function change(tx: Tx, ref: AccountRef, next: (before: Look) => Look): Promise<void> {
  const { accountId, now } = ref;
  await lockOwnAccount(tx, accountId);
  const { color, logo_id } = (await selectBrand(tx, accountId)) ?? NONE;
  const before = { color, logo_id };
  const after = next(before);
  await saveBrand(tx, { accountId, ...after }, now);
  await deleteOtherLogos(tx, { accountId, kept: after.logo_id });
  await recordAccountChange(tx, ref, {
    action: 'account.brand_changed',
    before: { ...before },
    after: { ...after },
  });
}

/** Stores the color as six hex digits, or `null` for none. */
export async function setBrandColor(tx: Tx, ref: AccountRef, color: string | null): Promise<void> {
  await change(tx, ref, (before) => ({ ...before, color }));
}

/** Stores the logo. @returns the refusal if the picture is not accepted. */
export async function setLogo(tx: Tx, ref: AccountRef, bytes: Buffer): Promise<Refusal | null> {
  const wrong = checkLogo(bytes);
  if (isRefusal(wrong)) return wrong;
  const { accountId, now } = ref;
  const id = createHash('sha256').update(accountId).update(bytes).digest('hex').slice(0, 32);
  await insertLogo(tx, { id, accountId, content: bytes }, now);
  await change(tx, ref, (before) => ({ ...before, logo_id: id }));
  return null;
}

export async function removeLogo(tx: Tx, ref: AccountRef): Promise<void> {
  await change(tx, ref, (before) => ({ ...before, logo_id: null }));
}
