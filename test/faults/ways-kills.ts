/** The faults that `ways.slow.test.ts` applies to every way of paying. */
export const STRIKES = [
  'put back',
  'lost tail',
  'recovery dies',
  'reorganization',
  'kill',
  'two nodes',
  'spent twice',
  'foreign key',
] as const;
export type Strike = (typeof STRIKES)[number];

/**
 * For each fault, the mutation that every way of paying must detect, unless `OF_WAY` names another
 * one.
 */
const OF_STRIKE: Readonly<Record<Strike, string>> = {
  'put back': 'a payment of the lost period is not booked',
  'lost tail': 'a loss ends no credentials that may have been used',
  'recovery dies': 'a recovery is never taken over from a worker that died',
  reorganization: 'blocks that left the chain are not noticed',
  kill: 'a sender is never taken over from a worker that died',
  'two nodes': 'a request that waits for a settlement gets no response',
  'spent twice': 'a signature pays for anything',
  'foreign key': 'foreign settlements are booked as after a loss',
};

/** Mutations that a single way must detect instead. */
const OF_WAY: Readonly<Partial<Record<Strike, Readonly<Record<string, string>>>>> = {
  'put back': {
    'a rotating code': 'rotating codes of the lost period still pay',
    'a pass in Google Wallet': 'phone taps of the lost period still pay',
    'a pass in Apple Wallet': 'phone taps of the lost period still pay',
    'an agent token': 'agent tokens of the lost period still pay',
  },
  'spent twice': {
    'a one-minute code': 'a code pays as often as it is shown',
    'a rotating code': 'a rotating code pays as often as it is shown',
    'a SUN card': 'a tap of a card pays as often as it is sent',
    'a pass in Google Wallet': 'a tap of a phone pays as often as it is sent',
    'a pass in Apple Wallet': 'a tap of a phone pays as often as it is sent',
    'an agent token': 'a spent token pays again',
    x402: 'a signature of x402 buys a second thing',
  },
};

/** Returns the mutation that this way must detect under this fault. */
export function killedBy(strike: Strike, way: string): string {
  return OF_WAY[strike]?.[way] ?? OF_STRIKE[strike];
}
