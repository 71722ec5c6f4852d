import type { FastifyInstance } from 'fastify';
import { isOnOwnMachine } from '#http/asked-host.ts';
import type { Demo } from '#sandbox/demo-account.ts';
import { payerWalletName, wallet } from '#sandbox/derive-wallets.ts';

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

function sandboxLinks({ test, dashboard, operator }: Demo): SandboxLinks {
  const { secret_key, terminal, passes } = test;
  return {
    terminal: `terminal#key=${test.device_key}`,
    ...{ dashboard, operator },
    test: { secret_key, terminal, pass: passes.ok ?? null },
  };
}

/** Callers on other machines get a 404. */
export function addSandboxLinks(app: FastifyInstance, links: SandboxLinks): void {
  app.get('/sandbox-links', (request, reply) => {
    const { headers, originalUrl, ip: address } = request;
    if (!isOnOwnMachine({ headers, originalUrl, address })) return reply.callNotFound();
    return reply.header('Cache-Control', 'no-store').send(links);
  });
}

/**
 * Returns the demo data for pages and test passes, and a function for the wallets of these passes.
 */
export function demoPages(demo: Demo | null, secret: Buffer) {
  if (demo === null) return { testPasses: null, defaultPass: null, sandboxLinks: null };
  const { passes } = demo.test;
  const nameOf = new Map(Object.entries(passes).map(([name, credential]) => [credential, name]));
  const signerOf = (pass: string) => {
    const name = nameOf.get(pass) ?? pass;
    return Object.hasOwn(passes, name) ? wallet(secret, payerWalletName('testnet', name)) : null;
  };
  return {
    testPasses: passes,
    defaultPass: passes.ok ?? null,
    signerOf,
    sandboxLinks: sandboxLinks(demo),
  };
}
