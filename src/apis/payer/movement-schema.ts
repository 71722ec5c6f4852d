import Type from 'typebox';
import {
  AtomsOut,
  Currency,
  commonFields,
  idOf,
  listOf,
  nullable,
  oneOf,
  Timestamp,
} from '#http/schema.ts';
import { MOVEMENT_TYPES } from '#payers/movements/movements-in-logs.ts';

const MovementSchema = Type.Object(
  {
    id: idOf('mov_', 'movement'),
    ...commonFields('movement'),
    type: oneOf(
      MOVEMENT_TYPES,
      'payment: to a shop; refund: of such a payment; sent and received: to and from others; ' +
        'faucet: new test USDC. payment and sent leave the wallet, the others reach it.',
    ),
    status: oneOf(
      ['pending', 'succeeded'] as const,
      'pending: in a block, but before the confirmations, so that it can still disappear.',
    ),
    amount: {
      ...AtomsOut,
      description: 'USDC atoms that left or reached the wallet. Never negative; see `type`.',
    },
    currency: Currency,
    fee: { ...AtomsOut, description: 'USDC atoms of the amount that were fees of a payment.' },
    with: nullable(
      Type.String({
        description:
          "The shop's name, or the address of the other side. `null` for folded transfers. Never " +
          'propose an address as a recipient unless the wallet has `sent` to it: attackers send ' +
          'from addresses that look like known ones.',
      }),
    ),
    payment: nullable(idOf('pay_', 'payment that was made or refunded')),
    tx_hash: nullable(
      Type.String({
        pattern: '^0x[0-9a-f]{64}$',
        description:
          'The transaction. `null` for folded transfers: all `received`, or all `sent`, of less ' +
          'than 0.01 USDC on one UTC day, as their sum.',
      }),
    ),
    created: {
      ...Timestamp,
      description: 'The time of the block; of folded transfers, the beginning of their UTC day.',
    },
  },
  { title: 'Movement', description: "A movement of the wallet's USDC." },
);

export const MovementListSchema = Type.Object(
  {
    ...listOf(MovementSchema).properties,
    since: {
      ...Timestamp,
      description:
        'Complete from this time on: 30 days before the first sign-in, or later while ' +
        'older blocks are still to be read, which each request for the first page continues.',
    },
    as_of: { ...Timestamp, description: 'The time of the newest block that was read.' },
    explorer_url: nullable(
      Type.String({
        format: 'uri',
        description: "The wallet's page in a block explorer, for what is older than `since`.",
      }),
    ),
  },
  { title: 'MovementList', description: 'One page of the list.' },
);
