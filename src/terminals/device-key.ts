import { hashSecret, newSecret } from '#core/secrets.ts';
import type { Tx } from '#db/database.ts';
import { insertDeviceKey } from '#terminals/provisioning-queries.ts';

/** Creates a device key for the terminal, valid on the terminal's network. */
export async function issueDeviceKey(
  tx: Tx,
  made: { readonly terminalId: string; readonly livemode: boolean; readonly now: Date },
): Promise<string> {
  const secret = newSecret(made.livemode ? 'deviceKeyLive' : 'deviceKeyTest', tx.cell);
  const { terminalId, now } = made;
  await insertDeviceKey(tx, { hash: hashSecret(secret), terminalId, now });
  return secret;
}
