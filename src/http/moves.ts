/** What a successful request can move. Every route says which, or the service does not start. */
export const MOVES = ['money', 'access', 'name', 'data', 'nothing'] as const;
export type Moves = (typeof MOVES)[number];

/**
 * When a person has to have proven a second factor in the last five minutes:
 * - `always`.
 * - `live`: where real money is at stake. Test mode asks for none.
 * - `fresh`: always, and one that is too new to count elsewhere is enough: it is about the person's
 *   own factors.
 * - `own`: the route decides by what is asked for, such as an amount or a role. It says so.
 * - `never`: it takes rights away, or is itself the proof.
 */
export type Asks = 'always' | 'live' | 'fresh' | 'own' | 'never';

/** What follows from what a route moves, unless it says otherwise. */
const ASKS: Record<Moves, Asks> = {
  money: 'always',
  access: 'live',
  name: 'own',
  data: 'never',
  nothing: 'never',
};

export function asksOf(route: { readonly moves: Moves; readonly asks?: Asks }): Asks {
  return route.asks ?? ASKS[route.moves];
}

/** Whether it is among what somebody else could be robbed by. */
export function isSerious(moves: Moves): boolean {
  return moves === 'money' || moves === 'access' || moves === 'name';
}
