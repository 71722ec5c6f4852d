import { readFile } from 'node:fs/promises';
import { type Anchor, parseAnchors, reportAuditLog } from '#audit/verify-audit-log.ts';
import { StartError } from '#core/start-error.ts';
import { runCommand } from '#ops/command-database.ts';

/**
 * `npm run audit-log`: verifies every audit log and prints the head of each. `npm run audit-log --
 * --anchors <file>`: also checks that the heads in the file are still part of their audit logs. The
 * file is an earlier output or the daily anchors; keep it where the database's owner cannot write.
 */
async function readAnchors(file: string | undefined): Promise<Anchor[]> {
  if (file === undefined) throw new StartError('--anchors needs a file');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new StartError(`--anchors: ${file} cannot be read`);
  });
  return parseAnchors(text);
}

const args = process.argv.slice(2);
await runCommand(async (db) => {
  const anchors = args[0] === '--anchors' ? await readAnchors(args[1]) : [];
  return reportAuditLog(db, { anchors, print: (line) => console.log(line) });
});
