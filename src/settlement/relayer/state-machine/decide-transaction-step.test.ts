import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Bug } from '#core/assert.ts';
import { step } from '#settlement/relayer/state-machine/decide-transaction-step.ts';
import {
  isSendable,
  type OpenTransaction,
  type Transaction,
} from '#settlement/relayer/state-machine/transaction.ts';
import {
  CASES,
  type Case,
  type CaseName,
  EFFECTS,
  NOW,
  OBSERVATIONS,
  PHASES,
  SITUATIONS,
  type Situation,
} from '#testkit/fixtures/settlement/transaction-cases.ts';

/**
 * Returns `impossible`, or else the next phase, whether the transaction changed, and the effects.
 */
function outcomeOf(situation: Situation, name: CaseName): string {
  const before: Transaction = SITUATIONS[situation];
  const { observation, now }: Case = CASES[name];
  let after: ReturnType<typeof step>;
  try {
    after = step(before, observation, { ...NOW, ...now });
  } catch (error) {
    assert(error instanceof Bug, `${situation}, ${name}: ${error}`);
    return 'impossible';
  }
  const { transaction, effects } = after;
  const isSame = isDeepStrictEqual(before, transaction);
  const phase = transaction.phase === before.phase ? [] : [transaction.phase];
  const change = phase.length > 0 || isSame ? phase : ['changed'];
  return [...change, ...effects.map(({ kind }) => `+${kind}`)].join(' ');
}

/**
 * The expected outcome per situation and observation. Observations without an entry, and those
 * listed under `nothing`, change nothing and have no effects. `like` names the situation whose
 * outcomes are the same for all that are not listed.
 */
const TABLE: Readonly<Record<Situation, string>> = {
  unsigned: `
    impossible: sent; receipt in the head; receipt below the head; no receipt; no receipt,
        listed; receipt not answered; result read; result read, waits; result read, waited;
        result unreadable; higher offer signed; cancellation signed
    changed: early receipt; a block skipped; blocks skipped; receipt asked; reorganized; ask
        again
    nonce_taken: nonce used
    +ask_signer: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce
        later, overdue; higher offer asked
    stuck +cancel: nonce unused, expired
    changed +ask_signer: cancellation asked
    signed +broadcast: signature given; cancellation given
    done +drop: result written; foreign
  `,
  'unsigned, a cancellation': `
    like: unsigned
    impossible: higher offer asked
    changed: no receipt, listed; receipt not answered; signature given
    included: receipt in the head
    included +read_result: receipt below the head
    +ask_signer: cancellation asked
    nothing: no receipt; nonce unused, expired
  `,
  signed: `
    broadcast: sent
    stuck: refused for ever
    changed: early receipt; a block skipped; blocks skipped; receipt asked; no receipt, listed;
        receipt not answered; reorganized; ask again
    included: receipt in the head
    included +read_result: receipt below the head
    impossible: result read; result read, waits; result read, waited; result unreadable
    nonce_taken: nonce used
    changed +broadcast: nonce next, overdue; nonce next, at the ceiling; higher offer signed;
        cancellation signed; signature given; cancellation given
    +replace: nonce next, too cheap
    +broadcast: nonce later, overdue
    stuck +cancel: nonce unused, expired
    changed +ask_signer: higher offer asked
    unsigned +ask_signer: cancellation asked
    done +drop: result written; foreign
  `,
  'signed, the signer owes more': `
    like: signed
    impossible: higher offer signed; cancellation signed
    +ask_signer +broadcast: nonce next, overdue; nonce next, too cheap; nonce next, at the
        ceiling; nonce later, overdue
    +ask_signer: higher offer asked
  `,
  broadcast: `
    changed: sent; early receipt; blocks skipped; receipt asked; no receipt, listed; receipt not
        answered; reorganized; ask again
    signed: refused as underpriced
    stuck: refused for ever
    included: receipt in the head
    included +read_result: receipt below the head
    impossible: result read; result read, waits; result read, waited; result unreadable
    nonce_taken: nonce used
    changed +broadcast: nonce next, overdue; nonce next, at the ceiling
    +replace: nonce next, too cheap
    +broadcast: nonce later, overdue
    stuck +cancel: nonce unused, expired
    signed +broadcast: higher offer signed; cancellation signed; signature given; cancellation
        given
    changed +ask_signer: higher offer asked
    unsigned +ask_signer: cancellation asked
    done +drop: result written; foreign
  `,
  'broadcast, a height ahead': `
    like: broadcast
    changed: a block skipped; head
  `,
  'broadcast, overdue before': `
    like: broadcast
    changed: a block skipped
    changed +replace: nonce next, overdue; nonce next, too cheap
    changed +alert +broadcast: nonce next, at the ceiling
  `,
  'broadcast, an early receipt': `
    like: broadcast
    changed: no receipt
    nothing: early receipt
  `,
  'broadcast, not answered': `
    like: broadcast
    changed: no receipt
    nothing: receipt not answered; nonce used
  `,
  'broadcast, a cancellation': `
    like: broadcast
    changed: a block skipped
    signed: cancellation refused for ever
    impossible: higher offer signed; higher offer asked
    nothing: refused as underpriced; refused for ever; nonce unused, expired
  `,
  'stuck, no node takes it': `
    broadcast: sent
    signed: refused as underpriced
    changed: early receipt; a block skipped; blocks skipped; receipt asked; no receipt, listed;
        receipt not answered; reorganized; ask again
    included: receipt in the head
    included +read_result: receipt below the head
    impossible: result read; result read, waits; result read, waited; result unreadable
    nonce_taken: nonce used
    +cancel: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce next,
        on its way
    +broadcast: nonce later, overdue
    changed +cancel: nonce unused, expired
    signed +broadcast: higher offer signed; cancellation signed; signature given; cancellation
        given
    changed +ask_signer: higher offer asked
    unsigned +ask_signer: cancellation asked
    done +drop: result written; foreign
  `,
  'stuck, must not be sent': `
    like: stuck, no node takes it
    impossible: sent
    changed: higher offer signed; signature given
    +cancel: nonce later, overdue; nonce unused, expired
    nothing: refused as underpriced
  `,
  nonce_taken: `
    included: receipt in the head
    included +read_result: receipt below the head
    impossible: result read; result read, waits; result read, waited; result unreadable
    changed +inspect_nonce: nonce used
    signed +broadcast: nonce next, overdue; nonce next, at the ceiling; nonce later, overdue
    signed +replace: nonce next, too cheap
    signed: nonce next, on its way
    stuck +cancel: nonce unused, expired
    changed: higher offer signed; cancellation signed; signature given; cancellation given
    changed +ask_signer: higher offer asked; cancellation asked
    done +drop: result written; foreign
  `,
  'nonce_taken, barred': `
    like: nonce_taken
    changed: nonce used
    stuck +cancel: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce
        later, overdue; nonce next, on its way
  `,
  included: `
    changed: receipt in the head; result unreadable; higher offer signed; cancellation signed;
        signature given; cancellation given
    changed +read_result: receipt below the head
    signed: no receipt; no receipt, listed
    +apply_result: result read; result read, waited
    confirming +mark_included: result read, waits
    +broadcast: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce
        later, overdue
    changed +ask_signer: higher offer asked; cancellation asked
    done +drop: result written; foreign
  `,
  'included, barred': `
    like: included
    stuck: no receipt; no receipt, listed
    nothing: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce
        later, overdue
  `,
  'included, unreadable twice': `
    like: included
    changed +alert: result unreadable
  `,
  confirming: `
    changed: receipt in the head; result unreadable; higher offer signed; cancellation signed;
        signature given; cancellation given
    changed +read_result: receipt below the head
    signed +clear_included: no receipt; no receipt, listed; reorganized
    +apply_result: result read; result read, waited
    +broadcast: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce
        later, overdue
    changed +ask_signer: higher offer asked; cancellation asked
    done +drop: result written; foreign
  `,
  'confirming, barred': `
    like: confirming
    stuck +clear_included: no receipt; no receipt, listed; reorganized
    nothing: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce
        later, overdue
  `,
  'nonce_taken, a cancellation owed': `
    like: nonce_taken
    impossible: higher offer signed; cancellation signed; higher offer asked
    changed: nonce used
    unsigned +ask_signer: nonce next, overdue; nonce next, too cheap; nonce next, at the
        ceiling; nonce later, overdue
    unsigned: nonce next, on its way; nonce unused, expired
  `,
  'included, a cancellation owed': `
    like: included
    unsigned: no receipt; no receipt, listed
    impossible: higher offer signed; cancellation signed; higher offer asked
    nothing: nonce next, overdue; nonce next, too cheap; nonce next, at the ceiling; nonce
        later, overdue
  `,
  'confirming, a cancellation owed': `
    like: confirming, barred
    unsigned +clear_included: no receipt; no receipt, listed; reorganized
    impossible: higher offer signed; cancellation signed; higher offer asked
  `,
  done: `
    impossible: sent; refused as underpriced; refused as unfunded; refused for ever;
        cancellation refused for ever; early receipt; a block skipped; blocks skipped; head;
        receipt asked; receipt in the head; receipt below the head; no receipt; no receipt,
        listed; receipt not answered; result read; result read, waits; result read, waited;
        result unreadable; reorganized; ask again; nonce used; nonce next, overdue; nonce next,
        too cheap; nonce next, at the ceiling; nonce later, overdue; nonce next, on its way;
        nonce unused, expired; higher offer signed; cancellation signed; higher offer asked;
        cancellation asked; signature given; cancellation given; result written; foreign
  `,
};

/** Returns the table's outcomes for a situation, by observation. */
function rowsOf(situation: Situation): ReadonlyMap<string, string> {
  const rows = TABLE[situation].trim().split(/\n {4}(?! )/);
  return new Map(
    rows.flatMap((row): [string, string][] => {
      const [outcome = '', names = ''] = row.replaceAll(/\s+/g, ' ').split(': ');
      if (outcome === 'like') return [...rowsOf(names as Situation)];
      return names.split('; ').map((name) => [name, outcome === 'nothing' ? '' : outcome]);
    }),
  );
}

describe('a transaction and an observation', () => {
  for (const situation of Object.keys(TABLE) as Situation[]) {
    it(`${situation}: every observation has the outcome of the table`, () => {
      const expected = rowsOf(situation);
      const cases = Object.keys(CASES) as CaseName[];
      const results = cases.map((one) => [one, outcomeOf(situation, one)]);
      assert.deepEqual(
        results,
        cases.map((one) => [one, expected.get(one) ?? '']),
      );
    });
  }

  it('has a row for every phase, a column for every observation, and every effect', () => {
    assert.deepEqual(new Set(situations.map(({ phase }) => phase)), new Set(PHASES));
    const cases: Case[] = Object.values(CASES);
    assert.deepEqual(new Set(cases.map((one) => one.observation.kind)), new Set(OBSERVATIONS));
    const effects = Object.values(TABLE).flatMap((rows) =>
      [...rows.matchAll(/\+(\w+)/g)].map(([, kind]) => kind),
    );
    assert.deepEqual(new Set(effects), new Set([...EFFECTS]));
  });
});

/**
 * The phases that may follow each phase, as listed in the comment on `Transaction`. Every open
 * phase may also be followed by `done`.
 */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  unsigned: ['signed', 'stuck', 'nonce_taken', 'included'],
  signed: ['broadcast', 'unsigned', 'stuck', 'nonce_taken', 'included'],
  broadcast: ['signed', 'unsigned', 'stuck', 'nonce_taken', 'included'],
  stuck: ['signed', 'unsigned', 'broadcast', 'nonce_taken', 'included'],
  nonce_taken: ['signed', 'unsigned', 'stuck', 'included'],
  included: ['signed', 'unsigned', 'stuck', 'confirming'],
  confirming: ['signed', 'unsigned', 'stuck'],
};

it('one phase follows another as the comment on the union says', () => {
  const results = new Map<string, Set<string>>();
  for (const situation of Object.keys(SITUATIONS) as Situation[]) {
    const { phase } = SITUATIONS[situation];
    for (const outcome of rowsOf(situation).values()) {
      const [next = ''] = outcome.split(' ');
      if (!PHASES.some((one) => one === next)) continue;
      results.set(phase, (results.get(phase) ?? new Set()).add(next));
    }
  }
  const expected = Object.entries(FOLLOWS).map(([phase, next]) => [
    phase,
    [...next, 'done'].sort(),
  ]);
  const all = [...results].map(([phase, next]) => [phase, [...next].sort()]);
  assert.deepEqual(Object.fromEntries(all), Object.fromEntries(expected));
});

const RUNS = 2_000;
const situations: Transaction[] = Object.values(SITUATIONS);
const open = situations.filter((one): one is OpenTransaction => one.phase !== 'done');

/**
 * Returns every value that the transaction takes during these observations, skipping impossible
 * steps.
 */
function replay(start: OpenTransaction, names: readonly CaseName[]): Transaction[] {
  const passed: Transaction[] = [start];
  for (const name of names) {
    const last = passed.at(-1) ?? start;
    if (last.phase === 'done') break;
    try {
      const { observation, now }: Case = CASES[name];
      passed.push(step(last, observation, { ...NOW, ...now }).transaction);
    } catch (error) {
      assert(error instanceof Bug);
    }
  }
  return passed;
}

const sequences = fc.tuple(
  fc.constantFrom(...open),
  fc.array(fc.constantFrom(...(Object.keys(CASES) as CaseName[])), { maxLength: 30 }),
);

describe('any sequence of observations', () => {
  it('keeps all bytes that were stored, and the nonce', () => {
    fc.assert(
      fc.property(sequences, ([start, names]) => {
        replay(start, names).reduce((before, after) => {
          const hashes = after.attempts.map(({ hash }) => hash);
          assert(before.attempts.every(({ hash }) => hashes.includes(hash)));
          assert.deepEqual([after.id, after.nonce], [before.id, before.nonce]);
          return after;
        });
      }),
      { numRuns: RUNS },
    );
  });

  it('sends nothing but a cancellation once its jobs are queued again', () => {
    fc.assert(
      fc.property(sequences, ([start, names]) => {
        for (const one of replay(start, names)) {
          if (one.phase === 'done' || one.requests.length > 0 || !isSendable(one)) continue;
          assert.equal(one.attempts.at(-1)?.cancels, true);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
