import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/**
 * Waits for the child's next message. @throws if the process ends first, which would otherwise go
 * unnoticed.
 */
export async function hear<T>(child: ChildProcess): Promise<T> {
  const heard = new AbortController();
  const { signal } = heard;
  const ended = async () => {
    const [code] = await once(child, 'exit', { signal });
    throw new Error(`a process of the measurement ended with ${code}`);
  };
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), ended()]);
    return message as T;
  } finally {
    heard.abort();
  }
}

/** Runs a load generator of this folder in a process of its own. @returns its result. */
export async function runLoad<T>(file: string, job: object): Promise<T> {
  // Without the service's Node flags, because this process only makes load.
  const child = fork(path.join(import.meta.dirname, file), { execArgv: [] });
  child.send(job);
  try {
    return await hear<T>(child);
  } finally {
    if (child.connected) child.disconnect();
  }
}

/** A server in a process of its own, which ends when it is disconnected. */
export interface ChildServer {
  readonly child: ChildProcess;
  readonly port: number;
  readonly url: string;
}

/** Starts a server of this folder, which reports its port. */
export async function startServer(
  file: string,
  env: NodeJS.ProcessEnv = {},
  execArgv: string[] = process.execArgv,
): Promise<ChildServer> {
  const options = { env: { ...process.env, ...env }, execArgv };
  const child = fork(path.join(import.meta.dirname, file), options);
  const { port } = await hear<{ port: number }>(child);
  return { child, port, url: `http://127.0.0.1:${port}` };
}

export function startApiServer(databaseUrl: string, execArgv?: string[]): Promise<ChildServer> {
  const env = { DATABASE_URL: databaseUrl, RATE_LIMIT: '100000000/1' };
  return startServer('api-server.ts', env, execArgv);
}
