import { type Refusal, refuse } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';

/**
 * Maximum nesting depth. Bodies of the API are flat objects with metadata, so deeper ones are
 * mistakes.
 */
const MAX_DEPTH = 10;
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\]:,]|true|false|null/g;
const EXACT_INTEGER = /^-?(0|[1-9]\d*)$/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

interface Level {
  readonly keys: Set<string> | null;
  /** The member or index being read, for error messages. */
  name: string;
}

function pathOf(levels: readonly Level[], last = ''): string {
  return [...levels.map((level) => level.name), last].filter((name) => name !== '').join('.');
}

/**
 * Refuses JSON that JSON.parse accepts silently: duplicate keys (the last one would win), numbers
 * that rounding changes, prototype keys, and deep nesting. `text` must be valid JSON.
 */
function findTrap(text: string): Refusal | null {
  const levels: Level[] = [];
  let expectKey = false;
  // Uses match rather than matchAll, which creates an object per token, because every body of the
  // API passes here.
  for (const token of text.match(TOKENS) ?? []) {
    const top = levels.at(-1);
    if (token === '{' || token === '[') {
      if (levels.length === MAX_DEPTH) {
        return refuse(
          'parameter_invalid',
          `The body is nested deeper than ${MAX_DEPTH} levels.`,
          levels[0]?.name || null,
        );
      }
      levels.push({ keys: token === '{' ? new Set() : null, name: '' });
      expectKey = token === '{';
    } else if (token === '}' || token === ']') {
      levels.pop();
      expectKey = false;
    } else if (token === ',') {
      expectKey = top?.keys !== null;
    } else if (expectKey && top?.keys && token.startsWith('"')) {
      const key = JSON.parse(token) as string;
      if (top.keys.has(key)) {
        const path = pathOf(levels.slice(0, -1), key);
        return refuse('parameter_invalid', `${path} appears more than once.`, path);
      }
      if (key === '__proto__') {
        const path = pathOf(levels.slice(0, -1), key);
        const code = levels.length === 1 ? 'parameter_unknown' : 'parameter_invalid';
        return refuse(code, '__proto__ is not allowed as a name.', path);
      }
      top.keys.add(key);
      top.name = key;
      expectKey = false;
    } else if (/^[-\d]/.test(token) && isDeceptive(token)) {
      const path = pathOf(levels);
      return refuse('parameter_invalid', `${path} is not an exact integer.`, path);
    }
  }
  return null;
}

/** True for a number that parses to an integer but is not written as one. */
function isDeceptive(token: string): boolean {
  const value = Number(token);
  if (!Number.isInteger(value)) return !Number.isFinite(value);
  if (Object.is(value, -0)) return true;
  if (EXACT_INTEGER.test(token)) return BigInt(token) !== BigInt(value);
  return BigInt(value) !== exactInteger(token);
}

/** Returns the integer that a decimal notation such as 2.5e6 stands for; `null` for a fraction. */
function exactInteger(token: string): bigint | null {
  const match = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(token);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const unit = 10n ** BigInt(-shift);
  return digits % unit === 0n ? digits / unit : null;
}

function hasControlCharacter(value: string): boolean {
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return true;
  }
  return false;
}

/**
 * Refuses NUL and lone surrogates, which PostgreSQL rejects, and other control characters, which
 * have no place in a text.
 */
export function checkText(value: string, path: string): Refusal | null {
  if (!value.isWellFormed()) {
    return refuse('parameter_invalid', `${path} is not valid Unicode (a lone surrogate).`, path);
  }
  if (hasControlCharacter(value)) {
    return refuse('parameter_invalid', `${path} must not contain control characters.`, path);
  }
  return null;
}

/** Checks every string in the value, including the names of members. */
function findBadText(value: Json, path: string, multiline: readonly string[]): Refusal | null {
  if (typeof value === 'string') {
    return checkText(multiline.includes(path) ? value.replaceAll('\n', '') : value, path);
  }
  if (value === null || typeof value !== 'object') return null;
  for (const [name, member] of Object.entries(value)) {
    const inner = path === '' ? name : `${path}.${name}`;
    const safe = name.isWellFormed() && !hasControlCharacter(name) ? inner : path || null;
    if (safe !== inner) {
      return refuse(
        'parameter_invalid',
        'A field name contains characters that are not allowed.',
        safe,
      );
    }
    const bad = findBadText(member, inner, multiline);
    if (bad !== null) return bad;
  }
  return null;
}

function bodyInvalid(message: string): Refusal {
  return refuse('body_invalid', message);
}

/**
 * Returns the JSON object of a request body, or a refusal. `multiline` names members whose text may
 * have line breaks.
 */
export function parseJsonObject(
  raw: Buffer,
  multiline: readonly string[] = [],
): { [key: string]: Json } | Refusal {
  let text: string;
  try {
    text = decoder.decode(raw);
  } catch {
    return bodyInvalid('The body is not valid UTF-8.');
  }
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return bodyInvalid('The body is not valid JSON.');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return bodyInvalid('The body must be a JSON object.');
  }
  return findTrap(text) ?? findBadText(value, '', multiline) ?? value;
}
