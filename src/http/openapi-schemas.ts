import { assert } from '#core/assert.ts';

export type Doc = { [key: string]: unknown };

/** Collects the schemas that have a title, as components that other schemas reference. */
export interface Components {
  readonly schemas: Record<string, unknown>;
  /** Returns the schema as the document shows it: a reference if it has a title. */
  use(schema: unknown): unknown;
}

export function createComponents(): Components {
  const schemas: Record<string, unknown> = {};
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(use);
    if (value === null || typeof value !== 'object') return value;
    const copy: Doc = {};
    for (const [name, member] of Object.entries(value)) copy[name] = use(member);
    return copy;
  };
  const use = (schema: unknown): unknown => {
    const title = titleOf(schema);
    if (title === null) return inner(schema);
    const name = componentName(title);
    const known = schemas[name];
    const rendered = inner(schema);
    assert(
      known === undefined || JSON.stringify(known) === JSON.stringify(rendered),
      `two schemas are titled ${title}`,
    );
    schemas[name] = rendered;
    return { $ref: `#/components/schemas/${name}` };
  };
  return { schemas, use };
}

/** Converts `Event payment.succeeded` to the component name `EventPaymentSucceeded`. */
function componentName(title: string): string {
  return title.replaceAll(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase());
}

/** In a list of properties, `title` is a schema itself and does not count. */
function titleOf(schema: unknown): string | null {
  if (schema === null || typeof schema !== 'object' || !('title' in schema)) return null;
  return typeof schema.title === 'string' ? schema.title : null;
}
