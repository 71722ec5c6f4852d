import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  concat,
  encodeFunctionData,
  numberToHex,
  parseTransaction,
  recoverTransactionAddress,
  slice,
  zeroAddress,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount, publicKeyToAddress } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { StartError } from '#core/start-error.ts';
import { lookAtSigners } from '#ops/check-settings.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { permitCall, transferCall } from '#settlement/contract/contract-calls.ts';
import { SENDER_ROLES } from '#settlement/network-config.ts';
import { cancellationGasLimit, gasCapOf, mostGasOf } from '#settlement/relayer/send/gas-limits.ts';
import { checkSigner, readRemoteKey, signerOf } from '#settlement/remote-signer.ts';
import { serveSigner } from '#signer/serve-signer.ts';
import { readSettings } from '#signer/signer-settings.ts';
import { FUNCTIONS } from '#signer/signing-rules.ts';
import { sendRaw } from '#testkit/apis/http-kit.ts';
import { type ScriptedNode, startScriptedNode } from '#testkit/network/scripted-node.ts';
import { WATCH_GAS } from '#watch/pause-contract.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';

/**
 * The real program, which runs with two keys: one in a file, and one in OpenSSL, which simulates a
 * key service.
 */

const COMMAND = path.join(import.meta.dirname, '../ops/signer-command.ts');
const TOKEN = 'a'.repeat(40);
const SETTLEMENT = '0x00000000000000000000000000000000000000aa';
const FILE_KEY = generatePrivateKey();
const PER_HOUR = 7;
const EXAMPLE = path.join(import.meta.dirname, '../../deploy/signer/signer.json');
/** A signature of two kilobytes: a passkey's has about 700 bytes, a Safe's 65 per owner. */
const LONG_SIGNATURE_WORDS = 64;
/** The DER form of a public key ends with a point of 64 bytes. */
const POINT_BYTES = 64;
const GWEI = 10n ** 9n;

const callOf = (functionName: 'pauseSettling' | 'unpauseSettling') =>
  encodeFunctionData({ abi: settlementAbi, functionName });

interface Example {
  readonly accounts: readonly { readonly key_file?: string; readonly max_gas: number }[];
}

const selectorOf = (call: Hex) => slice(call, 0, 4);

describe('npm run signer', () => {
  let folder: string;
  let program: ChildProcess;
  let url: string;
  let serviceAddress: Hex;
  const fileAddress = privateKeyToAccount(FILE_KEY).address;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tapline-signer-'));
    await writeFile(path.join(folder, 'file.key'), `${FILE_KEY}\n`, { mode: 0o600 });
    await writeFile(path.join(folder, 'token'), `${TOKEN}\n`, { mode: 0o600 });
    const pem = path.join(folder, 'service.pem');
    const curve = ['ecparam', '-name', 'secp256k1', '-genkey', '-noout', '-out', pem];
    execFileSync('openssl', curve, { stdio: 'ignore' });
    const der = execFileSync('openssl', ['ec', '-in', pem, '-pubout', '-outform', 'DER'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    serviceAddress = publicKeyToAddress(`0x04${der.subarray(-POINT_BYTES).toString('hex')}`);
    const script = path.join(folder, 'sign.sh');
    const lines = [
      '#!/bin/sh',
      `printf '%s' "$1" | xxd -r -p > "${folder}/digest"`,
      `openssl pkeyutl -sign -inkey "${pem}" -in "${folder}/digest" | base64 -w 0`,
    ];
    await writeFile(script, `${lines.join('\n')}\n`);
    await chmod(script, 0o700);
    const limits = {
      chain_id: 31_337,
      to: [SETTLEMENT],
      functions: ['pauseSettling'],
      max_gas: 200_000,
      max_fee_per_gas: String(100n * GWEI),
      per_hour: PER_HOUR,
    };
    const settings = {
      ...{ host: '127.0.0.1', port: 0, token_file: 'token', folder: 'signed' },
      accounts: [
        { address: fileAddress, key_file: 'file.key', ...limits },
        { address: serviceAddress, key_command: [script], ...limits },
      ],
    };
    await writeFile(path.join(folder, 'signer.json'), JSON.stringify(settings));
    await start();
  });

  after(async () => {
    await stop('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    program = spawn(process.execPath, [COMMAND, path.join(folder, 'signer.json')]);
    for await (const chunk of program.stdout ?? []) {
      const [, at] = /at (127\.0\.0\.1:\d+)/.exec(String(chunk)) ?? [];
      if (at !== undefined) {
        url = `http://${at}`;
        return;
      }
    }
    assert.fail('the signer did not start');
  }

  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (program.exitCode !== null || !program.kill(signal)) return;
    await once(program, 'exit');
  }

  const accountAt = (address: Hex, token = TOKEN) => signerOf({ url, address, token });

  function unsigned(nonce: number, more: Readonly<Record<string, unknown>> = {}) {
    return {
      ...({ type: 'eip1559', chainId: 31_337, nonce, to: SETTLEMENT, gas: 100_000n } as const),
      ...{ data: callOf('pauseSettling'), value: 0n },
      ...{ maxFeePerGas: 10n * GWEI, maxPriorityFeePerGas: GWEI },
      ...more,
    };
  }

  it('says at its start that its Node has known security holes', async (t) => {
    const old = `Object.defineProperty(process, 'versions', { value: { node: '24.21.0' } })`;
    const settings = path.join(folder, 'signer.json');
    const child = spawn(process.execPath, [
      `--import=data:text/javascript,${old}`,
      COMMAND,
      settings,
    ]);
    t.after(() => child.kill());
    const [said] = await once(child.stderr.setEncoding('utf8'), 'data');
    assert.match(said, /^Node\.js 24\.21\.0 has known security holes: CVE-.* Update to 24\.22\.3/);
  });

  it('signs with a key in a file, and with one that only a program reaches', async () => {
    for (const address of [fileAddress, serviceAddress]) {
      const signed = await accountAt(address).signTransaction(unsigned(0));
      const serializedTransaction = signed as `0x02${string}`;
      assert.equal(await recoverTransactionAddress({ serializedTransaction }), address);
      assert.equal(parseTransaction(serializedTransaction).data, callOf('pauseSettling'));
    }
  });

  it('gives the same transaction again after a kill, and never others for a nonce', async () => {
    // OpenSSL uses a random number for each signature, so two signatures of the same text differ.
    const account = accountAt(serviceAddress);
    const first = await account.signTransaction(unsigned(1));
    assert.equal(await account.signTransaction(unsigned(1)), first);
    await stop('SIGKILL');
    // Simulates a power cut while a line is written.
    const file = path.join(folder, 'signed', `${serviceAddress.toLowerCase()}-31337.jsonl`);
    await appendFile(file, '{"nonce":2,"unsi');
    await start();
    const again = accountAt(serviceAddress);
    assert.equal(await again.signTransaction(unsigned(1)), first);
    const other = unsigned(1, { gas: 90_000n });
    await assert.rejects(
      again.signTransaction(other),
      /nonce 1 was signed, and the new fee is not higher/,
    );
    const more = unsigned(1, { gas: 90_000n, maxFeePerGas: 11n * GWEI });
    const replaced = await again.signTransaction(more);
    await assert.rejects(again.signTransaction(unsigned(1)), /new fee is not higher/);
    assert.equal(await again.signTransaction(more), replaced);
    const lines = (await readFile(file, 'utf8')).trim().split('\n');
    for (const line of lines) JSON.parse(line);
    assert.equal(lines.length, 3, 'each signature once, and no partial line');
  });

  it('signs nothing beyond its limits, for any caller', async () => {
    const account = accountAt(fileAddress);
    const cases: readonly [Record<string, unknown>, RegExp][] = [
      [{ data: callOf('unpauseSettling') }, /not a function that this key may call/],
      [{ data: '0x' }, /not a function that this key may call/],
      [{ to: zeroAddress }, /not an address that this key may call/],
      [{ to: undefined }, /not an address that this key may call/],
      [{ value: 1n }, /may not send native coin/],
      [{ chainId: 1 }, /chain 1 is not allowed for this key/],
      [{ gas: 200_001n }, /gas 200001 is above/],
      [{ maxFeePerGas: 100n * GWEI + 1n }, /maxFeePerGas 100000000001 is above/],
    ];
    for (const [more, reason] of cases) {
      await assert.rejects(account.signTransaction(unsigned(50, more) as never), reason);
    }
    await assert.rejects(account.signMessage({ message: 'x' }), /only transactions, not messages/);
    const foreign = accountAt(privateKeyToAccount(generatePrivateKey()).address);
    await assert.rejects(foreign.signTransaction(unsigned(0)), /this signer has no account/);
    const thief = accountAt(fileAddress, 'b'.repeat(40));
    await assert.rejects(thief.signTransaction(unsigned(51)), /token/);
  });

  it('cancels its own nonce under any limits, so that a sender can continue', async () => {
    const cancellation = unsigned(52, { to: fileAddress, data: '0x', gas: 21_000n });
    assert.ok(await accountAt(fileAddress).signTransaction(cancellation));
    await assert.rejects(
      accountAt(fileAddress).signTransaction({ ...cancellation, nonce: 53, data: '0x01' } as never),
      /not an address that this key may call/,
    );
  });

  it('knows the token calls of a sponsor and of approvals', async () => {
    const [owner, spender] = [fileAddress, serviceAddress];
    const permit = permitCall(owner, spender, { value: '1', deadline: '1', signature: '0x' });
    assert.deepEqual(FUNCTIONS.get('permit'), [selectorOf(permit)]);
    const word = `0x${'1'.repeat(64)}` as const;
    const ofKey = await privateKeyToAccount(FILE_KEY).sign({ hash: word });
    const moved = { from: owner, to: spender, amount: '1', validBefore: '1', nonce: word };
    const calls = [ofKey, concat([ofKey, ofKey])].map((signature) =>
      transferCall({ ...moved, signature }),
    );
    assert.deepEqual(FUNCTIONS.get('transferWithAuthorization'), calls.map(selectorOf));
  });

  it("its example settings sign the highest limit of each role, and a watchtower's", async () => {
    const { accounts } = JSON.parse(await readFile(EXAMPLE, 'utf8')) as Example;
    const keys = { operator: 'relayer-1.key', registrar: 'registrar.key', sponsor: 'sponsor.key' };
    for (const role of SENDER_ROLES) {
      const account = accounts.find(({ key_file: file }) => file === keys[role]);
      const most = mostGasOf(role);
      assert.ok(most <= BigInt(account?.max_gas ?? 0), `${role}: ${most}`);
    }
    for (const { max_gas: most } of accounts) {
      assert.ok(most >= Math.max(Number(WATCH_GAS), Number(cancellationGasLimit(10n ** 9n))));
    }
    const signature = concat(Array<Hex>(LONG_SIGNATURE_WORDS).fill(numberToHex(1, { size: 32 })));
    const moved = { from: fileAddress, to: zeroAddress, amount: '1', validBefore: '1' };
    const data = transferCall({ ...moved, nonce: numberToHex(1, { size: 32 }), signature });
    assert.ok(
      present(gasCapOf('transfer', { to: SETTLEMENT, data }), 'a cap') <= mostGasOf('sponsor'),
    );
  });

  it('says how much gas it signs, so that doctor names a limit that is too low', async () => {
    const key = { url, address: fileAddress, token: TOKEN };
    assert.equal(await checkSigner(key), 200_000n);
    const [finding] = await lookAtSigners('testnet', [['registrar', key]]);
    assert.match(
      JSON.stringify(finding),
      /signs at most 200000 gas, and this release needs 1500000: raise max_gas/,
    );
  });

  it('responds 400 to an invalid Host, for any token and path', async () => {
    const port = Number(new URL(url).port);
    const ask = async (path: string, host: string) => {
      const lines = [`POST ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${TOKEN}`];
      return (await sendRaw(port, [...lines, 'Content-Length: 0', '', ''].join('\r\n'))).status;
    };
    for (const host of ['x@signer.test', 'signer.test/x', 'signer.te%73t', 'signer\t.test', '']) {
      assert.equal(await ask('/sign', host), 400, host);
      assert.equal(await ask('/nothing', host), 400, host);
    }
    assert.equal(await ask('/sign#x', 'signer.test'), 400);
    assert.equal(await ask('/nothing', 'signer.test:8443'), 404);
  });

  it('reports whether it has a key without signing anything', async () => {
    const at = (address: Hex, token = TOKEN) => ({ url, address, token });
    await checkSigner(at(fileAddress));
    await assert.rejects(checkSigner(at(fileAddress, 'b'.repeat(40))), /token/);
    await assert.rejects(checkSigner(at(SETTLEMENT)), /this signer has no account/);
    await assert.rejects(checkSigner({ ...at(fileAddress), url: 'http://127.0.0.1:9' }), {
      name: 'SignerUnavailable',
    });
  });

  it('serves TLS if it has a certificate, which callers must trust', async () => {
    const [cert = '', key = ''] = ['tls.crt', 'tls.key'].map((name) => path.join(folder, name));
    const make = (...hosts: string[]) =>
      execFileSync(process.execPath, [COMMAND, 'certificate', key, cert, ...hosts], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    assert.match(make('localhost', '127.0.0.1'), /made/);
    const made = await readFile(cert, 'utf8');
    assert.match(make('localhost'), /kept/);
    assert.equal(await readFile(cert, 'utf8'), made, 'a second run changes nothing');
    assert.throws(() => make('signer'), 'a name that it does not have');
    assert.equal((await stat(key)).mode & 0o777, 0o600);
    const settings = JSON.parse(await readFile(path.join(folder, 'signer.json'), 'utf8'));
    const files = { certificate_file: 'tls.crt', certificate_key_file: 'tls.key' };
    const own = { ...settings, ...files, folder: 'signed-over-tls' };
    await writeFile(path.join(folder, 'tls.json'), JSON.stringify(own));
    const server = await serveSigner(await readSettings(path.join(folder, 'tls.json')), () => {});
    try {
      const { port } = server.address() as AddressInfo;
      const selfSigned = { url: `https://localhost:${port}`, address: fileAddress, token: TOKEN };
      await assert.rejects(checkSigner(selfSigned), /self-signed certificate/);
      const ca = await readFile(cert);
      const ask = request({ port, host: 'localhost', ca, method: 'POST', path: '/sign' });
      const [response] = await once(ask.end('{}'), 'response');
      assert.equal(response.statusCode, 401);
      response.resume();
      // Run the caller in a separate process, as in reality.
      const script = `console.log((await fetch('https://localhost:${port}/sign')).status)`;
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
        env: { ...process.env, NODE_EXTRA_CA_CERTS: cert },
      });
      assert.equal(stdout, '401\n');
    } finally {
      server.close();
    }
  });

  async function settingsWith(changes: Readonly<Record<string, unknown>>): Promise<string> {
    const settings = JSON.parse(await readFile(path.join(folder, 'signer.json'), 'utf8'));
    const file = path.join(folder, 'changed.json');
    await writeFile(file, JSON.stringify({ ...settings, ...changes }));
    return file;
  }

  it('listens to other machines with a certificate only', async () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'signer.internal']) {
      await assert.rejects(readSettings(await settingsWith({ host })), {
        name: 'StartError',
        message: /^host \S+ needs certificate_file and certificate_key_file: [^\n]+$/,
      });
    }
    for (const host of ['127.0.0.1', '::1', 'localhost']) {
      assert.equal((await readSettings(await settingsWith({ host }))).host, host);
    }
    const ran = spawn(process.execPath, [COMMAND, await settingsWith({ host: '0.0.0.0' })]);
    assert.deepEqual(await once(ran, 'exit'), [1, null]);
  });

  it('refuses a key that others can read, and settings that others can write', async () => {
    await writeFile(path.join(folder, 'own.key'), 'key', { mode: 0o600 });
    await writeFile(path.join(folder, 'own.crt'), 'certificate');
    const tls = { certificate_file: 'own.crt', certificate_key_file: 'own.key' };
    const file = await settingsWith(tls);
    const modes: readonly (readonly [string, number, RegExp])[] = [
      ['file.key', 0o644, /file\.key is not used, because others can read it \(mode 0644\)/],
      ['file.key', 0o602, /can write it/],
      ['token', 0o604, /token is not used, because others can read it/],
      ['own.key', 0o644, /own\.key is not used, because others can read it/],
      ['changed.json', 0o666, /changed\.json is not used, because others can write it/],
      ['sign.sh', 0o777, /sign\.sh is not used, because others can write it/],
    ];
    for (const [name, mode, message] of modes) {
      const target = path.join(folder, name);
      const before = (await stat(target)).mode;
      await chmod(target, mode);
      await assert.rejects(readSettings(file), { name: 'StartError', message }, name);
      await chmod(target, before);
    }
    await chmod(path.join(folder, 'file.key'), 0o640);
    assert.equal((await readSettings(file)).accounts.length, 2, 'its own group may read it');
  });

  it('finds a program beside the settings, in whichever folder it runs', async () => {
    const { accounts } = JSON.parse(await readFile(path.join(folder, 'signer.json'), 'utf8'));
    const digest = numberToHex(1, { size: 32 });
    for (const program of ['./sign.sh', `../${path.basename(folder)}/sign.sh`]) {
      const file = await settingsWith({ accounts: [{ ...accounts[1], key_command: [program] }] });
      const [account] = (await readSettings(file)).accounts;
      assert.ok(await account?.source(digest), program);
    }
  });

  it('signs no nonce far above the highest one', async () => {
    const account = accountAt(serviceAddress);
    await assert.rejects(account.signTransaction(unsigned(1 + 65)), /more than 64 above 1/);
    await assert.rejects(account.signTransaction(unsigned(9_000)), /more than 64 above 1/);
  });

  it('begins, in an empty folder, with the nonce that two nodes confirm', async () => {
    const nodes = await Promise.all([
      startScriptedNode('a', 31_337),
      startScriptedNode('b', 31_337),
    ]);
    const [first, second] = nodes as [ScriptedNode, ScriptedNode];
    const used = (node: ScriptedNode, count: number) => {
      node.reply = () => ({ body: { result: `0x${count.toString(16)}` } });
    };
    used(first, 700);
    used(second, 0);
    const changes = { nodes: { 31337: [first.url, second.url] }, folder: 'signed-by-nodes' };
    const server = await serveSigner(await readSettings(await settingsWith(changes)), () => {});
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const account = signerOf({ url: at, address: fileAddress, token: TOKEN });
    try {
      // With one node lying, on another chain, or not answering, nothing is confirmed.
      await assert.rejects(account.signTransaction(unsigned(700)), /more than 64 above 0/);
      second.chainId = () => ({ body: { result: '0x1' } });
      await assert.rejects(account.signTransaction(unsigned(700)), /1 of 2 nodes/);
      second.chainId = null;
      second.reply = () => ({ status: 503 });
      await assert.rejects(account.signTransaction(unsigned(700)), /1 of 2 nodes/);
      used(second, 702);
      await assert.rejects(account.signTransaction(unsigned(699)), /nonce 699 is used/);
      await assert.rejects(account.signTransaction(unsigned(765)), /more than 64 above 700/);
      assert.ok(await account.signTransaction(unsigned(702)));
      const callsBefore = first.calls.length;
      assert.ok(await account.signTransaction(unsigned(703)));
      assert.ok(await account.signTransaction(unsigned(701)));
      assert.equal(first.calls.length, callsBefore, 'then the signed nonces determine the next');
    } finally {
      server.close();
      for (const node of nodes) node.stop();
    }
  });

  it('needs two nodes of a chain, or none', async () => {
    for (const urls of [
      ['http://a.test'],
      ['http://a.test', 'http://a.test'],
      'http://a.test',
      [],
    ]) {
      const file = await settingsWith({ nodes: { 31337: urls } });
      await assert.rejects(readSettings(file), /nodes of chain 31337 must be/);
    }
  });

  it('signs a limited number per hour, counted across a restart', async () => {
    // Sign as often as allowed, minus the first transaction and the cancellation.
    for (let nonce = 1; nonce < PER_HOUR - 1; nonce++) {
      if (nonce === 3) {
        await stop('SIGKILL');
        await start();
      }
      await accountAt(fileAddress).signTransaction(unsigned(nonce));
    }
    const next = accountAt(fileAddress).signTransaction(unsigned(PER_HOUR));
    await assert.rejects(next, /signs at most 7 transactions an hour/);
  });

  it('is not trusted if it signs something else, or for another account', async () => {
    const own = privateKeyToAccount(generatePrivateKey());
    const answers = {
      other: () => own.signTransaction(unsigned(0, { to: zeroAddress })),
      same: () => own.signTransaction(unsigned(0)),
    };
    let told: () => Promise<Hex> = answers.other;
    const liar = createServer(async (_, response) => {
      response.end(JSON.stringify({ signed: await told() }));
    });
    await once(liar.listen(0, '127.0.0.1'), 'listening');
    const at = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
    const ask = (address: Hex) => signerOf({ url: at, address, token: TOKEN });
    try {
      const transaction = unsigned(0);
      await assert.rejects(
        ask(own.address).signTransaction(transaction),
        /a different transaction/,
      );
      told = answers.same;
      await assert.rejects(ask(fileAddress).signTransaction(transaction), /signed for 0x/);
      assert.ok(await ask(own.address).signTransaction(transaction));
    } finally {
      liar.close();
    }
  });

  it('is reached by https, or on this machine', () => {
    const key = (text: string, token: string | null = TOKEN) => readRemoteKey(text, token, 'KEY');
    assert.equal(key(`https://signer.internal/${fileAddress}`).url, 'https://signer.internal');
    assert.equal(key(`http://127.0.0.1:8720/${fileAddress}`).address, fileAddress);
    for (const text of ['https://signer.internal', `http://signer.internal/${fileAddress}`]) {
      assert.throws(() => key(text), StartError);
    }
    assert.throws(() => key(`https://signer.internal/${fileAddress}`, null), /token/);
  });
});
