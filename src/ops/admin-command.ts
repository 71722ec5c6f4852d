import { text } from 'node:stream/consumers';
import { isRefusal } from '#core/refusal.ts';
import { migrate } from '#db/migrate.ts';
import { runAdmin } from '#ops/admin.ts';
import { runCommand } from '#ops/command-database.ts';

/** One line from the terminal without showing it, or all of a pipe. */
async function readPassword(): Promise<string> {
  const { stdin, stderr } = process;
  if (!stdin.isTTY) return (await text(stdin)).replace(/\r?\n$/, '');
  stderr.write('Password: ');
  stdin.setRawMode(true);
  let typed = '';
  for await (const chunk of stdin) {
    for (const key of String(chunk)) {
      if (key === '\r' || key === '\n') {
        stdin.setRawMode(false);
        stderr.write('\n');
        return typed;
      }
      if (key === '\u0003') process.exit(130);
      typed = key === '\u007f' ? typed.slice(0, -1) : typed + key;
    }
  }
  return typed;
}

await runCommand(async (db) => {
  await migrate(db);
  const input = { args: process.argv.slice(2), readPassword, now: new Date() };
  const outcome = await runAdmin(db, input);
  if (isRefusal(outcome)) {
    console.error(outcome.message);
    return 1;
  }
  for (const line of outcome.lines) console.log(line);
  return 0;
});
