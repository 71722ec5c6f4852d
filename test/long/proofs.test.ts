import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#testkit/fixtures/core/test-folder.ts';
import { findSolver, prove } from '../../contracts/proofs/prove.ts';

/**
 * Checks that the claims of contracts/README.md are proved, and that a proof detects a wrong claim.
 */

const SECONDS = 120;
const LEAST_CLAIMS = 16;

const solver = await findSolver();
const skip = solver === null && 'no solver is installed (Debian: apt install z3)';

test('each property holds for all arguments', { skip }, async (t) => {
  const verdicts = await prove('proofs/Claims', { solver: solver ?? 'z3', seconds: SECONDS });
  assert.ok(verdicts.length >= LEAST_CLAIMS);
  for (const { claim, says } of verdicts) assert.equal(says, 'holds', claim);
  const seconds = verdicts.reduce((sum, one) => sum + one.seconds, 0);
  t.diagnostic(`${verdicts.length} claims by ${solver} in ${seconds.toFixed(0)} s`);
});

test('a property that one argument breaks fails, and one without cases is empty', {
  skip,
}, async () => {
  const root = testFolder();
  const source = `// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;
contract Wrong {
    function seldomWrong(uint64 a) external pure returns (bool) {
        return a != 0x1234567812345678;
    }
    function aboutNothing(uint8 a) external pure returns (bool) {
        require(a > 200 && a < 100);
        return true;
    }
}
`;
  await writeFile(path.join(root, 'Wrong.sol'), source);
  const verdicts = await prove('Wrong', { solver: solver ?? 'z3', seconds: SECONDS, root });
  assert.deepEqual(verdicts.map(({ claim, says }) => [claim, says]).sort(), [
    ['aboutNothing', 'empty'],
    ['seldomWrong', 'broken'],
  ]);
});
