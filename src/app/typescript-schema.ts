import { assert } from '#core/assert.ts';

export type Schema = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is Schema {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

const REFERENCE = '#/components/schemas/';
/** Keywords that do not affect the TypeScript type: limits, descriptions, examples. */
const SILENT = new Set([
  ...['title', 'description', 'examples', 'default', 'format', 'pattern', 'propertyNames'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'uniqueItems'],
  ...['minProperties', 'maxProperties', 'deprecated', 'readOnly', 'writeOnly'],
]);
const SPOKEN = new Set([
  ...['$ref', 'type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items'],
  ...['anyOf', 'oneOf', 'allOf'],
]);

/** Throws on an unknown keyword instead of returning `unknown`. */
export function typeOf(schema: Schema, indent: string): string {
  for (const keyword of Object.keys(schema)) {
    assert(SILENT.has(keyword) || SPOKEN.has(keyword), `the schema keyword ${keyword} is unknown`);
  }
  if (typeof schema.$ref === 'string') {
    assert(schema.$ref.startsWith(REFERENCE), `${schema.$ref} is not a schema`);
    return nameOf(schema.$ref.slice(REFERENCE.length));
  }
  if ('const' in schema) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal), indent);
  for (const keyword of ['anyOf', 'oneOf'] as const) {
    const members = schema[keyword];
    if (Array.isArray(members))
      return union(
        members.map((one) => typeOf(one, indent)),
        indent,
      );
  }
  if (Array.isArray(schema.allOf)) {
    return schema.allOf.map((one) => typeOf(one, indent)).join(' & ');
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return union(
    types.map((type) => plainType(schema, type, indent)),
    indent,
  );
}

function plainType(schema: Schema, type: unknown, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return arrayType(schema, indent);
    case 'object':
      return objectType(schema, indent);
    default:
      assert(type === undefined, `the schema type ${String(type)} is unknown`);
      return 'unknown';
  }
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
}

/** Maximum length of a type that is written on one line. */
const LINE = 80;

function union(members: readonly string[], indent: string): string {
  const distinct = [...new Set(members)];
  const line = distinct.join(' | ');
  if (distinct.length < 2 || line.includes('\n') || indent.length + line.length <= LINE)
    return line;
  return distinct.map((member) => `\n${indent}  | ${member}`).join('');
}

function arrayType(schema: Schema, indent: string): string {
  const item = typeOf((schema.items ?? {}) as Schema, indent);
  return /^[\w.]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
}

function objectType(schema: Schema, indent: string): string {
  const { properties, additionalProperties: more } = schema;
  if (!isObject(properties) || Object.keys(properties).length === 0) {
    if (more === false) return 'Record<string, never>';
    return `Record<string, ${isObject(more) ? typeOf(more, indent) : 'unknown'}>`;
  }
  const required = (schema.required ?? []) as readonly string[];
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, property]) => {
    const type = typeOf(property as Schema, inner);
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
    const space = type.startsWith('\n') ? '' : ' ';
    const suffix = required.includes(name) ? '' : '?';
    return `${wordsOf(property as Schema, inner)}${inner}${key}${suffix}:${space}${type};`;
  });
  const own = `{\n${members.join('\n')}\n${indent}}`;
  return more === true ? `${own} & Record<string, unknown>` : own;
}

function wordsOf(schema: Schema, indent: string): string {
  const words = typeof schema.description === 'string' ? [schema.description] : [];
  const fallback =
    schema.default === undefined ? [] : [`@default ${JSON.stringify(schema.default)}`];
  return documentation([...words, ...fallback], indent);
}

/** `Error` gets another name, because importing it would hide JavaScript's own. */
export function nameOf(component: string): string {
  return component === 'Error' ? 'ApiError' : component;
}

/** Returns a wrapped JSDoc comment; empty if there are no paragraphs. */
export function documentation(paragraphs: readonly string[], indent: string): string {
  const words = paragraphs.join('\n\n').replaceAll('*/', '*\\/');
  if (words === '') return '';
  const lines = words.split('\n').flatMap((line) => wrapped(line, 96 - indent.length));
  const [only] = lines;
  if (lines.length === 1) return `${indent}/** ${only} */\n`;
  const starred = lines.map((line) => `${indent} * ${line}`.trimEnd());
  return `${indent}/**\n${starred.join('\n')}\n${indent} */\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
