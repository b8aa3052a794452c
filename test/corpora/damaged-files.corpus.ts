import { randomInt } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ENCODINGS } from '../../src/config/mapping-schema.ts';
import { PoSyncError } from '../../src/core/errors.ts';
import type { Problem } from '../../src/order/record.ts';
import { singleByteTable } from '../../src/parse/code-pages.ts';
import { csv, DAMAGES, type Pick, type Table } from '../support/damages.ts';
import { CSV_LAYOUTS } from '../support/layout-damages.ts';
import { OBJECT_DAMAGES, WRITERS } from '../support/object-damages.ts';
import { mappingOf, type ReadFile, readText } from '../support/read-text.ts';
import { WORKBOOK_DAMAGES, workbookOf } from '../support/workbook-damages.ts';

// A correct file is damaged in each of these ways, again and again: what is sent is always an order of the correct file.

const RUNS = Number(process.env['CORPUS_RUNS'] ?? 300);
const ARTICLES = [
  'A-1',
  'Schräge 30°',
  '000123',
  '4711',
  'Größe-XL',
  'PUMP 7',
  'Ж-9',
  'naïve',
  '1-2',
  'B/200',
];

/** Numbers that repeat for a given seed. */
function picker(seed: number): Pick {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * Math.max(1, limit));
  };
}

/** Orders with one to four different articles. Letters that the single-byte encodings lack are left out of the text. */
function makeTable(pick: Pick): Table {
  const hasText = pick(2) === 0;
  const style = pick(3);
  const rows = Array.from({ length: 3 + pick(6) }, (_, i) => {
    const number =
      style === 0 ? `PO-${100 + i}` : style === 1 ? `00450001${10 + i}` : `4500017${800 + i}`;
    const first = pick(ARTICLES.length);
    return Array.from({ length: 1 + pick(4) }, (_, k) => {
      const article = (ARTICLES[(first + k) % ARTICLES.length] ?? '').replace('Ж', 'Z');
      const row = [number, article, String(1 + pick(pick(2) === 0 ? 20 : 5000))];
      return hasText ? [...row, ['', 'urgent', 'für Halle 3'][pick(3)] ?? ''] : row;
    });
  }).flat();
  return {
    header: ['purchaseOrderNumber', 'articleCode', 'quantity', ...(hasText ? ['text'] : [])],
    rows,
  };
}

/** What a file would send, by order: its items, sorted. */
async function sentOf(content: string | Buffer): Promise<Map<string, string>[]> {
  try {
    const { orders } = await readText(content);
    return orders.flatMap((one) => {
      if (!one.valid) {
        for (const problem of one.problems) expectHelp(problem);
        return [];
      }
      const items = one.order.items.map(({ articleCode, quantity }) =>
        JSON.stringify([articleCode, quantity]),
      );
      return [new Map([[one.number, items.toSorted((a, b) => (a < b ? -1 : 1)).join(' ')]])];
    });
  } catch (error) {
    if (!(error instanceof PoSyncError) || !error.code.startsWith('unreadable')) throw error;
    return [];
  }
}

/** How the message of such a code begins its second reading. */
const SECOND_READING: Readonly<Record<string, RegExp>> = {
  'two-readings': / can be (?:the text|read) as it is\b.*, or /,
  'encoding-unsure': /^can be read as .+\(.+\)/,
  'ambiguous-number': / can be (?:read in two ways; |the quantity, or )/,
};

/** A held order says where and what, and how else its value can be read. */
function expectHelp({ line, code, message }: Problem): void {
  expect(line, message).toBeGreaterThan(0);
  expect(message.length, code).toBeGreaterThan(10);
  const second = SECOND_READING[code];
  if (second === undefined) return;
  expect(message).toMatch(second);
}

describe('a damaged file sends nothing that the correct file does not', () => {
  test.each(Object.entries({ ...DAMAGES, ...CSV_LAYOUTS }))('%s', async (_, damage) => {
    for (let run = 0; run < RUNS; run++) {
      const seed = randomInt(2 ** 32 - 1);
      const pick = picker(seed);
      const table = makeTable(pick);
      const right = new Map((await sentOf(csv(table))).flatMap((one) => [...one]));
      const damaged = damage(table, pick);
      for (const [number, items] of (await sentOf(damaged)).flatMap((one) => [...one])) {
        expect(items, `seed ${seed}, order ${number} of\n${damaged.toString()}`).toBe(
          right.get(number),
        );
      }
    }
  });
});

describe('a workbook that is damaged sends nothing that the correct one does not', () => {
  test.each(Object.entries(WORKBOOK_DAMAGES))('%s', async (_, damage) => {
    for (let run = 0; run < RUNS / 30; run++) {
      const seed = randomInt(2 ** 32 - 1);
      const pick = picker(seed);
      const table = makeTable(pick);
      const right = new Map((await sentOf(csv(table))).flatMap((one) => [...one]));
      for (const [number, items] of (await sentOf(damage(table, pick))).flatMap((one) => [...one]))
        expect(items, `seed ${seed}, order ${number} of\n${csv(table)}`).toBe(right.get(number));
    }
  });

  test('undamaged sends what the table sends', async () => {
    for (let run = 0; run < RUNS / 30; run++) {
      const table = makeTable(picker(randomInt(2 ** 32 - 1)));
      expect(await sentOf(workbookOf(table))).toEqual(await sentOf(csv(table)));
    }
  });
});

describe.each(Object.entries(WRITERS))(
  '%s that is damaged sends nothing that the correct file does not',
  (form, writer) => {
    const fitting = Object.entries(OBJECT_DAMAGES).filter(
      ([, { flatOnly, needsEnd, notIn }]) =>
        (writer.isFlat || flatOnly !== true) &&
        (writer.hasEnd || needsEnd !== true) &&
        notIn?.test(form) !== true,
    );

    test.each(fitting)('%s', async (_, damage) => {
      for (let run = 0; run < RUNS / 5; run++) {
        const seed = randomInt(2 ** 32 - 1);
        const pick = picker(seed);
        const table = makeTable(pick);
        const right = new Map((await sentOf(csv(table))).flatMap((one) => [...one]));
        const damaged = damage.of(writer.write, table, pick);
        for (const [number, items] of (await sentOf(damaged)).flatMap((one) => [...one])) {
          expect(items, `seed ${seed}, order ${number} of\n${damaged.toString()}`).toBe(
            right.get(number),
          );
        }
      }
    });

    test('undamaged sends what the table sends', async () => {
      for (let run = 0; run < RUNS / 5; run++) {
        const table = makeTable(picker(randomInt(2 ** 32 - 1)));
        expect(await sentOf(writer.write(table))).toEqual(await sentOf(csv(table)));
      }
    });
  },
);

const WORDS = [
  'Schräge',
  'Größe',
  'pièce',
  'tornillo añil',
  'śruba',
  'šroub',
  'csavarfű',
  'Болт',
  'гвинтїй',
  'βίδα',
  'vidalığı',
  'בורג',
  'برغي',
  'skrūve',
];

/** Every word in every encoding of one byte for a character that has all of its letters. */
const ENCODED = ENCODINGS.filter(
  (encoding) => !/^utf|jis|^euc|^gb|^big5|^iso-8859-1$/.test(encoding),
).flatMap((encoding) => {
  const table = singleByteTable(encoding);
  const fitting = WORDS.filter((word) =>
    Array.from(word).every((letter) => table.includes(letter)),
  );
  return fitting.map((word) => ({
    encoding,
    word,
    bytes: Buffer.from(Array.from(word, (letter) => table.indexOf(letter))),
  }));
});

describe('an article in another encoding', () => {
  const around = (bytes: Buffer) =>
    Buffer.concat([
      Buffer.from('purchaseOrderNumber;articleCode;quantity\n1;'),
      bytes,
      Buffer.from(';1\n'),
    ]);
  const sentArticle = ({ orders: [first] }: ReadFile) =>
    first?.valid ? first.order.items[0]?.articleCode : undefined;

  test('has enough pairs of encoding and language', () => {
    expect(new Set(ENCODED.map(({ encoding }) => encoding)).size).toBeGreaterThan(15);
    expect(ENCODED.length).toBeGreaterThanOrEqual(23);
  });

  test.each(ENCODED)(
    'is sent as it was written, or held: $word in $encoding',
    async ({ encoding, word, bytes }) => {
      const [guessed] = await sentOf(around(bytes));
      expect([JSON.stringify([word, 1]), undefined]).toContain(guessed?.get('1'));
      expect(sentArticle(await readText(around(bytes), mappingOf({ encoding })))).toBe(word);
    },
  );
});
