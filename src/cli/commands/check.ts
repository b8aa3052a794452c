import path from 'node:path';
import { type Config, type NamedMapping, startCommandOf } from '../../config/config.ts';
import { sourceSchema } from '../../config/source-schema.ts';
import { PoSyncError } from '../../core/errors.ts';
import type { Inspection } from '../../correct/inspection.ts';
import type { ReadAs, ReadAsDeps } from '../../correct/read-as.ts';
import { ordersToSend } from '../../correct/read-orders.ts';
import { mappingDigest } from '../../intake/export-versions.ts';
import type { ListTrouble } from '../../operate/delivery/api-list.ts';
import { listFailed } from '../../operate/delivery/reconcile-ledger.ts';
import { sourceIfAny } from '../../operate/named-source.ts';
import { checkFile, columnUses } from '../../operate/orders/check-file.ts';
import {
  createPreviewer,
  type Previewer,
  type Verdict,
} from '../../operate/orders/preview-orders.ts';
import type { CheckedOrder, InvalidOrder } from '../../order/order.ts';
import { isNameless } from '../../report/story.ts';
import { type CommonArgs, configIfAny, openOperatorContext } from '../load-config.ts';
import type { Shell } from '../shell.ts';
import { printable } from '../terminal/print.ts';
import {
  type CheckedFile,
  type CheckPrinter,
  createJsonPrinter,
  createTextPrinter,
  type FilePrinter,
} from './check-printers.ts';

export type CheckArgs = CommonArgs & {
  files: readonly string[];
  source?: string;
  preview?: boolean;
  orders?: boolean;
};

/**
 * `check`: reads, maps and checks files as the daemon would, and sends nothing. Without a configuration the standard
 * columns apply. `--preview` compares the orders with the ledger and the API's list; `--orders` lists each that would be
 * sent. Exit code 0: every order is valid; 2: something needs a person; 1: a file, or the list that the API offers, could
 * not be read.
 * Throws PoSyncError `source-unknown`, and like `openConfig` if a configuration was named.
 */
export async function checkCommand(args: CheckArgs, shell: Shell): Promise<number> {
  if (!args.preview) return checkFiles(args, shell, await configIfAny(args, shell));
  await using context = await openOperatorContext(args, shell, { confirm: false });
  const previewer = await createPreviewer(context, shell.env);
  const code = await checkFiles(args, shell, context.config, previewer);
  // Where an API offers no list, delivery does without it, too.
  const { trouble } = previewer;
  if (trouble?.isOffered !== true) return code;
  if (!args.json) shell.err(notComparedText(trouble, context.config));
  return trouble.unproved === undefined ? 1 : code;
}

function notComparedText({ reason, unproved }: ListTrouble, config: Config): string {
  if (unproved) return `The API's list was read; ${reason}.\n`;
  const { message, remedy } = listFailed(reason, startCommandOf(config));
  return `${printable(`${message} ${remedy}`)}\n`;
}

/** Checks the files with mappings that are in no configuration. */
export async function checkWith(
  mappings: readonly NamedMapping[],
  args: Omit<CheckArgs, 'source'>,
  shell: Shell,
): Promise<number> {
  const source = sourceSchema.parse({ name: 'map', type: 'inbox', path: shell.cwd });
  return await checkFiles(args, shell, {
    ...NO_CONFIG,
    sources: [{ ...source, mapping: mappings.map(({ name }) => name) }],
    mappings: Object.fromEntries(mappings.map(({ name, mapping }) => [name, mapping])),
  });
}

/** Checks the files with the mapping of a configuration; `undefined`: with the standard columns. */
export async function checkFiles(
  args: CheckArgs,
  shell: Shell,
  config: Readings['config'] | undefined,
  previewer?: Previewer,
): Promise<number> {
  const sourceOf = (file?: string) => config && sourceIfAny(args.source, config, file)?.name;
  // An unknown name is refused before anything is printed.
  sourceOf();
  const { orders = false } = args;
  const readings = { config: config ?? NO_CONFIG, signal: shell.signal, previewer, orders };
  const printer: CheckPrinter = args.json
    ? createJsonPrinter((text) => shell.out(text))
    : createTextPrinter(shell);
  printer.begin();
  let code = 0;
  for (const file of args.files) {
    const place = path.resolve(shell.cwd, file);
    const isChosen = args.source === undefined && readings.config.sources.length > 1;
    const source = sourceOf(place);
    const found = await checkOne(place, { ...readings, source, isChosen }, printer.file(file));
    code = code === 1 ? 1 : found === 1 ? 1 : Math.max(code, found);
  }
  printer.end();
  return code;
}

/** What files are read with: `source` is the one they are checked for. */
type Readings = {
  config: ReadAsDeps['config'];
  source: string | undefined;
  /** That source was chosen among several, because none was named. */
  isChosen: boolean;
  signal: AbortSignal;
  previewer: Previewer | undefined;
  orders: boolean;
};

const NO_CONFIG: Readings['config'] = {
  environment: '',
  environments: {},
  sources: [],
  mappings: {},
  reports: { path: '', keep: 0 },
};

async function checkOne(
  file: string,
  readings: Readings,
  printer: FilePrinter,
): Promise<0 | 1 | 2> {
  try {
    const checked = await checkOrders(file, readings, printer);
    printer.done(checked);
    const { invalid, preview, waits } = checked;
    if (waits) return 2;
    return (preview ? preview.invalid + preview.conflict + preview.waiting : invalid) > 0 ? 2 : 0;
  } catch (error) {
    if (!(error instanceof PoSyncError)) throw error;
    printer.failed(readings.isChosen ? withSource(error, readings) : error);
    return error.code.startsWith('unreadable-') ? 2 : 1;
  }
}

/** Names the source whose mapping was used: another one may read the file. */
function withSource(error: PoSyncError, { source, config: { sources } }: Readings): PoSyncError {
  const mapping = sources.find(({ name }) => name === source)?.mapping;
  if (source === undefined) return error;
  const used = `It was checked for source ${source} (${mapping === undefined ? 'without a mapping' : `mapping ${[mapping].flat().join(', ')}`})`;
  const remedy = [error.remedy, `${used}, because no --source was given.`]
    .filter((text) => text !== undefined)
    .join(' ');
  return new PoSyncError(error.code, error.message, { remedy, facts: error.facts });
}

/** Throws like `inspectFile`. */
async function checkOrders(
  file: string,
  readings: Readings,
  printer: FilePrinter,
): Promise<CheckedFile> {
  const { config, source, signal, previewer, orders } = readings;
  const checked: CheckedFile = { orders: 0, nameless: 0, invalid: 0, waits: false };
  const isSent: boolean[] = [];
  let preview: ReturnType<Previewer['file']> | undefined;

  function begin({ isFixFile = false }: Inspection): void {
    const facts = { again: isFixFile, ...(source && { mapping: mappingDigest(source, config) }) };
    preview = previewer?.file(facts, compared);
  }

  function compared({ verdict, order, number, problems = [] }: Verdict): void {
    for (const problem of problems) printer.onProblem({ ...problem, value: '' }, number, false);
    checked.invalid += Number(problems.length > 0);
    isSent.push(verdict === 'new');
    if (verdict === 'new' && order) checked.first ??= order;
  }

  function count(order: CheckedOrder): void {
    checked.orders += 1;
    if (!preview) {
      isSent.push(order.valid);
      if (order.valid) checked.first ??= order.order;
    }
    if (!order.valid) hold(order);
  }

  function hold({ number, place, problems }: InvalidOrder): void {
    checked.invalid += 1;
    const isRow = isNameless({ purchaseOrderNumber: number, location: place });
    checked.nameless += Number(isRow);
    for (const problem of problems) printer.onProblem(problem, number, isRow);
  }

  // Batches are found by their reports, because `check` does not ask Redis.
  const batches = { find: () => Promise.resolve(undefined) };
  const inspection = await checkFile(
    { path: file, source: source ?? '' },
    { config, batches, signal },
    {
      inspected({ inspection }: ReadAs) {
        printFormat(inspection, printer);
        begin(inspection);
      },
      order(order) {
        count(order);
        return preview?.add(order);
      },
    },
  );
  checked.waits = inspection.waits !== undefined;
  const result = await preview?.done();
  if (orders) await printer.onOrders(ordersToSend(file, inspection, { isSent, signal }));
  return result
    ? { ...checked, preview: { ...result, list: previewer?.trouble?.reason ?? 'ok' } }
    : checked;
}

function printFormat(inspection: Inspection, printer: FilePrinter): void {
  const { shape, records, warnings, waits } = inspection;
  const columns = columnUses(inspection);
  printer.onFormat(shape.format, records, { warnings, columns, waits });
}
