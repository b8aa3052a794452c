import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { mappingOf, readText, whyUnreadable } from '../support/read-text.ts';
import { textRows, writeWorkbook } from '../support/write-workbook.ts';
import { storeZip } from '../support/zip.ts';

const HEADER = 'purchaseOrderNumber,articleCode,quantity';

/** The mapping with what a remedy says to write into it. */
function pasted(remedy: string) {
  return mappingOf(parse(/fields: \{.*\}/.exec(remedy)?.[0] ?? ''));
}

describe('a table is unreadable', () => {
  test.each([
    [
      'a quote that is never closed',
      `${HEADER}\n1,A,1\n2,"B,1\n3,C,1\n`,
      { code: 'unreadable-quote', line: 3, column: 2 },
    ],
    [
      'a quote within a field',
      `${HEADER}\r\n1,"A\r\n\r\nB",1\r\n2,B"x,1\r\n`,
      { code: 'unreadable-quote', line: 5, column: 2 },
    ],
    [
      'text after a closing quote',
      `${HEADER}\n1,"A"x,1\n`,
      { code: 'unreadable-quote', line: 2, column: 2 },
    ],
    [
      'a mapped column twice',
      `${HEADER},articleCode\n`,
      { code: 'unreadable-header', line: 1, column: 4 },
    ],
    [
      'two columns for one field',
      `${HEADER},Article Code\n`,
      { code: 'unreadable-header', line: 1, column: 4 },
    ],
    [
      'a dangerous column',
      `${HEADER},__proto__\n`,
      { code: 'unreadable-header', line: 1, column: 4 },
    ],
    [
      'a control character in the header',
      `${HEADER},a\u0000b\n`,
      { code: 'unreadable-header', line: 1, column: 4 },
    ],
    [
      'a field without column',
      '\n\nnumber,articleCode\n',
      { code: 'unreadable-column-missing', line: 3 },
    ],
    ['too many columns', `${HEADER}${',x'.repeat(998)}\n`, { code: 'unreadable-header', line: 1 }],
    [
      'a row beyond the limit',
      `${HEADER}\n1,A,1\n2,"${'x'.repeat(1_100_000)}",1\n`,
      { code: 'unreadable-too-large', line: 3 },
    ],
    [
      'a quote over megabytes',
      `${HEADER}\n1,"A,1\n${'2,B,1\n'.repeat(1_000_000)}`,
      { code: 'unreadable-too-large', line: 2 },
    ],
    ['its last row cut off', `${HEADER}\n1,A,1\n1,B`, { code: 'unreadable-cut-off', line: 3 }],
    [
      'its last row cut off in its number',
      `${HEADER}\r\n"1",A,1\r\n12`,
      { code: 'unreadable-cut-off', line: 3 },
    ],
    [
      'its last row cut off after blanks',
      `${HEADER}\n\n,,\n1,`,
      { code: 'unreadable-cut-off', line: 4 },
    ],
    [
      'zeros at its end',
      `${HEADER}\n1,A,1\n${'\0'.repeat(4096)}`,
      { code: 'unreadable-cut-off', line: 3 },
    ],
    ['half of its last line end', `${HEADER}\r\n1,A,1\r`, { code: 'unreadable-cut-off', line: 2 }],
    ['zeros after a complete row', `${HEADER}\n1,A,1\0\0`, { code: 'unreadable-cut-off', line: 2 }],
    [
      'delimiters over megabytes',
      `${HEADER}\n${','.repeat(8_000_000)}`,
      { code: 'unreadable-too-large', line: 2 },
    ],
  ])('for %s', async (_, text, why) => {
    expect(await whyUnreadable(text)).toEqual(why);
  });

  test('for an order with more rows than fit in memory, adjacent or not', async () => {
    const row = (number: string) => `${number},${'x'.repeat(100_000)},1\n`;
    const together = `${HEADER}\n${row('1').repeat(700)}`;
    expect(await whyUnreadable(together)).toMatchObject({ code: 'unreadable-order-too-large' });
    const apart = `${HEADER}\n${(row('1') + row('2').slice(0, 30)).replace(/$/, ',1\n').repeat(700)}`;
    expect(await whyUnreadable(apart)).toMatchObject({ code: 'unreadable-order-too-large' });
  });

  test.each([
    ['no line end after a complete row', `${HEADER}\n1,A,1`],
    ['a column twice that is not mapped', `${HEADER},text,text\n1,A,1,,\n`],
    ['blanks after the last line end', `${HEADER}\n1,A,1\n  `],
    ['delimiters alone in its last line', `${HEADER}\n1,A,1\n,`],
    ['a short row that has a line end', `${HEADER}\n1,A,1\n2\n`],
    ['a long row without line end', `${HEADER}\n1,A,1\n2,B,1,x`],
  ])('but not for %s', async (_, text) => {
    expect(await whyUnreadable(text)).toMatchObject({ code: 'readable' });
  });

  test.each([
    [
      'purchaseOrderNr,artcleCode,quantity\n',
      'rename them in the file: "purchaseOrderNr" to "purchaseOrderNumber", "artcleCode" to "articleCode". For your operator: or add to the mapping of its source: fields: { purchaseOrderNumber: "purchaseOrderNr", articleCode: "artcleCode" }.',
    ],
    // A title and empty lines may be above the header, so it need not be the first line.
    ['1,A,1\n2,B,1\n', 'If the file has no such header, add one above the orders.'],
    ['Purchase;order\n', 'If the file has no such header, add one above the orders.'],
    [
      'minutes of May\n\nall present\n',
      'No line with the names of the columns was found. If the file has no such header, add one above the orders.',
    ],
    ['purchaseOrderNumber#articleCode#quantity\n', 'set delimiter'],
  ])('and %j says what to do', async (text, remedy) => {
    await expect(readText(text)).rejects.toMatchObject({ remedy: expect.stringContaining(remedy) });
  });

  test.each([
    ['CSV', 'Bestellungen Werk 2\nBestellnr;Artikel;Anzahl\nP-1;A;1\n'],
    ['CSV of a spreadsheet', 'Bestellungen Werk 2;;\nBestellnr;Artikel;Anzahl\nP-1;A;1\n'],
    [
      'workbook',
      writeWorkbook(
        textRows([['Bestellungen Werk 2'], ['Bestellnr', 'Artikel', 'Anzahl'], ['P-1', 'A', '1']]),
      ),
    ],
  ])('with the likely header below a title, and what to set for it: %s', async (_, content) => {
    const { message, remedy } = await readText(await content).catch((error) => error);
    expect(message).toMatch(
      /^Missing columns in line 2: .* It has "Bestellnr", "Artikel", "Anzahl"\.$/,
    );
    expect(remedy).not.toContain('delimiter');
    expect(remedy).toContain(
      'For your operator: or add to the mapping of its source: fields: { purchaseOrderNumber: "Bestellnr", articleCode: "Artikel", quantity: "Anzahl" }.',
    );
    expect((await readText(await content, pasted(remedy))).orders).toMatchObject([{ valid: true }]);
  });

  test('with names that have a line break, and what to set for it has none', async () => {
    const text = '"Bestell\r\nnr";"Artikel\nnr";Menge\nP-1;A;1\n';
    const { remedy } = await readText(text).catch((error) => error);
    expect(remedy).toContain(
      'fields: { purchaseOrderNumber: "Bestell nr", articleCode: "Artikel nr", quantity: "Menge" }',
    );
    expect((await readText(text, pasted(remedy))).orders).toMatchObject([{ valid: true }]);
  });

  test.each([
    ['Bestell-Nr.;Artikelnummer;Menge', {}],
    ['Auftragsnummer;Auftrag;Pos.;Art.;Material;Stück;Preis', {}],
    ['PO Number;Item;SKU;Item No.;Qty Ordered', {}],
    ['purchaseOrderNumbr;Artikel-Nr;Bestellmenge', {}],
    ['Nr;Artikelnr;Anzahl', { purchaseOrderNumber: 'Nr', quantity: 'Menge' }],
  ])('with usual names says what to paste, which reads the file: %s', async (header, fields) => {
    const rows = header
      .split(';')
      .map((name) =>
        /item$|pos/i.test(name) ? '10' : /menge|qty|st|anzahl/i.test(name) ? '2' : 'A-1',
      );
    const text = `${header}\n${rows.join(';')}\n`;
    const { remedy } = await readText(text, mappingOf({ fields })).catch((error) => error);
    const { orders } = await readText(text, pasted(remedy));
    expect(orders).toMatchObject([{ valid: true, order: { items: [{ quantity: 2 }] } }]);
  });

  test('with a usual name for one of two columns says which one is left, and names none that may be two things', async () => {
    const { remedy } = await readText('Bestellnr;Was;Artikel;Material;Menge\n1;2;3;4;5\n').catch(
      (error) => error,
    );
    expect(remedy).toMatch(
      /fields: \{ purchaseOrderNumber: "Bestellnr", quantity: "Menge" \}\. Name the column of articleCode there, too\.$/,
    );
  });

  test('without a word about delimiters for a workbook of one column', async () => {
    const { remedy } = await readText(await writeWorkbook(textRows([['Titel'], ['Zeile']]))).catch(
      (error) => error,
    );
    expect(remedy).toContain('fields in the mapping');
    expect(remedy).not.toContain('delimiter');
  });

  test('with the names of the mapping, where a column is missing', async () => {
    const fields = {
      purchaseOrderNumber: ['Order', 'Bestellnummer'],
      articleCode: 'Artikel',
      quantity: 'Menge',
    };
    const { remedy } = await readText('Artikel;Preis\nKB-1;2\n', mappingOf({ fields })).catch(
      (error) => error,
    );
    expect(remedy).toContain('add or rename these columns: "Order" or "Bestellnummer"; "Menge".');
    expect(remedy).not.toContain('purchaseOrderNumber');
  });

  test('with the nearest column named', async () => {
    await expect(readText('purchaseOrderNr,articleCode,quantity\n')).rejects.toMatchObject({
      remedy: expect.stringContaining('"purchaseOrderNr"'),
    });
  });
});

describe('bytes that are not the encoding are unreadable', () => {
  const good = `${HEADER}\n1,Größe,1\n2,`;

  test.each([
    [
      'UTF-8',
      [Buffer.from(good), Buffer.from([0xe4]), Buffer.from(',1\n')],
      { line: 3, column: 3 },
    ],
    [
      'UTF-8 cut off',
      [Buffer.from(`${HEADER}\n1,Gr`), Buffer.from([0xc3])],
      { line: 2, column: 5 },
    ],
    [
      'UTF-16',
      [Buffer.from(`\ufeff${good}`, 'utf16le'), Buffer.from([0x00, 0xdc])],
      { line: 3, column: 3 },
    ],
    [
      'half a UTF-16 unit',
      [Buffer.from(`\ufeff${good}`, 'utf16le'), Buffer.from([0x41])],
      { line: 3, column: 3 },
    ],
  ])('%s', async (_, parts, place) => {
    expect(await whyUnreadable(Buffer.concat(parts))).toEqual({
      code: 'unreadable-encoding',
      ...place,
    });
  });

  test('also megabytes after the beginning, with the right line', async () => {
    const good = Buffer.from(rows(200_000, 'Größe', '\r\n'));
    const broken = Buffer.concat([Buffer.from(`${HEADER}\r\n`), good, Buffer.from([0xff])]);
    expect(await whyUnreadable(broken)).toEqual({
      code: 'unreadable-encoding',
      line: 200_002,
      column: 1,
    });
  });

  test('when the mapping names another one', async () => {
    const text = Buffer.from(good.slice(0, -3), 'latin1');
    expect(await whyUnreadable(text, mappingOf({ encoding: 'utf-8' }))).toMatchObject({
      code: 'unreadable-encoding',
    });
    expect(await whyUnreadable(text)).toMatchObject({ code: 'readable' });
  });

  test.each([
    ['windows-1252', Buffer.from('\x81', 'latin1')],
    ['windows-1253', Buffer.from('\xaa', 'latin1')],
    ['shift_jis', Buffer.from([0x83, 0x83, 0xff])],
    ['gbk', Buffer.from([0x81, 0x40, 0xff])],
  ] as const)('when they are not the %s that the mapping says', async (encoding, bytes) => {
    const text = Buffer.concat([Buffer.from(`${HEADER}\n1,A,1\n2,`), bytes, Buffer.from(',1\n')]);
    const place = { line: 3, column: 2 + bytes.length };
    expect(await whyUnreadable(text, mappingOf({ encoding }))).toEqual({
      code: 'unreadable-encoding',
      ...place,
    });
  });

  test('and says what to do with a file that is no text', async () => {
    const workbook = 'Save it as an .xlsx workbook or CSV (UTF-8) again';
    const damaged = Buffer.from([0xe1, 0x07, 0x9c, 0xc3, 0xa9, 0x02, 0xff, 0x11, 0xf7]);
    await expect(readText(damaged)).rejects.toMatchObject({
      remedy: expect.stringContaining(workbook),
    });
    const text = Buffer.concat([Buffer.from(good), Buffer.from([0xe4]), Buffer.from(',1\n')]);
    await expect(readText(text)).rejects.toMatchObject({
      remedy: expect.stringMatching(/^Save the file as UTF-8/),
    });
  });

  test('when they switch encodings with escape sequences', async () => {
    const text = Buffer.from(`${HEADER}\n1,\x1b$B%^\x1b(B,1\n`, 'latin1');
    expect(await whyUnreadable(text)).toEqual({ code: 'unreadable-encoding' });
  });
});

describe('a quoted field that swallows rows is unreadable', () => {
  const TABS = 'purchaseOrderNumber\tarticleCode\tquantity\ttext';

  test.each([
    ['complete ones', `${TABS}\n1\tA\t1\t"19\n2\tB\t2\tx\n3\tC\t3\t30"\n`, { line: 2, column: 4 }],
    ['half of two', `${TABS}\n1\tA\t1\tx\n2\t"19\t2\tx\n3\t30"\t3\tx\n`, { line: 3, column: 2 }],
  ])('%s', async (_, text, place) => {
    expect(await whyUnreadable(text)).toEqual({ code: 'unreadable-quote', ...place });
    expect(await whyUnreadable(text, mappingOf({ quote: '"' }))).toMatchObject({
      code: 'readable',
    });
    expect(await whyUnreadable(text, mappingOf({ quote: 'none' }))).toEqual({
      code: 'readable',
      records: text.split('\n').length - 2,
    });
  });

  test('but not one with a multi-line text', async () => {
    const text = `${TABS}\n1\tA\t1\t"first\tline\nsecond\r\nthird"\n`;
    expect(await whyUnreadable(text)).toEqual({ code: 'readable', records: 1 });
  });
});

test.each(['', '\ufeff', '\n\n', ' \r\n'])(
  'content without a header or an order (%j) is unreadable',
  async (text) => {
    expect(await whyUnreadable(text)).toEqual({ code: 'unreadable-empty' });
    expect(await whyUnreadable(gzipSync(text))).toEqual({ code: 'unreadable-empty' });
  },
);

describe('JSON is unreadable', () => {
  test.each([
    [
      'cut off in an array',
      '[\n{"purchaseOrderNumber":"1"},\n',
      { code: 'unreadable-json', line: 1 },
    ],
    [
      'cut off in a text',
      '[\n{"purchaseOrderNumber":"1',
      { code: 'unreadable-json', line: 2, column: 24 },
    ],
    ['cut off in an object', '{"orders":[{"a":1}', { code: 'unreadable-json', line: 1 }],
    ['with a comma too many', '[\n{"a":1},\n]', { code: 'unreadable-json', line: 3, column: 1 }],
    ['with a comma missing', '[{"a":1}\n{"a":1}]', { code: 'unreadable-json', line: 2, column: 1 }],
    ['with a comment', '[1] // x', { code: 'unreadable-json', line: 1, column: 5 }],
    ['with single quotes', "[{'a':1}]", { code: 'unreadable-json', line: 1, column: 3 }],
    [
      'with a bare line break in a text',
      '["a\nb"]',
      { code: 'unreadable-json', line: 1, column: 4 },
    ],
    ['with a leading zero', '[01]', { code: 'unreadable-json', line: 1, column: 3 }],
    ['going on after its end', '[]\n[]', { code: 'unreadable-json', line: 2 }],
    [
      'with one bad line among many',
      '{"a":1}\n{"a":\n{"a":1}\n',
      { code: 'unreadable-json', line: 2 },
    ],
    [
      'with a key twice',
      '[{"a":1,\n "b":{"c":1,"c":2}}]',
      { code: 'unreadable-repeated-key', line: 2, column: 13 },
    ],
    [
      'with a key twice around',
      '{"orders":[],\n"orders":[]}',
      { code: 'unreadable-repeated-key', line: 2, column: 1 },
    ],
    ['holding two arrays', '{"orders":[],"errors":[]}', { code: 'unreadable-json-shape', line: 1 }],
    ['nested without end', '['.repeat(200_000), { code: 'unreadable-json-depth', line: 1 }],
    [
      'with an object beyond the limit',
      `[{"a":1},\n{"a":"${'x'.repeat(1_100_000)}"}]`,
      { code: 'unreadable-too-large', line: 2 },
    ],
    [
      'with a text that never ends',
      `[{"a":"${'x'.repeat(4_000_000)}`,
      { code: 'unreadable-too-large', line: 1 },
    ],
    [
      'with something large beside the orders',
      `{"x":[${'1,'.repeat(700_000)}1],"purchaseOrderNumber":"1"}`,
      { code: 'unreadable-too-large', line: 1 },
    ],
  ])('%s', async (_, text, why) => {
    expect(await whyUnreadable(text)).toMatchObject(why);
  });
});

describe('JSON is unreadable with what to do', () => {
  test.each([
    ['single quotes', "[{'a':1}]", 'straight double quotes'],
    ['a comment', '[\n// the orders\n{"a":1}]', 'Remove the comment'],
    ['NaN', '[{"a":1},\nNaN]', 'no NaN'],
    ['a key without quotes', '{"x":1,\na:1}', 'keys in double quotes'],
    ['a missing comma', '[{"a":1}\n{"a":2}]', 'comma or a quote that is missing'],
    ['a comma too many', '[{"a":1},]', 'Remove the comma'],
    ['a line end within a text', '[{"a":"x\ny"}]', '\\n'],
    ['a number with a leading zero', '[{"a":007}]', 'in double quotes'],
  ])('%s', async (_, text, remedy) => {
    await expect(readText(text)).rejects.toMatchObject({
      code: 'unreadable-json',
      remedy: expect.stringContaining(remedy),
    });
  });

  test.each([
    ['data.*', 'is an object, not a list: write one of its keys there, "a"'],
    ['data.b', '/data has "a"'],
  ])('records %s', async (records, message) => {
    await expect(readText('{"data":{"a":[]}}', mappingOf({ records }))).rejects.toMatchObject({
      code: 'unreadable-records',
      message: expect.stringContaining(message),
    });
  });
});

describe('gzip is unreadable', () => {
  const packed = gzipSync(`${HEADER}\n${rows(100_000, 'A', '\n')}`);

  test.each([
    ['cut off', packed.subarray(0, -9)],
    ['damaged', Buffer.concat([packed.subarray(0, 40), randomBytes(20), packed.subarray(60)])],
    ['followed by something else', Buffer.concat([packed, Buffer.from('2,B,1\n')])],
    ['followed by zeros', Buffer.concat([packed, Buffer.alloc(512)])],
  ])('%s', async (_, bytes) => {
    expect(await whyUnreadable(bytes)).toEqual({ code: 'unreadable-gzip' });
  });

  test('but not in several members', async () => {
    const parts = Buffer.concat([packed, gzipSync('2,B,1\n')]);
    expect(await whyUnreadable(parts)).toEqual({ code: 'readable', records: 100_001 });
  });

  test('when it is a decompression bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'x'));
    expect(await whyUnreadable(bomb)).toMatchObject({ code: 'unreadable-too-large' });
  });
});

test('a file that only looks like a zip archive is unreadable', async () => {
  expect(await whyUnreadable(Buffer.from('PK\x03\x04rest'))).toEqual({ code: 'unreadable-zip' });
});

describe('a file of another kind is refused with what it is and what to do', () => {
  const zip = (...names: string[]) =>
    storeZip(new Map(names.map((name) => [name, Buffer.from('x')])));

  test.each([
    ['a zip archive of tables', zip('a.csv', 'b.csv'), '"a.csv", "b.csv"', 'Unpack it'],
    ['an OpenDocument file', zip('mimetype', 'content.xml'), '(.ods)', 'Save it as .xlsx'],
    ['a Numbers file', zip('Index/Document.iwa'), 'Numbers', 'Save it as .xlsx'],
    ['a Word document', zip('word/document.xml'), 'Word', 'Save it as .xlsx'],
    ['a binary workbook', zip('xl/workbook.bin'), '(.xlsb)', 'Save it as .xlsx'],
    [
      'an old or protected workbook',
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      '(.xls)',
      'without a password',
    ],
    [
      'a web page',
      '<table><tr><td>purchaseOrderNumber</td></tr></table>',
      'web page',
      'save it as .xlsx',
    ],
    [
      'an XML workbook',
      '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><a/>',
      'Excel 2003',
      '.xlsx',
    ],
    ['RTF', '{\\rtf1 a}', 'RTF', 'CSV (UTF-8)'],
    [
      'an e-mail',
      'From: a@b.example\nMIME-Version: 1.0\n\na,b\n',
      'an e-mail message',
      'attachment',
    ],
    [
      'an .fods',
      '<?xml version="1.0"?>\n<office:document a="b"/>',
      'OpenDocument file (.fods)',
      'CSV (UTF-8)',
    ],
    ['an image', Buffer.from('89504e470d0a1a0a', 'hex'), 'image', 'CSV (UTF-8)'],
    ['7-Zip', Buffer.from('377abcaf271c0004', 'hex'), '7-Zip', 'Unpack it'],
    ['Zstandard', Buffer.from('28b52ffd0458', 'hex'), 'Zstandard', 'Unpack it'],
    [
      'JSON within a text',
      '"[{\\"purchaseOrderNumber\\":1}]"',
      'within a string',
      'write the JSON itself',
    ],
    ['JSON in a call', 'callback([{"purchaseOrderNumber":"1"}])', 'JSONP', 'remove what is around'],
    [
      'JSON in a call that is checked',
      '/**/ typeof cb === \'function\' && cb({"orders":[]});',
      'JSONP',
      'callback',
    ],
    ['a JSON text sequence', '\u001e{"purchaseOrderNumber":"1"}\n', 'RFC 7464', 'NDJSON'],
    [
      'JSON behind )]}',
      ')]}\',\n[{"purchaseOrderNumber":"1"}]',
      'a prefix for web pages',
      'first bracket',
    ],
    [
      'JSON behind a loop',
      'while(1);[{"purchaseOrderNumber":"1"}]',
      'a prefix for web pages',
      'first bracket',
    ],
    [
      'JSON behind an endless loop',
      'for(;;);{"orders":[]}',
      'a prefix for web pages',
      'first bracket',
    ],
    [
      'JSON below a comment',
      '// orders\n[{"purchaseOrderNumber":"1"}]',
      'script',
      'Remove what is around',
    ],
  ])('%s', async (_, bytes, what, remedy) => {
    await expect(readText(bytes)).rejects.toMatchObject({
      code: 'unreadable-format',
      message: expect.stringContaining(what),
      remedy: expect.stringContaining(remedy),
    });
  });

  test('a Word document with all of its parts', async () => {
    const type =
      'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
    const relations = `<Relationships><Relationship Id="r1" Type="${type}" Target="word/document.xml"/></Relationships>`;
    const parts = { '_rels/.rels': relations, 'word/document.xml': '<w:document/>' };
    const file = storeZip(
      new Map(Object.entries(parts).map(([name, text]) => [name, Buffer.from(text)])),
    );
    await expect(readText(file)).rejects.toMatchObject({
      code: 'unreadable-format',
      message: 'The file is a Word document.',
    });
  });

  test('UTF-32', async () => {
    const utf32 = Buffer.from(
      Array.from('purchaseOrderNumber').flatMap((one) => [one.charCodeAt(0), 0, 0, 0]),
    );
    expect(await whyUnreadable(utf32)).toMatchObject({ code: 'unreadable-encoding' });
  });

  test('a table with another delimiter than its mapping, which is named', async () => {
    const mapping = mappingOf({ delimiter: ';' });
    await expect(
      readText('purchaseOrderNumber,articleCode,quantity\n1,A,1\n', mapping),
    ).rejects.toMatchObject({
      code: 'unreadable-column-missing',
      remedy: expect.stringContaining('sets the delimiter ";", but the line has ","'),
    });
    await expect(
      readText('"purchaseOrderNumber;articleCode;quantity"\n', mapping),
    ).rejects.toMatchObject({
      remedy: expect.stringContaining('The complete line is in quotes'),
    });
  });

  test('but not a table with a title that looks like a comment, or with lines in quotes', async () => {
    expect(await whyUnreadable(`// from the shop\n${HEADER}\n${rows(1, 'A', '\n')}`)).toMatchObject(
      { records: 1 },
    );
    await expect(readText('"purchaseOrderNumber;articleCode;quantity"\n')).rejects.toMatchObject({
      remedy: expect.stringContaining('The complete line is in quotes'),
    });
  });
});

test.each([
  // A line of one of them would show bytes that are no text.
  ['a PDF', Buffer.from('%PDF-1.7'), {}],
  ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), {}],
  ['a web page', Buffer.from('\n<!DOCTYPE html><html>Please log in</html>'), { line: 1 }],
])('%s is unreadable', async (_, bytes, place) => {
  expect(await whyUnreadable(bytes)).toEqual({ code: 'unreadable-format', ...place });
});

/** One order each. */
function rows(count: number, article: string, newline: string): string {
  return Array.from({ length: count }, (_, i) => `${i},${article},1${newline}`).join('');
}

test('a remedy that changes the mapping is for the operator', () => {
  const folder = new URL('../../src/parse/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const settings = files.flatMap((name) => {
    const text = readFileSync(new URL(name, folder), 'utf8');
    return text
      .split('\n')
      .filter(
        (line) => /\b(?:set|correct|name) [^.]*\bin the mapping\b/i.test(line) && /['`]/.test(line),
      );
  });
  expect(settings.length).toBeGreaterThan(5);
  expect(settings.filter((line) => !/your operator/i.test(line))).toEqual([]);
});
