import { spawn } from 'node:child_process';

/**
 * Runs a program and collects its output. Never throws: a missing program gives code 127.
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

/** The last lines of a program's output, which usually contain the error. */
export function lastLines(output, count = 5) {
  return output.trim().split('\n').slice(-count).join('\n');
}
