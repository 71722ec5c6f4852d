import Type from 'typebox';
import { EVENT_FAMILIES, EVENT_TYPES } from '#events/event-types.ts';
import {
  commonFields,
  createdParameters,
  idOf,
  listOf,
  oneOf,
  openObject,
  pageParameters,
  Timestamp,
} from '#http/schema.ts';

export const eventFields = {
  id: idOf('evt_', 'event'),
  ...commonFields('event'),
  type: Type.String({ description: 'The type of the event. The list of types may grow.' }),
  api_version: Type.String({ description: 'The version that the event is rendered in.' }),
  created: Timestamp,
  sequence: Type.Integer({
    minimum: 1,
    description:
      'Increases with each event about an object (per account and mode): of two events ' +
      'about the same object, the one with the higher sequence is newer.',
  }),
};

export const DATA = { description: 'The object that the event is about.' };

export const EventSchema = Type.Object(
  {
    ...eventFields,
    data: Type.Object(
      {
        object: openObject('The resource as it was when the event happened.'),
        previous_attributes: Type.Optional(
          openObject(
            'On *.updated: the fields that changed, with the values that they had before.',
          ),
        ),
      },
      DATA,
    ),
  },
  { title: 'Event', description: 'An event, with the object as it was when the event happened.' },
);

export const EventList = listOf(EventSchema);

const TYPE_FILTERS = [...EVENT_TYPES, ...EVENT_FAMILIES];

export const EventListQuery = Type.Object({
  ...pageParameters,
  ...createdParameters,
  type: Type.Optional(
    oneOf(TYPE_FILTERS, 'An event type, or a family with .*, for example payment_intent.*'),
  ),
  delivery_success: Type.Optional(
    Type.Boolean({
      description:
        'false: only events with a delivery that is pending or failed; true: only events ' +
        'without one.',
    }),
  ),
});
