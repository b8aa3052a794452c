import path from 'node:path';
import type { Config, Mapping } from '../../config/config.ts';
import { PoSyncError } from '../../core/errors.ts';
import { inspectFile } from '../../parse/inspect.ts';
import { readOrders } from '../../validate/read-orders.ts';
import { type CommonArgs, configIfAny, mappingForSource } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import {
  type CheckedFile,
  type CheckPrinter,
  createJsonPrinter,
  createTextPrinter,
  type FilePrinter,
} from './check-printers.ts';

export type CheckArgs = CommonArgs & { files: readonly string[]; source?: string };

/**
 * `check`: reads, maps and checks files as the daemon would, and sends nothing. Without a configuration the standard
 * columns apply. Exit code 0: every order is valid; 2: something needs a person; 1: a file could not be read.
 * Throws PoSyncError `source-unknown`, and like `openConfig` if a configuration was named.
 */
export async function checkCommand(args: CheckArgs, shell: Shell): Promise<number> {
  return checkFiles(args, shell, await configIfAny(args, shell));
}

/** Checks the files with the mapping of a configuration; `undefined`: with the standard columns. */
export async function checkFiles(args: CheckArgs, shell: Shell, config: Config | undefined): Promise<number> {
  const mapping = config && mappingForSource(args.source, config);
  const printer: CheckPrinter = args.json ? createJsonPrinter((text) => shell.out(text)) : createTextPrinter(shell);
  printer.begin();
  let code = 0;
  for (const file of args.files) {
    const found = await checkOne(path.resolve(shell.cwd, file), mapping, printer.file(file), shell.signal);
    code = code === 1 ? 1 : found === 1 ? 1 : Math.max(code, found);
  }
  printer.end();
  return code;
}

async function checkOne(
  file: string,
  mapping: Mapping | undefined,
  printer: FilePrinter,
  signal: AbortSignal,
): Promise<0 | 1 | 2> {
  try {
    const checked = await checkOrders(file, mapping, printer, signal);
    printer.done(checked);
    return checked.invalid > 0 ? 2 : 0;
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    printer.failed(error);
    return error.code.startsWith('unreadable-') ? 2 : 1;
  }
}

/** Throws like `inspectFile`. */
async function checkOrders(
  file: string,
  mapping: Mapping | undefined,
  printer: FilePrinter,
  signal: AbortSignal,
): Promise<CheckedFile> {
  const inspection = await inspectFile(file, mapping, { signal });
  printer.onFormat(inspection.shape.format, inspection.records, inspection.warnings);
  const checked: CheckedFile = { orders: 0, invalid: 0 };
  for await (const order of readOrders(file, inspection, { signal })) {
    checked.orders += 1;
    if (order.valid) {
      checked.first ??= order.order;
      continue;
    }
    checked.invalid += 1;
    for (const problem of order.problems) printer.onProblem(problem, order.number);
  }
  return checked;
}
