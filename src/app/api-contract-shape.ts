import type { Doc } from '#http/openapi-schemas.ts';

/**
 * The contract that clients rely on, one line per promise: operations, their inputs and
 * requirements, and their responses. Descriptions and examples are left out, because they are not
 * promises.
 */
export interface ContractShape {
  /**
   * Lines that must stay in later releases, such as `takes POST /v1/refunds body amount integer`.
   */
  readonly promises: ReadonlySet<string>;
  /** Lines that later releases must not add, such as `POST /v1/refunds body payment`. */
  readonly demands: ReadonlySet<string>;
}

/** Maximum depth, because recursive schemas never end. Our schemas are not nested this deeply. */
const MAX_DEPTH = 12;

interface Visit {
  readonly document: Doc;
  /** The start of each line, which names the schema's owner. */
  readonly owner: string;
  /** True if required fields are recorded, which is so for requests but not for responses. */
  readonly asks: boolean;
  readonly promises: Set<string>;
  readonly demands: Set<string>;
}

function resolve(document: Doc, value: unknown): Doc {
  const schema = (value ?? {}) as Doc;
  if (typeof schema.$ref !== 'string') return schema;
  const parts = schema.$ref.replace('#/', '').split('/');
  const node = parts.reduce<unknown>((at, part) => (at as Doc)?.[part], document);
  return resolve(document, node);
}

/** Returns the type, such as `integer or null`, whichever notation the schema uses. */
function typeOf(document: Doc, value: unknown): string {
  const schema = resolve(document, value);
  const choices = (schema.anyOf ?? schema.oneOf) as unknown[] | undefined;
  const names = choices?.map((one) => typeOf(document, one)) ?? [schema.type ?? 'anything'].flat();
  return [...new Set(names.flatMap((name) => String(name).split(' or ')))].sort().join(' or ');
}

function visitSchema(visit: Visit, value: unknown, at: string, depth = 0): void {
  const schema = resolve(visit.document, value);
  if (depth > MAX_DEPTH) return;
  visit.promises.add(`${visit.owner} ${at} ${typeOf(visit.document, schema)}`);
  visitMembers(visit, schema, at, depth);
}

function visitMembers(visit: Visit, schema: Doc, at: string, depth: number): void {
  if (visit.asks) {
    for (const choice of (schema.enum ?? []) as unknown[]) {
      visit.promises.add(`${visit.owner} ${at} = ${choice}`);
    }
    for (const name of (schema.required ?? []) as string[]) {
      visit.demands.add(`${visit.owner} ${at}.${name}`);
    }
  }
  for (const choice of (schema.anyOf ?? schema.oneOf ?? []) as unknown[]) {
    visitMembers(visit, resolve(visit.document, choice), at, depth + 1);
  }
  for (const [name, member] of Object.entries((schema.properties ?? {}) as Doc)) {
    visitSchema(visit, member, `${at}.${name}`, depth + 1);
  }
  if (schema.items !== undefined) visitSchema(visit, schema.items, `${at}[]`, depth + 1);
}

function schemaOf(document: Doc, holder: unknown): unknown {
  const content = resolve(document, holder).content as Doc | undefined;
  return (content?.['application/json'] as Doc | undefined)?.schema;
}

function visitOperation(visit: Visit, operation: Doc): void {
  const { document, owner, promises } = visit;
  promises.add(owner);
  for (const one of (operation.parameters ?? []) as unknown[]) {
    const { name, in: location, required, schema } = resolve(document, one);
    visitSchema({ ...visit, asks: true }, schema, `${location} ${name}`);
    if (required === true) visit.demands.add(`${owner} ${location} ${name}`);
  }
  const body = schemaOf(document, operation.requestBody);
  if (body !== undefined) visitSchema({ ...visit, asks: true }, body, 'body');
  for (const [status, response] of Object.entries((operation.responses ?? {}) as Doc)) {
    promises.add(`${owner} ${status}`);
    const schema = schemaOf(document, response);
    if (schema !== undefined) visitSchema({ ...visit, asks: false }, schema, status);
  }
}

export function shapeOf(document: Doc): ContractShape {
  const shape = { promises: new Set<string>(), demands: new Set<string>() };
  for (const [path, item] of Object.entries(document.paths as Doc)) {
    for (const [method, operation] of Object.entries(item as Doc)) {
      const owner = `${method.toUpperCase()} ${path}`;
      visitOperation({ document, owner, asks: false, ...shape }, operation as Doc);
    }
  }
  for (const [name, item] of Object.entries((document.webhooks ?? {}) as Doc)) {
    const event = schemaOf(document, ((item as Doc).post as Doc).requestBody);
    const visit = { document, owner: `event ${name}`, asks: false, ...shape };
    visitSchema(visit, event, 'body');
  }
  return shape;
}

/**
 * Returns the promises that clients of the earlier version would lose, and the new requirements.
 */
export function breaks(before: ContractShape, after: ContractShape): string[] {
  const gone = [...before.promises].filter((line) => !after.promises.has(line));
  const known = (line: string) => before.demands.has(line) || isNew(before, line);
  const added = [...after.demands].filter((line) => !known(line));
  return [...gone.map((line) => `gone: ${line}`), ...added.map((line) => `now needed: ${line}`)];
}

/**
 * True for a requirement of a new operation or of a new optional member: neither breaks a client.
 */
function isNew({ promises }: ContractShape, demand: string): boolean {
  const holder = demand.includes(' body')
    ? demand.slice(0, demand.lastIndexOf('.'))
    : demand.split(' ').slice(0, 2).join(' ');
  return ![...promises].some((line) => line === holder || line.startsWith(`${holder} `));
}

/** One operation or event, which is a line of docs/released. */
interface Kept {
  /** `GET /v1/payments`, or `event payment.succeeded`. */
  readonly owner: string;
  /** Promises and demands without the owner's name; empty for the owner itself. */
  readonly promises: readonly string[];
  readonly demands: readonly string[];
}

/** Returns the owner of a line: `POST /v1/refunds` for `POST /v1/refunds body amount integer`. */
function ownerOf(line: string): string {
  return line.split(' ', 2).join(' ');
}

function restOf(line: string): string {
  return line.slice(ownerOf(line).length + 1);
}

/** Writes the shape in the format of docs/released. */
export function textOf({ promises, demands }: ContractShape): string {
  const owners = [...new Set([...promises].map(ownerOf))].sort();
  const of = (lines: ReadonlySet<string>, owner: string) =>
    [...lines]
      .filter((line) => ownerOf(line) === owner)
      .map(restOf)
      .sort();
  const kept = owners.map((owner): Kept => {
    return { owner, promises: of(promises, owner), demands: of(demands, owner) };
  });
  return `[\n${kept.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`;
}

export function shapeFrom(text: string): ContractShape {
  const kept = JSON.parse(text) as readonly Kept[];
  const lines = (name: 'promises' | 'demands') =>
    kept.flatMap((one) => one[name].map((rest) => `${one.owner} ${rest}`.trimEnd()));
  return { promises: new Set(lines('promises')), demands: new Set(lines('demands')) };
}
