import type { Tapline } from 'tapline';
import type { RefundsAsked } from './refunds-asked.ts';

/** Limits set by the user who started the server, in atoms. */
export interface RefundLimits {
  readonly each: number;
  readonly session: number;
  /** The most that all clients together may have refunded on this UTC day. */
  readonly day: number;
}

/** The context of a tool. */
export interface ToolDeps {
  readonly tapline: Tapline;
  readonly apiKey: string;
  /** Root URL of the network's documents. */
  readonly webUrl: string;
  readonly refundLimits: RefundLimits;
  /** Refunds that this session has prepared. */
  readonly asked: RefundsAsked;
  /** The terminal for payments that name none. */
  readonly terminal: () => Promise<string>;
}

/** The user of the MCP client. */
export interface Person {
  /** True if the client can show a link and report the answer (URL mode). */
  readonly opensLinks: boolean;
  /** The user's answer about this call's link. It has no effect on money. */
  readonly answer: 'accept' | 'decline' | 'cancel' | null;
}

/** Part of a tool's output, as JSON Schema. */
export interface Part {
  readonly type: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: Part;
  readonly properties?: Readonly<Record<string, Part>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

export interface Property {
  readonly type: 'string';
  readonly description: string;
  readonly pattern?: string;
}

/** Hints about a tool that clients use to decide when to ask their user. */
export interface Annotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export type Arguments = Readonly<Record<string, string>>;

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, Property>>;
    readonly required: readonly string[];
    readonly additionalProperties: false;
  };
  /** The complete output, so that a strict client can validate it. */
  readonly outputSchema: Part & { readonly type: 'object' };
  readonly annotations: Annotations;
  readonly run: (deps: ToolDeps, given: Arguments, person: Person) => Promise<object>;
}

/** The model passed invalid arguments. The message is for the model. */
export class ToolRefusal extends Error {}

export function inputs(
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): Tool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Returns the schema of an object with exactly these fields. */
export function holds(
  properties: Readonly<Record<string, Part>>,
  optional: readonly string[] = [],
): Part & { readonly type: 'object' } {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export const TEXT: Part = { type: 'string' };
export const MAYBE_TEXT: Part = { type: ['string', 'null'] };
export const WHOLE: Part = { type: 'integer' };
export const MAYBE_WHOLE: Part = { type: ['integer', 'null'] };
export const YES_OR_NO: Part = { type: 'boolean' };
/** An unmodified object of the API, described in the API reference. */
export const OBJECT: Part = { type: 'object' };
export const MAYBE_OBJECT: Part = { type: ['object', 'null'] };

export function listOf(items: Part): Part {
  return { type: 'array', items };
}

export function reads(title: string): Annotations {
  const none = { destructiveHint: false, openWorldHint: false };
  return { title, readOnlyHint: true, idempotentHint: true, ...none };
}

/** Returns the arguments if they match the schema. */
export function checkArguments(tool: Tool, given: unknown): Arguments {
  const { properties, required } = tool.inputSchema;
  const values = (given ?? {}) as Record<string, unknown>;
  for (const name of required) {
    if (values[name] === undefined) throw new ToolRefusal(`${name} is missing.`);
  }
  for (const [name, value] of Object.entries(values)) {
    const property = properties[name];
    if (property === undefined) {
      throw new ToolRefusal(
        `Unknown argument ${name}. Allowed: ${Object.keys(properties).join(', ')}.`,
      );
    }
    const fits = typeof value === 'string' && new RegExp(property.pattern ?? '').test(value);
    if (!fits) throw new ToolRefusal(`${name} is invalid: ${property.description}`);
  }
  return values as Arguments;
}
