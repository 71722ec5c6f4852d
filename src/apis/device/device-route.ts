import type { TSchema } from 'typebox';
import { type AnyRoute, defineRoute, type Route } from '#http/route.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';

export type DeviceRoute = AnyRoute<DeviceCaller>;

/** A route that moves money must say what a repeated request does. */
type Repeated =
  | Pick<Route, 'moves' | 'idempotency'>
  | { readonly moves: Exclude<Route['moves'], 'money'>; readonly idempotency?: 'accepted' };

type Declared<Q extends TSchema | undefined, B extends TSchema | undefined> = Omit<
  Route<DeviceCaller, Q, B>,
  'tag' | 'scope' | 'moves' | 'idempotency' | 'errors'
> &
  Repeated &
  Partial<Pick<Route, 'errors'>>;

/** By default, it ignores idempotency keys. */
export function deviceRoute<
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(declared: Declared<Q, B>): DeviceRoute {
  return defineRoute<DeviceCaller, Q, B>({
    ...{ tag: 'Terminal protocol', scope: null, idempotency: 'ignored', errors: [] },
    ...declared,
  });
}
