import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Ajv, type ValidateFunction } from 'ajv';
import { PROGRAM } from './run-cli.ts';

/** Versions whose sessions begin with `initialize`; the newest has none. */
export const SESSION_VERSIONS = ['2025-06-18', '2025-11-25'] as const;
export const MODERN = '2026-07-28';

/** Returns what each request of the newest protocol version carries. */
export function modernMeta(capabilities: object = {}): { readonly _meta: object } {
  return {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'strict', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    },
  };
}

/** Methods that the server does not have. */
export const UNKNOWN_METHODS = ['charge', 'resources/list', 'tools/call/refund', '__proto__'];

export interface RpcAnswer {
  readonly id: number | null;
  readonly result?: { readonly [field: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

/** A request from the server to its client. */
export interface RpcRequest {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly [field: string]: unknown };
}

export interface ToolAnswer {
  readonly isError?: boolean;
  readonly structuredContent?: { readonly [field: string]: unknown };
  readonly content: readonly { readonly type: string; readonly text: string }[];
}

export interface McpClient {
  send(line: string): void;
  ask(method: string, params?: object): Promise<RpcAnswer>;
  /** Calls a tool and validates its result with the server's schema. */
  call(name: string, given?: object): Promise<ToolAnswer>;
  /** Initializes the session and declares this client's capabilities. */
  greet(capabilities?: object): Promise<void>;
  /** Lines that are neither responses nor requests. */
  readonly strays: RpcAnswer[];
  /** The server's requests, in order. */
  readonly asked: RpcRequest[];
  /** Closes the server's input. @returns the exit code */
  close(): Promise<number | null>;
}

export interface Tool {
  readonly name: string;
  readonly outputSchema: object;
}

/** Returns a validator of each tool's results, by tool name. */
export function checkersOf(tools: readonly Tool[]): ReadonlyMap<string, ValidateFunction> {
  const ajv = new Ajv({ strict: true, allErrors: true, allowUnionTypes: true });
  return new Map(tools.map(({ name, outputSchema }) => [name, ajv.compile(outputSchema)]));
}

export function checkAnswer(answer: ToolAnswer, check: ValidateFunction | undefined): void {
  const { isError, structuredContent, content } = answer;
  assert.ok(content.every(({ type, text }) => type === 'text' && text !== ''));
  if (isError === true) return;
  assert.ok(check !== undefined, 'a tool without a schema');
  assert.ok(check(structuredContent), JSON.stringify(check.errors));
  assert.deepEqual(JSON.parse(content[0]?.text ?? ''), structuredContent);
}

/**
 * Starts the server and an independent client that exchanges raw lines with it. The client answers
 * the server's requests with `reply`.
 */
export function startMcp(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  reply: (request: RpcRequest) => object = () => ({}),
): McpClient {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, 'mcp', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  const strays: RpcAnswer[] = [];
  const asked: RpcRequest[] = [];
  const send = (line: string) => void child.stdin?.write(`${line}\n`);
  if (child.stdout === null) throw new Error('no standard output');
  createInterface(child.stdout).on('line', (line) => {
    const message = JSON.parse(line) as RpcAnswer & Partial<RpcRequest>;
    if (message.method !== undefined && typeof message.id === 'number') {
      asked.push(message as RpcRequest);
      const result = reply(message as RpcRequest);
      return send(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    }
    const resolve = message.id === null ? undefined : waiting.get(message.id);
    waiting.delete(Number(message.id));
    if (resolve === undefined) strays.push(message);
    else resolve(message);
  });
  let ids = 0;
  const ask = (method: string, params: object = {}) => {
    const id = ++ids;
    send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return new Promise<RpcAnswer>((resolve) => waiting.set(id, resolve));
  };
  let checkers: ReadonlyMap<string, ValidateFunction> | undefined;
  return {
    send,
    ask,
    strays,
    asked,
    greet: async (capabilities = {}) => {
      const clientInfo = { name: 'strict', version: '1' };
      await ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
      send(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    },
    call: async (name, given = {}) => {
      const { result, error } = await ask('tools/call', { name, arguments: given });
      if (result === undefined) throw new Error(error?.message);
      const listed = checkers ?? (await ask('tools/list')).result?.tools;
      checkers = listed instanceof Map ? listed : checkersOf(listed as readonly Tool[]);
      checkAnswer(result as unknown as ToolAnswer, checkers.get(name));
      return result as unknown as ToolAnswer;
    },
    close: async () => {
      child.stdin?.end();
      const [code] = (await once(child, 'close')) as [number | null];
      return code;
    },
  };
}
