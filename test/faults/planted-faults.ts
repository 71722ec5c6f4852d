import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { copyTree } from '../mutations/judge.ts';
import { type Mutation, mutate } from '../mutations/mutation.ts';

/** A fault that a chaos run once found. Its fix is removed in a copy of the tree. */
export interface PlantedFault {
  /** The fault's ID, which is also the base name of its schedule in `schedules/`. */
  readonly id: string;
  readonly mutation: Mutation;
  /** Matches the broken promise that reveals this fault. */
  readonly shows: RegExp;
}

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  {
    id: 'connection-in-use',
    mutation: {
      name: 'a connection that breaks while it is in use ends the process',
      file: 'src/db/database.ts',
      from: "    client.on('error', () => watch.broke());\n",
      to: '',
    },
    shows: /ended by itself/,
  },
  {
    id: 'sale-of-the-lost-time',
    mutation: {
      name: 'a sale that was paid in the time of a loss is not booked',
      file: 'src/recovery/book-payments.ts',
      from: "  if (requestId === null) return { kind: 'rebuild', accountId };\n",
      to: "  if (requestId === null) return { kind: 'leave' };\n",
    },
    shows: /no payment of ours|foreign_settlement/,
  },
  {
    id: 'place-after-reorganization',
    mutation: {
      name: 'a payment that a reorganization moved keeps its old place',
      file: 'src/settlement/settled/settled-queries.ts',
      from: '         and (p.tx_hash, p.block_number, p.log_index) is distinct from\n',
      to: '         and false and (p.tx_hash, p.block_number, p.log_index) is distinct from\n',
    },
    shows: /differs from its settlement/,
  },
];

export interface Played {
  readonly broken: readonly string[];
  /** The number of faults injected at their recorded moment, out of those that have one. */
  readonly replayed: { readonly hits: number; readonly of: number };
}

/** Creates a copy of the tree with this fault, for chaos runs. */
export function plant(root: string, { mutation }: PlantedFault) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tapline-planted-'));
  copyTree(root, folder);
  const file = path.join(folder, mutation.file);
  writeFileSync(file, mutate(readFileSync(file, 'utf8'), mutation));
  return {
    /** @param args Arguments of `npm run faults`. */
    play: (args: readonly string[]) => play(folder, args),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs the command and parses its report, the single JSON line of the output. */
async function play(folder: string, args: readonly string[]): Promise<Played> {
  const child = spawn(process.execPath, ['test/faults/run.ts', ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  await ended;
  const [from, to] = [lines.indexOf('{'), lines.lastIndexOf('}')];
  if (from === -1) throw new Error(lines.join('\n'));
  return JSON.parse(lines.slice(from, to + 1).join('\n')) as Played;
}
