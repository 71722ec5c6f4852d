import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import {
  GLOBAL_UNICAST_IPV6,
  SPECIAL_IPV4,
  SPECIAL_IPV6,
  type SpecialBlock,
} from '#webhooks/special-addresses.ts';

/** The rules for addresses to which webhooks may be sent. */
export interface AddressPolicy {
  /** Returns the reason why this address is refused, in a few words, or `null` if it is allowed. */
  refusalOf(address: string): string | null;
  forUrl(url: URL): AddressPolicy;
}

export interface AddressPolicyOptions {
  /**
   * For sandboxes: allows endpoints `http://127.0.0.1:…` and `http://localhost:…`, which belong to
   * the developer. (Live endpoints must be https, so this concerns test mode only.) Other names
   * that resolve to this machine are refused.
   */
  readonly ownMachine?: boolean;
}

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const OWN_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

interface NamedBlocks {
  readonly all: BlockList;
  readonly named: readonly { readonly block: SpecialBlock; readonly list: BlockList }[];
}

type Family = 'ipv4' | 'ipv6';

function addCidr(list: BlockList, cidr: string): void {
  const [address = '', bits] = cidr.split('/');
  const version = isIP(address);
  const family: Family = version === 4 ? 'ipv4' : 'ipv6';
  const width = version === 4 ? 32 : 128;
  const prefix = bits === undefined ? width : Number(bits);
  if (version === 0 || !/^\d*$/.test(bits ?? '') || bits === '' || prefix > width) {
    throw new RangeError(`not a CIDR range: ${cidr}`);
  }
  list.addSubnet(address, prefix, family);
}

function namedBlocks(blocks: readonly SpecialBlock[]): NamedBlocks {
  const all = new BlockList();
  const named = blocks.map((block) => {
    const list = new BlockList();
    addCidr(list, block.cidr);
    addCidr(all, block.cidr);
    return { block, list };
  });
  return { all, named };
}

const ipv4Blocks = namedBlocks(SPECIAL_IPV4);
const ipv6Blocks = namedBlocks(SPECIAL_IPV6);
const globalUnicast = new BlockList();
addCidr(globalUnicast, GLOBAL_UNICAST_IPV6);

function nameOf(blocks: NamedBlocks, address: string, family: Family): string | null {
  if (!blocks.all.check(address, family)) return null;
  const block = blocks.named.find(({ list }) => list.check(address, family))?.block;
  return block === undefined ? 'special-purpose' : `${block.name} (${block.rfc})`;
}

const MAPPED = ipaddr.IPv6.parse('::ffff:0:0');
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');
const SIX_TO_FOUR = ipaddr.IPv6.parse('2002::');
const TEREDO = ipaddr.IPv6.parse('2001::');

function dotted(bytes: readonly number[]): string {
  return bytes.join('.');
}

/**
 * Returns the IPv4 addresses at which a packet to this IPv6 address would end, or through which it
 * would pass. `stands` is true if the address is only another notation of the inner address.
 */
function unwrap(address: string): { readonly inner: readonly string[]; readonly stands: boolean } {
  const parsed = ipaddr.IPv6.parse(address);
  const bytes = parsed.toByteArray();
  const last = bytes.slice(12);
  if (parsed.match(MAPPED, 96) || parsed.match(NAT64, 96)) {
    return { inner: [dotted(last)], stands: true };
  }
  if (parsed.match(SIX_TO_FOUR, 16)) return { inner: [dotted(bytes.slice(2, 6))], stands: false };
  if (parsed.match(TEREDO, 32)) {
    // Teredo stores the client's address inverted.
    const client = last.map((byte) => byte ^ 0xff);
    return { inner: [dotted(bytes.slice(4, 8)), dotted(client)], stands: false };
  }
  return { inner: [], stands: false };
}

/**
 * Builds a policy that refuses all special-purpose addresses, in every notation, except those in
 * `allowCidrs` (an IPv4 range also covers the mapped and translated notations of its addresses).
 * @throws RangeError if an entry of `allowCidrs` is not an address or a CIDR range.
 */
export function addressPolicy(
  allowCidrs: readonly string[],
  { ownMachine = false }: AddressPolicyOptions = {},
): AddressPolicy {
  const allowed = new BlockList();
  for (const cidr of allowCidrs) addCidr(allowed, cidr);

  const refusalOfIpv4 = (address: string) =>
    allowed.check(address, 'ipv4') ? null : nameOf(ipv4Blocks, address, 'ipv4');
  const refusalOfIpv6 = (address: string) => {
    const { inner, stands } = unwrap(address);
    const refused = inner.map(refusalOfIpv4).find((reason) => reason !== null) ?? null;
    if (stands) return refused;
    if (allowed.check(address, 'ipv6')) return null;
    if (refused !== null) return refused;
    if (!globalUnicast.check(address, 'ipv6')) {
      return nameOf(ipv6Blocks, address, 'ipv6') ?? 'outside the public Internet';
    }
    return nameOf(ipv6Blocks, address, 'ipv6');
  };
  const policy: AddressPolicy = {
    forUrl: ({ protocol, hostname }) => {
      const isOwn = ownMachine && protocol === 'http:' && OWN_HOST.test(hostname);
      return isOwn ? addressPolicy([...allowCidrs, ...LOOPBACK]) : policy;
    },
    refusalOf: (address) => {
      const version = isIP(address);
      if (version === 4) return refusalOfIpv4(address);
      // A zone (`fe80::1%eth0`) names an interface of this machine.
      if (version !== 6 || address.includes('%')) return 'not an address';
      return refusalOfIpv6(address);
    },
  };
  return policy;
}

/**
 * Returns one notation per address, so that a connected peer can be compared with the checked
 * address.
 */
export function canonicalAddress(address: string): string {
  const bare = address.split('%')[0] ?? '';
  return isIP(bare) === 0 ? address : ipaddr.process(bare).toString();
}
