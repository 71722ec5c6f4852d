import Type from 'typebox';
import { type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { listed } from '#apis/dashboard/person-schema.ts';
import type { OperatorDeps } from '#apis/operator/operator-deps.ts';
import { selectWaiting } from '#apis/operator/operator-queries.ts';
import { answerWith } from '#core/answer.ts';
import { nullable, textOut } from '#http/schema.ts';

/** What waits for a person in one cell. */
export const WaitingSchema = Type.Object(
  {
    alarms: Type.Integer({ description: 'Open alarms of both modes.' }),
    proposals: Type.Integer({ description: 'Changes that wait for a second person.' }),
    verifications: Type.Integer({ description: 'Businesses that wait to be verified.' }),
  },
  { description: 'What waits for a person there; null: it did not answer.' },
);

const CellSchema = Type.Object({
  cell: Type.Integer({ description: 'The number of the cell.' }),
  console_url: nullable(textOut('Where its console is; null: here, or it did not answer.')),
  waiting: nullable(WaitingSchema),
});

/** The network's cells, whichever of them is asked. */
export function cellsRoute({ db, cells }: OperatorDeps): PersonRoute {
  return personRoute({
    method: 'GET',
    path: '/cells',
    operationId: 'listCells',
    moves: 'nothing',
    tag: 'Network',
    summary: 'Every cell of the network, and what waits for a person in it',
    description: 'This cell comes first. A network alone is one cell, with the number 0.',
    access: 'operator',
    response: listed(CellSchema, 'The cells.'),
    handle: async ({ now }) => {
      const [waiting, others] = await Promise.all([selectWaiting(db, now), cells?.others()]);
      const own = { cell: db.cell, console_url: null, waiting };
      return answerWith(200, { object: 'list', data: [own, ...(others ?? [])] });
    },
  });
}
