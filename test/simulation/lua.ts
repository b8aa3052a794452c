import { compileFunction } from 'node:vm';
import { LIBRARY, type Library, type Table } from './lua-library.ts';

/** Answers one command of a script. */
export type RedisCall = (...args: readonly unknown[]) => unknown[];

/** Runs a script with its keys and arguments. */
export type LuaScript = (call: RedisCall, keys: Table, args: Table) => unknown;

/**
 * Translates a script into JavaScript: the Lua that our scripts are written in, without metatables, methods, varargs and
 * goto. Functions take values and return lists of values.
 */
export function compileLua(text: string): LuaScript {
  const params = ['L', 'redis', 'KEYS', 'ARGV'];
  const run = compileFunction(translate(tokensOf(text)), params) as (
    library: Library,
    redis: { call: RedisCall },
    keys: Table,
    args: Table,
  ) => unknown[];
  return (call, keys, args) => run(LIBRARY, { call }, keys, args)[0];
}

const TOKEN =
  /(?:\s+|--[^\n]*)*(?<token>[A-Za-z_]\w*|\d+(?:\.\d+)?|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\.\.|[=~<>]=|[-+*/^#<>=(){}[\],.])?/y;

function tokensOf(text: string): string[] {
  const tokens = [...text.matchAll(new RegExp(TOKEN, 'gy'))].map(({ groups }) => groups?.['token']);
  return tokens.filter((token) => token !== undefined);
}

/** An expression: its JavaScript, how it is assigned to, and whether it gives a list or a boolean. */
type Code = { js: string; kind?: 'list' | 'boolean'; assign?: (value: string) => string };

/** How strongly each operator binds to its left and its right. */
const BINDING: Readonly<Record<string, readonly [number, number]>> = {
  or: [1, 1],
  and: [2, 2],
  ...Object.fromEntries(['<', '>', '<=', '>=', '~=', '=='].map((sign) => [sign, [3, 3]])),
  '..': [5, 4],
  '+': [6, 6],
  '-': [6, 6],
  '*': [7, 7],
  '/': [7, 7],
  '^': [10, 9],
};
const UNARY = 8;

const CONSTANTS: Readonly<Record<string, Code>> = {
  nil: { js: 'undefined' },
  true: { js: 'true', kind: 'boolean' },
  false: { js: 'false', kind: 'boolean' },
};

function single({ js, kind }: Code): string {
  return kind === 'list' ? `${js}[0]` : js;
}

/** Of several expressions the last may give several values. */
function listOf(codes: readonly Code[]): string {
  const last = codes.length - 1;
  return codes
    .map((code, i) => (i === last && code.kind === 'list' ? `...${code.js}` : single(code)))
    .join();
}

/** The array of these values. */
function arrayOf(codes: readonly Code[]): string {
  const [only] = codes;
  return codes.length === 1 && only?.kind === 'list' ? only.js : `[${listOf(codes)}]`;
}

function truth(code: Code): string {
  return code.kind === 'boolean' ? code.js : `L.isTrue(${single(code)})`;
}

function combined(sign: string, left: Code, right: Code): Code {
  const [a, b] = [single(left), single(right)];
  switch (sign) {
    case 'and':
      return { js: `(L.isTrue(T=${a})?${b}:T)` };
    case 'or':
      return { js: `(L.isTrue(T=${a})?T:${b})` };
    case '..':
      return { js: `(L.text(${a})+L.text(${b}))` };
    case '==':
      return { js: `(${a}===${b})`, kind: 'boolean' };
    case '~=':
      return { js: `(${a}!==${b})`, kind: 'boolean' };
    case '<':
    case '>':
    case '<=':
    case '>=':
      return { js: `(${a}${sign}${b})`, kind: 'boolean' };
    default:
      return { js: `(L.number(${a})${sign === '^' ? '**' : sign}L.number(${b}))` };
  }
}

function translate(tokens: readonly string[]): string {
  let place = 0;
  let names = 0;
  let scope = new Map<string, string>();

  const peek = () => tokens[place] ?? '';
  const next = () => tokens[place++] ?? '';
  const accepts = (token: string) => peek() === token && next() === token;
  function expect(token: string): void {
    if (!accepts(token))
      throw new Error(`${token} expected at ${tokens.slice(place, place + 9).join(' ')}`);
  }

  /** Each local has a separate name, because Lua lets a later one hide an earlier one. */
  function declare(name: string): string {
    const own = `${name}_${++names}`;
    scope.set(name, own);
    return own;
  }

  function within<T>(inner: () => T): T {
    const outer = scope;
    scope = new Map(outer);
    const result = inner();
    scope = outer;
    return result;
  }

  const isAtEnd = () => ['end', 'else', 'elseif', 'until', ''].includes(peek());

  function statements(): string {
    let js = '';
    while (!isAtEnd()) js += `${statement()};`;
    return js;
  }

  const block = () => within(statements);

  function statement(): string {
    switch (peek()) {
      case 'local':
        return local();
      case 'if':
        return branches();
      case 'for':
        return within(loop);
      case 'while': {
        next();
        const asked = truth(expression());
        return `while(${asked})${body('do')}`;
      }
      case 'repeat':
        next();
        return within(() => {
          const inner = statements();
          expect('until');
          return `for(;;){${inner}if(${truth(expression())})break}`;
        });
      case 'return':
        next();
        return `return ${isAtEnd() ? '[]' : arrayOf(expressions())}`;
      case 'break':
        return next();
      default:
        return assignment();
    }
  }

  function body(begin: string): string {
    expect(begin);
    const inner = block();
    expect('end');
    return `{${inner}}`;
  }

  function local(): string {
    next();
    if (accepts('function')) {
      const own = declare(next());
      return `let ${own}=${functionOf()}`;
    }
    const all = [next()];
    while (accepts(',')) all.push(next());
    const values = accepts('=') ? expressions() : [];
    const owns = all.map(declare);
    if (all.length === 1) return `let ${owns[0]}=${values[0] ? single(values[0]) : 'undefined'}`;
    return spread(owns, arrayOf(values));
  }

  /** Destructuring would be slow. */
  function spread(owns: readonly string[], array: string): string {
    const list = declare('');
    return `let ${list}=${array},${owns.map((own, i) => `${own}=${list}[${i}]`).join()}`;
  }

  function branches(): string {
    let js = '';
    do {
      next();
      const asked = truth(expression());
      expect('then');
      js += `if(${asked}){${block()}}`;
      if (accepts('else')) js += `else{${block()}}`;
      else if (peek() === 'elseif') js += 'else ';
    } while (peek() === 'elseif');
    expect('end');
    return js;
  }

  function loop(): string {
    next();
    const all = [next()];
    while (accepts(',')) all.push(next());
    if (accepts('=')) {
      const [from, to, step = '1'] = expressions().map(single);
      const own = declare(all[0] ?? '');
      return `for(let ${own}=${from},E=${to};${own}<=E;${own}+=${step})${body('do')}`;
    }
    expect('in');
    const some = single(expression());
    const each = spread(all.map(declare), 'E');
    expect('do');
    const inner = block();
    expect('end');
    return `for(const E of ${some}){${each};${inner}}`;
  }

  function assignment(): string {
    const targets = [suffixed()];
    while (accepts(',')) targets.push(suffixed());
    if (!accepts('=')) return targets[0]?.js ?? '';
    const values = expressions();
    const [target, value] = [targets[0], values[0]];
    if (targets.length === 1 && value) return target?.assign?.(single(value)) ?? '';
    const each = targets.map(({ assign }, i) => assign?.(`V[${i}]`) ?? '');
    return `{const V=${arrayOf(values)};${each.join(';')}}`;
  }

  function expressions(): Code[] {
    const all = [expression()];
    while (accepts(',')) all.push(expression());
    return all;
  }

  function expression(limit = 0): Code {
    let left = operand();
    for (;;) {
      const [binds = 0, right = 0] = BINDING[peek()] ?? [];
      if (binds <= limit) return left;
      left = combined(next(), left, expression(right));
    }
  }

  function operand(): Code {
    const token = peek();
    if (token === 'function' && next()) return { js: functionOf() };
    if (token === '{') return { js: table() };
    if (token === 'not' && next()) return { js: `!${truth(expression(UNARY))}`, kind: 'boolean' };
    if (token === '#' && next()) return { js: `L.length(${single(expression(UNARY))})` };
    if (token === '-' && next()) return { js: `-L.number(${single(expression(UNARY))})` };
    const constant = Object.hasOwn(CONSTANTS, token) ? CONSTANTS[token] : undefined;
    if (constant !== undefined && next()) return constant;
    if (/^['"\d]/.test(token) && next()) return { js: token };
    return suffixed();
  }

  function suffixed(): Code {
    let code = primary();
    for (;;) {
      const base = single(code);
      if (accepts('(')) {
        const args = peek() === ')' ? '' : listOf(expressions());
        expect(')');
        code = { js: `${base}(${args})`, kind: 'list' };
      } else if (accepts('.')) {
        const name = next();
        const isLibrary = base === 'redis' || /^L\.\w+$/.test(base);
        code = isLibrary ? { js: `${base}.${name}` } : indexed(base, `'${name}'`);
      } else if (accepts('[')) {
        code = indexed(base, single(expression()));
        expect(']');
      } else return code;
    }
  }

  function indexed(base: string, key: string): Code {
    return { js: `L.at(${base},${key})`, assign: (value) => `L.put(${base},${key},${value})` };
  }

  function primary(): Code {
    if (accepts('(')) {
      const inner = single(expression());
      expect(')');
      return { js: `(${inner})` };
    }
    const name = next();
    const own = scope.get(name);
    if (own !== undefined) return { js: own, assign: (value) => `${own}=${value}` };
    return { js: ['KEYS', 'ARGV', 'redis'].includes(name) ? name : `L.${name}` };
  }

  function functionOf(): string {
    return within(() => {
      expect('(');
      const params: string[] = [];
      while (!accepts(')')) {
        params.push(declare(next()));
        accepts(',');
      }
      const inner = block();
      expect('end');
      return `(${params.join()})=>{${inner}return []}`;
    });
  }

  function table(): string {
    const [pairs, list]: [string[], Code[]] = [[], []];
    expect('{');
    while (!accepts('}')) {
      if (tokens[place + 1] === '=') {
        const name = next();
        next();
        pairs.push(`['${name}',${single(expression())}]`);
      } else list.push(expression());
      accepts(',');
    }
    return `L.make([${pairs.join()}],[${listOf(list)}])`;
  }

  return `let T;${statements()}return []`;
}
