import { z } from 'zod';
import { PoSyncError } from '../core/errors.ts';
import type { OperationContext } from '../operate/operation-context.ts';
import { recorded } from '../operate/operator-context.ts';

/**
 * One thing that people and programs can do with an environment. Its command, its route, its reference and the schema of its
 * answer are made from it.
 */
export type Operation = Reading | Acting;

type Described<Input extends z.ZodObject> = {
  /** The words of the command; with slashes, the route. */
  name: string;
  summary: string;
  /** The flags of the command, which are the parameters of the route. */
  input: Input;
  output: z.ZodType;
  examples: readonly string[];
  exits: readonly (readonly [code: string, meaning: string])[];
};

/** One that changes nothing. */
export type Reading<
  Input extends z.ZodObject = z.ZodObject,
  Result = unknown,
> = Described<Input> & {
  role: 'read';
  /** Answers also while Redis is not reachable. */
  isLasting?: true;
  /** The code that does it, loaded on demand. */
  load(): Promise<Work<z.output<Input>, Result>>;
};

/** One that changes something, which a person confirms. */
export type Acting<
  Input extends z.ZodObject = z.ZodObject,
  Planned extends Plan = Plan,
  End extends Done = Done,
> = Described<Input> & {
  role: 'operate';
  /** Needs no confirmation, also in a protected environment; by default a dry run does not. */
  isHarmless?(input: z.output<Input>): boolean;
  load(): Promise<Act<z.output<Input>, Planned, End>>;
};

export type Work<Input, Result> = {
  run(input: Input, context: OperationContext): Promise<Result>;
  /** The answer as `output` describes it. */
  json(result: Result): object;
};

export type Act<Input, Planned extends Plan = Plan, End extends Done = Done> = {
  /** What would be done. PoSyncError where nothing can be. */
  plan(input: Input, context: OperationContext): Promise<Planned>;
  run(plan: Planned, context: OperationContext): Promise<End>;
  /** It records what it did itself. */
  isRecorded?: true;
};

/**
 * What would be done. `on`: to what, as the history of actions names it. `question`: what a person agrees to, `remedy`: what they
 * need for that besides `--yes`; nobody is asked without it. `left`: what is not done, and why. `isEmpty`: nothing is done.
 */
export type Plan = {
  on: string;
  question?: string;
  remedy?: string;
  would?: string;
  left?: string;
  json: object;
  isEmpty?: boolean;
  /** `--plan` with it does exactly this. */
  id?: string;
} & Standing;

/** What was done. `steps`: what a person at a command line should know besides. */
export type Done = { text: string; steps?: string; json: object } & Standing;

/** `needsPerson`: something is left that needs a person. `isInVain`: not what was wanted; `isOpen`: not known yet. */
type Standing = { needsPerson?: boolean; isInVain?: boolean; isOpen?: boolean };

/** Keeps the types of input and result together. */
export function reading<Input extends z.ZodObject, Result>(
  one: Reading<Input, Result>,
): Reading<Input, Result> {
  return one;
}

export function acting<Input extends z.ZodObject, Planned extends Plan, End extends Done>(
  one: Acting<Input, Planned, End>,
): Acting<Input, Planned, End> {
  return one;
}

/** Whether a protected environment needs no confirmation of it. */
export function isHarmless(one: Acting, input: Record<string, unknown>): boolean {
  return one.isHarmless?.(input) ?? input['dryRun'] === true;
}

/** Does what was planned, and records it in the history of actions. */
export async function carryOut<Planned extends Plan, End extends Done>(
  { name }: Pick<Operation, 'name'>,
  { run, isRecorded }: Pick<Act<never, Planned, End>, 'run' | 'isRecorded'>,
  plan: Planned,
  context: OperationContext,
): Promise<End> {
  if (isRecorded) return run(plan, context);
  const what = name.split(' ').at(-1) ?? name;
  return recorded({ what, on: plan.on }, context, () => run(plan, context));
}

/** Plans and does it, for a program or a form. */
export async function performed(
  one: Acting,
  input: Record<string, unknown>,
  context: OperationContext,
): Promise<Done> {
  const act = await one.load();
  const plan = await act.plan(input, context);
  if (input['dryRun'] !== true && !plan.isEmpty) return carryOut(one, act, plan, context);
  const text = [plan.would, plan.left].filter(Boolean).join('\n');
  return { ...plan, text, isInVain: input['dryRun'] !== true };
}

/** The answer to a program. `given`: parameters as text, or values of JSON. */
export async function answer(
  one: Reading,
  given: Readonly<Record<string, unknown>>,
  context: OperationContext,
): Promise<object> {
  const { run, json } = await one.load();
  return json(await run(readInput(one, given), context));
}

/** A parameter as JSON Schema. `x-argument`: the command takes it without a flag; `x-file`: it is a file; `x-value`: how its help calls the value. */
export type Parameter = {
  type?: 'string' | 'boolean' | 'integer' | 'array';
  description?: string;
  default?: unknown;
  enum?: string[];
  items?: { type?: string };
  'x-argument'?: true;
  'x-file'?: true;
  'x-value'?: string;
};

/** Whether an operation takes a file, whose bytes are the body of its route. */
export function takesFile({ input }: Pick<Operation, 'input'>): boolean {
  return Object.values(parametersOf({ input }).parameters).some((one) => one['x-file']);
}

/** The parameters of an operation by name. */
export function parametersOf({ input }: Pick<Operation, 'input'>) {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  return { parameters: properties as Record<string, Parameter>, required };
}

/** Reads what a program gave. An empty text counts as absent, as forms send it. PoSyncError `parameter-wrong`. */
export function readInput<Input extends z.ZodObject>(
  one: { input: Input },
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
export function typedValue({ type, items }: Parameter = {}, value: unknown): unknown {
  if (type === 'array' && items?.type !== 'object') return [value].flat();
  if (typeof value !== 'string') return value;
  if (type === 'array') return valueIn(value);
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  return type === 'integer' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

/** What a text has as JSON; of any other, the text, which is refused. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
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
