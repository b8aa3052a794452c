import { Document, Pair, Scalar, visit, YAMLMap } from 'yaml';
import type { FileWait } from '../order/file-wait.ts';
import { escapeHidden, escapeHiddenInJson, shorten } from '../order/text.ts';
import type { Entry, Proposal } from './propose.ts';

/** Characters of a line, where its content allows it. */
const WIDTH = 100;
const LONGEST_COMMENT = 400;

/**
 * Mappings as YAML to paste into a configuration. What the files say is data: in values it is quoted, in comments it is on
 * one line and bounded.
 */
export function printProposals(proposals: readonly Proposal[]): string {
  const mappings = new YAMLMap();
  for (const { name, files, notes, questions, ...entries } of proposals) {
    const columns = mapOf(entries.columns);
    const mapping = mapOf([...entries.before, { key: 'columns', value: '' }, ...entries.after]);
    mapping.set('columns', columns);
    mapping.commentBefore = [
      `${files.join(', ')}: ${notes.join('; ')}`,
      ...questions.map((one) => `QUESTION: ${one}`),
    ]
      .map(commentOf)
      .join('\n');
    mappings.set(name, mapping);
  }
  const all = new YAMLMap();
  all.set('mappings', mappings);
  const names = proposals.map(({ name }) => name).join(', ');
  return written(all, proposals.length > 1 ? `In the source: mapping: [${names}]` : undefined);
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
  const missing = facts.missing.map((name) => `# not in this file: ${safe(name)}\n`).join('');
  return (missing + (entries.length > 0 ? written(mapOf(entries)) : '')).trimEnd();
}

/** What a person decides about those lines. */
export const DECLARE =
  'Declare these columns in the mapping. Where a value decides whether an order is sent, write send and skip in place of ignore';

const SHOWN = 5;

function mapOf(entries: readonly Entry[]): YAMLMap {
  const map = new YAMLMap();
  const document = new Document();
  for (const { key, value, note = '', question } of entries) {
    const name = new Scalar(key);
    const node = document.createNode(value, { flow: true });
    const text = safe(question === undefined ? note : `QUESTION: ${question}`);
    const isShort = key.length + JSON.stringify(value).length + text.length < WIDTH - 16;
    if (isShort && text !== '') node.comment = ` ${text}`;
    else if (text !== '') name.commentBefore = commentOf(text);
    map.add(new Pair(name, node));
  }
  return map;
}

function written(contents: YAMLMap, comment?: string): string {
  // What an older reader takes for something else than a text is quoted as well.
  const document = new Document(contents, { compat: 'yaml-1.1' });
  if (comment !== undefined) document.comment = commentOf(comment);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'string' && escapeHidden(node.value) !== node.value)
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeHiddenInJson(document.toString({ lineWidth: WIDTH, singleQuote: true }));
}

/** A text of which no character ends the comment. */
function safe(text: string): string {
  return escapeHidden(shorten(text, LONGEST_COMMENT));
}

/** A comment in lines. */
function commentOf(text: string): string {
  return ` ${safe(text).replace(/(.{70,90}?) (?=.{20})/g, '$1\n   ')}`;
}
