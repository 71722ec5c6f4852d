import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { selectLogo } from '#accounts/brand-queries.ts';
import { startDashboardServer } from '#testkit/apis/dashboard-server.ts';
import { addMember, addOwner, signInAs } from '#testkit/apis/people.ts';
import type { PersonClient } from '#testkit/apis/person-client.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const OWNER = 'olga@brand.test';
const COLOR = '#0a7d4c';

let owner: PersonClient;
let path = '';
let account = '';

const server = openForTests(startDashboardServer, async () => {
  ({ accountId: account } = await addOwner(server, OWNER));
  await addMember(server, { email: 'mia@brand.test', accountId: account, role: 'member' });
  await addOwner(server, 'stranger@brand.test');
  owner = await signInAs(server, OWNER);
  path = `/accounts/${account}/brand`;
});

function part(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc((width + 1) * height, 0x80));
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    start,
    part('IHDR', header),
    part('IDAT', rows),
    part('IEND', rows.subarray(0, 0)),
  ]);
}

function upload(bytes: Buffer, { by = owner, type = 'image/png' } = {}) {
  return by.send('POST', `${path}/logo`, bytes, { 'Content-Type': type });
}

test('a business without a brand has none', async () => {
  const { body } = await owner.get(path);
  assert.deepEqual(body, {
    object: 'brand',
    color: null,
    text_color: null,
    logo_path: null,
    style_path: null,
  });
});

test('color and logo can be set, replaced and removed, and the audit log records it', async () => {
  const colored = await owner.send('PUT', `${path}/color`, { color: COLOR });
  assert.equal(colored.body.text_color, '#ffffff');
  assert.equal(colored.body.style_path, 'brand/0a7d4c-none.css');
  const [small, large] = [png(16, 16), png(64, 32)];
  const first = await upload(small);
  assert.equal(first.status, 200, first.text);
  const idOf = (shown: unknown) => /^brand\/([0-9a-f]{32})\.png$/.exec(String(shown))?.[1] ?? '';
  const id = idOf(first.body.logo_path);
  assert.equal(first.body.style_path, `brand/0a7d4c-${id}.css`);
  assert.deepEqual(await selectLogo(server.db, id), small);
  const second = await upload(large);
  assert.equal(await selectLogo(server.db, id), null, 'the previous one was deleted');
  const gone = await owner.send('DELETE', `${path}/logo`);
  assert.equal(gone.body.style_path, 'brand/0a7d4c-none.css');
  assert.equal(await selectLogo(server.db, idOf(second.body.logo_path)), null);
  const bare = await owner.send('PUT', `${path}/color`, { color: null });
  assert.equal(bare.body.style_path, null);
  const log = await server.db.query<{ count: bigint }>(
    `select count(*) from audit_log where chain = $1 and action = 'account.brand_changed'`,
    [account],
  );
  assert.equal(log[0]?.count, 5n);
});

test('anything but a small PNG is refused, whatever its file name', async () => {
  const cases = [
    { bytes: Buffer.from('<svg onload="alert(1)"/>'), status: 415 },
    { bytes: Buffer.from([0xff, 0xd8, 0xff, 0xe0]), status: 415 },
    { bytes: png(8, 64), status: 400 },
    { bytes: png(1025, 16), status: 400 },
    { bytes: Buffer.concat([png(16, 16), Buffer.alloc(100 * 1024)]), status: 413 },
  ];
  for (const { bytes, status } of cases) assert.equal((await upload(bytes)).status, status);
  assert.equal((await upload(png(16, 16), { type: 'image/svg+xml' })).status, 415);
  for (const color of ['red', '#fff', '#0A7D4C', 'url(x)', '']) {
    assert.equal((await owner.send('PUT', `${path}/color`, { color })).status, 400, color);
  }
});

test('members may read the brand, and people of other accounts see nothing', async () => {
  const [member, stranger] = await Promise.all(
    ['mia@brand.test', 'stranger@brand.test'].map((email) => signInAs(server, email)),
  );
  assert.ok(member !== undefined && stranger !== undefined);
  assert.equal((await member.get(path)).status, 200);
  assert.equal((await upload(png(16, 16), { by: member })).status, 403);
  assert.equal((await member.send('PUT', `${path}/color`, { color: COLOR })).status, 403);
  assert.equal((await stranger.get(path)).status, 404);
  assert.equal((await upload(png(16, 16), { by: stranger })).status, 404);
});

test('the same picture is stored separately for two businesses', async () => {
  const other = await addOwner(server, 'second@brand.test');
  const second = await signInAs(server, 'second@brand.test');
  const bytes = png(20, 20);
  const mine = await upload(bytes);
  const theirs = await second.send('POST', `/accounts/${other.accountId}/brand/logo`, bytes, {
    'Content-Type': 'image/png',
  });
  assert.notEqual(mine.body.logo_path, theirs.body.logo_path);
  await owner.send('DELETE', `${path}/logo`);
  const kept = await selectLogo(server.db, String(theirs.body.logo_path).slice(6, 38));
  assert.deepEqual(kept, bytes);
});
