import type { Answer, Api } from './api.ts';

/** The shape of one route in the generated tables of operations (`types/*.ts`). */
interface Described {
  readonly path?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly response: unknown;
}

/** A method and a path below the API's root, for example `GET /accounts/{account}`. */
export type RouteName<Ops, Root extends string> = keyof Ops extends infer Name
  ? Name extends `${infer Method} ${Root}${infer Path}`
    ? `${Method} ${Path}`
    : never
  : never;

type OperationOf<Ops, Root extends string, Name> = Name extends `${infer Method} ${infer Path}`
  ? Ops[`${Method} ${Root}${Path}` & keyof Ops]
  : never;

export type ResponseOf<Ops, Root extends string, Name> =
  OperationOf<Ops, Root, Name> extends { readonly response: infer Response } ? Response : never;

type PartOf<Of, Part extends keyof Described> = Of extends { readonly [P in Part]?: infer Value }
  ? Value
  : undefined;

/** Allows undefined filters, which are left out. */
type Loose<Query> = { readonly [Name in keyof Query]: Query[Name] | undefined };

export interface RouteRequest<Ops, Root extends string, Name> {
  /** Values for the placeholders in the route's path. */
  readonly path?: Partial<PartOf<OperationOf<Ops, Root, Name>, 'path'>>;
  readonly query?: Loose<PartOf<OperationOf<Ops, Root, Name>, 'query'>>;
  readonly body?: PartOf<OperationOf<Ops, Root, Name>, 'body'>;
  readonly file?: Blob;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** Never throws (see {@link Api}). */
export type Call<Ops, Root extends string> = <Name extends RouteName<Ops, Root> & string>(
  name: Name,
  request?: RouteRequest<Ops, Root, Name>,
) => Promise<Answer<ResponseOf<Ops, Root, Name>>>;

/** Fills in the placeholders of a path, and escapes the values. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${path}: ${name} is missing`);
    return encodeURIComponent(value);
  });
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** @param known Path parameters that every request shares, such as the account. */
export function createCall<Ops, Root extends string>(
  api: Api,
  known: Readonly<Record<string, string>> = {},
): Call<Ops, Root> {
  return (name, request = {}) => {
    const [method = 'GET', template = ''] = name.split(' ');
    const { path, query, body, ...rest } = request;
    return api({
      ...rest,
      method: method as Method,
      path: fillPath(template, { ...known, ...(path as Record<string, string> | undefined) }),
      ...(query === undefined ? {} : { query: query as Record<string, string> }),
      ...(body === undefined ? {} : { body }),
    });
  };
}
