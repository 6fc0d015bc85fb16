// The content security policy of pages (`reliability`, D8): byte for byte but for the nonce, and nothing leaves this host.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browser, clean, url, visit } from '../support/browser.js';

const open = browser();
const paths = ['/', '/w/demo', '/w/demo/d/world-facts', '/w/demo/runs', '/w/demo/agents', '/kit', '/w/demo/runs/999999'];
const POLICY =
  "default-src 'none'; script-src 'nonce-N' 'strict-dynamic' 'wasm-unsafe-eval'; style-src 'self' 'nonce-N'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; object-src 'none'; " +
  "worker-src 'self'; manifest-src 'self'";

test('every page has the policy, and a nonce of its own', async () => {
  const nonces = new Set();
  for (const path of paths) {
    const answer = await fetch(url + path);
    const policy = answer.headers.get('content-security-policy');
    const nonce = policy.match(/'nonce-([^']+)'/)?.[1];
    assert.ok(nonce?.length >= 16, `${path}: ${policy}`);
    assert.equal(policy.replaceAll(nonce, 'N'), POLICY, path);
    assert.ok(!nonces.has(nonce), 'a nonce is used once');
    nonces.add(nonce);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(answer.headers.get('referrer-policy'), 'same-origin');
    assert.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin');
    assert.equal(answer.headers.get('cross-origin-opener-policy'), 'same-origin');
    await answer.text();
  }
});

test('a page asks no other host, and the policy refuses nothing of ours', async () => {
  const page = await open();
  const foreign = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  for (const path of paths.slice(0, -1)) await visit(page, path);
  assert.deepEqual(foreign, []);
  clean(page);
  await page.context().close();
});

test('a page of the demo says that it is one', async () => {
  for (const path of paths.slice(0, -1)) {
    const html = await (await fetch(url + path)).text();
    assert.match(html, /You are signed in as a demo person/, path);
  }
});
