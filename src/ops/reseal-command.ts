import { StartError } from '#core/start-error.ts';
import { readCommandSettings, runCommand } from '#ops/command-database.ts';
import { reseal } from '#ops/reseal.ts';
import { cardKey, idSealingKey, peopleKey, webhookKey } from '#settings/config.ts';

/**
 * `npm run reseal`: encrypts the database's secrets under TAPLINE_SECRET. Run it once all processes
 * have TAPLINE_SECRET and TAPLINE_SECRET_PREVIOUS. Exit code 1 if neither decrypts a value.
 */
await runCommand(async (db) => {
  const { secret } = readCommandSettings(process.env);
  if (secret?.previous === undefined) {
    throw new StartError('TAPLINE_SECRET and TAPLINE_SECRET_PREVIOUS must be set');
  }
  const keys = {
    people: peopleKey(secret),
    webhooks: webhookKey(secret),
    cards: cardKey(secret),
    ids: idSealingKey(secret),
  };
  const reports = await reseal(db, keys);
  for (const { column, resealed, current, lost } of reports) {
    console.log(
      `${column}: ${resealed} sealed again, ${current} already current, ${lost} undecryptable`,
    );
  }
  return reports.some(({ lost }) => lost > 0) ? 1 : 0;
});
