import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { commentsIn, type Text, textsIn, titlesIn } from './support/texts.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Words that a reader of plain technical English would stumble over, and what to write instead. */
const WORDS: [RegExp, string][] = [
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, fixed, remedy'],
  [
    /(?<!\b(?:can|cannot|could|not|to|would) )\b(?:told|tells?)\b(?! apart)/i,
    'reports, shows, logs, says',
  ],
  [/\bl(?:ies|ie|ain)\b/i, 'is'],
  [/\bstands?\b(?! for)/i, 'is'],
  [/\bg(?:ive|ives|iven|ave|iving) up\b/i, 'discard, fail, stop'],
  [/\bg(?:o|oes|oing) on\b/i, 'continues, resumes, running'],
  [/(?<!not-)\bwhole\b(?! numbers?\b)/i, 'complete, all'],
  [/\bbelongs? into\b/i, 'belongs in'],
  [
    /\b(?:by|of) it(?:self|s own)\b|\bby themselves\b|\bof (?:their|our) own\b/i,
    'automatically, separate, private',
  ],
  [/\bfor ever\b/i, 'forever'],
  [/\bso long (?:a|as)\b/i, 'as long as'],
  [/\bspec(?:ification)? part\b|\bproduct\.md\b/i, 'API part N, docs/how-it-works.md'],
  [/\bbehaviou?r(?<=our)|\bcolour|\bneutralis|\blicence|\bcatalogue\b/i, 'American spelling'],
  [/\bblanks\b|\b(?:a|one|the) blank\b(?! (?:order|number|row|line|cell))/i, 'space, spaces'],
  [/\bhand(?:s|ed|ing)? (?:\w+ )?in\b(?! (?:hand|a|an|the|its|one)\b)/i, 'submit, upload'],
  [/\bsigns? of life\b/i, 'heartbeat'],
  [/\btruth values?\b/i, 'boolean'],
  [/\bstood still\b/i, 'was suspended'],
  [/\bcalled off\b/i, 'cancelled'],
  [/\bpower cuts?\b/i, 'power failure'],
  [/\bRedis (?:is|was) away\b/i, 'Redis is not reachable'],
  [
    /\bpo-sync (?!completion )[\w -]*\w\|\w/,
    'one command that can be pasted: a shell reads | as a pipe',
  ],
  [/\btake-over\b|\btook over the ledger\b/i, 'ledger rebuild'],
];

function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.startsWith('decisions'))
    .map((name) => path.join(folder, name))
    .sort();
}

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const linesOf = (text: string): Text[] =>
  text.split('\n').map((line, index) => ({ line: index + 1, text: line }));

function found(file: string, texts: readonly Text[]): string[] {
  return texts.flatMap(({ line, text }) =>
    WORDS.flatMap(([word, better]) => {
      const match = word.exec(text);
      return match ? [`${file}:${line} "${match[0]}": ${better}`] : [];
    }),
  );
}

const findings = [
  ...filesBelow('src', /\.ts$/).flatMap((file) => found(file, textsIn(file, read(file)))),
  ...filesBelow('src', /\.lua$/).flatMap((file) =>
    found(
      file,
      linesOf(read(file)).filter(({ text }) => /--/.test(text)),
    ),
  ),
  ...filesBelow('test', /\.(?:test|corpus)\.ts$/).flatMap((file) =>
    found(file, titlesIn(read(file))),
  ),
  ...filesBelow('test', /\.ts$/).flatMap((file) => found(file, commentsIn(file, read(file)))),
  ...[...filesBelow('docs', /\.md$/), 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md'].flatMap(
    (file) => found(file, linesOf(read(file))),
  ),
  ...[...filesBelow('config', /\.ya?ml$/), ...filesBelow('bin', /\.mjs$/)].flatMap((file) =>
    found(file, linesOf(read(file))),
  ),
];
it('nothing that people read uses a word with a plainer one', () => {
  expect(findings).toEqual([]);
});

/** Errors without a remedy: their message is the instruction, their caller adds one, or they never reach a person. */
const WITHOUT_REMEDY = new Set(
  `body-wrong parameter-wrong method-not-allowed body-type asset-unknown
  redis-master-unknown token-unavailable no-answer no-data list-too-large file-trouble export-trouble
  ledger-rolled-back intent-late delivery-paused file-changed not-a-file environment-unknown`.split(
    /\s+/,
  ),
);

/** The code of each `new PoSyncError(…)` without a remedy; of a call whose arguments are variables, nothing. */
function withoutRemedy(text: string): string[] {
  return text
    .split(/\bnew PoSyncError\(/)
    .slice(1)
    .flatMap((after) => {
      const call = after.slice(0, endOfCall(after));
      const code = /^\s*'([\w-]+)'/.exec(call)?.[1];
      return code === undefined || /remedy/i.test(call) ? [] : [code];
    });
}

function endOfCall(text: string): number {
  let depth = 1;
  for (const { 0: bracket, index } of text.matchAll(/[()]/g)) {
    depth += bracket === '(' ? 1 : -1;
    if (depth === 0) return index;
  }
  return text.length;
}

it('an error says what to do', () => {
  const found = filesBelow('src', /\.ts$/).flatMap((file) =>
    withoutRemedy(read(file)).flatMap((code) =>
      WITHOUT_REMEDY.has(code) ? [] : [`${file}: ${code}`],
    ),
  );
  expect(found).toEqual([]);
});
