import type { Tapline } from 'tapline';
import type { RefundsAsked } from './refunds-asked.ts';

/** What the person who started the server has set, in atoms. */
export interface RefundLimits {
  readonly each: number;
  readonly session: number;
  /** Refunded on this UTC day, by everybody together. */
  readonly day: number;
}

/** What a tool works with. */
export interface ToolDeps {
  readonly tapline: Tapline;
  readonly apiKey: string;
  /** The web root of the network: its documents are there. */
  readonly webUrl: string;
  readonly refundLimits: RefundLimits;
  /** What this session has prepared to give back. */
  readonly asked: RefundsAsked;
  /** Where payments are taken when no terminal is named. */
  readonly terminal: () => Promise<string>;
}

/** The person behind the client. */
export interface Person {
  /** Their client can show them a link and say what they answered (URL mode). */
  readonly opensLinks: boolean;
  /** What they said about the link of this call. It moves nothing, whatever it is. */
  readonly answer: 'accept' | 'decline' | 'cancel' | null;
}

/** A part of an answer, as JSON Schema. */
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

/** What a client may believe of a tool without trying it: it asks its person less where it may. */
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
  /** What the answer holds: all of it, so that a strict client may check it. */
  readonly outputSchema: Part & { readonly type: 'object' };
  readonly annotations: Annotations;
  readonly run: (deps: ToolDeps, given: Arguments, person: Person) => Promise<object>;
}

/** The model called a tool with something that it does not take; the words are for the model. */
export class ToolRefusal extends Error {}

export function inputs(
  properties: Readonly<Record<string, Property>>,
  required: readonly string[],
): Tool['inputSchema'] {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** An object with these fields and no others. */
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
/** An object of the API as it is: the reference says what it holds. */
export const OBJECT: Part = { type: 'object' };
export const MAYBE_OBJECT: Part = { type: ['object', 'null'] };

export function listOf(items: Part): Part {
  return { type: 'array', items };
}

export function reads(title: string): Annotations {
  const none = { destructiveHint: false, openWorldHint: false };
  return { title, readOnlyHint: true, idempotentHint: true, ...none };
}

/** The arguments, if they are what the schema says. */
export function checkArguments(tool: Tool, given: unknown): Arguments {
  const { properties, required } = tool.inputSchema;
  const values = (given ?? {}) as Record<string, unknown>;
  for (const name of required) {
    if (values[name] === undefined) throw new ToolRefusal(`${name} is missing.`);
  }
  for (const [name, value] of Object.entries(values)) {
    const property = properties[name];
    if (property === undefined) {
      throw new ToolRefusal(`There is no ${name}: ${Object.keys(properties).join(', ')}.`);
    }
    const fits = typeof value === 'string' && new RegExp(property.pattern ?? '').test(value);
    if (!fits) throw new ToolRefusal(`${name} is not right: ${property.description}`);
  }
  return values as Arguments;
}
