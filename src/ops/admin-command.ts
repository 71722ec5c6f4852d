import { isRefusal } from '#core/answer.ts';
import { migrate } from '#db/migrate.ts';
import { runAdmin } from '#ops/admin.ts';
import { runCommand } from '#ops/command-database.ts';
import { readSecret } from '#ops/read-secret.ts';

await runCommand(async (db) => {
  await migrate(db);
  const readPassword = () => readSecret('Password');
  const outcome = await runAdmin(db, {
    args: process.argv.slice(2),
    readPassword,
    now: new Date(),
  });
  if (isRefusal(outcome)) {
    console.error(outcome.message);
    return 1;
  }
  for (const line of outcome.lines) console.log(line);
  return 0;
});
