import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Abi, type AbiFunction, hexToBytes, toFunctionSelector } from 'viem';
import { compileContract } from '../compile.ts';
import type { Term } from './expressions.ts';
import { runAllPaths } from './symbolic-evm.ts';

/** The solver's result for one claim. */
export interface Verdict {
  readonly claim: string;
  /** Number of paths through the code that return a value. */
  readonly ways: number;
  /** `unknown`: the solver gave up. `empty`: no arguments satisfy the claim's preconditions. */
  readonly says: 'holds' | 'broken' | 'unknown' | 'empty';
  readonly seconds: number;
}

/** Solvers that Debian packages, in the order of preference. */
const SOLVERS = {
  z3: (file: string, seconds: number) => ['-smt2', `-T:${seconds}`, file],
  cvc5: (file: string, seconds: number) => ['--lang=smt2', `--tlimit=${seconds * 1_000}`, file],
} as const;

export type Solver = keyof typeof SOLVERS;

const run = promisify(execFile);
const MS = 1_000;

/** Finds an installed solver. @returns null if there is none (Debian: `apt install z3`). */
export async function findSolver(): Promise<Solver | null> {
  for (const solver of Object.keys(SOLVERS) as Solver[]) {
    const result = await run(solver, ['--version']).catch(() => null);
    if (result !== null) return solver;
  }
  return null;
}

const all = (parts: readonly string[]) => `(and true ${parts.join(' ')})`;
const any = (parts: readonly string[]) => `(or false ${parts.join(' ')})`;
const named = (terms: readonly Term[]) => terms.map(({ name }) => name);

interface Asked {
  readonly solver: Solver;
  /** The time limit per query. */
  readonly seconds: number;
  readonly folder: string;
}

async function isSatisfiable(
  { solver, seconds, folder }: Asked,
  lines: readonly string[],
  claim: string,
): Promise<boolean | null> {
  const file = path.join(folder, 'question.smt2');
  const text = ['(set-logic QF_BV)', ...lines, `(assert ${claim})`, '(check-sat)', ''].join('\n');
  await writeFile(file, text);
  const answer = await run(solver, SOLVERS[solver](file, seconds)).catch(
    (error: { readonly stdout?: string }) => ({ stdout: error.stdout ?? '' }),
  );
  const [said] = answer.stdout.trim().split('\n');
  if (said?.startsWith('(error')) throw new Error(said);
  return said === 'sat' ? true : said === 'unsat' ? false : null;
}

function widthOf(type: string): number {
  if (type === 'bool') return 1;
  const [, bits] = /^uint(\d+)$/.exec(type) ?? [];
  if (bits === undefined) throw new Error(`a claim takes no ${type}`);
  return Number(bits);
}

async function judge(request: Asked, code: Uint8Array, claim: AbiFunction): Promise<Verdict> {
  const started = performance.now();
  const selector = BigInt(toFunctionSelector(claim));
  const widths = claim.inputs.map(({ type }) => widthOf(type));
  const { terms, paths } = runAllPaths({ code, selector, widths });
  const { lines } = terms;
  const broken = paths.map(({ conditions, returned }) =>
    all([...named(conditions), `(= ${returned.name} (_ bv0 256))`]),
  );
  const reached = paths.map(({ conditions }) => all(named(conditions)));
  const isBroken = await isSatisfiable(request, lines, any(broken));
  const isReached = await isSatisfiable(request, lines, any(reached));
  const holds = isReached === false ? 'empty' : isBroken === null ? 'unknown' : 'holds';
  return {
    claim: claim.name,
    ways: paths.length,
    says: isBroken === true ? 'broken' : holds,
    seconds: (performance.now() - started) / MS,
  };
}

/**
 * Asks a solver for arguments with which a claim of the contract `source` returns false. @param
 * source the file below `root`, without `.sol`.
 */
export async function prove(
  source: string,
  options: { readonly solver: Solver; readonly seconds: number; readonly root?: string },
): Promise<Verdict[]> {
  const { solver, seconds, root } = options;
  const { abi, deployedBytecode } = compileContract(source, root === undefined ? {} : { root });
  const code = hexToBytes(deployedBytecode);
  const folder = await mkdtemp(path.join(tmpdir(), 'tapline-proofs-'));
  try {
    const verdicts: Verdict[] = [];
    for (const item of abi as Abi) {
      if (item.type !== 'function') continue;
      verdicts.push(await judge({ solver, seconds, folder }, code, item));
    }
    return verdicts;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const DEFAULT_SECONDS = 60;

if (import.meta.main) {
  const solver = await findSolver();
  if (solver === null) throw new Error('no solver is installed (Debian: apt install z3)');
  const seconds = Number(process.argv[2] ?? DEFAULT_SECONDS);
  for (const { claim, ways, says, seconds: took } of await prove('proofs/Claims', {
    solver,
    seconds,
  })) {
    console.log(`${says.padEnd(8)} ${claim} (${ways} ways, ${took.toFixed(1)} s)`);
  }
}
