// Code of Node that only reads is told from all that may do more.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: code of Node

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseScript } from '../../../src/adapters/checks/syntax.ts';
import { onlyReads } from '../../../src/adapters/shell/node-code.ts';

const READING: readonly string[] = [
  'console.log(1 + 1)',
  'require("./package.json").version',
  'console.log(require("./package.json").scripts.test)',
  'console.log(Object.keys(require("./package.json").dependencies ?? {}).join("\\n"))',
  'const fs = require("fs"); console.log(fs.readFileSync("a", "utf8").split("\\n").length)',
  'const { readFileSync } = require("node:fs"); console.log(JSON.parse(readFileSync("a", { encoding: "utf8" })).name)',
  'fs.readdirSync(".", { withFileTypes: true }).filter((one) => one.isFile()).map(({ name }) => name)',
  'const p = require("./package.json"); for (const k of Object.keys(p.scripts)) console.log(k, p.scripts[k])',
  'const a = [3, 1]; for (let i = 0; i < a.length; i++) console.log(a[i], a[a.length - 1])',
  'const n = {}; for (const w of "a b".split(" ")) n[w] = (n[w] || 0) + 1; console.log(JSON.stringify(n, null, 2))',
  'console.log(process.argv[2], process.version, process.cwd(), process.env.HOME)',
  'process.stdout.write(`${require("path").join("a", "b")}\\n`)',
  'function size(d) { let t = 0; for (const f of fs.readdirSync(d)) t += fs.statSync(path.join(d, f)).size; return t } console.log(size("."))',
  'try { JSON.parse("{"); } catch (e) { console.error(e.message); process.exit(1); }',
  '[..."abc"].map(Number).filter(Boolean)',
  'const m = new Map(); m.set("a", 1); console.log([...m.entries()], new Date().toISOString())',
  '(() => { console.log(os.tmpdir()) })()',
  'console.log(require("react/package.json").version)',
];

const OTHERS: readonly string[] = [
  'fs.writeFileSync("a", "b")',
  'require("fs").writeFileSync("a", "b")',
  'const { writeFileSync } = require("fs"); writeFileSync("a", "b")',
  'const { writeFileSync: readFileSync } = require("fs"); readFileSync("a", "b")',
  'const { readFileSync, ...rest } = require("fs"); rest.writeFileSync("a", "b")',
  'const { ["write" + "FileSync"]: w } = require("fs"); w("a", "b")',
  'fs["write" + "FileSync"]("a", "b")',
  'fs["writeFileSync"]("a", "b")',
  'const f = require("fs"); const g = f; g.writeFileSync("a", "b")',
  'const f = fs; console.log(f)',
  'fs.readFileSync("a", { flag: "w" })',
  'fs.readFileSync("a", { encoding: "utf8", flag: "w" })',
  'const o = { flag: "w" }; fs.readFileSync("a", o)',
  'fs.readFileSync(...["a", { flag: "w" }])',
  'const r = fs.readFileSync; r("a", { flag: "w" })',
  'const { readFileSync } = fs; readFileSync("a", { flag: "w" })',
  'const { readFileSync } = require("fs"); const r = readFileSync; r("a", { flag: "w" })',
  '[["a", { flag: "w" }]].forEach(fs.readFileSync)',
  'require("child_process").execSync("touch a")',
  'require("./own.js")',
  'require("left-pad")',
  'require("./own")',
  'const c = "child_process"; require(c)',
  'const r = require; r("child_process")',
  'require?.("child_process")',
  'import("node:fs")',
  'import fs from "node:fs"; fs.readFileSync("a")',
  'process.binding("fs")',
  'process.mainModule.require("fs")',
  'process.exitCode = 1; process.kill(1)',
  'process.stdout.constructor',
  'process.stdout',
  'module.require("fs")',
  'globalThis.process.binding("fs")',
  'this.process',
  '(function () { return this })().process',
  'eval("1")',
  'new Function("1")()',
  'Function("1")()',
  '"".constructor.constructor("1")()',
  '[]["const" + "ructor"]["const" + "ructor"]("1")()',
  'const k = "constructor"; const F = (""[k] ||= 1); F[k]("1")()',
  'const k = "constructor"; const f = (() => 1)[k]; f("1")()',
  'const k = "constructor"; [1].sort((() => 1)[k])',
  'const { length: i = "constructor" } = 1; const f = (() => 1)[i]; f("1")()',
  'for (var i = 0 in { constructor: 1 }) { const f = (() => 1)[i]; f("1")() }',
  'const k = "constructor"; const { [k]: f } = () => 1; f("1")()',
  'const { constructor } = () => 1; constructor("1")()',
  'let i = 0; i = "constructor"; const f = (() => 1)[i]; f("1")()',
  'let i = 0; const g = (i) => (() => 1)[i]; g("constructor")("1")()',
  'let i = 0; for (i of ["constructor"]) { const f = (() => 1)[i]; f("1")() }',
  '({}).__proto__.flag = "w"',
  '({})["__proto__"].flag = "w"',
  'const k = "__proto__"; ({})[k].flag = "w"; fs.readFileSync("a")',
  'const k = "__proto__"; const o = {}; const p = o[k] && o[k]; p.flag = "w"',
  'Object.setPrototypeOf({}, {})',
  'Object.getPrototypeOf({}).flag = "w"',
  'Object.prototype.flag = "w"',
  'Object.defineProperty({}, "a", {})',
  'Error.prepareStackTrace = (_, sites) => sites',
  'setTimeout("1")',
  'function f() { let child_process } child_process.exec("touch a")',
  'function f(child_process) {} child_process.exec("touch a")',
  '{ let fs = 1 } fs.writeFileSync("a", "b")',
  'let fs = require("fs"); fs = require("./a.json")',
  'function f(fs) { fs.readFileSync("a", { flag: "w" }) } const fs = require("fs"); f(1)',
  'const JSON = 1',
  'class A { static { 1 } }',
  'async () => { await 1 }',
  'console.log`a`',
  'with ({}) a',
  'util.inspect.defaultOptions',
  'util.promisify(fs.writeFile)("a", "b")',
  'os.setPriority(1)',
  'Reflect.apply(fs.writeFileSync, fs, ["a", "b"])',
  'unknown.exec("touch a")',
  'arguments[0]("child_process")',
  '((a) => a)`b`',
  'console.log(1',
];

describe('code of Node', () => {
  it('that only reads is told', () => {
    assert.deepEqual(
      READING.filter((code) => onlyReads(parseScript(code)) === null),
      [],
    );
  });

  it('that may do more is not taken for it', () => {
    assert.deepEqual(
      OTHERS.filter((code) => onlyReads(parseScript(code)) !== null),
      [],
    );
  });

  it('names the files of JSON that it loads', () => {
    assert.deepEqual(onlyReads(parseScript('[require("./a.json"), require("b/package.json")]')), [
      './a.json',
      'b/package.json',
    ]);
  });
});
