import type { AnchorTarget } from '#audit/anchor-target.ts';
import type { Json } from '#core/canonical-json.ts';
import type { Config } from '#settings/config.ts';
import type { NetworkSettings } from '#settlement/network-config.ts';

const MASK = '********';

/** Returns a mask if the secret is set, otherwise `null`. */
function masked(value: unknown): string | null {
  return value === null ? null : MASK;
}

/** Returns the URL without user name, password and query, which may contain keys. */
function plainUrl(url: string | null): string | null {
  if (url === null) return null;
  const { protocol, host, pathname } = new URL(url);
  // The path of a node's URL is often the provider's API key.
  const path = protocol.startsWith('postgres') ? pathname : '';
  return `${protocol}//${host}${path}`;
}

function maskedNetwork(network: NetworkSettings | null): Json {
  if (network === null) return 'embedded';
  return {
    chain_id: network.chainId,
    rpc_urls: network.rpcUrls.map(plainUrl),
    rpc_headers: network.rpcHeaders.map((headers) => Object.keys(headers)),
    rpc_timeouts_ms: [...network.rpcTimeoutsMs],
    rpc_per_second: network.rpcPerSecond,
    heads_url: plainUrl(network.headsUrl),
    usdc: network.usdc,
    settlement: network.settlement,
    former_settlements: network.formerSettlements.map(({ settlement }) => settlement),
    deployed_at_block: network.deployedAtBlock.toString(),
    relayer_keys: network.relayerKeys.map(() => MASK),
    registrar_key: masked(network.registrarKey),
    sponsor_key: masked(network.sponsorKey),
    profile: network.profile.name,
    confirmations: network.confirmations,
    confirmations_ms: network.confirmationsMs,
    counts_from: network.countsFrom.map(({ from, waitsFor, ms }) => {
      return { from: from.toString(), waits_for: waitsFor, ms };
    }),
    settle_every_ms: network.settleEveryMs,
    receipt_providers: network.receiptProviders,
    max_fee_per_gas_ceiling: network.maxFeePerGasCeiling.toString(),
    low_balance: network.lowBalance,
  };
}

/** Masks the path of a receiver's URL, because the path may be an access key. */
function maskedAnchors(target: AnchorTarget | null): string | null {
  if (target === null || target.to === 'operators') return null;
  if (target.to === 'url') return plainUrl(target.url);
  return target.to === 'mail' ? `mail:${target.address}` : `file:${target.path}`;
}

/** Returns this process's configuration. For secrets, it contains only whether they are set. */
export function maskedConfiguration(config: Config): { readonly [key: string]: Json } {
  return {
    roles: [...config.roles],
    watch: Object.fromEntries(
      Object.entries(config.watch).map(([network, { key, pauseFrom }]) => [
        network,
        { key: masked(key), pause_from: pauseFrom.toString() },
      ]),
    ),
    host: config.host,
    port: config.port,
    ops_port: config.opsPort,
    drain_seconds: config.drainSeconds,
    metrics_token: masked(config.metricsToken),
    data_dir: config.dataDir,
    production: config.production,
    database_url: plainUrl(config.databaseUrl) ?? 'embedded',
    database_read_url: plainUrl(config.databaseReadUrl),
    database_direct_url: plainUrl(config.databaseDirectUrl),
    database_connections: config.maxConnections,
    database_durability: config.durability,
    redis_url: plainUrl(config.redisUrl),
    cell: config.cells.own,
    cell_addresses: config.cells.others.map(({ cell, url }) => `${cell}=${plainUrl(url)}`),
    cell_secret: masked(config.cells.secret || null),
    rate_limit: `${config.rateLimit.requests}/${config.rateLimit.seconds}`,
    webhook_allow_cidrs: [...config.webhookAllowCidrs],
    operator_url: config.operatorUrl,
    operator_allow_cidrs: [...config.operatorAllowCidrs],
    trusted_proxies: [...config.trustedProxies],
    secret: masked(config.secret),
    smtp_url: plainUrl(config.smtpUrl),
    mail_from: config.mailFrom,
    audit_anchors: maskedAnchors(config.auditAnchors),
    log_requests: config.logRequests,
    tracing: config.tracing && {
      endpoint: plainUrl(config.tracing.endpoint),
      headers: Object.keys(config.tracing.headers),
      ratio: config.tracing.ratio,
    },
    public_url: config.publicUrl,
    lan: config.lan === null ? null : `${config.lan.host}:${config.lan.port}`,
    testnet: maskedNetwork(config.chains.testnet),
    mainnet: maskedNetwork(config.chains.mainnet),
  };
}
