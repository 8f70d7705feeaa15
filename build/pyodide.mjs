// Runs a Python program in Pyodide: node pyodide.mjs PACKAGE PROGRAM [WORD]...
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, program, ...words] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide();
python.FS.mkdirTree("/host");
python.mountNodeFS("/host", "/");
python.globals.set("argv", python.toPy([program, ...words]));
python.runPython(`
import sys
sys.argv, sys.dont_write_bytecode = argv, True
sys.path.insert(0, "/host${process.cwd()}")
`);
try {
  python.runPython(readFileSync(program, "utf8"), { filename: program });
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
