/** Number formats that show more than the number: by the style's index, such as `00000` or `"PO-"0000`. */
export type NumberMasks = ReadonlyMap<number, string>;

const MASK = /^(?:0|"[^"]*"|\\.|[- /])+$/;
const PIECE = /"([^"]*)"|\\(.)|(.)/g;
const CELL = /<c\s((?:[^>"]|"[^"]*")*)>((?:<f(?:[^>"]|"[^"]*")*(?:\/>|>[^<]*<\/f>))?)<v>(\d{1,15})<\/v><\/c>/g;

/** Which styles of a workbook show a number with leading zeros or fixed letters (ECMA-376 part 1, 18.8.30). */
export function findMasks(styles: string): NumberMasks {
  const formats = new Map<string, string>();
  for (const [tag] of styles.matchAll(/<numFmt\s[^>]*>/g)) {
    const code = unescaped(attributeOf(tag, 'formatCode') ?? '');
    if (MASK.test(code) && zerosIn(code) > 1) formats.set(attributeOf(tag, 'numFmtId') ?? '', code);
  }
  const [, cells = ''] = /<cellXfs\b[^>]*>([\s\S]*?)<\/cellXfs>/.exec(styles) ?? [];
  const masks = [...cells.matchAll(/<xf\b[^>]*>/g)].map(([tag]) => formats.get(attributeOf(tag, 'numFmtId') ?? ''));
  return new Map(masks.flatMap((mask, index) => (mask === undefined ? [] : [[index, mask] as const])));
}

/** A sheet's XML in which the numbers with a mask are texts, as they are shown. */
export function applyMasks(sheet: string, masks: NumberMasks): string {
  if (masks.size === 0) return sheet;
  return sheet.replace(CELL, (cell: string, attributes: string, formula: string, digits: string) => {
    const mask = masks.get(Number(attributeOf(` ${attributes}`, 's') ?? -1));
    const type = attributeOf(` ${attributes}`, 't');
    if (mask === undefined || (type !== undefined && type !== 'n')) return cell;
    const kept = attributes.replace(/(?:^|\s)t="[^"]*"/, '');
    return `<c ${kept} t="str">${formula}<v>${escaped(shown(digits, mask))}</v></c>`;
  });
}

/** The digits fill the zeros from the right; what is left over stands before the first. */
function shown(digits: string, mask: string): string {
  const pieces = [...mask.matchAll(PIECE)].map(([, quoted, single, other]) => ({
    literal: quoted ?? single ?? (other === '0' ? undefined : other),
  }));
  let filled = digits.padStart(zerosIn(mask), '0');
  let left = zerosIn(mask);
  let text = '';
  for (const { literal } of pieces) {
    if (literal === undefined) {
      const take = filled.length - (left - 1);
      text += filled.slice(0, take);
      filled = filled.slice(take);
      left -= 1;
    } else text += literal;
  }
  return text;
}

function zerosIn(mask: string): number {
  return [...mask.matchAll(PIECE)].filter(([, , , other]) => other === '0').length;
}

function attributeOf(tag: string, name: string): string | undefined {
  const [, value] = new RegExp(`\\s${name}\\s*=\\s*"([^"]*)"`).exec(tag) ?? [];
  return value;
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(quot|amp|lt|gt|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (deadLetter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[deadLetter] ?? deadLetter);
}
