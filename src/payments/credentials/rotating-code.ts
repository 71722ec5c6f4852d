import { assert } from '#core/assert.ts';
import { cellOfId } from '#core/ids.ts';
import { judgeCode, openRotatingKey, rotatingValue } from '#payers/check-rotating-code.ts';
import type { TappedPass } from '#payers/payer-queries.ts';
import {
  lockRotatingKeys,
  type RotatingKeyRow,
  selectPayersOfRotating,
  updateRotatingKey,
} from '#payers/rotating-key-queries.ts';
import {
  type FoundPass,
  foundBy,
  passKind,
  type TappedKind,
} from '#payments/credentials/credential-kind.ts';

interface Presented {
  readonly type: 'rotating_code';
  readonly passId: string;
  readonly code: string;
}

interface RotatingState extends FoundPass<'rotating_code'> {
  /**
   * The key and its used steps; `null` for an attempt in progress, whose code was consumed before.
   */
  readonly rotating: RotatingKeyRow | null;
}

const FORM = /^(?<passId>pass_[0-9A-Za-z]{1,64})\.(?<code>[0-9]{8})$/;

function ofPass(pass: TappedPass, rotating: RotatingKeyRow | null): RotatingState {
  return { type: 'rotating_code', payerId: pass.payer_id, pass, rotating };
}

/** A pass's code that changes every 30 seconds. Each step's code is valid for one attempt. */
export const rotatingCode: TappedKind<Presented, RotatingState> = {
  ...passKind('rotating_code', (pass) => ofPass(pass, null)),
  isCode: true,
  form: 'the id of the pass, a period and eight digits: pass_….12345678',
  read(value) {
    const { passId, code } = FORM.exec(value)?.groups ?? {};
    if (passId === undefined || code === undefined) return null;
    return { type: 'rotating_code', passId, code };
  },
  value: ({ passId, code }) => rotatingValue(passId, code),
  cell: ({ passId }) => cellOfId('pass', passId),
  ...foundBy(
    ({ passId }) => passId,
    selectPayersOfRotating,
    async (tx, passIds) =>
      (await lockRotatingKeys(tx, passIds)).map((row) => [row.pass_id, ofPass(row, row)]),
  ),
  verify(state, { code }, { cardKey, now }) {
    const { rotating } = state;
    if (rotating === null) return { decline: null, after: state };
    const key = openRotatingKey(cardKey, rotating);
    const { decline, after } = judgeCode(rotating, { code, key, now });
    return { decline, after: after === rotating ? state : { ...state, rotating: after } };
  },
  async consume(tx, used) {
    for (const { rotating } of used) {
      if (rotating === null) continue;
      assert((await updateRotatingKey(tx, rotating)) === 1, 'a step of a pass was used twice');
    }
  },
};
