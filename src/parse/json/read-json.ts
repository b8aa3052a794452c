import { LIMITS } from '../limits.ts';
import { type Line, linesOf, newlineOf } from '../lines.ts';
import { stepsOf } from '../names.ts';
import { paged } from '../pages.ts';
import type { ObjectRecord } from '../record.ts';
import type { Pass, Source } from '../source.ts';
import { tooLarge } from '../unreadable.ts';
import { type Found, findList } from './find-list.ts';
import { JsonText } from './json-text.ts';

/** A complete pass over one JSON document: the elements of its list, or itself. All of it is checked before. */
export async function* readJson(
  source: Source,
  pass: Pass,
): AsyncGenerator<readonly ObjectRecord[]> {
  pass.newline = newlineOf(source.start);
  const document = new JsonText(await wholeText(source.content(pass)), {
    line: 1,
    isWhole: false,
  });
  const found = findList(document, stepsOf(source.declared.records));
  pass.beside = found.beside;
  yield* paged(recordsIn(document, found));
}

/** A complete pass over JSON line by line: each value, or the elements of the list in it that is declared. */
export async function* readNdjson(
  source: Source,
  pass: Pass,
): AsyncGenerator<readonly ObjectRecord[]> {
  pass.newline = newlineOf(source.start);
  const steps = stepsOf(source.declared.records) ?? [];
  const beside = new Set<string>();

  function* recordsOf(lines: readonly Line[]): Generator<ObjectRecord> {
    for (const { line, text, isOpen } of lines) {
      if (text.trim() === '') continue;
      const document = new JsonText(text, { line, isWhole: !isOpen });
      const found = findList(document, steps);
      for (const name of found.beside) if (beside.size < LIMITS.names) beside.add(name);
      yield* recordsIn(document, found);
    }
  }

  for await (const lines of linesOf(source.content(pass), pass.newline))
    yield* paged(recordsOf(lines));
  pass.beside = [...beside];
}

async function wholeText(content: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > LIMITS.document) throw tooLarge('The JSON document', LIMITS.document, 'bytes');
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks).toString();
}

function* recordsIn(document: JsonText, { at, pointer }: Found): Generator<ObjectRecord> {
  if (document.opens(at) !== '[') {
    yield { kind: 'object', pointer, ...document.value(at) };
    return;
  }
  let index = 0;
  for (const one of document.parts(at))
    yield { kind: 'object', pointer: `${pointer}/${index++}`, ...document.value(one) };
}
