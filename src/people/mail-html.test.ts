import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailHtml } from '#people/mail-html.ts';
import { type Mail, smtpMailer } from '#people/mail-outbox.ts';
import { startMailServer } from '#testkit/network/mail-server.ts';

const LINK = 'https://tapline.test/dashboard/invitation#token=a&b';

const MAIL: Mail = {
  to: 'anna@shop.test',
  subject: 'You are <invited>',
  text:
    'Mallory <b onclick="x()">"&\' invites you.\n\nhttps://elsewhere.test/\n\n' +
    `Open this link:\n\n${LINK}\n\nIt works\nonce.\n`,
  buttons: [{ url: LINK, name: 'See the <invitation>' }],
};

test('the HTML of a mail is its text, with the address as a button', () => {
  const html = mailHtml(MAIL);
  const links = [...html.matchAll(/<a href="([^"]*)"[^>]*>([^<]*)<\/a>/g)];
  assert.deepEqual(
    links.map(([, address, name]) => [address, name]),
    [[LINK.replace('&', '&amp;'), 'See the &lt;invitation&gt;']],
    'the only link is ours',
  );
  assert.match(html, /It works<br>\nonce\./);
});

test('no user-entered text is markup in a mail', () => {
  const html = mailHtml(MAIL);
  assert.doesNotMatch(html, /<b |<invited>|<invitation>|onclick="/);
  assert.match(html, /Mallory &lt;b onclick=&quot;x\(\)&quot;&gt;&quot;&amp;&#39; invites you\./);
  assert.doesNotMatch(html, /<img|<link|<script|url\(/, 'and nothing is loaded remotely');
});

test('a mail is sent as text with the HTML beside it', async (t) => {
  const server = await startMailServer();
  t.after(() => server.stop());
  await smtpMailer({ url: server.url, from: 'pay@tapline.test' }).send(MAIL);
  const [message = ''] = server.messages;
  assert.match(message, /^Content-Type: multipart\/alternative/m);
  const text = message.indexOf('Content-Type: text/plain');
  const html = message.indexOf('Content-Type: text/html');
  assert.ok(text > 0 && html > text, 'a mail program that supports both shows the last');
});

test('a mail without one of our URLs has no link', () => {
  const html = mailHtml({ subject: 'Done', text: 'See https://elsewhere.test/ for more.\n' });
  assert.doesNotMatch(html, /<a /);
});
