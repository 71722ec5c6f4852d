import type { FastifyInstance } from 'fastify';
import { isOnOwnMachine } from '#http/asked-host.ts';
import type { Demo } from '#sandbox/demo-account.ts';

/**
 * The links that the front page and the documentation of a sandbox show to browsers on its own
 * machine.
 */
export interface SandboxLinks {
  /** Path below the root. Opening it pairs the browser as a till. */
  readonly terminal: string;
  readonly dashboard: Demo['dashboard'];
  readonly operator: Demo['operator'];
  /** Credentials for trying out the documentation's examples: test mode only, never live. */
  readonly test: Pick<Demo['test'], 'secret_key' | 'terminal'> & { readonly pass: string | null };
}

export function sandboxLinks({ test, dashboard, operator }: Demo): SandboxLinks {
  const { secret_key, terminal, passes } = test;
  return {
    terminal: `terminal#key=${test.device_key}`,
    ...{ dashboard, operator },
    test: { secret_key, terminal, pass: passes.ok ?? null },
  };
}

/** Adds `/sandbox-links`. Callers on other machines get a 404. */
export function addSandboxLinks(app: FastifyInstance, links: SandboxLinks): void {
  app.get('/sandbox-links', (request, reply) => {
    const { headers, originalUrl, ip: address } = request;
    if (!isOnOwnMachine({ headers, originalUrl, address })) return reply.callNotFound();
    return reply.header('Cache-Control', 'no-store').send(links);
  });
}
