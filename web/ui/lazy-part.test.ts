import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { partOf } from './lazy-part.ts';

const Hello = ({ name }: { readonly name: string }) => createElement('p', null, `Hello ${name}`);

test('a part is drawn at once where its code is there, and leaves its place free', async () => {
  const part = partOf(async () => Hello, 'Loading…');
  const drawn = () => renderToStaticMarkup(createElement(part, { name: 'Ada' }));
  assert.equal(drawn(), 'Loading…');
  await part.load();
  assert.equal(drawn(), '<p>Hello Ada</p>');
});

test('a part that could not be brought is brought when it is asked for again', async () => {
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
