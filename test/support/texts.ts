import { parseSync } from 'oxc-parser';

export type Text = { line: number; text: string };

/** Everything in a TypeScript file that a person may read: comments, strings and templates, with the line they begin on. */
export function textsIn(path: string, source: string): Text[] {
  const { program } = parseSync(path, source);
  const found = commentsIn(path, source);
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    else if (typeof node === 'object' && node !== null) {
      // A path is not prose.
      if (
        'type' in node &&
        /^(Import|Export.*From|ExportAll)/.test(String(node.type)) &&
        'source' in node
      )
        return;
      if ('type' in node && 'start' in node) {
        const start = Number(node.start);
        if (node.type === 'Literal' && 'value' in node && typeof node.value === 'string')
          found.push(at(source, start, node.value));
        if (node.type === 'TemplateElement' && 'value' in node) {
          const { raw } = node.value as { raw: string };
          found.push(at(source, start, raw));
        }
      }
      for (const child of Object.values(node)) visit(child);
    }
  };
  visit(program);
  return found;
}

/** The comments of a TypeScript file. */
export function commentsIn(path: string, source: string): Text[] {
  return parseSync(path, source).comments.map(({ start, value }) => at(source, start, value));
}

/** The titles of tests in a file: first argument of `it`, `test` and `describe`, also of their `each`. */
export function titlesIn(source: string): Text[] {
  const calls = source.matchAll(
    /^\s*(?:it|test|describe)\b[^'"`\n]*\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gm,
  );
  return [...calls].map(({ index, 2: title = '' }) => at(source, index, title));
}

function at(source: string, offset: number, text: string): Text {
  return { line: source.slice(0, offset).split('\n').length, text };
}
