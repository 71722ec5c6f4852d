import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

const PROGRAM = path.join(import.meta.dirname, '../../cli/bin/tapline.js');

export interface RpcAnswer {
  readonly id: number | null;
  readonly result?: { readonly [field: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

export interface ToolAnswer {
  readonly isError?: boolean;
  readonly structuredContent?: { readonly [field: string]: unknown };
  readonly content: readonly { readonly type: string; readonly text: string }[];
}

export interface McpClient {
  send(line: string): void;
  ask(method: string, params?: object): Promise<RpcAnswer>;
  /** What a tool answered. */
  call(name: string, given?: object): Promise<ToolAnswer>;
  /** Answers that belong to no question. */
  readonly strays: RpcAnswer[];
  /** Ends its input. @returns the exit code */
  close(): Promise<number | null>;
}

/** A client of the protocol that is none of ours: raw lines. */
export function startMcp(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): McpClient {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, 'mcp', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  const strays: RpcAnswer[] = [];
  if (child.stdout === null) throw new Error('no standard output');
  createInterface(child.stdout).on('line', (line) => {
    const answer = JSON.parse(line) as RpcAnswer;
    const resolve = answer.id === null ? undefined : waiting.get(answer.id);
    if (resolve === undefined) strays.push(answer);
    else resolve(answer);
  });
  let ids = 0;
  const send = (line: string) => void child.stdin?.write(`${line}\n`);
  const ask = (method: string, params: object = {}) => {
    const id = ++ids;
    send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return new Promise<RpcAnswer>((resolve) => waiting.set(id, resolve));
  };
  return {
    send,
    ask,
    strays,
    call: async (name, given = {}) => {
      const { result, error } = await ask('tools/call', { name, arguments: given });
      if (result === undefined) throw new Error(error?.message);
      return result as unknown as ToolAnswer;
    },
    close: async () => {
      child.stdin?.end();
      const [code] = (await once(child, 'close')) as [number | null];
      return code;
    },
  };
}
