import type { Sql } from '#db/database.ts';
import { selectPayersOfCards } from '#payers/card-queries.ts';
import { selectPayersOfCodes } from '#payers/pass-code-queries.ts';
import { type PayerRow, selectPayersByCredential } from '#payers/payer-queries.ts';
import { selectPayersOfPhones } from '#payers/phone-pass-queries.ts';
import { selectPayersOfRotating } from '#payers/rotating-key-queries.ts';
import { credentialKey, hashOf, type Presented } from '#payments/presented.ts';

/** The payers of these credentials; null for each unknown one. */
export async function readPayers(
  sql: Sql,
  presented: readonly Presented[],
): Promise<(one: Presented) => PayerRow | null> {
  const cardIds = presented.flatMap((one) => (one.type === 'nfc_sun' ? one.cardId : []));
  const codes = presented.flatMap((one) => (one.type === 'qr' ? (hashOf(one) ?? []) : []));
  const passIds = presented.flatMap((one) => (one.type === 'rotating_code' ? one.passId : []));
  const others = presented.flatMap((one) =>
    one.type === 'nfc_id' || one.type === 'agent_token' ? (hashOf(one) ?? []) : [],
  );
  const phones = presented.flatMap((one) => ('tap' in one ? (one.tap.valueHash ?? []) : []));
  const payers = await Promise.all([
    others.length === 0 ? [] : selectPayersByCredential(sql, others),
    cardIds.length === 0 ? [] : selectPayersOfCards(sql, cardIds),
    codes.length === 0 ? [] : selectPayersOfCodes(sql, codes),
    passIds.length === 0 ? [] : selectPayersOfRotating(sql, passIds),
    phones.length === 0 ? [] : selectPayersOfPhones(sql, phones),
  ]);
  const byCredential = new Map(payers.flat().map((payer) => [payer.credential, payer]));
  return (one) => {
    if (one.type === 'authorization') return one.signed.payer;
    if (one.type === 'visiting') return one.visit.holder?.payer ?? null;
    return byCredential.get(credentialKey(one)) ?? null;
  };
}
