import { createHmac, hkdfSync } from 'node:crypto';
import { recordTenantChange } from '#audit/record-change.ts';
import { type Refusal, resourceMissing } from '#core/answer.ts';
import { equalInConstantTime } from '#core/bearer-secrets.ts';
import { addMs } from '#core/clock.ts';
import type { IdKey } from '#core/ids.ts';
import { type CardKeys, readSunMessage, type SunMessage } from '#core/sun-message.ts';
import type { Database, Tx } from '#db/database.ts';
import type { TerminalRef } from '#terminals/change-terminal.ts';
import { lockTerminal } from '#terminals/provisioning-queries.ts';
import { noteTap, renewChip, selectChip } from '#terminals/tag-chip-queries.ts';
import { type TagPlace, tagUrl } from '#terminals/tag-url.ts';

// A tag with a chip (NTAG 424 DNA) proves at each tap that the customer is at the counter. All keys
// are derived from the id key and the chip's number. Each set-up draws a new number, so that keys
// are shown only once.

/** Validity of a visit: enough to read the sale, choose a tip, and wait for the till. */
const VISIT_MS = 10 * 60_000;
const KEY_BYTES = 16;
const TIME_BYTES = 6;
const MAC_BYTES = 16;

function derive(idKey: IdKey, purpose: string, chip: string): Buffer {
  return Buffer.from(hkdfSync('sha256', idKey, '', `${purpose} ${chip}`, 2 * KEY_BYTES));
}

function keysOf(idKey: IdKey, chip: string): CardKeys {
  const both = derive(idKey, 'keys of a tag’s chip', chip);
  return { metaRead: both.subarray(0, KEY_BYTES), fileRead: both.subarray(KEY_BYTES) };
}

/** The data to write to a chip. It contains secrets, and is shown only once. */
export interface ChipSettings {
  /** The URL with zeros, which the chip replaces with its message. */
  readonly urlTemplate: string;
  readonly keys: CardKeys;
}

/** Messages of an earlier chip are no longer accepted. */
export async function makeChip(
  tx: Tx,
  tag: TagPlace,
  ref: TerminalRef,
): Promise<ChipSettings | Refusal> {
  const { tenant, id, now } = ref;
  const terminal = await lockTerminal(tx, tenant, id);
  if (terminal === undefined) return resourceMissing('terminal');
  const { chip } = await renewChip(tx, id, now);
  await recordTenantChange(tx, ref, {
    action: 'terminal.tag_chip_created',
    objectId: id,
  });
  const zeros = `p=${'0'.repeat(32)}&c=${'0'.repeat(16)}`;
  return { urlTemplate: `${tagUrl(tag, terminal)}?${zeros}`, keys: keysOf(tag.idKey, chip) };
}

function macOf(idKey: IdKey, chip: string, time: Buffer): Buffer {
  const key = derive(idKey, 'visits at a tag’s chip', chip);
  return createHmac('sha256', key).update(time).digest().subarray(0, MAC_BYTES);
}

export interface Visit {
  /** Proof of the visit, which the page sends with its next requests. */
  readonly visit: string;
  readonly expiresAt: Date;
}

/**
 * Opens a visit after a customer has held a phone to the chip.
 * @returns `null` if another chip made the message, or if the message was already used.
 */
export async function openVisit(
  db: Database,
  idKey: IdKey,
  tapped: { readonly terminalId: string; readonly message: SunMessage; readonly now: Date },
): Promise<Visit | null> {
  const { terminalId, message, now } = tapped;
  const row = await selectChip(db, terminalId);
  const tap = row === undefined ? null : readSunMessage(message, keysOf(idKey, row.chip));
  if (row === undefined || tap === null) return null;
  if (!(await noteTap(db, { terminalId, chip: row.chip, ...tap }))) return null;
  const expiresAt = addMs(now, VISIT_MS);
  const time = Buffer.alloc(TIME_BYTES);
  time.writeUIntBE(expiresAt.getTime(), 0, TIME_BYTES);
  const visit = Buffer.concat([time, macOf(idKey, row.chip, time)]).toString('base64url');
  return { visit, expiresAt };
}

/** True if the visit belongs to this chip and has not expired. */
export function isVisit(idKey: IdKey, chip: string, visit: string, now: Date): boolean {
  const bytes = Buffer.from(visit, 'base64url');
  if (bytes.length !== TIME_BYTES + MAC_BYTES) return false;
  const time = bytes.subarray(0, TIME_BYTES);
  const isOurs = equalInConstantTime(macOf(idKey, chip, time), bytes.subarray(TIME_BYTES));
  return isOurs && now.getTime() < time.readUIntBE(0, TIME_BYTES);
}
