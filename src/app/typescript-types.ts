import { assert } from '#core/assert.ts';
import { documentation, isObject, nameOf, type Schema, typeOf } from './typescript-schema.ts';

/**
 * Writes the TypeScript of one OpenAPI document: an interface per named schema, named types for the
 * operations' inputs and responses, and `Operations`, which maps `POST /v1/refunds` to these.
 * openapi-typescript is not used: it names nothing (`components['schemas']['Refund']`) and needs an
 * older TypeScript than ours. The long tests compare both outputs.
 */
export function typescriptOf(document: Schema, source: string): string {
  return moduleOf([noteOn(source), ...declarationsOf(document)]);
}

/**
 * Writes the types of several documents: a declaration that two or more of them share appears once,
 * in the module `shared`.
 * @returns the text of each module by name.
 */
export function typescriptModules(documents: ReadonlyMap<string, Schema>): Map<string, string> {
  const modules = [...documents].map(
    ([name, document]) => [name, declarationsOf(document)] as const,
  );
  const shared = sharedOf(modules.map(([, declarations]) => declarations));
  const own = modules.map(([name, declarations]) => {
    const rest = declarations.filter((text) => !shared.has(text));
    const taken = declarations.filter((text) => shared.has(text)).map(declaredName);
    const used = taken.filter((one) => rest.some((text) => namesIn(text).has(one)));
    const links = [
      ...(used.length > 0 ? [`import type { ${used.join(', ')} } from './shared.ts';`] : []),
      ...(taken.length > 0 ? [`export type { ${taken.join(', ')} } from './shared.ts';`] : []),
    ];
    return [name, moduleOf([noteOn(`openapi/${name}.json`), ...links, ...onceEach(rest)])] as const;
  });
  const common = moduleOf([noteOn('several documents'), ...onceEach([...shared])]);
  return new Map([['shared', common], ...own]);
}

/** Replaces an interface that has the same members as an earlier one with an alias. */
function onceEach(declarations: readonly string[]): string[] {
  const first = new Map<string, string>();
  return declarations.map((text) => {
    const [, name = '', members = ''] = /^export interface (\w+) (\{[\s\S]*\})$/m.exec(text) ?? [];
    const earlier = first.get(members);
    if (members !== '' && earlier === undefined) first.set(members, name);
    return earlier === undefined ? text : `export type ${name} = ${earlier};`;
  });
}

/**
 * Returns the declarations that two modules contain word for word, and that refer only to each
 * other.
 */
function sharedOf(modules: readonly (readonly string[])[]): Set<string> {
  const declared = new Set(modules.flat().map(declaredName));
  const places = Map.groupBy(modules.flat(), (text) => text);
  let shared = [...places.keys()].filter((text) => (places.get(text)?.length ?? 0) > 1);
  for (let before = -1; before !== shared.length; ) {
    before = shared.length;
    const names = new Set(shared.map(declaredName));
    const isClosed = (text: string) =>
      [...namesIn(text)].every((name) => !declared.has(name) || names.has(name));
    shared = shared.filter(isClosed);
  }
  return new Set(shared);
}

function declaredName(declaration: string): string {
  return /^export (?:interface|type) (\w+)/m.exec(declaration)?.[1] ?? '';
}

/** Returns every identifier of a declaration outside its comments and strings. */
function namesIn(declaration: string): Set<string> {
  const code = declaration.replaceAll(/\/\*\*[\s\S]*?\*\/|'(?:[^'\\]|\\.)*'/g, '');
  return new Set(code.match(/\w+/g));
}

function noteOn(source: string): string {
  return `// Generated from ${source} by \`npm run openapi\`. Do not edit.`;
}

function moduleOf(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`;
}

function declarationsOf(document: Schema): string[] {
  return [...namedSchemas(document), ...webhookEvents(document), ...operations(document)];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

function namedSchemas(document: Schema): string[] {
  const { schemas } = document.components as { schemas: Record<string, Schema> };
  return Object.entries(schemas).map(([name, schema]) => declaration(nameOf(name), schema));
}

function declaration(name: string, schema: Schema): string {
  const type = typeOf(schema, '');
  const head = commentOf(schema, '');
  return type.startsWith('{\n')
    ? `${head}export interface ${name} ${type}`
    : `${head}export type ${name} = ${type};`;
}

/** Returns the union type of webhook events, which a receiver narrows by `type`. */
function webhookEvents(document: Schema): string[] {
  const webhooks = Object.values((document.webhooks ?? {}) as Record<string, { post: Schema }>);
  if (webhooks.length === 0) return [];
  const names = webhooks.map(({ post }) =>
    typeOf(contentOf(post.requestBody, 'webhook').schema, ''),
  );
  return [
    `/** What an endpoint receives: \`type\` says what \`data.object\` is. */\n` +
      `export type WebhookEvent =\n${names.map((name) => `  | ${name}`).join('\n')};`,
    "export type EventType = WebhookEvent['type'];",
  ];
}

interface Operation {
  /** `POST /v1/refunds` */
  readonly route: string;
  /** `CreateRefund` */
  readonly name: string;
  readonly schema: Schema;
}

export function operationsOf(document: Schema): Operation[] {
  const paths = Object.entries(document.paths as Record<string, Record<string, Schema>>);
  return paths.flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const schema = item[method];
      if (schema === undefined) return [];
      const { operationId } = schema;
      assert(typeof operationId === 'string', `${method} ${path} has no operationId`);
      return [{ route: `${method.toUpperCase()} ${path}`, name: typeName(operationId), schema }];
    }),
  );
}

function typeName(operationId: string): string {
  return operationId.replaceAll(/(^|_)(\w)/g, (_, __, letter: string) => letter.toUpperCase());
}

function operations(document: Schema): string[] {
  const named: string[] = [];
  const entries = operationsOf(document).map((operation) => {
    const { route, schema } = operation;
    const members = [
      `id: '${schema.operationId}';`,
      ...pathMember(document, schema),
      ...queryMember(document, operation, named),
      ...keyMember(document, schema),
      ...bodyMember(operation, named),
      `response: ${responseType(operation, named)};`,
    ];
    const lines = members.map((member) => `    ${member}`).join('\n');
    return `${commentOf(schema, '  ')}  '${route}': {\n${lines}\n  };`;
  });
  const comment = '/** Every operation by method and path, with its request and its response. */';
  return [...named, `${comment}\nexport interface Operations {\n${entries.join('\n')}\n}`];
}

/** Returns the parameters of an operation, with references resolved. */
function parametersOf(document: Schema, operation: Schema): Schema[] {
  const parameters = (operation.parameters ?? []) as Schema[];
  const { parameters: shared } = document.components as { parameters?: Record<string, Schema> };
  return parameters.map((one) => {
    if (typeof one.$ref !== 'string') return one;
    const parameter = shared?.[one.$ref.slice('#/components/parameters/'.length)];
    assert(parameter !== undefined, `${one.$ref} is not there`);
    return parameter;
  });
}

function pathMember(document: Schema, operation: Schema): string[] {
  const names = parametersOf(document, operation).filter((one) => one.in === 'path');
  if (names.length === 0) return [];
  return [`path: { ${names.map((one) => `${one.name}: string`).join('; ')} };`];
}

/**
 * Returns the member for the idempotency key. It is a header and not part of the query, but clients
 * must know that they can send it.
 */
function keyMember(document: Schema, operation: Schema): string[] {
  const key = parametersOf(document, operation).find((one) => one.name === 'Idempotency-Key');
  if (key === undefined) return [];
  return [`idempotencyKey: '${key.required === true ? 'required' : 'optional'}';`];
}

function queryMember(document: Schema, { name, schema }: Operation, named: string[]): string[] {
  const query = parametersOf(document, schema).filter((one) => one.in === 'query');
  if (query.length === 0) return [];
  const required = query.filter((one) => one.required === true).map((one) => one.name);
  const properties = Object.fromEntries(
    query.map((one) => {
      const { description } = one;
      const type = one.schema as Schema;
      return [String(one.name), description === undefined ? type : { ...type, description }];
    }),
  );
  named.push(declaration(`${name}Query`, { type: 'object', required, properties }));
  return [`query${required.length > 0 ? '' : '?'}: ${name}Query;`];
}

function bodyMember({ name, schema }: Operation, named: string[]): string[] {
  if (schema.requestBody === undefined) return [];
  const optional = (schema.requestBody as Schema).required === true ? '' : '?';
  const { media, schema: body } = contentOf(schema.requestBody, name);
  if (media !== 'application/json') return [`body${optional}: Blob;`];
  return [`body${optional}: ${namedType(body, `${name}Body`, named)};`];
}

function responseType({ name, schema }: Operation, named: string[]): string {
  const responses = Object.entries(schema.responses as Record<string, Schema>);
  const types = responses
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => {
      if (response.content === undefined) return 'null';
      const { media, schema: body } = contentOf(response, name);
      if (media !== 'application/json') return media.startsWith('text/') ? 'string' : 'Blob';
      return namedType(body, `${name}Response`, named);
    });
  assert(types.length > 0, `${name} never succeeds`);
  return [...new Set(types)].join(' | ');
}

/** Returns a reference unchanged, and gives any other schema a name. */
function namedType(schema: Schema, name: string, named: string[]): string {
  if (schema.$ref !== undefined) return typeOf(schema, '');
  const declared = declaration(name, schema);
  if (!named.includes(declared)) named.push(declared);
  return name;
}

/** Returns a body's content; JSON if there are several types. */
function contentOf(body: unknown, what: string): { media: string; schema: Schema } {
  const content = Object.entries((body as { content: Record<string, Schema> }).content);
  const [media, { schema }] = content.find(([type]) => type === 'application/json') ??
    content[0] ?? ['', {}];
  assert(media !== 'application/json' || isObject(schema), `${what} has a body without a schema`);
  return { media, schema: (schema ?? {}) as Schema };
}

function commentOf(schema: Schema, indent: string): string {
  return documentation(
    [schema.summary, schema.description].filter((text) => typeof text === 'string'),
    indent,
  );
}
