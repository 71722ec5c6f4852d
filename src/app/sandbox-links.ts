import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isAskedAt } from '#http/asked-host.ts';
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

const LOOPBACK_ADDRESS = /^(127\.|::1$|::ffff:127\.)/;
/** The host names under which a browser may request the links; names of other sites are refused. */
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

/** Adds `/sandbox-links`. Callers on other machines get a 404. */
export function addSandboxLinks(app: FastifyInstance, links: SandboxLinks): void {
  app.get('/sandbox-links', (request, reply) => {
    if (!isOwnMachine(request)) return reply.callNotFound();
    return reply.header('Cache-Control', 'no-store').send(links);
  });
}
