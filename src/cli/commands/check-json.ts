import type { PoSyncError } from '../../core/errors.ts';
import { escapeHiddenInJson } from '../../order/hidden-characters.ts';
import type { Order } from '../../order/order.ts';
import type { FileFormat, Problem } from '../../order/record.ts';
import { errorDocument } from '../terminal/print.ts';

/** Prints what `check` finds, for people or programs. */
export type CheckPrinter = {
  begin(): void;
  file(file: string): FilePrinter;
  end(): void;
};

/** Prints one file: its format, each problem as it is found, then the result. */
export type FilePrinter = {
  onFormat(format: FileFormat, records: number, warnings: readonly string[]): void;
  /** `order` is the order's number, "" if it has none. */
  onProblem(problem: Problem, order: string): void;
  done(checked: CheckedFile): void;
  failed(error: PoSyncError): void;
};

/** The content of a readable file. `first` is its first valid order, exactly as it would be sent. */
export type CheckedFile = { orders: number; invalid: number; first?: Order };

/**
 * Prints one JSON document, piece by piece so that its size does not matter:
 * `{"files": [{file, format, records, warnings, problems: [{order, …}], orders, invalid, first} or {file, error}]}`.
 */
export function createJsonPrinter(write: (text: string) => void): CheckPrinter {
  const out = (text: string) => write(escapeHiddenInJson(text));
  let files = 0;

  function filePrinter(file: string): FilePrinter {
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
      failed(error) {
        out(`${isOpen ? ']' : opening},${members({ error: errorDocument(error) })}}`);
      },
    };
  }

  return {
    begin: () => out('{"files":['),
    file: filePrinter,
    end: () => out('\n]}\n'),
  };
}

/** An object's members without its braces. */
function members(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}
