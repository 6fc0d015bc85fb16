// docs/guide/first-hour.md as a new person follows it: its agent, its cases, its commands, on a server of its own.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { browser, clean, hydrated } from '../support/browser.js';

const open = browser();
const guide = readFileSync(new URL('../../docs/guide/first-hour.md', import.meta.url), 'utf8');

/** The fenced blocks of a language, in order. */
function blocks(language) {
  return [...guide.matchAll(new RegExp('```' + language + '\\n(.*?)```', 'gs'))].map(([, text]) => text);
}

/** The one block of a language that holds a word. */
function block(language, word) {
  const found = blocks(language).filter((text) => text.includes(word));
  assert.equal(found.length, 1, `one ${language} block of the guide has ${word}`);
  return found[0];
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** Waits for a pattern in what a program prints. */
function printed(child, pattern) {
  return new Promise((done, fail) => {
    let text = '';
    const take = (chunk) => {
      text += chunk;
      const found = text.match(pattern);
      if (found) done(found);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('exit', (code) => fail(new Error(`ended with ${code}: ${text}`)));
    setTimeout(() => fail(new Error(`${pattern} was not printed: ${text}`)), 20_000).unref();
  });
}

async function answers(address) {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      await fetch(address, { method: 'POST', body: '{"input": {"prompt": "ready?"}}' });
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  throw new Error(`${address} does not answer`);
}

test('the first hour of the guide', async (t) => {
  const program = process.env.EVALKIT_PROGRAM;
  if (!program) return t.skip('EVALKIT_PROGRAM is not set');
  if (spawnSync('python3', ['--version']).status !== 0) return t.skip('needs program python3');

  const folder = mkdtempSync(join(tmpdir(), 'evalkit-guide-'));
  const [agentPort, serverPort] = [await freePort(), await freePort()];
  const moved = (text) => text.replaceAll('127.0.0.1:8080', `127.0.0.1:${agentPort}`).replaceAll('"127.0.0.1", 8080', `"127.0.0.1", ${agentPort}`);
  mkdirSync(join(folder, 'cases'));
  mkdirSync(join(folder, 'bin'));
  cpSync(program, join(folder, 'bin', basename(program)));
  writeFileSync(join(folder, 'agent.py'), moved(block('python', 'BaseHTTPRequestHandler')));
  writeFileSync(join(folder, 'evalkit.yaml'), block('yaml', 'datasets:'));
  writeFileSync(join(folder, 'cases', 'desk.yaml'), block('yaml', 'ship-to-norway'));
  writeFileSync(join(folder, 'replies.jsonl'), block('json', 'ship-to-norway'));
  const env = {
    ...process.env,
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, 'config'),
    EVALKIT_DATA: join(folder, 'data'),
    NO_COLOR: '1',
  };
  delete env.EVALKIT_SERVER;
  delete env.EVALKIT_TOKEN;
  const agent = spawn('python3', ['agent.py'], { cwd: folder, env, stdio: 'ignore' });
  const server = spawn('evalkit', ['serve', '--bind', `127.0.0.1:${serverPort}`], { cwd: folder, env });
  t.after(() => {
    agent.kill();
    server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const [setup] = await printed(server, /http:\/\/\S+\/setup\/[0-9a-f]+/);
  await answers(`http://127.0.0.1:${agentPort}/`);

  // The setup link, and the token that the next page makes.
  const page = await open();
  await page.goto(setup);
  await hydrated(page);
  await page.locator('#name').fill('ines');
  await page.locator('#display_name').fill('Ines Okafor');
  await page.locator('#password').fill('a long enough one');
  await page.getByRole('button', { name: 'Become the owner' }).click();
  await page.waitForURL('**/settings/tokens*');
  await page.getByRole('button', { name: 'Make the token' }).click();
  const line = await page.locator('code', { hasText: 'evalkit login' }).first().innerText();
  clean(page);

  // One terminal from here on: the line that the page shows, then each command of the guide.
  const terminal = (commands) => {
    const script = [line, ...commands].join('\n');
    const done = spawnSync('bash', ['-c', script], { cwd: folder, env, encoding: 'utf8', timeout: 60_000 });
    return { code: done.status, said: `${done.stdout}\n${done.stderr}` };
  };
  const lint = terminal([block('sh', 'evalkit lint')]);
  assert.equal(lint.code, 0, lint.said);
  const run = terminal([moved(block('sh', 'evalkit agent add'))]);
  assert.equal(run.code, 2, `a run with something unscored is incomplete: ${run.said}`);
  for (const shown of block('text', 'express-shipping').split('\n').filter((text) => text.trim())) {
    const here = shown.replace('127.0.0.1:3000', `127.0.0.1:${serverPort}`);
    assert.ok(run.said.includes(here), `the guide shows “${here}”, the command said:\n${run.said}`);
  }

  // The verdicts in the browser, as the guide's table has them.
  const pages = [
    ['/w/ines/runs/1/c/three-mugs', /^Green: /],
    ['/w/ines/runs/1/c/express-shipping', /^Red: /],
    ['/w/ines/runs/1/c/ship-to-norway', /^Unscored: /],
    ['/w/ines/runs/1', /^Run 1/],
    ['/w/ines/d/shop-desk', /^shop-desk/],
    ['/', /^Home/],
  ];
  for (const [path, title] of pages) {
    await page.goto(`http://127.0.0.1:${serverPort}${path}`);
    await hydrated(page);
    assert.match(await page.title(), title, path);
    clean(page);
  }
  await page.context().close();

  // The rest by hand, without the server.
  const collected = terminal([block('sh', 'evalkit collect')]);
  assert.equal(collected.code, 2, collected.said);
  server.kill();
  const graded = terminal([block('sh', 'evalkit grade')]);
  assert.equal(graded.code, 0, graded.said);
  assert.match(graded.said, /2 green, 1 red/);
});
