// A page in the Chromium that is installed. A test fails when the page logs an error, when hydration disagrees
// with the server's HTML, or when WebAssembly panics.
import { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const USUAL = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The address of the demo server, without a slash at the end. */
export const url = process.env.EVALKIT_URL ?? 'http://127.0.0.1:3000';

/** The program of the browser: CHROMIUM, or where systems put it. */
export function program() {
  return process.env.CHROMIUM || USUAL.find((path) => existsSync(path));
}

/** Starts one browser for a test file; returns a function that opens a watched page. */
export function browser() {
  let instance;
  before(async () => {
    instance = await chromium.launch({ executablePath: program(), args: ['--no-sandbox'] });
  });
  after(() => instance?.close());
  return async (options = {}) => {
    const context = await instance.newContext({ baseURL: url, reducedMotion: 'reduce', ...options });
    const page = await context.newPage();
    const faults = [];
    page.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' || /hydrat|panicked/i.test(text)) faults.push(`${message.type()}: ${text}`);
    });
    page.faults = faults;
    return page;
  };
}

/** Waits until the page is interactive. */
export async function hydrated(page) {
  await page.waitForSelector('html[data-hydrated]', { state: 'attached', timeout: 30_000 });
}

/** Opens an address of the demo, waits until it is interactive, and checks that it is clean. */
export async function visit(page, path) {
  const answer = await page.goto(path);
  await hydrated(page);
  clean(page);
  return answer;
}

/** Fails with everything that the page complained of. */
export function clean(page) {
  assert.deepEqual(page.faults, [], 'the console of the page is clean');
}
