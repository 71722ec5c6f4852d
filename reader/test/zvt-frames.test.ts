import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeText } from '../src/zvt/charset.ts';
import { moneyText, priceOf } from '../src/zvt/price-of-amount.ts';
import { readCommand, UNREGISTERED } from '../src/zvt/read-command.ts';
import { printFrames, saleResult, wrongCurrency } from '../src/zvt/reply-frames.ts';
import {
  fieldBytes,
  frameBytes,
  fromBcd,
  readFields,
  readFrame,
  readTlv,
  tlvBytes,
  toBcd,
} from '../src/zvt/zvt-frames.ts';
import { decodeText } from './zvt-talk.ts';

/** Frames of real terminals and registers, recorded in public documentation and programs. */
const RECORDED = {
  paid: `
    040f77 2700 04000000002040 0b000470 0c223953 0d1006 0e2512 170001 1970
    22f0f8eeeeeeeeeeee4771 2928004869 2a313030343631373633202020202020 3b3631313830340000
    3cf0f1f447454e2e4e522e3a363131383034 490978 870470 88000470 8a2e
    8bf1f74465626974204d61737465726361726400`,
  aborted: '040f1e 276c 2928004869 3cf0f1f94162627275636820647572636820 4b756e6465',
  container: `
    040f65 2700 0c231355 0d1029 0e9999 22f0f8eeeeeeeeeeee4771 a001 2900000006 870008 0b000000
    8a06 8bf1f14d41535445524341524400
    062e 2f08 1f120102 1f100100 601b 4307a0000000041010 44104465626974204d617374657263617264
    1f2b0410015008`,
  asked: '060107 04000000000314',
} as const;

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex.replaceAll(/[\s-]/g, ''), 'hex'));
}

function frameIn(hex: string) {
  const read = readFrame(bytes(hex));
  assert.ok(read !== null, hex);
  return read.frame;
}

function commandIn(hex: string) {
  return readCommand(frameIn(hex));
}

function hexOf(data: Uint8Array): string {
  return Buffer.from(data).toString('hex');
}

test('a frame is complete only with its last byte, with short and extended lengths', () => {
  for (const size of [0, 1, 254, 255, 256, 4_000]) {
    const frame = { control: 0x06d3, data: new Uint8Array(size).fill(7) };
    const sent = frameBytes(frame);
    assert.equal(sent[2], Math.min(size, 255));
    for (const cut of [0, 1, 2, sent.length - 1]) {
      assert.equal(readFrame(sent.subarray(0, cut)), null, `${cut} of ${sent.length} bytes`);
    }
    const more = Uint8Array.from([...sent, 0x80]);
    assert.deepEqual(readFrame(more), { frame, length: sent.length });
  }
  assert.deepEqual(readFrame(bytes('040fff01006c')), {
    frame: { control: 0x040f, data: bytes('6c') },
    length: 6,
  });
});

test('the fields of recorded results are read: amount, trace, currency, receipt, card name', () => {
  const fields = readFields(frameIn(RECORDED.paid).data);
  assert.ok(fields.status === 'read');
  const number = (field: number) => fromBcd(fields.values.get(field) ?? bytes(''));
  assert.deepEqual([number(0x04), number(0x0b), number(0x49), number(0x87)], [2040, 470, 978, 470]);
  assert.equal(decodeText(fields.values.get(0x8b) ?? bytes(''), 'cp437'), 'Debit Mastercard');
  assert.equal(decodeText(fields.values.get(0x3c) ?? bytes(''), 'cp437'), 'GEN.NR.:611804');
  const aborted = readFields(frameIn(RECORDED.aborted).data);
  assert.ok(aborted.status === 'read');
  assert.equal(aborted.values.get(0x27)?.[0], 0x6c);
});

test('a recorded container gives its objects, nested ones too', () => {
  const fields = readFields(frameIn(RECORDED.container).data);
  assert.ok(fields.status === 'read');
  const tags = fields.tlv.map(({ tag }) => tag.toString(16));
  assert.deepEqual(tags, ['2f', '1f12', '1f10', '60', '43', '44', '1f2b']);
  const trace = fields.tlv.find(({ tag }) => tag === 0x1f2b);
  assert.equal(fromBcd(trace?.value ?? bytes('')), 10_015_008);
});

test('a recorded request for 3.14 is an authorization in the register’s own currency', () => {
  assert.deepEqual(commandIn(RECORDED.asked), {
    type: 'authorization',
    ask: { amount: 314, currency: null, number: null, mayName: [] },
  });
});

test('an authorization may name a currency and the register’s own number of the sale', () => {
  assert.deepEqual(commandIn('06 01 10 04 00 00 00 00 12 50 49 08 40 06 04 c4 02 01 17'), {
    type: 'authorization',
    ask: { amount: 1250, currency: 840, number: '0117', mayName: [] },
  });
});

/** Writes a field with a value of its own length. @returns `null` if no such field is published. */
function publishedField(field: number): Uint8Array | null {
  for (let length = 0; length <= 15; length++) {
    try {
      return fieldBytes(field, field === 0x04 ? toBcd(1250, 6) : new Uint8Array(length));
    } catch {
      // Another length.
    }
  }
  return null;
}

test('each published field is accepted in an authorization, alone and with all others', () => {
  const published = Array.from({ length: 256 }, (_, field) => publishedField(field)).flatMap(
    (one) => (one === null ? [] : [one]),
  );
  assert.equal(published.length, 68);
  const amount = fieldBytes(0x04, toBcd(1250, 6));
  for (const fields of [...published.map((one) => [one]), published]) {
    const data = Uint8Array.from([amount, ...fields].flatMap((one) => [...one]));
    const command = readCommand({ control: 0x0601, data });
    assert.ok(command.type === 'authorization', hexOf(data));
    assert.deepEqual([command.ask.amount, command.ask.mayName], [1250, []]);
  }
});

test('a field that is not published does not refuse a sale, but it may hide a currency', () => {
  const mayNameIn = (hex: string) => {
    const data = bytes(`04 00 00 00 00 12 50 ${hex}`);
    const command = readCommand({ control: 0x0601, data });
    assert.ok(command.type === 'authorization', hex);
    assert.equal(command.ask.amount, 1250);
    return command.ask.mayName;
  };
  assert.deepEqual(mayNameIn('77 01 02 03'), []);
  assert.deepEqual(mayNameIn('19 00 77 49 09 78'), [978]);
  assert.deepEqual(mayNameIn('77 49 07 56 49 08 40'), [756, 840]);
  assert.deepEqual(mayNameIn('77 49 af fe 49 09'), []);
  const before = readCommand({ control: 0x0601, data: bytes('77 01 04 00 00 00 00 12 50') });
  assert.equal(before.type, 'malformed', 'its amount is unknown');
});

test('an authorization without a whole positive amount is malformed', () => {
  const wrong = [
    ...['06 01 00', '06 01 03 49 09 78', '06 01 07 04 00 00 00 00 00 00'],
    ...['06 01 07 04 00 00 00 00 0a 00', '06 01 06 04 00 00 00 00 12', '06 01 01 ff'],
    '06 01 0a 04 00 00 00 00 12 50 49 0f 78',
  ];
  for (const hex of wrong) assert.equal(commandIn(hex).type, 'malformed', hex);
});

test('a registration says currency, receipts, status, blocks, width and letters', () => {
  assert.deepEqual(commandIn('06 00 06 00 00 00 8e 09 78'), {
    type: 'registration',
    password: '000000',
    known: true,
    register: {
      ...UNREGISTERED,
      printsReceipts: true,
      printsReports: true,
      wantsStatus: true,
    },
  });
  const container = '06 0c 12 01 48 26 04 0a 02 06 d3 14 01 fe';
  const full = commandIn(`06 00 14 00 00 00 8a 07 56 ${container}`);
  assert.ok(full.type === 'registration');
  const { currency, takesBlocks, width, charset, printsReports } = full.register;
  assert.deepEqual(
    [currency, takesBlocks, width, charset, printsReports],
    [756, true, 48, 'utf8', false],
  );
  const unknown = commandIn('06 00 06 00 00 00 00 09 99');
  assert.ok(unknown.type === 'registration' && !unknown.known);
  const none = commandIn('06 00 06 00 00 00 08 03 00');
  assert.ok(none.type === 'registration' && none.known && none.register.currency === 978);
});

test('a reversal and a refund name a receipt; only FFFF means the last one', () => {
  const last = { type: 'reversal', password: '000000', receipt: null, amount: null };
  assert.deepEqual(commandIn('06 30 06 00 00 00 87 ff ff'), last);
  assert.deepEqual(commandIn('06 30 03 00 00 00'), last);
  assert.deepEqual(commandIn('06 30 06 00 00 00 87 00 00'), { ...last, receipt: 0 });
  assert.deepEqual(commandIn('06 30 06 00 00 00 87 99 99'), { ...last, receipt: 9999 });
  assert.deepEqual(commandIn('06 30 06 00 00 00 87 10 42'), { ...last, receipt: 1042 });
  assert.deepEqual(commandIn('06 31 0d 00 00 00 04 00 00 00 00 05 00 87 10 42'), {
    type: 'refund',
    password: '000000',
    receipt: 1042,
    money: { amount: 500, currency: 0 },
  });
});

test('amounts become atoms for dollars, and a local price for other currencies', () => {
  assert.deepEqual(priceOf({ amount: 1250, currency: 840 }), { amount: 12_500_000 });
  assert.deepEqual(priceOf({ amount: 1250, currency: 978 }), {
    presentment: { currency: 'eur', amount: 1250 },
  });
  assert.equal(priceOf({ amount: 999_999_999_999, currency: 840 }), null);
  const shown = [
    moneyText({ amount: 5, currency: 978 }),
    moneyText({ amount: 500, currency: 392 }),
  ];
  assert.deepEqual(shown, ['0.05 EUR', '500 JPY']);
});

test('a paid sale is reported with amount, trace, receipt and time, and no card data', () => {
  const sale = {
    ...{
      key: 'zvt-1',
      number: null,
      attempt: 0,
      amount: 1250,
      currency: 978,
      trace: 7,
      asked_at: 0,
    },
    ...({ status: 'paid', delivery: 'unsent', known_at: 0 } as const),
    paid: {
      ...{
        payment: 'pay_1',
        receipt: 1042,
        receipt_url: null,
        text: '13.50 USDC',
        reversed: false,
      },
      at: new Date(2026, 10, 28, 15, 4, 5).toISOString(),
    },
  };
  const { control, data } = saleResult(sale, { terminal: 12_345_678, scales: {} });
  const text = hexOf(data);
  assert.equal(control, 0x040f);
  assert.match(text, /^2700040000000012500b000007/);
  assert.match(text, /0c1504050d1128291234567849097887104288000007/);
  const fields = readFields(data);
  assert.ok(fields.status === 'read');
  for (const ofCard of [0x22, 0x23, 0x24, 0x2d, 0x0e, 0x17, 0x8a]) {
    assert.ok(!fields.values.has(ofCard), `field ${ofCard.toString(16)}`);
  }
});

test('a wrong currency is refused with the registered one', () => {
  assert.equal(hexOf(frameBytes(wrongCurrency(UNREGISTERED))), '061e046f490978');
});

test('receipts are print lines, or one text block where the register takes it', () => {
  const lines = ['Café', '', 'Total 12.50 €'];
  const printed = printFrames(lines, { register: UNREGISTERED, kind: 'customer' });
  assert.deepEqual(
    printed.map(({ control, data }) => [control, data[0], decodeText(data.subarray(1), 'cp437')]),
    [
      [0x06d1, 0, 'Café'],
      [0x06d1, 0, ' '],
      [0x06d1, 0x81, 'Total 12.50 EUR'],
    ],
  );
  const register = { ...UNREGISTERED, takesBlocks: true, charset: 'utf8' } as const;
  const [block, ...others] = printFrames(lines, { register, kind: 'report' });
  assert.ok(block !== undefined && others.length === 0);
  const fields = readFields(block.data);
  assert.ok(block.control === 0x06d3 && fields.status === 'read');
  assert.deepEqual(
    fields.tlv.map(({ tag, value }) => [tag, tag === 0x07 ? decodeText(value, 'utf8') : value[0]]),
    [
      ...[[0x14, 0xfe] as const, [0x1f07, 0x03] as const, [0x25, 0x07] as const],
      ...lines.map((line) => [0x07, line === '' ? ' ' : line] as const),
      [0x09, 0x81],
    ],
  );
});

test('no frame of a receipt is longer than the register takes', () => {
  const lines = Array.from({ length: 36 }, (_, line) => `${line} `.padEnd(40, 'x'));
  for (const [tag, longestFrame] of [
    ['', 1_024] as const,
    ['1a 02 02 00', 512] as const,
    ['1a 02 04 00', 1_024] as const,
    ['1a 02 08 00', 2_048] as const,
    ['1a 01 20', 256] as const,
  ]) {
    const container = bytes(`26 04 0a 02 06 d3 ${tag}`);
    const data = Uint8Array.from([...bytes('00 00 00 8a 09 78'), ...fieldBytes(0x06, container)]);
    const command = readCommand({ control: 0x0600, data });
    assert.ok(command.type === 'registration');
    assert.equal(command.register.longestFrame, longestFrame);
    const printed = printFrames(lines, { register: command.register, kind: 'customer' });
    assert.ok(printed.every((one) => frameBytes(one).length <= longestFrame));
    const objects = printed.map((one) => {
      const fields = readFields(one.data);
      assert.ok(fields.status === 'read');
      return fields.tlv.filter(({ tag: each }) => each === 0x07 || each === 0x09);
    });
    const texts = objects.flat().filter((one) => one.tag === 0x07);
    assert.deepEqual(
      texts.map(({ value }) => decodeText(value, 'cp437')),
      lines,
    );
    const ends = objects.map((each) => each.some((one) => one.tag === 0x09));
    assert.deepEqual(ends, [...ends.slice(1).map(() => false), true], 'the last block ends it');
    assert.equal(printed.length > 1, longestFrame < 1_600);
  }
});

test('code page 437 keeps its letters, and replaces those that it lacks', () => {
  const letters = 'äöüÄÖÜßéèêçñ£¥½°±²';
  assert.equal(decodeText(encodeText(letters, 'cp437'), 'cp437'), letters);
  assert.equal(decodeText(encodeText('a\u0308 – 日本', 'cp437'), 'cp437'), 'ä -     ');
  assert.equal(hexOf(encodeText('ä', 'cp437')), '84');
  assert.equal(hexOf(encodeText('äÇ■', 'cp437')), '8480fe');
  for (const charset of ['cp437', 'utf8'] as const) {
    assert.equal(decodeText(encodeText('a\n\u001b@\u0085', charset), charset), 'a??@?');
  }
});

test('what is written is read again, and any bytes give a value or a refusal', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(999_999), (value, number) => {
      assert.deepEqual(readTlv(tlvBytes({ tag: 0x1f07, value })), [{ tag: 0x1f07, value }]);
      assert.equal(fromBcd(toBcd(number, 3)), number);
      const text = value.subarray(0, 99);
      const fields = readFields(fieldBytes(0x8b, text));
      assert.deepEqual(fields.status === 'read' && fields.values.get(0x8b), text);
      readCommand({ control: number & 0xffff, data: value });
    }),
    { numRuns: 2_000 },
  );
});
