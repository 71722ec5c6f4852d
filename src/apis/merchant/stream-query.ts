import Type from 'typebox';
import { type Refusal, refuse } from '#core/answer.ts';
import { EVENT_FAMILIES, EVENT_TYPES, familyOf } from '#events/event-types.ts';

/** Stands for the oldest event. No event ID has this form. */
export const START = 'start';

export const StreamQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      maxLength: 64,
      description:
        'The id of the last event that you have seen: the stream continues after it. ' +
        '`start`: it begins with the oldest event of the last 30 days. `Last-Event-ID` ' +
        'takes precedence. Without either, the stream begins now.',
      examples: ['evt_01QzXo0KcV5sVQ2pWm8Tn3'],
    }),
  ),
  types: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Event types and families with `.*`, separated by commas. Default: all.',
      examples: ['payment.succeeded,refund.*'],
    }),
  ),
});

export function unknownPlace(param: 'after' | null): Refusal {
  return refuse(
    'cursor_invalid',
    'This key has no such event in the last 30 days. Send the id of the last event you ' +
      'received, or omit it to start now.',
    param,
  );
}

/**
 * Streams with equal types get the same Set object, so that each event is rendered once for all of
 * them.
 */
const sets = new Map<string, ReadonlySet<string>>();
/**
 * More combinations of types than clients use. Beyond this number, equal sets are rendered
 * separately.
 */
const MAX_SETS = 1_000;

export function readTypes(text: string | undefined): ReadonlySet<string> | null | Refusal {
  if (text === undefined) return null;
  const patterns = text.split(',').map((one) => one.trim());
  const strange = patterns.find(
    (one) => !EVENT_FAMILIES.includes(one) && !(EVENT_TYPES as readonly string[]).includes(one),
  );
  if (strange !== undefined) {
    return refuse(
      'parameter_invalid',
      `types contains "${strange}", which is not an event type. Send types and families, ` +
        'separated by commas: payment.succeeded,refund.*',
      'types',
    );
  }
  const types = EVENT_TYPES.filter(
    (type) => patterns.includes(type) || patterns.includes(familyOf(type)),
  );
  const known = sets.get(types.join());
  if (known !== undefined) return known;
  const made = new Set<string>(types);
  if (sets.size < MAX_SETS) sets.set(types.join(), made);
  return made;
}
