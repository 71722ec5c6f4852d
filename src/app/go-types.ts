import { assert } from '#core/assert.ts';
import { isObject, type Schema } from './typescript-schema.ts';
import { operationsOf } from './typescript-types.ts';

/**
 * Writes the Go types of one OpenAPI document: a struct per named schema and per request body.
 * Unions stay raw JSON, which the reader decodes once the type is known. Blank lines between fields
 * leave gofmt nothing to align, so it does not change the text.
 */
export function goModelsOf(document: Schema, source: string): string {
  const { schemas } = document.components as { schemas: Record<string, Schema> };
  const declared: string[] = [];
  for (const [name, schema] of Object.entries(schemas)) {
    if (name !== 'Error') declareType({ name, schema, declared });
  }
  for (const { name, schema } of operationsOf(document)) {
    const content = (schema.requestBody as Schema | undefined)?.content as Schema | undefined;
    const body = (content?.['application/json'] as Schema | undefined)?.schema;
    if (isObject(body) && body.$ref === undefined) {
      declareType({ name: `${name}Body`, schema: body, declared });
    }
  }
  const note = `// Code generated from ${source} by npm run openapi. DO NOT EDIT.`;
  const raw = declared.some((text) => text.includes('json.RawMessage'));
  const imports = raw ? ['import "encoding/json"'] : [];
  return `${[note, 'package tapline', ...imports, ...declared].join('\n\n')}\n`;
}

interface Declaring {
  readonly name: string;
  readonly schema: Schema;
  /** The structs declared so far, in order of discovery. */
  readonly declared: string[];
}

function declareType({ name, schema, declared }: Declaring): void {
  const { properties } = schema;
  const about = commentOf(schema, '') || `// ${name} of the API.\n`;
  if (!isObject(properties)) {
    declared.push(`${about}type ${name} ${typeOf({ name, schema, declared })}`);
    return;
  }
  // Reserve the position first, so that a struct precedes the structs that it contains.
  const at = declared.push('') - 1;
  const required = (schema.required ?? []) as readonly string[];
  const fields = Object.entries(properties).map(([field, property]) => {
    const part = { name: `${name}${goName(field)}`, schema: property as Schema, declared };
    const isRequired = required.includes(field);
    const omit = isRequired ? '' : ',omitempty';
    // Go omits a false value; only a pointer distinguishes `false` from an unset field.
    const isChoice = part.schema.type === 'boolean' && part.schema.const === undefined;
    const type = (isChoice && !isRequired ? '*' : '') + typeOf(part);
    const words = commentOf(property as Schema, '\t');
    return `${words}\t${goName(field)} ${type} \`json:"${field}${omit}"\``;
  });
  declared[at] = `${about}type ${name} struct {\n${fields.join('\n\n')}\n}`;
}

const REFERENCE = '#/components/schemas/';
const RAW = 'json.RawMessage';

function typeOf({ name, schema, declared }: Declaring): string {
  if (typeof schema.$ref === 'string') return goName(schema.$ref.slice(REFERENCE.length));
  const members = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (members !== undefined) {
    const [only, ...others] = members.filter((one) => one.type !== 'null');
    if (only === undefined || others.length > 0) return RAW;
    return optional(typeOf({ name, schema: only, declared }));
  }
  if ('const' in schema) return plainType(typeof schema.const, { name, schema, declared });
  if (schema.type === undefined && Array.isArray(schema.enum)) return 'string';
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]) as unknown[];
  const [type, ...others] = types.filter((one) => one !== 'null');
  if (others.length > 0) return RAW;
  const plain = plainType(type, { name, schema, declared });
  return types.includes('null') ? optional(plain) : plain;
}

/** Makes a type nullable, unless it already is. */
function optional(type: string): string {
  return type === RAW || /^(map\[|\[\])/.test(type) ? type : `*${type}`;
}

function plainType(type: unknown, { name, schema, declared }: Declaring): string {
  switch (type) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'integer':
      return 'int64';
    case 'number':
      return 'float64';
    case 'array': {
      const items = (schema.items ?? {}) as Schema;
      return `[]${typeOf({ name: `${name}Item`, schema: items, declared })}`;
    }
    case 'object':
      return objectType({ name, schema, declared });
    default:
      assert(type === undefined, `the schema type ${String(type)} is unknown`);
      return RAW;
  }
}

function objectType({ name, schema, declared }: Declaring): string {
  const { properties, additionalProperties: more } = schema;
  if (!isObject(properties) || Object.keys(properties).length === 0) {
    // Another field, such as an event's type, determines the type of this object.
    return isObject(more) ? `map[string]${typeOf({ name, schema: more, declared })}` : RAW;
  }
  declareType({ name, schema, declared });
  return name;
}

/** Initialisms in Go's notation. */
const INITIALS: ReadonlySet<string> = new Set(['id', 'url', 'api', 'ip', 'http', 'nfc', 'qr']);

function goName(field: string): string {
  const words = field.split(/[_.\- ]/).filter((word) => word !== '');
  const named = words.map((word) =>
    INITIALS.has(word) ? word.toUpperCase() : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
  );
  return named.join('');
}

function commentOf({ description }: Schema, indent: string): string {
  if (typeof description !== 'string' || description === '') return '';
  const lines = description.split('\n').map((line) => `${indent}// ${line}`.trimEnd());
  return `${lines.join('\n')}\n`;
}
