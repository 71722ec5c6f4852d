import { readFile } from 'node:fs/promises';
import { StartError } from '#core/start-error.ts';
import { type Anchor, parseAnchor, reportAuditLog } from '#ops/audit-log.ts';
import { runCommand } from '#ops/command-database.ts';

/**
 * `npm run audit-log`: verifies the hash chains of the audit log and prints the head of each.
 * `npm run audit-log -- --anchors <file>`: also checks that the heads in the file (an earlier
 * output, kept where the database's owner cannot write) are still part of their chains.
 */
async function readAnchors(file: string | undefined): Promise<Anchor[]> {
  if (file === undefined) throw new StartError('--anchors takes a file');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new StartError(`--anchors: ${file} cannot be read`);
  });
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const anchor = parseAnchor(line);
    if (anchor === null) throw new StartError(`--anchors: not a head: ${line.slice(0, 100)}`);
    return anchor;
  });
}

const args = process.argv.slice(2);
await runCommand(async (db) => {
  const anchors = args[0] === '--anchors' ? await readAnchors(args[1]) : [];
  return reportAuditLog(db, { anchors, print: (line) => console.log(line) });
});
