/** A block of addresses to which no webhook may be sent, and the RFC that reserves it. */
export interface SpecialBlock {
  readonly cidr: string;
  readonly name: string;
  readonly rfc: string;
}

/**
 * The IANA registries as of 2026-01-15: https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry All blocks are refused, including
 * routed ones (AS112, AMT, anycast helpers), because no merchant's server is there. Multicast,
 * which has separate registries, is added at the end.
 */
export const SPECIAL_IPV4: readonly SpecialBlock[] = [
  { cidr: '0.0.0.0/8', name: 'this network', rfc: 'RFC 791' },
  { cidr: '10.0.0.0/8', name: 'private use', rfc: 'RFC 1918' },
  { cidr: '100.64.0.0/10', name: 'shared address space', rfc: 'RFC 6598' },
  { cidr: '127.0.0.0/8', name: 'loopback', rfc: 'RFC 1122' },
  { cidr: '169.254.0.0/16', name: 'link-local', rfc: 'RFC 3927' },
  { cidr: '172.16.0.0/12', name: 'private use', rfc: 'RFC 1918' },
  { cidr: '192.0.0.0/24', name: 'protocol assignments', rfc: 'RFC 6890' },
  { cidr: '192.0.2.0/24', name: 'documentation', rfc: 'RFC 5737' },
  { cidr: '192.31.196.0/24', name: 'AS112', rfc: 'RFC 7535' },
  { cidr: '192.52.193.0/24', name: 'AMT', rfc: 'RFC 7450' },
  { cidr: '192.88.99.0/24', name: '6to4 relay anycast', rfc: 'RFC 7526' },
  { cidr: '192.168.0.0/16', name: 'private use', rfc: 'RFC 1918' },
  { cidr: '192.175.48.0/24', name: 'AS112 direct delegation', rfc: 'RFC 7534' },
  { cidr: '198.18.0.0/15', name: 'benchmarking', rfc: 'RFC 2544' },
  { cidr: '198.51.100.0/24', name: 'documentation', rfc: 'RFC 5737' },
  { cidr: '203.0.113.0/24', name: 'documentation', rfc: 'RFC 5737' },
  { cidr: '240.0.0.0/4', name: 'reserved', rfc: 'RFC 1112' },
  { cidr: '255.255.255.255/32', name: 'limited broadcast', rfc: 'RFC 8190' },
  { cidr: '224.0.0.0/4', name: 'multicast', rfc: 'RFC 5771' },
];

export const SPECIAL_IPV6: readonly SpecialBlock[] = [
  { cidr: '::1/128', name: 'loopback', rfc: 'RFC 4291' },
  { cidr: '::/128', name: 'unspecified', rfc: 'RFC 4291' },
  { cidr: '64:ff9b:1::/48', name: 'local-use translation', rfc: 'RFC 8215' },
  { cidr: '100::/64', name: 'discard-only', rfc: 'RFC 6666' },
  { cidr: '100:0:0:1::/64', name: 'dummy prefix', rfc: 'RFC 9780' },
  // Also covers Teredo, ORCHID, benchmarking, DETs and the anycast helpers.
  { cidr: '2001::/23', name: 'protocol assignments', rfc: 'RFC 2928' },
  { cidr: '2001:db8::/32', name: 'documentation', rfc: 'RFC 3849' },
  { cidr: '2002::/16', name: '6to4', rfc: 'RFC 3056' },
  { cidr: '2620:4f:8000::/48', name: 'AS112 direct delegation', rfc: 'RFC 7534' },
  { cidr: '3fff::/20', name: 'documentation', rfc: 'RFC 9637' },
  { cidr: '5f00::/16', name: 'segment routing', rfc: 'RFC 9602' },
  { cidr: 'fc00::/7', name: 'unique local', rfc: 'RFC 4193' },
  { cidr: 'fe80::/10', name: 'link-local', rfc: 'RFC 4291' },
  { cidr: 'ff00::/8', name: 'multicast', rfc: 'RFC 4291' },
];

/** The only part of IPv6 assigned to the public Internet; the rest is reserved. */
export const GLOBAL_UNICAST_IPV6 = '2000::/3';
