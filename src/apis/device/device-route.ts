import type { TSchema } from 'typebox';
import { type AnyRoute, defineRoute, type Route } from '#http/route.ts';
import type { DeviceCaller } from '#terminals/authenticate-terminal.ts';

export type DeviceRoute = AnyRoute<DeviceCaller>;

type Declared<Q extends TSchema | undefined, B extends TSchema | undefined> = Omit<
  Route<DeviceCaller, Q, B>,
  'tag' | 'scope' | 'idempotency' | 'errors'
> &
  Partial<Pick<Route, 'idempotency' | 'errors'>>;

/** Declares a route of the terminal protocol. By default, it ignores idempotency keys. */
export function deviceRoute<
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(declared: Declared<Q, B>): DeviceRoute {
  return defineRoute<DeviceCaller, Q, B>({
    ...{ tag: 'Terminal protocol', scope: null, idempotency: 'ignored', errors: [] },
    ...declared,
  });
}
