// Builds the page into src/sanderling/server/static, or with --tests its tests into build/tests.
//
// src/main.ts ─► esbuild ─► main.js, chunks (MapLibre only when it is asked for), main.css, index.html, licences.txt
// src/widget.ts ─► widget.js, for notebooks
import {copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');
// deck.gl and luma.gl without what they have for WebGPU.
const shared = {bundle: true, format: 'esm', target: 'es2022', conditions: ['visgl:webgl-only'], logLevel: 'warning', absWorkingDir: here};

if (process.argv.includes('--tests')) await buildTests(join(here, 'build', 'tests'));
else await buildPage(join(here, '..', 'src', 'sanderling', 'server', 'static'));

async function buildPage(out) {
  rmSync(out, {recursive: true, force: true});
  mkdirSync(out, {recursive: true});
  const {metafile} = await build({
    ...shared, entryPoints: ['src/main.ts', 'src/main.css'], splitting: true, minify: true, outdir: out, metafile: true,
    legalComments: 'none', chunkNames: 'part-[hash]',
  });
  // For notebooks, one file: no globe, whose library wants files beside it.
  await build({
    ...shared, entryPoints: ['src/widget.ts'], minify: true, outdir: out, legalComments: 'none', external: ['./globe'],
  });
  copyFileSync(join(here, 'src', 'index.html'), join(out, 'index.html'));
  copyFileSync(join(modules, 'maplibre-gl', 'dist', 'maplibre-gl-worker.mjs'), join(out, 'maplibre-gl-worker.mjs'));
  copyFileSync(join(modules, 'maplibre-gl', 'dist', 'maplibre-gl.css'), join(out, 'maplibre-gl.css'));
  writeFileSync(join(out, 'licences.txt'), licencesOf(metafile));
}

async function buildTests(out) {
  rmSync(out, {recursive: true, force: true});
  const tests = readdirSync(join(here, 'tests')).filter(name => name.endsWith('.test.ts'));
  await build({...shared, entryPoints: tests.map(name => `tests/${name}`), platform: 'node', outdir: out, outExtension: {'.js': '.mjs'}});
}

// The licence of every package of which something is in the page.
function licencesOf(metafile) {
  const packages = new Set();
  for (const file of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(file);
    if (found) packages.add(found[1]);
  }
  return [...packages].sort().map(name => {
    const folder = join(modules, name);
    const {version, license} = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const texts = readdirSync(folder).filter(file => /^(licen[cs]e|notice|copying)/i.test(file) && existsSync(join(folder, file)));
    const words = texts.map(file => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license})`, ...words].join('\n\n');
  }).join(`\n\n${'-'.repeat(100)}\n\n`) + '\n';
}
