import Type from 'typebox';
import { tillRights, VersionOut } from '#apis/dashboard/account/account-schema.ts';
import { PersonName, Version } from '#apis/dashboard/person-schema.ts';
import { limitInput } from '#apis/merchant/limit-schema.ts';
import { Pin } from '#apis/merchant/terminal-schema.ts';
import { MAX_AMOUNT } from '#core/money.ts';
import { idOf, nullable, objectType, oneOf, Timestamp } from '#http/schema.ts';
import { TILL_ROLES } from '#people/role-order.ts';

/** Schemas of people at tills. */

export const PinBody = Type.Object({ pin: Pin });

const TillRoleField = oneOf(
  TILL_ROLES,
  'manager: their PIN, of at least six digits, also allows what others may not.',
);

/** The rights of a person at tills that a request may set. */
export const tillRightsInput = {
  refund_limit: Type.Optional(
    nullable(
      limitInput(
        MAX_AMOUNT,
        'How much of one sale, over all its refunds, this person may refund at a till without a ' +
          'manager. `null`, for up to the account’s daily limit, needs a role that lifts limits.',
      ),
    ),
  ),
  may_discount: Type.Optional(
    Type.Boolean({
      description: 'Whether this person may give discounts at a till without a manager.',
    }),
  ),
};

export const NewStaffBody = Type.Object({
  name: PersonName,
  pin: Pin,
  role: TillRoleField,
  ...tillRightsInput,
});

export const StaffBody = Type.Object({
  version: Version,
  name: Type.Optional(PersonName),
  role: Type.Optional(TillRoleField),
  ...tillRightsInput,
});

export const RemovalQuery = Type.Object({
  version: Version,
  erase: Type.Optional(
    Type.Boolean({
      description:
        'true: also replace the name with `Staff <n>` everywhere but in ended reports. Works for ' +
        'a person who was removed earlier, too.',
    }),
  ),
});

export const StaffSchema = Type.Object(
  {
    id: idOf('stf_', 'staff member'),
    object: objectType('staff'),
    name: PersonName,
    role: TillRoleField,
    ...tillRights,
    version: VersionOut,
    created: Timestamp,
  },
  { title: 'StaffMember', description: 'A person who works at tills and has no sign-in.' },
);
