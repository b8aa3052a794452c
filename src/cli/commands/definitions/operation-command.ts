import path from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import type { OperationContext } from '../../../operate/operation-context.ts';
import {
  type Acting,
  carryOut,
  type Done,
  isHarmless,
  type Operation,
  type Parameter,
  type Plan,
  parametersOf,
  type Reading,
  readInput,
  typedValue,
} from '../../../operations/operation.ts';
import type { CommonArgs } from '../../load-config.ts';
import type { Shell } from '../../shell.ts';
import { confirmation, type Format, formatOf, printJson, sentences } from '../../terminal/print.ts';
import type { CommandDefinition, OptionDefinition } from './command-definition.ts';

/** What a view may use besides the result. */
export type Scene<Input> = { input: Input; context: OperationContext; format: Format; now: number };

/** How a person sees an operation. */
export type View<Input, Result> = {
  text(result: Result, scene: Scene<Input>): string | Promise<string>;
};

/** The command of an operation: its flags are the parameters, `--json` is the answer to a program. */
export function commandOf<Input extends z.ZodObject, Result>(
  one: Reading<Input, Result>,
  view?: () => Promise<View<z.output<Input>, Result>>,
): CommandDefinition {
  return {
    ...described(one),
    async load() {
      const [work, shown] = await Promise.all([one.load(), view?.()]);
      return async (args: Args, shell: Shell): Promise<number> => {
        const input = readInput(one, givenOf(one, args, shell));
        const { openOperatorContext } = await opener();
        await using context = await openOperatorContext(args, shell, { confirm: false });
        const result = await work.run(input, context);
        if (args.json || !shown) printJson(shell, work.json(result));
        else {
          const now = context.store.time.now();
          shell.out(await shown.text(result, { input, context, format: formatOf(shell), now }));
        }
        return 0;
      };
    },
  };
}

/** What a person sees of a plan and its end, where the texts of the operation are not all of it. */
export type ActView<Planned, End> = {
  plan?(plan: Planned, scene: ActScene): string | undefined;
  end?(end: End, scene: ActScene): string;
};

export type ActScene = { context: OperationContext; format: Format };

/** The command of an operation that changes something: it shows what it would do, asks, does it and says what it did. */
export function actCommandOf<Input extends z.ZodObject, Planned extends Plan, End extends Done>(
  one: Acting<Input, Planned, End>,
  view?: () => Promise<ActView<Planned, End>>,
): CommandDefinition {
  return {
    ...described(one),
    async load() {
      const [act, shown] = await Promise.all([one.load(), view?.()]);
      return async (args: Args, shell: Shell): Promise<number> => {
        const input = readInput(one, givenOf(one, args, shell));
        const flags = { yes: input['yes'] === true, json: args.json };
        const isDry = input['dryRun'] === true;
        const confirm = !isHarmless(one as unknown as Acting, input);
        const { openOperatorContext } = await opener();
        await using context = await openOperatorContext(args, shell, { confirm });
        const print = (text: string) => {
          if (text !== '' && !args.json) shell.out(`${sentences(text, shell)}\n`);
        };
        const scene = { context: { ...context, say: print }, format: formatOf(shell) };
        const plan = await act.plan(input, scene.context);
        const isOver = isDry || plan.isEmpty === true;
        if (!args.json) shell.out(shown?.plan?.(plan, scene) ?? '');
        if (isOver || !flags.yes) print(plan.would ?? '');
        print(plan.left ?? '');
        if (plan.id !== undefined) print(`To do exactly this, use --yes --plan ${plan.id}.`);
        if (isOver) {
          if (args.json) printJson(shell, plan.json);
          return plan.needsPerson ? 2 : 0;
        }
        const { question, remedy } = plan;
        const asked = { ...flags, ...(remedy && { remedy }) };
        if (question !== undefined && !(await confirmation(question, asked, shell))) return 1;
        const end = await carryOut(one, act, plan, scene.context);
        if (args.json) printJson(shell, end.json);
        else if (shown?.end) shell.out(shown.end(end, scene));
        else for (const text of [end.text, end.steps ?? '']) print(text);
        return end.needsPerson ? 2 : 0;
      };
    },
  };
}

type Args = CommonArgs & Record<string, unknown>;

/** Loads most of the program: only a command that runs needs it. */
const opener = () => import('../../load-config.ts');

/** What the command line has of the parameters. */
function givenOf(
  one: Pick<Operation, 'input'>,
  args: Args,
  { cwd }: Pick<Shell, 'cwd'>,
): Record<string, unknown> {
  const all = Object.entries(parametersOf(one).parameters);
  return Object.fromEntries(
    all.map(([name, parameter]) => [
      name,
      parameter['x-file'] ? path.resolve(cwd, String(args[name])) : args[name],
    ]),
  );
}

function described(one: Pick<Operation, 'name' | 'summary' | 'input' | 'examples' | 'exits'>) {
  const { parameters, required } = parametersOf(one);
  const all = Object.entries(parameters);
  const [argument] = all.filter(([, parameter]) => parameter['x-argument']);
  const options = all
    .filter(([, parameter]) => !parameter['x-argument'])
    .map(([name, parameter]) =>
      optionOf(name, parameter, { isRequired: required.includes(name), check: checkOf(one, name) }),
    );
  const { name, summary, examples, exits } = one;
  const [key = '', { description: text = '' } = {}] = argument ?? [];
  return {
    name,
    summary,
    ...(argument && { argument: { flags: `<${key}>`, key, text } }),
    options,
    examples,
    exits,
  };
}

/** Throws InvalidArgumentError for a text that a parameter does not take. */
function checkOf({ input }: Pick<Operation, 'input'>, name: string) {
  const schema = input.shape[name] as z.ZodType;
  const parameter = parametersOf({ input }).parameters[name];
  return (text: string): unknown => {
    const read = schema.safeParse(typedValue(parameter, text));
    if (!read.success) throw new InvalidArgumentError(read.error.issues[0]?.message ?? '');
    return read.data;
  };
}

function optionOf(
  name: string,
  parameter: Parameter,
  { isRequired, check }: { isRequired: boolean; check: (text: string) => unknown },
): OptionDefinition {
  const { type, items, description: text = '', enum: choices, default: usual } = parameter;
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (type === 'boolean') return { flags: name === 'yes' ? '-y, --yes' : flag, text };
  return {
    flags: `${flag} <${parameter['x-value'] ?? name}>`,
    text,
    ...(type === 'array' && items?.type !== 'object'
      ? { isList: true }
      : choices
        ? { choices }
        : { parse: check }),
    ...(usual !== undefined && { default: { value: usual, shown: JSON.stringify(usual) } }),
    ...(isRequired && { isRequired }),
  };
}
