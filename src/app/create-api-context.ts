import { createDomainCheck } from '#apis/payer/sign-in-domain.ts';
import { type ApiDeps, publicNodes, pushNetwork } from '#app/api-dependencies.ts';
import { settingsOfRealms } from '#app/realm-settings.ts';
import { createAskHome } from '#cells/ask-home-cell.ts';
import { webUrlOf } from '#core/web-url.ts';
import { NO_PASS_FILES } from '#payers/pass-files.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { createPreflight } from '#payments/preflight-by-network.ts';
import { processKeys } from '#settings/config.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

/** Creates the context of an API process: once, and shared by all surfaces. */
export function createContext(deps: ApiDeps): ApiContext {
  const { config, secret, idKey, db, wakeups, clock, log, chains, readiness } = deps;
  const webUrl = deps.webUrl ?? (() => webUrlOf(config));
  const realms = settingsOfRealms(deps);
  return {
    ...{ db, wakeups, clock, log, chains, readiness },
    settings: config,
    keys: processKeys(secret, idKey),
    pages: { idKey, webUrl },
    people: { merchant: realms.merchant.people, operator: realms.operator.people },
    outside: {
      preflight: createPreflight(chains),
      askHome: createAskHome(db, clock, config.cells),
      webhooks: {
        policy: addressPolicy(config.webhookAllowCidrs, { ownMachine: config.isSandbox }),
        resolver: systemResolver(),
      },
      push: pushNetwork(config),
      publicNode: publicNodes({ config, chains, webUrl }),
      passFiles: deps.passFiles ?? NO_PASS_FILES,
      signIn: {
        chains: chains.map((chain) => chain.config),
        isOwnDomain: createDomainCheck(config.publicUrl, config.lan),
      },
    },
    demo: {
      defaultPass: deps.defaultPass,
      testPasses: deps.testPasses ?? null,
      ...(deps.signerOf === undefined ? {} : { signerOf: deps.signerOf }),
    },
  };
}
