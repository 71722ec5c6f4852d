import type { FastifyInstance } from 'fastify';
import { networkOf } from '#core/mode.ts';
import { limitByAddress } from '#http/address-rate-limit.ts';
import { isAskedAt, isOwnName } from '#http/asked-host.ts';
import { connectRpc } from '#sandbox/json-rpc.ts';
import type { Config } from '#settings/config.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/** The allowed methods: fast, read-only, and enough to verify a receipt. */
const RELAYED: readonly string[] = [
  'eth_chainId',
  'eth_blockNumber',
  'eth_getTransactionReceipt',
  'eth_call',
];
/** Rate limit per client: a receipt takes two requests, and a customer opens few receipts. */
const LIMIT = { requests: 240, seconds: 60 };
/** Maximum size of a request, in bytes: the largest is a call of the contract. */
const MAX_BYTES = 16_384;

interface Question {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

function questionOf(body: unknown): Question | null {
  try {
    const question: Question = JSON.parse(String(body));
    const { method, params = [] } = question;
    return RELAYED.includes(method) && Array.isArray(params) ? question : null;
  } catch {
    return null;
  }
}

/**
 * Returns the path under which browsers reach a sandbox's own chain, whose node listens on this
 * machine only.
 */
export function relayPath(network: string): string {
  return `chain/${network}`;
}

/**
 * Adds `POST /chain/<network>`: JSON-RPC requests to an embedded chain, from the origin of the
 * receipt's page. Read-only, and only for embedded chains. A sandbox with its own host name needs
 * TAPLINE_PUBLIC_URL.
 */
export function addChainRelay(
  app: FastifyInstance,
  {
    config,
    chains,
  }: {
    readonly config: Config;
    readonly chains: readonly { readonly config: NetworkConfig }[];
  },
): void {
  const isOurs = isOwnName(config.publicUrl);
  for (const chain of chains) {
    const network = networkOf(chain.config.livemode);
    const [node] = chain.config.rpcUrls;
    if (config.chains[network] !== null || node === undefined) continue;
    const call = connectRpc(node);
    const onRequest = limitByAddress(LIMIT);
    const options = { onRequest, bodyLimit: MAX_BYTES };
    app.post(`/${relayPath(network)}`, options, async (request, reply) => {
      if (!isAskedAt(request, isOurs)) return reply.callNotFound();
      reply.header('Cache-Control', 'no-store');
      const question = questionOf(request.body);
      if (question === null) {
        const message = `supported methods: ${RELAYED.join(', ')}`;
        return reply.code(400).send({ jsonrpc: '2.0', id: null, error: { code: -32601, message } });
      }
      const { id = null, method, params = [] } = question;
      const result = await call(method, params).catch(() => undefined);
      if (result !== undefined) return reply.send({ jsonrpc: '2.0', id, result });
      const error = { code: -32603, message: 'the chain node did not respond' };
      return reply.send({ jsonrpc: '2.0', id, error });
    });
  }
}
