import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StartError } from '#core/start-error.ts';
import { readNodeSettings } from '#settings/node-settings.ts';

const KEY = 'a1b2c3d4e5f6a7b8';
const URL_A = `https://eth.example.com/v2/${KEY}`;
const URL_B = 'http://10.0.0.7:8545';

function settings(given: Readonly<Record<string, string>>) {
  const all: Readonly<Record<string, string>> = { RPC_URL: URL_A, ...given };
  return readNodeSettings('CHAIN_TESTNET_', (name) => all[name] ?? null);
}

/**
 * Returns the error of a start that fails: one line that names the setting and contains no secret.
 */
function refusal(given: Readonly<Record<string, string>>): string {
  try {
    settings(given);
  } catch (error) {
    assert(error instanceof StartError);
    assert.doesNotMatch(error.message, /\n/);
    assert(!error.message.includes(KEY), error.message);
    return error.message;
  }
  assert.fail(`${JSON.stringify(given)} was taken`);
}

describe("the settings of a network's nodes", () => {
  it('take several addresses in their order, with headers and time-outs for each', () => {
    const read = settings({
      RPC_URL: ` ${URL_A} , ${URL_B}`,
      RPC_HEADERS: '[{"authorization": "Bearer x"}, {}]',
      RPC_TIMEOUT_MS: '3000,1500',
      RPC_PER_SECOND: '25',
      WS_URL: 'wss://heads.example.com/key',
    });
    assert.deepEqual(read, {
      rpcUrls: [URL_A, URL_B],
      rpcHeaders: [{ authorization: 'Bearer x' }, {}],
      rpcTimeoutsMs: [3_000, 1_500],
      rpcPerSecond: 25,
      headsUrl: 'wss://heads.example.com/key',
      publicRpcUrl: null,
      explorerUrl: null,
    });
  });

  it('need no more than one address', () => {
    assert.deepEqual(settings({}), {
      rpcUrls: [URL_A],
      rpcHeaders: [],
      rpcTimeoutsMs: [3_000],
      rpcPerSecond: null,
      headsUrl: null,
      publicRpcUrl: null,
      explorerUrl: null,
    });
  });

  it('name an address without a scheme by its position', () => {
    assert.match(refusal({ RPC_URL: `eth.example.com/${KEY}` }), /CHAIN_TESTNET_RPC_URL: must/);
    const second = refusal({ RPC_URL: `${URL_A},eth.example.com/${KEY}` });
    assert.match(second, /CHAIN_TESTNET_RPC_URL: address 2 of 2 must begin with http/);
    for (const url of ['', `${URL_A},`, `ws://x/${KEY}`, `https://`, `ftp://x/${KEY}`]) {
      assert.match(refusal({ RPC_URL: url }), /CHAIN_TESTNET_RPC_URL/);
    }
  });

  it('refuse a login that cannot be decoded, by its position and without showing it', () => {
    for (const login of ['user:50%off', '%zz:x', 'a%:b']) {
      const message = refusal({ RPC_URL: `${URL_A},https://${login}@eth.example.com` });
      assert.match(message, /address 2 of 2 has an unescaped % in its user name or password/);
      assert.doesNotMatch(message, /off|zz/);
    }
    assert.deepEqual(settings({ RPC_URL: 'https://u:50%25off@x.example' }).rpcUrls, [
      'https://u:50%25off@x.example',
    ]);
  });

  it('refuse headers that no request can carry', () => {
    for (const headers of [
      KEY,
      `{"authorization": "${KEY}"}`,
      `[{"authorization": 7}]`,
      `[{"two words": "${KEY}"}]`,
      `[{"x": "${KEY}\\r\\nother: y"}]`,
      `[{"x": "ключ ${KEY}"}]`,
      `[{"x": "${KEY}"}, {}]`,
      `["${KEY}"]`,
      '[null]',
    ]) {
      assert.match(refusal({ RPC_HEADERS: headers }), /CHAIN_TESTNET_RPC_HEADERS must be/);
    }
  });

  it('refuse time-outs and limits that would settle nothing', () => {
    for (const value of ['0', '99', '20001', '1e3', '1000,1000', 'soon', '1000,']) {
      assert.match(refusal({ RPC_TIMEOUT_MS: value }), /CHAIN_TESTNET_RPC_TIMEOUT_MS must be/);
    }
    for (const value of ['0', '4', '-1', '2.5', 'many', '100001']) {
      assert.match(refusal({ RPC_PER_SECOND: value }), /CHAIN_TESTNET_RPC_PER_SECOND=.* must be/);
    }
  });

  it('derive the address that announces blocks if requested', () => {
    const derived = (url: string) => settings({ RPC_URL: url, WS_URL: 'auto' }).headsUrl;
    assert.equal(derived(URL_A), `wss://eth.example.com/v2/${KEY}`);
    assert.equal(derived(`${URL_B},${URL_A}`), 'ws://10.0.0.7:8545/');
    const infura = `https://base-mainnet.infura.io/v3/${KEY}`;
    assert.equal(derived(infura), `wss://base-mainnet.infura.io/ws/v3/${KEY}`);
    for (const url of [`https://x/${KEY}`, KEY, 'yes']) {
      assert.match(refusal({ WS_URL: url }), /CHAIN_TESTNET_WS_URL must be auto, or begin/);
    }
  });
});
