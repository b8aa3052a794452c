import { createHash } from 'node:crypto';
import { type Html, html, TIME_SCRIPT } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';

/** A page that needs no other file and no network. */
export function framed(title: string, main: Html): string {
  const policy = `default-src 'none'; style-src '${hashOf(PAGE_STYLE)}'; script-src '${hashOf(TIME_SCRIPT)}'; base-uri 'none'; form-action 'none'`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${{ markup: policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${{ markup: PAGE_STYLE }}</style>
</head>
<body>
<main>
${main}
</main>
<script>${{ markup: TIME_SCRIPT }}</script>
</body>
</html>
`.markup;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
