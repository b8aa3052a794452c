import { spawn } from 'node:child_process';

/**
 * Runs a program to its end and keeps what it writes. Never throws: a program that is not there ends with code 127.
 * @returns {Promise<{ code: number, output: string }>}
 */
export function runQuietly(file, args, options = {}) {
  return new Promise((resolve) => {
    const program = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const keep = (bytes) => {
      output += bytes;
    };
    program.stdout.on('data', keep);
    program.stderr.on('data', keep);
    program.once('error', (error) => resolve({ code: 127, output: error.message }));
    program.once('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

/** The last lines of a program's output: where it says what went wrong. */
export function lastLines(output, count = 5) {
  return output.trim().split('\n').slice(-count).join('\n');
}
