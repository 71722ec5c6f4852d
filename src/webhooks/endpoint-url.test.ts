import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkEndpointUrl } from '#webhooks/endpoint-url.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

const answers: Record<string, readonly string[]> = {
  'shop.example': ['93.184.216.34', '2606:2800:220::1'],
  'private.example': ['10.0.0.5'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'mapped.example': ['::ffff:10.0.0.5'],
};

const resolver = {
  resolve: async (host: string) => {
    const result = answers[host];
    if (result === undefined) throw new Error('no such host name');
    return result;
  },
};

const check = (url: string, livemode = false) =>
  checkEndpointUrl(url, { livemode, policy: addressPolicy([]), resolver });

describe('the URL of a webhook endpoint', () => {
  test('accepts https, in test mode also http, on the listed ports', async () => {
    for (const url of [
      'https://shop.example/hook?source=tapline',
      'http://shop.example',
      'https://shop.example:443/',
      'http://shop.example:80/',
      'https://shop.example:1024/',
      'https://shop.example:65535/',
      'https://93.184.216.34/hook',
      'https://[2606:2800:220::1]/hook',
      'https://bücher.example/hook',
    ]) {
      assert.equal(await check(url), null, url);
    }
  });

  test('in live mode refuses http', async () => {
    assert.equal(await check('https://shop.example/', true), null);
    assert.equal((await check('http://shop.example/', true))?.code, 'url_not_allowed');
  });

  for (const [why, urls] of [
    ['another scheme', ['ftp://shop.example/', 'file:///etc/passwd', 'javascript:alert(1)']],
    ['not a URL at all', ['', 'shop.example/hook', 'https://', 'https:///hook', 'https://%/']],
    [
      'another port',
      ['https://shop.example:0/', 'https://shop.example:22/', 'https://shop.example:1023/'],
    ],
    ['a port that does not exist', ['https://shop.example:65536/', 'https://shop.example:-1/']],
    [
      'user name or password, also empty ones',
      ['https://a@shop.example/', 'https://a:b@shop.example/', 'https://@shop.example/'],
    ],
    ['a fragment, also an empty one', ['https://shop.example/#a', 'https://shop.example/#']],
    [
      'characters that the parser would silently drop',
      ['https://shop\t.example/', ' https://shop.example/', 'https://shop.example/\n'],
    ],
    ['backslashes', ['https:\\\\shop.example\\hook', 'https://shop.example\\@10.0.0.1/']],
    [
      'any notation of a private IPv4 address',
      [
        'https://127.0.0.1/',
        'https://2130706433/',
        'https://0x7f000001/',
        'https://0177.0.0.1/',
        'https://0x7f.1/',
        'https://127.1/',
        'https://１２７.0.0.1/',
        'https://127.0.0.1./',
        'https://0/',
        'https://169.254.169.254/latest/meta-data',
        'https://192.168.0.1:8443/',
      ],
    ],
    [
      'any notation of a private IPv6 address',
      ['https://[::1]/', 'https://[::ffff:127.0.0.1]/', 'https://[fe80::1]/', 'https://[fd00::1]/'],
    ],
    ['names of this machine', ['https://localhost/', 'https://a.localhost/']],
    [
      'names with one private address',
      ['https://private.example/', 'https://mixed.example/', 'https://mapped.example/'],
    ],
    ['more than 2048 characters', [`https://shop.example/${'a'.repeat(2048)}`]],
  ] as const) {
    test(`refuses ${why}`, async () => {
      for (const url of urls) {
        // The names of this machine come from the system's resolver.
        if (url.includes('localhost')) answers[new URL(url).hostname] = ['127.0.0.1', '::1'];
        const refusal = await check(url);
        assert.equal(refusal?.code, 'url_not_allowed', url);
        assert.equal(refusal?.param, 'url');
      }
    });
  }

  test('allows a name that does not resolve yet: every delivery resolves it again', async () => {
    assert.equal(await check('https://not-yet.example/'), null);
  });
});

describe('a receiver on this machine', () => {
  const inSandbox = (url: string, livemode = false) => {
    const policy = addressPolicy([], { ownMachine: true });
    return checkEndpointUrl(url, { livemode, policy, resolver });
  };

  test('is refused, and the message names the setting that allows it', async () => {
    const refusal = await check('https://127.0.0.1:8080/');
    assert.match(refusal?.message ?? '', /loopback.*WEBHOOK_ALLOW_CIDRS=127\.0\.0\.0\/8/);
  });

  test('is allowed in the sandbox, in test mode, by plain http and its own names', async () => {
    answers.localhost = ['127.0.0.1', '::1'];
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost:8080/a', 'http://[::1]:9000/']) {
      assert.equal(await inSandbox(url), null, url);
      assert.equal((await inSandbox(url, true))?.code, 'url_not_allowed', url);
    }
    for (const url of ['http://10.0.0.1/', 'http://private.example/', 'https://127.0.0.1/']) {
      assert.equal((await inSandbox(url))?.code, 'url_not_allowed', url);
    }
  });
});
