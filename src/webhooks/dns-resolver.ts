import { Resolver as DnsResolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { codeOf } from '#db/database.ts';

/** Resolves host names. Tests pass their own resolver, to change addresses over time. */
export interface Resolver {
  /**
   * Returns every IPv4 and IPv6 address of the name.
   * @throws if there is none, or if no server answers in time.
   */
  resolve(host: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** Time limit of one query to one server. A hostile name server costs at most two such queries. */
const QUERY_TIMEOUT_MS = 3_000;
const QUERY_TRIES = 2;
const HOSTS_FILE = '/etc/hosts';
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA', 'NXDOMAIN']);
/** RFC 6761: these names always mean this machine, whatever name servers answer. */
const LOCALHOST = /^(.+\.)?localhost\.?$/i;

async function fromHostsFile(host: string): Promise<string[]> {
  const text = await readFile(HOSTS_FILE, 'utf8').catch(() => '');
  return text
    .split('\n')
    .map((line) => (line.split('#')[0] ?? '').trim().split(/\s+/))
    .filter(([address = '', ...names]) => isIP(address) !== 0 && names.includes(host))
    .map(([address = '']) => address);
}

function valuesOf(results: readonly PromiseSettledResult<string[]>[]): string[] {
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
}

/**
 * Creates a resolver that queries the name servers directly. getaddrinfo would occupy one of the
 * process's few threads for as long as a hostile name server wants, so that one endpoint could
 * delay all others. The hosts file is read for names that the servers do not know.
 */
export function systemResolver(): Resolver {
  return {
    resolve: async (host, signal) => {
      if (LOCALHOST.test(host)) return ['127.0.0.1', '::1'];
      const dns = new DnsResolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
      const cancel = () => dns.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        const results = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
        const values = valuesOf(results);
        if (values.length > 0) return values;
        const listed = await fromHostsFile(host.toLowerCase());
        if (listed.length > 0) return listed;
        throw noAddress(results);
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}

function noAddress(results: readonly PromiseSettledResult<string[]>[]): Error {
  const failed = results.find((result) => result.status === 'rejected');
  const code = codeOf(failed?.reason);
  const why = code === '' || NO_SUCH_NAME.has(code) ? 'no such host name' : `look-up failed`;
  return new Error(why, { cause: failed?.reason });
}
