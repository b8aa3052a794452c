import type { FileWait } from '../order/file-wait.ts';
import { escapeHidden, shorten } from '../order/text.ts';
import type { Entry, Proposal, Yaml } from './propose.ts';

/** Characters of a line, where its content allows it. */
const WIDTH = 100;
const LONGEST_COMMENT = 400;

/**
 * Mappings as YAML to paste into a configuration. What the files say is data: in values it is quoted, in comments it is on
 * one line and bounded.
 */
export function printProposals(proposals: readonly Proposal[]): string {
  const lines = ['mappings:'];
  for (const proposal of proposals) lines.push(...printProposal(proposal));
  if (proposals.length > 1) {
    const names = proposals.map(({ name }) => scalar(name)).join(', ');
    lines.push('', ...commentLines(`In the source: mapping: [${names}]`, 0));
  }
  return `${lines.join('\n')}\n`;
}

function printProposal({ name, files, notes, questions, ...entries }: Proposal): string[] {
  const { before, columns, after } = entries;
  return [
    `  ${scalar(name)}:`,
    ...commentLines(`${files.join(', ')}: ${notes.join('; ')}`, 4),
    ...questions.flatMap((one) => commentLines(`QUESTION: ${one}`, 4)),
    ...printEntries(before, 4),
    ...(columns.length === 0 ? ['    columns: {}'] : ['    columns:', ...printEntries(columns, 6)]),
    ...printEntries(after, 4),
  ];
}

/**
 * Lines for the mapping of a file that waits for its layout: each column that nobody declared, with its values and their
 * counts. Undefined for what waits for another reason.
 */
export function printUndeclared(facts: FileWait['facts']): string | undefined {
  if (!('undeclared' in facts)) return undefined;
  const entries = facts.undeclared.map(({ name, values, rows, more = 0 }): Entry => {
    const shown = values
      .slice(0, SHOWN)
      .map((one) => `${one.rows}× ${JSON.stringify(shorten(one.value, 30))}`);
    const rest = values.slice(SHOWN).reduce((sum, one) => sum + one.rows, more);
    const others = rest > 0 ? [`${rest}× other`] : [];
    return { key: name, value: 'ignore', note: [...shown, ...others].join(', ') || `${rows} rows` };
  });
  const missing = facts.missing.map((name) => `# not in this file: ${safe(name)}`);
  return [...missing, ...printEntries(entries, 0)].join('\n');
}

/** What a person decides about those lines. */
export const DECLARE =
  'Declare these columns in the mapping. Where a value decides whether an order is sent, write send and skip in place of ignore';

const SHOWN = 5;

/** Widest key that the values of the others are aligned to. */
const ALIGNED = 28;

function printEntries(entries: readonly Entry[], indent: number): string[] {
  const keys = entries.map(({ key }) => scalar(key).length).filter((one) => one <= ALIGNED);
  const width = Math.max(0, ...keys) + 1;
  return entries.flatMap((entry) => {
    const { key, value } = entry;
    const start = `${' '.repeat(indent)}${`${scalar(key)}:`.padEnd(width)} `;
    const comment = commentOf(entry);
    const line = start + flow(value);
    if (comment === '') return fitted(start, value, indent);
    const both = `${line}  # ${comment}`;
    if (both.length <= WIDTH) return [both];
    return [...commentLines(comment, indent), ...fitted(start, value, indent)];
  });
}

function commentOf({ note, question }: Entry): string {
  const parts = [
    ...(question === undefined && note !== undefined ? [note] : []),
    ...(question === undefined ? [] : [`QUESTION: ${question}`]),
  ];
  return safe(parts.join('; '));
}

/** A text of which no character ends the comment. */
function safe(text: string): string {
  return escapeHidden(shorten(text, LONGEST_COMMENT));
}

function commentLines(text: string, indent: number): string[] {
  const start = `${' '.repeat(indent)}# `;
  const lines: string[] = [];
  let line = start;
  for (const word of safe(text).split(' ')) {
    if (line !== start && line.length + word.length > WIDTH) {
      lines.push(line.trimEnd());
      line = `${start}  `;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

/** A value on one line, or the elements of its longest list one a line. */
function fitted(start: string, value: Yaml, indent: number): string[] {
  const line = start + flow(value);
  if (line.length <= WIDTH) return [line];
  const inner = ' '.repeat(indent + 2);
  if (isList(value)) return [start.trimEnd(), ...value.map((one) => `${inner}- ${flow(one)}`)];
  if (typeof value !== 'object') return [line];
  return [
    start.trimEnd(),
    ...Object.entries(value).flatMap(([key, one]) => fitted(`${inner}${key}: `, one, indent + 2)),
  ];
}

function flow(value: Yaml): string {
  if (typeof value === 'string') return scalar(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(flow).join(', ')}]`;
  const entries = Object.entries(value).map(([key, one]) => `${key}: ${flow(one)}`);
  return `{ ${entries.join(', ')} }`;
}

function isList(value: Yaml): value is readonly Yaml[] {
  return Array.isArray(value);
}

/** Words that YAML 1.1 or 1.2 reads as something else than a text. */
const WORDS = /^(?:true|false|yes|no|on|off|y|n|null)$/i;
const PLAIN = /^[A-Za-z_][\w-]*(?:[. ][\w-]+)*$/;

/** A text as a scalar of YAML, wherever it is. */
function scalar(text: string): string {
  if (PLAIN.test(text) && !WORDS.test(text)) return text;
  // Between single quotes every character stands for itself; a long key must not be explicit.
  if (escapeHidden(text) === text && !/\ufeff|\p{Cn}/u.test(text))
    return `'${text.replaceAll("'", "''")}'`;
  return JSON.stringify(text).replace(/[\x7f-\uffff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
