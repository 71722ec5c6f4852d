import type { TestPasses } from '#apis/device/test-pass-routes.ts';
import { createTerminalRoom } from '#apis/device/waiting-rooms.ts';
import { createDomainCheck } from '#apis/payer/own-domain.ts';
import { createConfirmationRoom, createRequestRoom } from '#apis/payer/waiting-rooms.ts';
import { relayPath } from '#app/chain-relay.ts';
import type { SandboxLinks } from '#app/sandbox-links.ts';
import { createAskHome } from '#cells/ask-home.ts';
import type { IdKey } from '#core/ids.ts';
import { type Network, networkOf } from '#core/mode.ts';
import { webUrlOf } from '#core/web-url.ts';
import type { LoopDeps } from '#db/loop-deps.ts';
import { createEventStreams } from '#events/event-streams.ts';
import type { Drain } from '#http/drain.ts';
import type { ServerOptions } from '#http/server.ts';
import { createKeyReader } from '#idempotency/read-key.ts';
import type { ProcessHealth } from '#ops/process-health.ts';
import { NO_PASS_FILES, type PassFiles } from '#payers/pass-files.ts';
import { createIntentCreator } from '#payments/create.ts';
import { createIntentRoom } from '#payments/intent-waiting-room.ts';
import { createIntentPayer } from '#payments/pay.ts';
import { createPreflight } from '#payments/preflight.ts';
import { createIntentReader } from '#payments/read-intent.ts';
import type { Config } from '#settings/config.ts';
import { cardKey, deriveKey, peopleKey, webhookKey } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { createSettlementNumbers } from '#settlement/numbers.ts';
import type { Readiness } from '#settlement/readiness.ts';
import { addressPolicy } from '#webhooks/address-check.ts';
import { systemResolver } from '#webhooks/resolver.ts';
import type { Network as OutsideNetwork } from '#webhooks/transport.ts';

export interface ApiDeps extends LoopDeps {
  readonly config: Config;
  readonly secret: Buffer;
  readonly idKey: IdKey;
  readonly chains: readonly Chain[];
  readonly readiness: Readiness;
  /** The process's health, if another port reports it too. */
  readonly health?: ProcessHealth;
  /** Takes the server out of service; default: one that never starts. */
  readonly drain?: Drain;
  /** Wraps each request's handler; default: none. */
  readonly around?: ServerOptions['around'];
  /** The demo pass that test helpers tap by default; `null` without demo data. */
  readonly defaultPass: string | null;
  /** The test passes of terminals in test mode; `null` without demo data. */
  readonly testPasses?: TestPasses | null;
  /** Creates passes for phone wallets; default: none. */
  readonly passFiles?: PassFiles;
  /** The public origin of the web apps; default: as configured. */
  readonly webUrl?: () => string;
  /** The folder with the built web apps; `null` to serve only the APIs. */
  readonly webFolder?: string | null;
  /** Links for browsers on a sandbox's own machine; `null` without demo data. */
  readonly sandboxLinks?: SandboxLinks | null;
}

/**
 * Returns the network for push services. They are never on this machine, even in a sandbox; only
 * the operator can allow private addresses (WEBHOOK_ALLOW_CIDRS).
 */
export function pushNetwork({
  webhookAllowCidrs,
}: Pick<Config, 'webhookAllowCidrs'>): OutsideNetwork {
  return { policy: addressPolicy(webhookAllowCidrs), resolver: systemResolver() };
}

/**
 * Returns the node of each network that browsers may call: the operator's, or in a sandbox the
 * relay.
 */
export function publicNodes(deps: {
  readonly config: Config;
  readonly chains: readonly Chain[];
  readonly webUrl: () => string;
}): (network: Network) => string | null {
  return (network) => {
    const chain = deps.chains.find(({ config }) => networkOf(config.livemode) === network);
    if (chain === undefined) return null;
    if (chain.config.publicRpcUrl !== null) return chain.config.publicRpcUrl;
    if (deps.config.chains[network] !== null) return null;
    return `${deps.webUrl()}/${relayPath(network)}`;
  };
}

/**
 * Creates the parts that several surfaces share: one batcher and one long-poll registry each per
 * process.
 */
export function createShared(deps: ApiDeps) {
  const intents = createIntentRoom(deps);
  const readKey = createKeyReader(deps.db);
  const { settleWithinS } = deps.config;
  const webUrl = deps.webUrl ?? (() => webUrlOf(deps.config));
  const preflight = createPreflight(deps.chains);
  const terms = {
    settleWithinS,
    cardKey: cardKey(deps.secret),
    staticPass: deps.config.staticPass,
  };
  const askHome = createAskHome({ ...deps, cells: deps.config.cells });
  const pay = { ...deps, ...terms, intents, readKey, preflight, askHome };
  return {
    ...deps,
    ...terms,
    passFiles: deps.passFiles ?? NO_PASS_FILES,
    push: deps.config.push,
    webUrl,
    receipts: { idKey: deps.idKey, webUrl },
    publicNode: publicNodes({ ...deps, webUrl }),
    cursorKey: deriveKey(deps.secret, 'cursors'),
    createIntent: createIntentCreator({ ...deps, numbers: createSettlementNumbers(deps.db) }),
    readIntent: createIntentReader(deps),
    payIntent: createIntentPayer(pay),
    preflight,
    intents,
    readKey,
    terminals: createTerminalRoom(deps),
    streams: createEventStreams(deps),
    confirmations: createConfirmationRoom(deps),
    requests: createRequestRoom(deps),
    signIn: {
      db: deps.db,
      chains: deps.chains.map((chain) => chain.config),
      isOwnDomain: createDomainCheck(deps.config.publicUrl, deps.config.lan),
    },
    secretKey: webhookKey(deps.secret),
    mailKey: peopleKey(deps.secret),
    network: {
      policy: addressPolicy(deps.config.webhookAllowCidrs, {
        ownMachine: deps.config.isSandbox,
      }),
      resolver: systemResolver(),
    },
  };
}
