import type { Tapline } from 'tapline';
import type { RefundsAsked } from './prepared-refunds.ts';

/** Refund limits in atoms, set by the user who started the server. */
export interface RefundLimits {
  readonly each: number;
  readonly session: number;
  /** The limit of all clients' refunds on one UTC day. */
  readonly day: number;
}

export interface ToolDeps {
  readonly tapline: Tapline;
  readonly apiKey: string;
  /** Base URL of the network's documentation. */
  readonly webUrl: string;
  readonly refundLimits: RefundLimits;
  /** The refunds that this session has prepared. */
  readonly asked: RefundsAsked;
  /** Returns the terminal for payments that do not name one. */
  readonly terminal: () => Promise<string>;
}

/** The user of the MCP client. */
export interface Person {
  /** True if the client can show a link and report the user's answer (URL mode). */
  readonly opensLinks: boolean;
  /** The user's answer to this call's link. It moves no money. */
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

interface TextProperty {
  readonly type: 'string';
  readonly description: string;
  readonly pattern?: string;
}

/** A list, which a tool receives as JSON text and checks itself. */
export interface ListProperty {
  readonly type: 'array';
  readonly description: string;
  readonly minItems: number;
  readonly items: Part;
}

type Property = TextProperty | ListProperty;

/** Hints about a tool, from which clients decide whether to ask their user first. */
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
  /** Describes the complete output, so that a strict client can validate it. */
  readonly outputSchema: Part & { readonly type: 'object' };
  readonly annotations: Annotations;
  readonly run: (deps: ToolDeps, given: Arguments, person: Person) => Promise<object>;
}

/** Thrown for invalid arguments from the model. The model reads the message. */
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
/** An API object, unchanged. The API reference describes it. */
export const OBJECT: Part = { type: 'object' };
export const MAYBE_OBJECT: Part = { type: ['object', 'null'] };

export function listOf(items: Part): Part {
  return { type: 'array', items };
}

export function reads(title: string): Annotations {
  const none = { destructiveHint: false, openWorldHint: false };
  return { title, readOnlyHint: true, idempotentHint: true, ...none };
}

function fits(property: Property, value: unknown): boolean {
  if (property.type === 'array') return Array.isArray(value) && value.length >= property.minItems;
  return typeof value === 'string' && new RegExp(property.pattern ?? '').test(value);
}

/** Returns the arguments if they match the tool's schema. @throws ToolRefusal if not. */
export function checkArguments(tool: Tool, given: unknown): Arguments {
  const { properties, required } = tool.inputSchema;
  const values = (given ?? {}) as Record<string, unknown>;
  for (const name of required) {
    if (values[name] === undefined) throw new ToolRefusal(`${name} is missing.`);
  }
  const checked = Object.entries(values).map(([name, value]) => {
    const property = properties[name];
    if (property === undefined) {
      throw new ToolRefusal(
        `Unknown argument ${name}. Allowed: ${Object.keys(properties).join(', ')}.`,
      );
    }
    if (!fits(property, value)) {
      throw new ToolRefusal(`${name} is invalid: ${property.description}`);
    }
    return [name, typeof value === 'string' ? value : JSON.stringify(value)];
  });
  return Object.fromEntries(checked);
}
