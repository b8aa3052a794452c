import { escapeHiddenInJson } from '../../order/hidden-characters.ts';
import type { CheckPrinter, FilePrinter } from './check-printer.ts';

/**
 * Writes one JSON document, piece by piece so that its size does not matter:
 * `{"files": [{file, format, records, warnings, problems: [{order, …}], orders, invalid, first} or {file, error}]}`.
 */
export function checkJson(write: (text: string) => void): CheckPrinter {
  const out = (text: string) => write(escapeHiddenInJson(text));
  let files = 0;

  function fileWriter(file: string): FilePrinter {
    const separator = files++ === 0 ? '' : ',';
    let isOpen = false;
    let problems = 0;
    const opening = `${separator}\n{"file":${JSON.stringify(file)}`;
    return {
      onFormat(format, records, warnings) {
        isOpen = true;
        out(`${opening},${members({ format, records, warnings })},"problems":[`);
      },
      onProblem(problem, order) {
        out(`${problems++ === 0 ? '' : ','}\n${JSON.stringify({ order, ...problem })}`);
      },
      done({ orders, invalid, first }) {
        out(`],${members({ orders, invalid, first: first ?? null })}}`);
      },
      failed({ code, message, remedy, facts }) {
        const error = { code, message, ...(remedy !== undefined && { remedy }), ...facts };
        out(`${isOpen ? ']' : opening},${members({ error })}}`);
      },
    };
  }

  return {
    begin: () => out('{"files":['),
    file: fileWriter,
    end: () => out('\n]}\n'),
  };
}

/** An object's members without its braces. */
function members(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}
