// Measures the cost of each guard in the contract: removes the guard from Settlement, compiles it,
// and measures again with the real USDC contract. `node contracts/gas-cost-of-guards.ts` takes some
// minutes; README.md has the result.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutate } from '../test/mutations/mutation.ts';
import { compileContract } from './compile.ts';
import { type GasTable, measureOnRealUsdc, readGasTable } from './measure-gas.ts';
import { copySources } from './mutations/judge-mutant.ts';
import { FIAT_TOKEN_MISSING } from './test/fiat-token.ts';

type Removal = { file: string; from: string; to: string };

const ALONE = `        onlyRole(OPERATOR_ROLE)
        nonReentrant
        returns (uint8)`;

const IN_BATCH = `        onlyRole(OPERATOR_ROLE)
        nonReentrant
        returns (bytes memory reasons)`;

/**
 * For each guard that can be removed without breaking a measured operation, the code to remove.
 * Unused parameters remain, so that calldata costs the same.
 */
const GUARDS: Record<string, readonly Removal[]> = {
  'role of the operator': [
    {
      file: 'Settlement.sol',
      from: IN_BATCH,
      to: '        nonReentrant\n        returns (bytes memory reasons)',
    },
    { file: 'Settlement.sol', from: ALONE, to: '        nonReentrant\n        returns (uint8)' },
  ],
  'lock against reentry': [
    {
      file: 'Settlement.sol',
      from: IN_BATCH,
      to: '        onlyRole(OPERATOR_ROLE)\n        returns (bytes memory reasons)',
    },
    {
      file: 'Settlement.sol',
      from: ALONE,
      to: '        onlyRole(OPERATOR_ROLE)\n        returns (uint8)',
    },
  ],
  'latest block time': [
    {
      file: 'Settlement.sol',
      from: 'if (block.timestamp > validUntil) revert PaymentsTooLate',
      to: 'if (false) revert PaymentsTooLate',
    },
  ],
  'hourly ceiling': [
    {
      file: 'Batches.sol',
      from: 'if (tail.amount() > batch.room) return Reason.CEILING_REACHED;',
      to: '',
    },
    { file: 'Batches.sol', from: 'batch.room -= tail.amount();', to: '' },
    { file: 'Batches.sol', from: 'batch.room = batch.ledger.roomAt(block.timestamp);', to: '' },
    {
      file: 'Batches.sol',
      from: 'ledger = ledger.withSettled(settled, block.timestamp).withBatch(batch.charges);',
      to: 'ledger = ledger.withBatch(batch.charges);',
    },
    {
      file: 'Batches.sol',
      from: 'uint256 settled = ledger.hourlyCeiling() * PackedLedgerFields.CEILING_UNIT',
      to: 'uint256 unused = batch.room',
    },
  ],
  'gas that each pull needs': [
    {
      file: 'Settlement.sol',
      from: 'if (gasleft() < needed) revert GasTooLow(gasleft(), needed);',
      to: '',
    },
  ],
};

const OPERATIONS = ['single', 'batchOf10', 'batchOf100'] as const;

async function measureWithout(name: string, removals: readonly Removal[]): Promise<GasTable> {
  const folder = mkdtempSync(join(tmpdir(), 'tapline-guards-'));
  try {
    copySources(folder);
    for (const removal of removals) {
      const path = join(folder, removal.file);
      writeFileSync(path, mutate(readFileSync(path, 'utf8'), { name, ...removal }));
    }
    const contract = compileContract('Settlement', { root: folder, warningsAllowed: true });
    return await measureOnRealUsdc(contract.bytecode);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (FIAT_TOKEN_MISSING !== undefined) throw new Error(FIAT_TOKEN_MISSING);
const whole = readGasTable().realUsdc;
for (const [name, removals] of Object.entries(GUARDS)) {
  const without = await measureWithout(name, removals);
  const costs = OPERATIONS.map((operation) => {
    return `${operation} ${(whole[operation] ?? 0) - (without[operation] ?? 0)}`;
  });
  console.log(`${name}: ${costs.join(', ')} per payment`);
}
