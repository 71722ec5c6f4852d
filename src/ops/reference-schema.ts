import { escapeHtml, inlineHtml } from '#ops/reference-markup.ts';

/** A JSON schema as it stands in the document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
}

/** One row of a table of fields. */
export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean | null;
  readonly description?: string | undefined;
}

function refName(ref: string): string {
  return ref.split('/').at(-1) ?? '';
}

/** The type of a value, with links to the objects of the reference. */
export function typeHtml(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = refName(schema.$ref);
    return `<a href="#objects/${name}">${name}</a>`;
  }
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeHtml).join(' or ');
  if (schema.const !== undefined) return `<code>${escapeHtml(String(schema.const))}</code>`;
  if (schema.items !== undefined) return `array of ${typeHtml(schema.items)}`;
  const { type = 'any' } = schema;
  return escapeHtml(typeof type === 'string' ? type : type.join(' or '));
}

function withoutNull(schema: Schema): Schema {
  const rest = schema.anyOf?.filter(({ type }) => type !== 'null');
  return rest?.length === 1 && rest[0] !== undefined ? rest[0] : schema;
}

function valuesHtml(schema: Schema): string {
  const values = withoutNull(schema).enum;
  if (values === undefined) return '';
  const shown = values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(', ');
  return ` <span class="values">One of ${shown}.</span>`;
}

function innerFields(schema: Schema): Field[] {
  const plain = withoutNull(schema);
  const { properties, required = [] } =
    plain.items === undefined ? plain : withoutNull(plain.items);
  return Object.entries(properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    required: required.includes(name),
  }));
}

function fieldHtml(field: Field): string {
  const { name, schema, required } = field;
  const description = field.description ?? schema.description ?? withoutNull(schema).description;
  const inner = innerFields(schema);
  const mark = required === true ? '<span class="required">required</span>' : '';
  const preset = schema.default === undefined ? '' : ` Default: <code>${schema.default}</code>.`;
  return `<li><div class="field"><code class="name">${escapeHtml(name)}</code>
<span class="type">${typeHtml(schema)}</span>${mark}</div>
<div class="about">${inlineHtml(description ?? '')}${valuesHtml(schema)}${preset}</div>
${inner.length === 0 ? '' : fieldsHtml(inner)}</li>`;
}

/** Fields with the fields of their objects inside. `required: null` marks nothing. */
export function fieldsHtml(fields: readonly Field[]): string {
  return `<ul class="fields">${fields.map(fieldHtml).join('\n')}</ul>`;
}

/** The fields of an object's schema; whether an answer's field is there is not marked. */
export function objectFields(schema: Schema, marked: boolean): Field[] {
  return innerFields(schema).map((field) => (marked ? field : { ...field, required: null }));
}
