import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { recordTenantChange, type TenantRef } from '#audit/record-change.ts';
import { type Refusal, resourceMissing } from '#core/answer.ts';
import { base62, fromBase62 } from '#core/base62.ts';
import { type IdKey, linkPrefix } from '#core/ids.ts';
import type { Tx } from '#db/database.ts';
import { lockTerminal, renewTag } from '#terminals/provisioning-queries.ts';
import { deleteChip } from '#terminals/tag-chip-queries.ts';
import type { TerminalRow } from '#terminals/terminal-queries.ts';

/** The path of a tag's page below the web address. */
const TAG_PATH = '/t';

export interface TagPlace {
  readonly idKey: IdKey;
  /** The public origin of the web apps. */
  readonly webUrl: () => string;
}

/** 128 bits need 22 base62 digits. */
const LENGTH = 22;
const TOKEN = /^[0-9A-Za-z]{22}$/;
const BITS = 128n;

/** Derives the key for tags from the id key, because printed tags outlive a rotated secret. */
function keyOf(idKey: IdKey): Buffer {
  return Buffer.from(hkdfSync('sha256', idKey, '', 'terminal tags', 32));
}

/**
 * Encrypts a tag's number as one block. No stored value opens the page, each token belongs to one
 * number, and a number alone yields no token. A hash would also require an encrypted copy for the
 * dashboard: two columns for one secret.
 */
function encipher(idKey: IdKey, tag: string): Buffer {
  const cipher = createCipheriv('aes-256-ecb', keyOf(idKey), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(tag.replaceAll('-', ''), 'hex'), cipher.final()]);
}

/** Returns the token of the tag with this number (a UUID). */
export function tagToken(idKey: IdKey, tag: string): string {
  const value = BigInt(`0x${encipher(idKey, tag).toString('hex')}`);
  return linkPrefix(idKey) + base62(value, LENGTH);
}

/** Returns the number in a token, whether or not such a tag exists; `null` for an invalid token. */
export function tagOfToken(idKey: IdKey, token: string): string | null {
  const prefix = linkPrefix(idKey);
  const body = token.startsWith(prefix) ? token.slice(prefix.length) : '';
  const value = TOKEN.test(body) ? fromBase62(body) : null;
  if (value === null || value >= 1n << BITS) return null;
  const block = Buffer.from(value.toString(16).padStart(32, '0'), 'hex');
  const decipher = createDecipheriv('aes-256-ecb', keyOf(idKey), null).setAutoPadding(false);
  const plain = Buffer.concat([decipher.update(block), decipher.final()]).toString('hex');
  return plain.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns the URL to write on a sticker. */
export function tagUrl({ idKey, webUrl }: TagPlace, { tag }: Pick<TerminalRow, 'tag'>): string {
  return `${webUrl()}${TAG_PATH}/${tagToken(idKey, tag)}`;
}

/** Gives the terminal's tag another URL; the previous one stops working. */
export async function rotateTag(
  tx: Tx,
  ref: TenantRef & { readonly id: string },
): Promise<TerminalRow | Refusal> {
  const { tenant, id } = ref;
  if ((await lockTerminal(tx, tenant, id)) === undefined) return resourceMissing('terminal');
  // Delete the chip, because it contains the previous URL.
  await deleteChip(tx, id);
  const row = await renewTag(tx, id);
  await recordTenantChange(tx, ref, {
    action: 'terminal.tag_rotated',
    objectId: id,
  });
  return row;
}
