import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { partOf } from './lazy-part.ts';

const Hello = ({ name }: { readonly name: string }) => createElement('p', null, `Hello ${name}`);

test('a part renders its placeholder, or itself if its code has loaded', async () => {
  const part = partOf(async () => Hello, 'Loading…');
  const drawn = () => renderToStaticMarkup(createElement(part, { name: 'Ada' }));
  assert.equal(drawn(), 'Loading…');
  await part.load();
  assert.equal(drawn(), '<p>Hello Ada</p>');
});

test('a part whose code failed to load is loaded again when it is needed', async () => {
  let isOnline = false;
  const part = partOf(async () => {
    if (!isOnline) throw new Error('offline');
    return Hello;
  });
  await assert.rejects(part.load(), /offline/);
  isOnline = true;
  await part.load();
  assert.equal(renderToStaticMarkup(createElement(part, { name: 'Ada' })), '<p>Hello Ada</p>');
});
