import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { HeldSale } from '../../terminal/offline/held-sales.ts';
import type { TestTerminal } from '../till.ts';
import type { OutageTill } from './till.ts';

/** A command to the till's process, which answers each one with one line. */
export type TillCommand =
  | { readonly do: 'request'; readonly amount: number }
  | { readonly do: 'answer'; readonly text: string }
  /** Stores a sale that another till has accepted, as if its wallet had signed it at this till. */
  | { readonly do: 'hold'; readonly sale: HeldSale }
  | { readonly do: 'sales' };

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const PROGRAM = path.join(import.meta.dirname, 'till-process.ts');

/** Starts the process. Its pending calls fail when it is killed. */
function start(env: Readonly<Record<string, string>>) {
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const child: ChildProcess = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, ...env },
    stdio: [...stdio],
  });
  const pending = new Map<number, Waiting>();
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('the till has no pipes');
  // A pipe breaks when the process is killed.
  stdin.on('error', () => {});
  createInterface({ input: stdout }).on('line', (line) => {
    const { id, value, error } = JSON.parse(line);
    if (error === undefined) pending.get(id)?.resolve(value);
    else pending.get(id)?.reject(new Error(error));
    pending.delete(id);
  });
  const ended = once(child, 'exit').then(() => {
    for (const { reject } of pending.values()) reject(new Error('the till was killed'));
    pending.clear();
  });
  let last = 0;
  const ask = <T>(command: TillCommand): Promise<T> =>
    new Promise((resolve, reject) => {
      if (child.exitCode !== null || child.signalCode !== null) {
        return reject(new Error('the till does not run'));
      }
      last += 1;
      pending.set(last, { resolve: resolve as Waiting['resolve'], reject });
      stdin.write(`${JSON.stringify({ id: last, ...command })}\n`);
    });
  return { child, ask, ended };
}

export interface ProcessTill extends OutageTill {
  hold(sale: HeldSale): Promise<void>;
}

/** Opens a terminal without a browser, with its file of sales in this folder. */
export async function openProcessTill(
  terminal: TestTerminal,
  { folder, baseUrl }: { readonly folder: string; readonly baseUrl: string },
): Promise<ProcessTill> {
  const env = {
    TILL_FOLDER: folder,
    TILL_API: `${baseUrl}/device/v1`,
    TILL_KEY: terminal.deviceKey,
  };
  let running = start(env);
  return {
    terminal,
    paceMs: 1_000,
    request: (amount) => running.ask({ do: 'request', amount }),
    answer: (text) => running.ask({ do: 'answer', text }),
    hold: (sale) => running.ask({ do: 'hold', sale }),
    sales: () => running.ask({ do: 'sales' }),
    restart: async () => {
      running.child.kill('SIGKILL');
      await running.ended;
      running = start(env);
    },
    close: async () => {
      running.child.kill('SIGKILL');
      await running.ended;
    },
  };
}
