import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import type { Tx } from '#db/database.ts';
import { deviceKeys } from '#terminals/terminal-queries.ts';

/** Creates a device key for the terminal, valid on the terminal's network. */
export async function issueDeviceKey(
  tx: Tx,
  made: { readonly terminalId: string; readonly livemode: boolean; readonly now: Date },
): Promise<string> {
  const secret = newSecret(made.livemode ? 'deviceKeyLive' : 'deviceKeyTest', tx.cell);
  const { terminalId, now } = made;
  await deviceKeys.insert(tx, { hash: hashSecret(secret), terminal_id: terminalId, created: now });
  return secret;
}
