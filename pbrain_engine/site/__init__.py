"""The board as a site of files alone: its server runs in a worker of the browser, in Pyodide."""
