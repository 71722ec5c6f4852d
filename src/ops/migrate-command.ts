import { migrate } from '#db/migrate.ts';
import { runCommand } from '#ops/command-database.ts';

/**
 * `npm run migrate`: migrates the database of DATABASE_URL to this release's schema. Run it as the
 * role that owns the tables, before the release's first process starts.
 */
await runCommand(async (db) => {
  const started = performance.now();
  const applied = await migrate(db, { tell: (line) => console.error(line) });
  for (const name of applied) console.log(name);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(applied.length === 0 ? 'nothing to do' : `${applied.length} in ${seconds} s`);
  return 0;
});
