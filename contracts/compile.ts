// Compiles the contracts into contracts/artifacts, which is committed so that the product starts
// without a compiler. `--check` writes nothing and exits with 1 if an artifact is stale. `--input
// Settlement` prints the standard JSON input with which an explorer verifies the source.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { keccak256 } from 'viem';
import { renderInterface } from './interface-source.ts';

type Artifact = {
  contractName: string;
  abi: readonly unknown[];
  bytecode: `0x${string}`;
  deployedBytecode: `0x${string}`;
  /** `[start, length]` in bytes. There, the artifact has zeros and deployed code has values. */
  immutables: readonly (readonly [start: number, length: number])[];
  sourceHash: string;
};

/**
 * The positions in the runtime code at which the constructor writes each immutable variable, by the
 * variable's AST id.
 */
type Immutables = Record<string, { start: number; length: number }[]>;

type Solc = {
  version(): string;
  compile(input: string, callbacks: { import(path: string): ImportResult }): string;
};
type ImportResult = { contents: string } | { error: string };

type SolcOutput = {
  errors?: { severity: string; errorCode: string; formattedMessage: string }[];
  contracts: Record<string, Record<string, SolcContract>>;
};
type SolcContract = {
  abi: unknown[];
  evm: {
    bytecode: { object: string };
    deployedBytecode: { object: string; immutableReferences: Immutables };
  };
};

const folder = dirname(fileURLToPath(import.meta.url));
const artifactsFolder = join(folder, 'artifacts');
const require = createRequire(import.meta.url);

/** The settings passed to solc. */
export const compilerSettings = {
  // Cancun introduced transient storage, which the reentrancy lock uses. The contracts need nothing
  // newer.
  evmVersion: 'cancun',
  viaIR: true,
  // More runs would enlarge the code, whose size is limited, and save hardly any gas (README.md).
  optimizer: { enabled: true, runs: 800 },
  // No metadata hash in the bytecode, so that the same source gives the same bytes on every
  // machine.
  metadata: { bytecodeHash: 'none', appendCBOR: false },
} as const;

/** EIP-170: chains refuse longer runtime code. */
export const RUNTIME_BYTES_LIMIT = 24_576;

/**
 * solc warns at every use of transient storage that it must be cleared. The reentrancy lock clears
 * it.
 */
const TRANSIENT_STORAGE_NOTICE = '2394';

/** The contracts to deploy, each with the prefix of its exports. */
const PRODUCTS = [
  { contractName: 'Settlement', exportName: 'settlement' },
  { contractName: 'SettlementLens', exportName: 'settlementLens' },
  { contractName: 'Timelock', exportName: 'timelock' },
  { contractName: 'TestUSDC', exportName: 'testUsdc' },
] as const;

/** A proxy has the ABI of its logic contract, which is in the same file. */
const LOGIC_OF: Readonly<Record<string, string>> = { TestUSDC: 'TestUSDCLogic' };

/** Reads every source that `entry` imports, directly or not, keyed by its import path. */
function collectSources(entry: string, root = folder): Map<string, string> {
  const sources = new Map<string, string>();
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (sources.has(path)) continue;
    const content = readFileSync(locate(path, root), 'utf8');
    sources.set(path, content);
    for (const match of content.matchAll(/^import\s[^;]*?["']([^"']+)["'];/gms)) {
      const target = match[1];
      if (target === undefined) continue;
      open.push(target.startsWith('.') ? join(dirname(path), target) : target);
    }
  }
  return new Map([...sources].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Packages resolve as in Node; all other imports are relative to `root`. */
function locate(path: string, root: string): string {
  return path.startsWith('@') ? require.resolve(path) : resolve(root, path);
}

/**
 * Compiles `<path>.sol` below `root`. The contract must have the file's name. Throws on errors, and
 * on warnings unless they are allowed.
 */
export function compileContract(
  path: string,
  { root = folder, warningsAllowed = false } = {},
): Artifact {
  const contractName = basename(path);
  const entry = `${path}.sol`;
  const logic = LOGIC_OF[contractName];
  const output = compileInput(standardInput(path, root));
  const problems = (output.errors ?? []).filter(
    ({ severity, errorCode }) =>
      severity === 'error' ||
      (severity === 'warning' && !warningsAllowed && errorCode !== TRANSIENT_STORAGE_NOTICE),
  );
  if (problems.length > 0) {
    throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'));
  }
  const contract = output.contracts[entry]?.[contractName];
  if (contract === undefined) throw new Error(`solc returned no contract ${contractName}`);
  const runtimeBytes = contract.evm.deployedBytecode.object.length / 2;
  if (runtimeBytes > RUNTIME_BYTES_LIMIT) {
    throw new Error(
      `${contractName} has ${runtimeBytes} bytes; the limit is ${RUNTIME_BYTES_LIMIT}`,
    );
  }
  return {
    contractName,
    abi: logic === undefined ? contract.abi : abiBehind(contract, output.contracts[entry]?.[logic]),
    bytecode: `0x${contract.evm.bytecode.object}`,
    deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
    immutables: placesOf(contract.evm.deployedBytecode.immutableReferences),
    sourceHash: hashSources(path, root),
  };
}

function placesOf(immutables: Immutables): [start: number, length: number][] {
  const places = Object.values(immutables).flat();
  return places
    .map(({ start, length }): [number, number] => [start, length])
    .sort(([a], [b]) => a - b);
}

/** Returns the complete input for solc, with which an explorer can also verify the source. */
export function standardInput(path: string, root = folder): string {
  const contractName = basename(path);
  const entry = `${path}.sol`;
  const logic = LOGIC_OF[contractName];
  const sources = collectSources(entry, root);
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries([...sources].map(([path, content]) => [path, { content }])),
    settings: {
      ...compilerSettings,
      outputSelection: {
        [entry]: {
          [contractName]: [
            ...['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'],
            'evm.deployedBytecode.immutableReferences',
          ],
          ...(logic === undefined ? {} : { [logic]: ['abi'] }),
        },
      },
    },
  };
  return `${JSON.stringify(input, null, 2)}\n`;
}

/** Compiles a standard JSON input, which must contain all sources. */
export function compileInput(input: string): SolcOutput {
  const solc = require('solc') as Solc;
  const answer = solc.compile(input, {
    import: (path) => ({ error: `unexpected import ${path}` }),
  });
  return JSON.parse(answer) as SolcOutput;
}

/**
 * Returns the functions, events and errors of the logic contract, and the constructor of the proxy.
 */
function abiBehind(proxy: SolcContract, logic: SolcContract | undefined): unknown[] {
  const isConstructor = (item: unknown) => (item as { type: string }).type === 'constructor';
  const others = (logic?.abi ?? []).filter((item) => !isConstructor(item));
  return [...proxy.abi.filter(isConstructor), ...others];
}

/**
 * Returns a hash of everything that the bytecode depends on: sources, settings and compiler
 * version.
 */
export function hashSources(path: string, root = folder): string {
  const { version } = require('solc/package.json') as { version: string };
  const hash = createHash('sha256');
  hash.update(JSON.stringify({ version, compilerSettings }));
  for (const [source, content] of collectSources(`${path}.sol`, root)) {
    hash.update(`\0${source}\0${content}`);
  }
  return hash.digest('hex');
}

/**
 * Puts each item on its own line, so that a diff shows only the items that a contract change
 * affects.
 */
function listOf(items: readonly unknown[]): string {
  return `[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
}

function jsonOf(artifact: Artifact): string {
  const members = Object.entries(artifact).map(([name, value]) => {
    return `"${name}": ${name === 'abi' ? listOf(artifact.abi) : JSON.stringify(value)}`;
  });
  return `{\n${members.join(',\n')}\n}\n`;
}

function renderModule(artifact: Artifact, exportName: string): string {
  const code = `export const ${exportName}Bytecode =\n  '${artifact.bytecode}' as const;`;
  const runtime = [
    `export const ${exportName}CodeHash =\n  '${keccak256(artifact.deployedBytecode)}' as const;`,
    `export const ${exportName}Immutables = ${JSON.stringify(artifact.immutables)} as const;`,
    '',
  ];
  return [
    `// Generated by contracts/compile.ts from ${artifact.contractName}.sol. Do not edit.`,
    `export const ${exportName}Abi = ${listOf(artifact.abi)} as const;`,
    '',
    code,
    '',
    // Only the settlement contract's code is compared with the code on the chain.
    ...(artifact.contractName === 'Settlement' ? runtime : []),
  ].join('\n');
}

/** Returns the files to write beside the artifact, with their names. */
function derivedFiles(artifact: Artifact, exportName: string): [path: string, text: string][] {
  return [
    [`${artifact.contractName}.ts`, renderModule(artifact, exportName)],
    [`I${artifact.contractName}.sol`, renderInterface(artifact.contractName, artifact.abi)],
  ];
}

function read(path: string): string {
  return readFileSync(join(artifactsFolder, path), 'utf8');
}

/**
 * Returns the artifacts whose sources, compiler or settings have changed since they were compiled.
 */
export function staleArtifacts(): string[] {
  return PRODUCTS.filter(({ contractName, exportName }) => {
    try {
      const json = read(`${contractName}.json`);
      const artifact = JSON.parse(json) as Artifact;
      return (
        jsonOf(artifact) !== json ||
        artifact.sourceHash !== hashSources(contractName) ||
        derivedFiles(artifact, exportName).some(([path, text]) => read(path) !== text)
      );
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return true;
      throw cause;
    }
  }).map(({ contractName }) => contractName);
}

function writeArtifacts(): void {
  mkdirSync(artifactsFolder, { recursive: true });
  for (const { contractName, exportName } of PRODUCTS) {
    const artifact = compileContract(contractName);
    for (const [path, text] of [
      [`${contractName}.json`, jsonOf(artifact)] as const,
      ...derivedFiles(artifact, exportName),
    ]) {
      writeFileSync(join(artifactsFolder, path), text);
    }
    console.log(`${contractName}: ${(artifact.deployedBytecode.length - 2) / 2} bytes`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { check: { type: 'boolean' }, input: { type: 'string' } },
  });
  if (values.input !== undefined) process.stdout.write(standardInput(values.input));
  else if (values.check) {
    const stale = staleArtifacts();
    if (stale.length > 0) {
      console.error(`stale: ${stale.join(', ')}. Run: node contracts/compile.ts`);
      process.exitCode = 1;
    }
  } else {
    writeArtifacts();
  }
}
