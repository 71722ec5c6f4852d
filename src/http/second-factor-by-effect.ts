/**
 * The kinds of change that a successful request can make. Each route declares one; otherwise the
 * service does not start.
 */
export const MOVES = ['money', 'access', 'name', 'data', 'nothing'] as const;
export type Moves = (typeof MOVES)[number];

/**
 * Condition under which a person must have verified a second factor in the last five minutes:
 * - `always`: in both modes.
 * - `live`: only in live mode.
 * - `fresh`: in both modes, but a factor that is not trusted yet is enough, because the route
 * changes the person's own factors.
 * - `own`: the handler decides from the input, such as an amount or a role.
 * - `never`: the route changes nothing serious, only revokes rights, or is itself the verification.
 */
export type Asks = 'always' | 'live' | 'fresh' | 'own' | 'never';

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

/** True if a thief could profit from such a change. */
export function isSerious(moves: Moves): boolean {
  return moves === 'money' || moves === 'access' || moves === 'name';
}
