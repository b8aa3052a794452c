import { z } from 'zod';
import { PoSyncError } from '../core/errors.ts';
import type { OperationContext } from '../operate/operation-context.ts';

/**
 * One thing that people and programs can do with an environment. Its command, its route, its reference and the schema of its
 * answer are made from it.
 */
export type Operation<Input extends z.ZodObject = z.ZodObject, Result = unknown> = {
  /** The words of the command; with slashes, the route. */
  name: string;
  summary: string;
  /** The flags of the command, which are the parameters of the route. */
  input: Input;
  output: z.ZodType;
  /** What a person needs; `read` changes nothing. */
  role: 'read' | 'operate';
  /** Answers also while Redis is not reachable. */
  isLasting?: true;
  examples: readonly string[];
  exits: readonly (readonly [code: string, meaning: string])[];
  /** The code that does it, loaded on demand. */
  load(): Promise<Work<z.output<Input>, Result>>;
};

export type Work<Input, Result> = {
  run(input: Input, context: OperationContext): Promise<Result>;
  /** The answer as `output` describes it. */
  json(result: Result): object;
};

/** Keeps the types of input and result together. */
export function operation<Input extends z.ZodObject, Result>(
  one: Operation<Input, Result>,
): Operation<Input, Result> {
  return one;
}

/** The answer to a program. `given`: parameters as text, or values of JSON. */
export async function answer(
  one: Operation,
  given: Readonly<Record<string, unknown>>,
  context: OperationContext,
): Promise<object> {
  const { run, json } = await one.load();
  return json(await run(readInput(one, given), context));
}

/** A parameter as JSON Schema. `x-argument`: the command takes it without a flag; `x-value`: how its help calls the value. */
export type Parameter = {
  type?: 'string' | 'boolean' | 'integer' | 'array';
  description?: string;
  default?: unknown;
  enum?: string[];
  'x-argument'?: true;
  'x-value'?: string;
};

/** The parameters of an operation by name. */
export function parametersOf({ input }: Pick<Operation, 'input'>) {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  return { parameters: properties as Record<string, Parameter>, required };
}

/** Reads what a program gave. An empty text counts as absent, as forms send it. PoSyncError `parameter-wrong`. */
export function readInput<Input extends z.ZodObject>(
  one: Pick<Operation<Input>, 'input'>,
  given: Readonly<Record<string, unknown>>,
): z.output<Input> {
  const { parameters } = parametersOf(one);
  const values = Object.entries(given).flatMap(([name, value]) =>
    value === '' || value === undefined
      ? []
      : [[name, typedValue(parameters[name], value)] as const],
  );
  const read = one.input.safeParse(Object.fromEntries(values));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const known = Object.keys(parameters).join(', ') || 'none';
  if (issue?.code === 'unrecognized_keys') {
    const name = shownName(issue.keys[0] ?? '');
    throw wrong(name, `Unknown parameter ${name}.`, `Use ${known}.`);
  }
  const name = String(issue?.path[0] ?? '');
  if (given[name] === undefined || given[name] === '')
    throw wrong(name, `Parameter ${name} is missing.`, parameters[name]?.description);
  throw wrong(name, `Parameter ${name} is wrong: ${issue?.message}`);
}

/** A text as the type that a parameter has. */
export function typedValue({ type }: Parameter = {}, value: unknown): unknown {
  if (type === 'array') return [value].flat();
  if (typeof value !== 'string') return value;
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  return type === 'integer' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

/** A name that looks like one; anything else in an address may be a secret. */
function shownName(name: string): string {
  return /^[A-Za-z]{1,20}$/.test(name) ? name : '…';
}

function wrong(name: string, message: string, remedy?: string): PoSyncError {
  return new PoSyncError('parameter-wrong', message, {
    ...(remedy === undefined ? {} : { remedy }),
    facts: { parameter: name },
  });
}
