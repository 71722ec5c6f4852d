import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isAskedAt } from '#http/asked-host.ts';
import type { Demo } from '#sandbox/demo.ts';

/** What the front door and the documentation of a sandbox tell browsers of its own machine. */
export interface SandboxLinks {
  /** From the root: a till that is paired by opening it. */
  readonly terminal: string;
  readonly dashboard: Demo['dashboard'];
  readonly operator: Demo['operator'];
  /** What the documentation's examples are tried out with: test mode, never live. */
  readonly test: Pick<Demo['test'], 'secret_key' | 'terminal'> & { readonly pass: string | null };
}

const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;
/** The name that the browser asked for: another site's page cannot lend its own to this machine. */
const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export function sandboxLinks({ test, dashboard, operator }: Demo): SandboxLinks {
  const { secret_key, terminal, passes } = test;
  return {
    terminal: `terminal#key=${test.device_key}`,
    ...{ dashboard, operator },
    test: { secret_key, terminal, pass: passes.ok ?? null },
  };
}

function isOwnMachine(request: FastifyRequest): boolean {
  const { ip, headers } = request;
  const isDirect = headers['x-forwarded-for'] === undefined && headers.forwarded === undefined;
  if (!isDirect || !LOOPBACK_ADDRESS.test(ip)) return false;
  return isAskedAt(request, ({ name }) => LOOPBACK_NAMES.includes(name));
}

/** `/sandbox-links`: nobody but this machine learns that they exist. */
export function addSandboxLinks(app: FastifyInstance, links: SandboxLinks): void {
  app.get('/sandbox-links', (request, reply) => {
    if (!isOwnMachine(request)) return reply.callNotFound();
    return reply.header('Cache-Control', 'no-store').send(links);
  });
}
