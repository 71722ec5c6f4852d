import type { ApiDocument, Schema } from '#docs/api-document.ts';

export interface ModelField {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

export interface Model {
  readonly name: string;
  readonly about: string;
  readonly fields: readonly ModelField[];
  /** Returns the name of the schema's model; `null` if the schema has no model. */
  readonly nameOf: (schema: Schema) => string | null;
}

const REFERENCE = '#/components/schemas/';

function partName(name: string, field: string): string {
  const words = field.split(/[^A-Za-z0-9]+/);
  return name + words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join('');
}

/** Returns all objects of the merchant API, each after the objects that it contains. */
export function modelsOf(document: Pick<ApiDocument, 'components'>): readonly Model[] {
  const models: Model[] = [];
  const names = new Map<Schema, string>();
  const nameOf = (schema: Schema): string | null => {
    return schema.$ref?.slice(REFERENCE.length) ?? names.get(schema) ?? null;
  };
  const add = (name: string, schema: Schema): void => {
    const { properties = {}, required = [], description = name } = schema;
    names.set(schema, name);
    for (const [field, inner] of Object.entries(properties)) visit(partName(name, field), inner);
    const fields = Object.entries(properties).map(([field, inner]) => {
      return { name: field, schema: inner, isRequired: required.includes(field) };
    });
    models.push({ name, about: description.split('\n')[0] ?? name, fields, nameOf });
  };
  const visit = (name: string, schema: Schema): void => {
    if (schema.$ref !== undefined) return;
    for (const one of schema.anyOf ?? []) visit(name, one);
    if (schema.items !== undefined) visit(`${name}Item`, schema.items);
    if (Object.keys(schema.properties ?? {}).length > 0) add(name, schema);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (schema.properties !== undefined) add(name, schema);
  }
  return models;
}
